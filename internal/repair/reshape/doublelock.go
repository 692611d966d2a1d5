package reshape

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A lockedMethod is a method that holds a lock from its first statement to its end.
type lockedMethod struct {
	decl   *ast.FuncDecl
	file   *source.File
	taking *taking
	// bracket are the statements that take the lock and release it.
	bracket []ast.Stmt
	suffix  string // of the lock's name behind the receiver's: ".mu"
	name    string // of the half for callers that hold the lock
}

// splitMethod makes two of each method that takes a lock and is called with the lock held: one
// that takes it, and one for callers that have it.
func (r *finder) splitMethod() []*change.Change {
	var class *types.Var
	for i := range r.Failure.Waiting {
		if w := &r.Failure.Waiting[i]; w.Shape == event.DoubleLock && class == nil {
			if t := r.takingAt(r.LineOf(&w.Point)); t != nil {
				class = t.class
			}
		}
	}
	if class == nil {
		return nil
	}
	w := r.Rewrite()
	split := make(map[*ast.FuncDecl]*lockedMethod)
	var order []*ast.FuncDecl
	calls := r.callsWhileHeld(class)
	if len(calls) == 0 {
		return nil
	}
	for _, c := range calls {
		if !c.sure {
			r.Decline(c.callee.file, c.callee.decl, c.callee.decl.Name.Name+" takes the lock "+class.Name()+", which some of its callers hold; it cannot be made two, because it holds the lock for a part of its work, or they hold it only sometimes, or only for reading")
			return nil
		}
		if split[c.callee.decl] == nil {
			split[c.callee.decl] = c.callee
			order = append(order, c.callee.decl)
			c.callee.name = r.lockedName(c.callee)
		}
	}
	for _, d := range order {
		split[d].write(w)
	}
	for _, c := range calls {
		w.Of(c.file).Replace(c.name, split[c.callee.decl].name)
	}
	var names []string
	for _, d := range order {
		names = append(names, d.Name.Name)
	}
	plural := " has a half"
	if len(names) > 1 {
		plural = " have halves"
	}
	return w.Finish(&change.Change{
		Words:   strings.Join(names, ", ") + plural + " for callers that hold the lock " + class.Name(),
		Mistake: "a method that holds the lock calls one that takes it too",
		Reason:  "whoever holds the lock calls the half that does not take it, so that no goroutine waits for itself",
	})
}

// A heldCall is a call of a method that takes a lock where the lock is held.
type heldCall struct {
	file   *source.File
	name   *ast.Ident
	callee *lockedMethod
	sure   bool // held on every way, and enough for the method
}

// callsWhileHeld are the calls of methods that take a lock of a class where the same lock is
// held. A method that cannot be made two counts as a call that is not sure.
func (r *finder) callsWhileHeld(class *types.Var) []heldCall {
	methods := make(map[*ast.FuncDecl]*lockedMethod)
	for _, f := range r.Code.Files() {
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Recv != nil {
				if m := r.lockedMethodOf(f, fn, class); m != nil {
					methods[fn] = m
				}
			}
		}
	}
	var all []heldCall
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			d, _ := r.Declaration(f, call)
			m := methods[d]
			selector, isSelector := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			function, _ := syntax.FunctionAround(around)
			if m == nil || !isSelector || function == nil {
				return
			}
			flow := r.Code.Locks().Flow(function)
			if flow == nil {
				return
			}
			for _, h := range flow.Held(call) {
				if h.Lock.String() != f.TextOf(selector.X)+m.suffix {
					continue
				}
				switch around[len(around)-1].(type) {
				case *ast.GoStmt:
					return
				case *ast.DeferStmt:
					all = append(all, heldCall{callee: m}) // the lock may be released by then
					return
				}
				sure := m.bracket != nil && !h.Maybe && !h.Lost && (h.Mode == locks.Write || m.taking.mode == locks.Read)
				all = append(all, heldCall{file: f, name: selector.Sel, callee: m, sure: sure})
			}
		})
	}
	return all
}

// lockedMethodOf is a method as one that takes a lock of its receiver; nil if it does not. Its
// bracket is nil if it holds the lock for a part of its work only.
func (r *finder) lockedMethodOf(f *source.File, d *ast.FuncDecl, class *types.Var) *lockedMethod {
	receiver := d.Recv.List[0].Names
	if len(receiver) != 1 || len(d.Body.List) == 0 {
		return nil
	}
	var first *taking
	for _, s := range d.Body.List {
		if t := r.takingOf(f, s); t != nil && t.class == class && t.lock != nil {
			first = t
			break
		}
	}
	if first == nil {
		return nil
	}
	suffix, ok := strings.CutPrefix(first.lock.String(), receiver[0].Name)
	if !ok {
		return nil
	}
	m := &lockedMethod{decl: d, file: f, taking: first, suffix: suffix}
	list := d.Body.List
	if list[0] != first.statement || len(list) < 2 || !syntax.NamesParameters(d) {
		return m
	}
	if later, ok := list[1].(*ast.DeferStmt); ok && f.TextOf(later.Call) == first.release {
		m.bracket = list[:2]
		return m
	}
	final, others := first.releases()
	if others == 0 && len(final) == 1 && !slices.ContainsFunc(list[1:len(list)-1], syntax.Leaves) {
		m.bracket = []ast.Stmt{list[0], final[0]}
	}
	return m
}

// lockedName is a name for the half of a method that its type has for nothing else.
func (r *finder) lockedName(m *lockedMethod) string {
	name := source.Unexported(m.decl.Name.Name) + "Locked"
	for owner := syntax.NamedType(m.file.Info.TypeOf(m.decl.Recv.List[0].Type)); owner != nil; name += "Here" {
		if o, _, _ := types.LookupFieldOrMethod(owner, true, m.file.Types, name); o == nil {
			break
		}
	}
	return name
}

// write makes two of a method.
func (m *lockedMethod) write(w *change.Rewriting) {
	var args []string
	for _, field := range m.decl.Type.Params.List {
		for _, id := range field.Names {
			arg := id.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				arg += "..."
			}
			args = append(args, arg)
		}
	}
	receiver := m.decl.Recv.List[0].Names[0].Name
	call := receiver + "." + m.name + "(" + strings.Join(args, ", ") + ")"
	if m.decl.Type.Results != nil {
		call = "return " + call
	}
	f := m.file
	head := f.Between(m.decl.Pos(), m.decl.Body.Pos())
	edits := w.Of(f)
	edits.InsertBefore(m.decl.Pos(), head+"{\n"+f.TextOf(m.taking.statement)+"\ndefer "+m.taking.release+"\n"+call+"\n}\n\n// "+m.name+" is "+m.decl.Name.Name+" with "+receiver+m.suffix+" held.\n")
	edits.Replace(m.decl.Name, m.name)
	for _, s := range m.bracket {
		edits.Delete(s)
	}
	w.Note(f, m.decl)
}
