package cover

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// cover writes Lock and Unlock around a region, which is one of all that the lock gets.
//
// Where the region lasts to the end of the function, or nearly, the unlock is deferred:
// that covers every way out, panics included. Otherwise, and in loops, where a deferred
// unlock would come too late, it stands on each way out.
func (code *Code) cover(e *edits, r *Region, all []*Region, l *Lock) error {
	name := code.name(l, r)
	if name == "" {
		return fmt.Errorf("%s cannot be named in %s", l.Words, r.place())
	}
	lock, unlock := name+".Lock()", name+".Unlock()"
	if l.rw && !r.Write {
		lock, unlock = name+".RLock()", name+".RUnlock()"
	}
	calls := code.ahead(r, l)
	head, err := code.headOf(r, all, l, calls)
	if err != nil {
		short := code.withTails(r, all, l)
		if short == nil {
			return err
		}
		r, calls = short, nil
	}
	e.places = append(e.places, r.place())
	edits := e.of(r.file)
	if head != nil {
		r.noteCopies(e)
		lock += "\n"
		if r.releasedBy != "" {
			lock, unlock = "", r.releasedBy
		}
		return head(edits, lock, unlock)
	}
	if err := r.copyOut(e); err != nil {
		return err
	}
	if err := code.afterNilCheck(edits, r, name); err != nil {
		return err
	}
	lock = r.move(edits, calls) + lock
	if len(r.tails) == 0 && code.deferrable(r, l) {
		e.outside = append(e.outside, code.outsideCalls(r.statements())...)
		edits.LineBefore(r.first(), lock+"\ndefer "+unlock)
		r.lookAgain(edits, "")
		return nil
	}
	if statement.Recovers(r.info(), r.body) && statement.CallsAny(r.info(), r.statements()) {
		return fmt.Errorf("%s recovers from panics, and one inside the section would leave %s held", r.place(), l.Words)
	}
	w := &exitWriter{Edits: edits, region: r, unlock: unlock, early: code.releasedEarly(r)}
	w.variable, _, _ = strings.Cut(name, ".")
	if !statement.Terminates(r.last()) && !w.named(r.last().End()) {
		return fmt.Errorf("the lock's name means something else at the end of the section in %s", r.place())
	}
	edits.LineBefore(r.first(), lock)
	r.lookAgain(edits, unlock)
	w.walk(&ast.BlockStmt{List: r.statements()}, false, false)
	if w.err != nil {
		return w.err
	}
	e.outside = append(e.outside, w.outsideCalls(code)...)
	if r.endsInBranches() {
		r.releaseInBranches(edits, unlock)
		return nil
	}
	if next := r.next(all); next != nil && !statement.Terminates(r.last()) && code.name(l, next) == name {
		if head, _ := code.headOf(next, all, l, code.ahead(next, l)); head != nil {
			next.releasedBy = unlock
			return nil
		}
	}
	if !statement.Terminates(r.last()) {
		edits.LineAfter(r.last(), unlock)
	}
	return nil
}

// next is the region that begins right behind this one, nil if there is none.
func (r *Region) next(all []*Region) *Region {
	for _, o := range all {
		if o.fn == r.fn && &o.list[0] == &r.list[0] && o.from == r.to+1 {
			return o
		}
	}
	return nil
}

// A headWriter writes the section of a region that holds the lock only for what its statement
// reads first. lock ends its line, or is empty if the lock is held already.
type headWriter func(edits *source.Edits, lock, unlock string) error

// headOf is how to write a region that holds the lock for its head alone, because that is all it
// is there for, or because it cannot hold the lock throughout; nil if it is held throughout.
func (code *Code) headOf(r *Region, all []*Region, l *Lock, ahead []*ast.CallExpr) (headWriter, error) {
	err := code.mayHold(r, all, l, ahead)
	if loop := r.header(); loop != nil && err == nil {
		return func(edits *source.Edits, lock, unlock string) error {
			r.coverLoopHead(edits, loop.X, r.file.TextOf(loop.X), lock, unlock)
			return nil
		}, nil
	}
	if err == nil {
		return nil, nil
	}
	if values, pkg := r.snapshot(); pkg != "" {
		return func(edits *source.Edits, lock, unlock string) error {
			name, err := edits.ImportStd(pkg)
			if err == nil {
				r.coverLoopHead(edits, values, name+".Clone("+r.file.TextOf(values)+")", lock, unlock)
			}
			return err
		}, nil
	}
	if g := code.gatheringOf(r); g != nil {
		return func(edits *source.Edits, lock, unlock string) error {
			g.write(edits, lock, unlock)
			return nil
		}, nil
	}
	if h := code.hoistOf(r, l); h != nil {
		return func(edits *source.Edits, lock, unlock string) error {
			return h.write(edits, lock, unlock)
		}, nil
	}
	return nil, err
}

// coverLoopHead has the region's loop go over a value that is computed ahead of it, with the lock
// held, in the place of an expression of its head.
func (r *Region) coverLoopHead(edits *source.Edits, over ast.Expr, value, lock, unlock string) {
	values := statement.NameFor(over)
	if values == "value" || !statement.IsUnused(r.info(), r.fn, values) {
		values = source.NamesIn(r.fn).Free("values")
	}
	edits.LineBefore(r.first(), lock+values+" := "+value+"\n"+unlock)
	edits.Replace(over, values)
}

// mayHold says why a region cannot hold the lock throughout, but for the calls that are made ahead.
func (code *Code) mayHold(r *Region, all []*Region, l *Lock, ahead []*ast.CallExpr) error {
	if why := code.regionBlocks(r, l, ahead); why != "" {
		return code.cannotWait(r, why)
	}
	return code.nested(r, all, l)
}

// cannotWait says that a region cannot hold the lock because of something that waits.
func (code *Code) cannotWait(r *Region, why string) error {
	return fmt.Errorf("a section in %s would hold the lock during %s, which may wait for a goroutine that needs the lock", r.place(), why)
}

// place is where a region is, in lines of the program without changes.
func (r *Region) place() Place {
	name := "a function literal"
	if d, ok := r.fn.(*ast.FuncDecl); ok {
		name = d.Name.Name
	}
	return Place{Function: name, File: r.file.Name, From: r.file.LineBefore(r.first().Pos()), To: r.file.LineBefore(r.last().End())}
}

// deferrable reports whether the unlock can wait for the end of the function: the
// region is in no loop, stands among the function's outermost statements or ends in
// a return, and what follows it is short and cannot wait.
func (code *Code) deferrable(r *Region, l *Lock) bool {
	if r.unlockDeferred {
		return true
	}
	if r.inLoop() || statement.HasGoto(r.body) {
		return false
	}
	top := len(r.body.List) > 0 && &r.list[0] == &r.body.List[0]
	if !top {
		return statement.Terminates(r.last())
	}
	rest := r.list[r.to+1:]
	if len(rest) == 0 {
		return statement.Returns(r.statements()) || statement.CallsAny(r.info(), r.statements())
	}
	if !statement.Returns(r.statements()) {
		return false
	}
	if code.whatMayWait(rest, l) != "" {
		return false
	}
	simple := true
	statement.Each(rest, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			simple = simple && code.returnsAtOnce(r.info(), n)
		case *ast.ForStmt, *ast.RangeStmt, *ast.GoStmt, *ast.DeferStmt:
			simple = false
		}
	})
	return simple
}

// An exitWriter writes the unlock on every way out of a region before its end.
type exitWriter struct {
	*source.Edits
	region   *Region
	unlock   string // the statement
	variable string // what the lock's name begins with
	// early are the returns ahead of which the lock is released, with the statements that come in between, the
	// last first.
	early map[*ast.ReturnStmt][]ast.Stmt
	err   error
}

// outsideCalls are the calls that wait for other programs or machines with the lock held.
func (w *exitWriter) outsideCalls(code *Code) []Place {
	released := code.outsideCalls(w.region.tails)
	for _, between := range w.early {
		released = append(released, code.outsideCalls(between)...)
	}
	return slices.DeleteFunc(code.outsideCalls(w.region.statements()), func(p Place) bool { return slices.Contains(released, p) })
}

// named reports whether the variable that the lock's name begins with is the same at a
// position as at the region's start. If it is none at both, the patch declares it.
func (w *exitWriter) named(at token.Pos) bool {
	return w.Lookup(w.variable, w.region.first().Pos()) == w.Lookup(w.variable, at)
}

// exit replaces a statement that leaves the region by a text that releases the lock first.
func (w *exitWriter) exit(s ast.Stmt, text string) {
	if !w.named(s.Pos()) {
		w.err = errors.New("the lock's name means something else at a way out of the region")
		return
	}
	w.Supersede(s, text)
}

// walk rewrites the statements in a node that leave the region. A continue in the node stays in the region if the
// node is in a loop that is, a break if it is in a loop, switch or select that is.
func (w *exitWriter) walk(n ast.Node, inLoop, inBreakable bool) {
	ast.Inspect(n, func(m ast.Node) bool {
		if m == n || m == nil {
			return true
		}
		switch m := m.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt:
			w.walk(m.Body, true, true)
			return false
		case *ast.RangeStmt:
			w.walk(m.Body, true, true)
			return false
		case *ast.SwitchStmt:
			w.walk(m.Body, inLoop, true)
			return false
		case *ast.TypeSwitchStmt:
			w.walk(m.Body, inLoop, true)
			return false
		case *ast.SelectStmt:
			w.walk(m.Body, inLoop, true)
			return false
		case *ast.ReturnStmt:
			switch between := w.early[m]; {
			case between != nil && w.named(m.Pos()):
				w.LineBefore(between[len(between)-1], w.unlock)
			case slices.Contains(w.region.tails, ast.Stmt(m)):
				w.exit(m, w.unlock+"\n"+w.ChangedText(m))
			default:
				w.exit(m, w.returned(m))
			}
			return false
		case *ast.ExprStmt:
			if c := statement.PanicOf(m); c != nil {
				w.exit(m, w.panicked(c))
				return false
			}
		case *ast.BranchStmt:
			if w.leaves(m, inLoop, inBreakable) {
				w.exit(m, w.unlock+"\n"+w.ChangedText(m))
			}
		}
		return true
	})
}

// leaves reports whether a branch leads out of the region.
func (w *exitWriter) leaves(b *ast.BranchStmt, inLoop, inBreakable bool) bool {
	if b.Label != nil || b.Tok == token.GOTO {
		return !statement.HasLabel(w.region.statements(), b.Label)
	}
	switch b.Tok {
	case token.BREAK, token.FALLTHROUGH:
		return !inBreakable
	case token.CONTINUE:
		return !inLoop
	}
	return false
}

// returned is the text of a return that releases the lock: its results are computed before.
//
//	return f(), 1     result0 := f()
//	                  mu.Unlock()
//	                  return result0, 1
func (w *exitWriter) returned(s *ast.ReturnStmt) string {
	var names, values, results []string
	free := source.NamesIn(w.region.fn)
	for _, x := range s.Results {
		if w.region.trivial(x) {
			results = append(results, w.ChangedText(x))
			continue
		}
		n := 1
		if tuple, ok := w.Info.Types[x].Type.(*types.Tuple); ok {
			n = tuple.Len()
		}
		for range n {
			name := ""
			if len(s.Results) == 1 && n == 1 {
				name = free.Free("result")
			} else {
				name = free.Numbered("result")
			}
			names, results = append(names, name), append(results, name)
		}
		value, err := statement.Typed(w.region.file, x, w.ChangedText(x))
		if err != nil {
			w.err = err
		}
		values = append(values, value)
	}
	if len(names) == 0 {
		return w.unlock + "\n" + w.ChangedText(s)
	}
	return strings.Join(names, ", ") + " := " + strings.Join(values, ", ") + "\n" + w.unlock + "\nreturn " + strings.Join(results, ", ")
}

// panicked is the text of a panic that releases the lock: its value is computed before.
func (w *exitWriter) panicked(c *ast.CallExpr) string {
	if w.region.trivial(c.Args[0]) {
		return w.unlock + "\n" + w.ChangedText(c)
	}
	name := source.NamesIn(w.region.fn).Free("reason")
	return name + " := " + w.ChangedText(c.Args[0]) + "\n" + w.unlock + "\npanic(" + name + ")"
}

// trivial reports whether an expression reads nothing that others can change.
func (r *Region) trivial(x ast.Expr) bool { return statement.IsSettled(r.file, r.fn, x) }
