package reshape

import (
	"fmt"
	"go/ast"
	"go/types"
	"go/version"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// An unwaited is a goroutine that sets a variable of the function that starts it, and the
// statement of that function that reads the variable and does not wait for it.
//
// What only the function and its goroutines know is the one case in which the order is certain: a
// function that reads what a goroutine is to set for it wants the value. So it is for the fields of a
// struct in which nothing could tell that they are set: no lock, no channel, no atomic variable, no flag
// that the goroutine sets, no function that it calls. Two calls of methods that race, in a test, want no
// order but a lock.
type unwaited struct {
	file  *source.File
	start *ast.GoStmt
	// runs is what the goroutine runs, a literal or a declared function, in a file.
	runs     ast.Node
	runsIn   *source.File
	function ast.Node
	variable *types.Var
	list     []ast.Stmt // that has both
	from, to int        // the statement that starts the goroutine, and the one that reads
}

// waitForGoroutine has a function wait for a goroutine before it reads what the goroutine sets.
// If the run has no race that shows the two, because the goroutine came too late to set
// anything, the goroutines that it started are looked through.
func (r *finder) waitForGoroutine() []*change.Change {
	if r.Blocked() {
		return nil
	}
	var raced, all []*unwaited
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			start, ok := n.(*ast.GoStmt)
			if !ok || !r.StartedBy(f, start) {
				return
			}
			for _, u := range slices.Concat(unwaitedAt(f, start, around), r.unwaitedField(f, start, around)) {
				switch {
				case r.races(u):
					raced = append(raced, u)
				case !syntax.MayWait(f, u.list[u.from:u.to+1]):
					all = append(all, u)
				}
			}
		})
	}
	if len(raced) > 0 {
		all = raced
	}
	var changes []*change.Change
	for _, u := range all {
		changes = append(changes, r.wait(u)...)
	}
	return changes
}

// races reports whether a race of the run is one between the goroutine and the statement that
// reads.
func (r *finder) races(u *unwaited) bool {
	in := func(at *trace.Point, of *source.File, n ast.Node) bool {
		f, line := r.LineOf(at)
		return f == of && f.Line(n.Pos()) <= line && line <= f.Line(n.End())
	}
	for i := range r.Failures {
		race := &r.Failures[i]
		if race.Kind != event.FailureRace || len(race.Others) != 1 {
			continue
		}
		read := u.list[u.to]
		if in(&race.Point, u.runsIn, u.runs) && in(&race.Others[0], u.file, read) || in(&race.Others[0], u.runsIn, u.runs) && in(&race.Point, u.file, read) {
			return true
		}
	}
	return false
}

// unwaitedAt finds, for each variable that a goroutine sets for the function that starts it, the
// next statement that has to do with the variable, if that reads it.
func unwaitedAt(f *source.File, start *ast.GoStmt, around []ast.Node) []*unwaited {
	lit, ok := ast.Unparen(start.Call.Fun).(*ast.FuncLit)
	function, body := syntax.FunctionAround(around)
	if list, _ := syntax.ListAround(start, around); !ok || body == nil || list == nil {
		return nil
	}
	var all []*unwaited
	for _, id := range syntax.SetIn(f, lit) {
		v := f.Info.Uses[id].(*types.Var)
		if !syntax.DeclaredIn(v, body) || syntax.DeclaredIn(v, lit) {
			continue
		}
		for i := len(around) - 1; i >= 0 && syntax.Within(around[i], body) && syntax.DeclaredIn(v, body); i-- {
			list := syntax.Statements(around[i])
			from := slices.IndexFunc(list, func(s ast.Stmt) bool { return syntax.Within(start, s) })
			if from < 0 {
				continue
			}
			next := slices.IndexFunc(list[from+1:], func(s ast.Stmt) bool { return syntax.Mentions(f, s, v) })
			if next < 0 {
				continue
			}
			to := from + 1 + next
			if !syntax.Assigned(f, list[to:to+1], id) {
				all = append(all, &unwaited{file: f, start: start, runs: lit, runsIn: f, function: function, variable: v, list: list, from: from, to: to})
			}
			break
		}
	}
	return all
}

// unwaitedField finds the next statement that reads a field which a goroutine sets: of an object that the
// function has made, and that it may hand out, or by name.
//
//	r := &report{}                     go l.flush()
//	go func() { r.lines = read() }()   return len(l.flushed)
//	return r
func (r *finder) unwaitedField(f *source.File, start *ast.GoStmt, around []ast.Node) []*unwaited {
	u := &unwaited{file: f, start: start, runsIn: f}
	var body *ast.BlockStmt
	u.function, body = syntax.FunctionAround(around)
	u.list, u.from = syntax.ListAround(start, around)
	if body == nil || u.list == nil {
		return nil
	}
	literal, isLiteral := ast.Unparen(start.Call.Fun).(*ast.FuncLit)
	if u.runs = literal; !isLiteral {
		decl, in := r.Declaration(f, start.Call)
		if decl == nil || decl.Body == nil {
			return nil
		}
		u.runs, u.runsIn = decl, in
	}
	fields := fieldsSet(u.runsIn, source.Body(u.runs))
	for _, set := range fields {
		owner := r.Code.OwnerOf(set.Variable)
		root, _ := u.runsIn.Info.Uses[set.Root].(*types.Var)
		if owner == nil || root == nil || syntax.CanTell(owner) || tells(owner, fields, u.runsIn, u.runs) {
			continue
		}
		made := isLiteral && syntax.DeclaredIn(root, body) && !syntax.DeclaredIn(root, literal) && syntax.FreshIn(f, set.Root, around)
		for i, s := range u.list[u.from+1:] {
			reads := syntax.MentionsField(f, s, set.Variable)
			if !reads && !(made && syntax.Mentions(f, s, root)) {
				continue
			}
			if u.to = u.from + 1 + i; !syntax.ChangesAny(f, s, []*types.Var{set.Variable}) {
				u.variable = set.Variable
				return []*unwaited{u}
			}
			break
		}
	}
	return nil
}

// tells reports whether a goroutine tells by a struct that it has set fields of it: by a flag, or by a call
// of a function that the struct holds.
func tells(owner *types.Named, set []syntax.Path, f *source.File, runs ast.Node) bool {
	for _, p := range set {
		if b, ok := p.Variable.Type().Underlying().(*types.Basic); ok && b.Kind() == types.Bool && dataname.HasField(owner, p.Variable) {
			return true
		}
	}
	for field := range owner.Underlying().(*types.Struct).Fields() {
		t := field.Type().Underlying()
		if list, ok := t.(*types.Slice); ok {
			t = list.Elem().Underlying()
		}
		if _, function := t.(*types.Signature); function && syntax.MentionsField(f, runs, field) {
			return true
		}
	}
	return false
}

// fieldsSet are the fields that statements set, or of which they set an element.
func fieldsSet(f *source.File, body *ast.BlockStmt) []syntax.Path {
	var all []syntax.Path
	ast.Inspect(body, func(n ast.Node) bool {
		var left []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			left = n.Lhs
		case *ast.IncDecStmt:
			left = []ast.Expr{n.X}
		}
		for _, e := range left {
			if element, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
				e = element.X
			}
			if p, ok := syntax.PathOf(f.Info, e); ok && p.Variable.IsField() {
				all = append(all, p)
			}
		}
		return true
	})
	return all
}

// wait moves the wait that the function has up in front of the read, or adds a WaitGroup.
func (r *finder) wait(u *unwaited) []*change.Change {
	w := r.Rewrite()
	f := u.file
	change := &change.Change{
		Words:   "the function waits for the goroutine before it reads " + u.variable.Name(),
		Mistake: "it reads the variable without knowing that the goroutine has set it",
		Reason:  "what the goroutine sets is there when it is read, in every schedule",
	}
	w.Note(f, u.list[u.to])
	literal, isLiteral := u.runs.(*ast.FuncLit)
	for _, s := range u.list[u.to+1:] {
		if isLiteral && syntax.WaitsFor(f, s, literal) {
			w.Of(f).LineBefore(u.list[u.to], f.TextOf(s))
			w.Of(f).Delete(s)
			return w.Finish(change)
		}
	}
	if syntax.MayWait(f, u.list[u.from:u.to+1]) {
		return nil
	}
	sync, err := w.Of(f).ImportStd("sync")
	if err != nil {
		return nil
	}
	name := source.NamesIn(u.function).Free("wg")
	w.Of(f).LineBefore(u.list[u.from], fmt.Sprintf("var %s %s.WaitGroup", name, sync))
	module := f.Package.Module
	byGo := len(u.start.Call.Args) == 0 && module != nil && version.Compare("go"+module.GoVersion, "go1.25") >= 0 && f.Info.TypeOf(u.start.Call.Fun).(*types.Signature).Results().Len() == 0
	switch {
	case byGo:
		w.Of(f).ReplaceBetween(u.start.Pos(), u.start.Call.Fun.Pos(), name+".Go(")
		w.Of(f).ReplaceBetween(u.start.Call.Lparen, u.start.Call.Rparen+1, ")")
	case isLiteral:
		w.Of(f).LineBefore(u.start, name+".Add(1)")
		w.Of(f).LineBefore(literal.Body.List[0], "defer "+name+".Done()")
	case len(u.start.Call.Args) > 0:
		return nil // what they are is to be known when the goroutine starts
	default:
		w.Of(f).Replace(u.start, fmt.Sprintf("%s.Add(1)\ngo func() {\ndefer %[1]s.Done()\n%s\n}()", name, f.TextOf(u.start.Call)))
	}
	w.Of(f).LineBefore(u.list[u.to], name+".Wait()")
	return w.Finish(change)
}
