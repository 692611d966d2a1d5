package reshape

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A taking is a statement that takes a lock, in the function that it is in.
type taking struct {
	file      *source.File
	statement ast.Stmt
	function  ast.Node
	body      *ast.BlockStmt
	class     *types.Var
	mode      locks.Mode
	lock      *locks.Place
	release   string // the call that releases it
}

// releaseOnEveryWay has a function release the lock that it keeps on some way out.
func (r *finder) releaseOnEveryWay() []*change.Change {
	var changes []*change.Change
	var seen []ast.Stmt
	for i := range r.Failure.Waiting {
		waiter := &r.Failure.Waiting[i]
		for j := range waiter.HeldBy {
			if !waiter.HeldBy[j].Returned && !waiter.HeldBy[j].Ended {
				continue
			}
			t := r.takingAt(r.LineOf(&waiter.HeldBy[j].Point))
			if t != nil && !slices.Contains(seen, t.statement) {
				seen = append(seen, t.statement)
				changes = append(changes, r.releaseAlways(t)...)
			}
		}
	}
	return changes
}

// takingAt is the statement that takes a lock on a line; nil if there is none.
func (r *finder) takingAt(f *source.File, line int) *taking {
	if f == nil {
		return nil
	}
	var found *taking
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if s, ok := n.(ast.Stmt); ok && f.Line(n.Pos()) == line && found == nil {
			found = r.takingOf(f, s)
		}
		return found == nil
	})
	return found
}

// takingOf is the taking of a lock that a statement is; nil if it is none.
func (r *finder) takingOf(f *source.File, s ast.Stmt) *taking {
	op, class := r.operation(f, s)
	if class == nil || op.Verb != locks.Acquire {
		return nil
	}
	selector, ok := ast.Unparen(syntax.CallOf(s).Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	verbs := map[string]string{"Lock": "Unlock", "RLock": "RUnlock"}
	verb := verbs[selector.Sel.Name]
	function := cover.EnclosingFunction(f, s)
	if verb == "" || function == nil {
		return nil
	}
	t := &taking{file: f, statement: s, function: function, class: class, mode: op.Mode, lock: op.Lock, release: f.TextOf(selector.X) + "." + verb + "()"}
	switch fn := function.(type) {
	case *ast.FuncDecl:
		t.body = fn.Body
	case *ast.FuncLit:
		t.body = fn.Body
	}
	return t
}

// releaseAlways defers the release of a lock, if the releases that the function has are the
// last thing that it does; or else adds one in front of each return that misses it.
func (r *finder) releaseAlways(t *taking) []*change.Change {
	final, others := t.releases()
	index := slices.Index(t.body.List, t.statement)
	_, literal := t.function.(*ast.FuncLit)
	w := r.Rewrite()
	change := &change.Change{
		Words:   "the lock " + t.class.Name() + " is released on every way out",
		Mistake: "a way out of the function that takes it does not release it",
		Reason:  "whichever way the function ends, the next goroutine can take the lock",
	}
	if others == 0 && index >= 0 && (len(final) > 0 || literal && !syntax.MayWait(t.file, t.body.List[index:])) {
		w.Of(t.file).LineAfter(t.statement, "defer "+t.release)
		for _, s := range final {
			w.Of(t.file).Delete(s)
		}
		w.Note(t.file, t.statement)
		return w.Finish(change)
	}
	if len(final)+others == 0 {
		return nil // the caller has to release it
	}
	for _, back := range r.keeping(t) {
		if slices.ContainsFunc(back.Results, func(e ast.Expr) bool { return syntax.MayNeedLock(t.file.Info, e) }) {
			return nil
		}
		w.Of(t.file).LineBefore(back, t.release)
		w.Note(t.file, back)
	}
	return w.Finish(change)
}

// releases are the statements of the function that release the lock: those that are the last
// thing that it does, and how many others there are.
func (t *taking) releases() (final []ast.Stmt, others int) {
	ast.PreorderStack(t.body, nil, func(n ast.Node, around []ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < t.statement.End() || t.file.TextOf(call) != t.release {
			return true
		}
		s, ok := around[len(around)-1].(ast.Stmt)
		if !ok || syntax.CallOf(s) != call {
			others++
			return true
		}
		list, i := syntax.ListAround(s, around[:len(around)-1])
		switch {
		case list == nil:
			others++
		case i+1 < len(list):
			if back, ok := list[i+1].(*ast.ReturnStmt); ok && !slices.ContainsFunc(back.Results, syntax.Calls) {
				final = append(final, s)
			} else {
				others++
			}
		case s == t.body.List[len(t.body.List)-1]:
			final = append(final, s)
		default:
			others++
		}
		return true
	})
	return final, others
}

// keeping are the returns of the function at which it still holds the lock.
func (r *finder) keeping(t *taking) []*ast.ReturnStmt {
	flow := r.Code.Locks().Flow(t.function)
	if flow == nil {
		return nil
	}
	var all []*ast.ReturnStmt
	ast.Inspect(t.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for _, found := range flow.Findings {
				if found.Kind == locks.LeftHeld && !found.Panics && found.At == n.Pos() && r.Code.Locks().Places.Class(found.Lock) == t.class {
					all = append(all, n)
				}
			}
		}
		return true
	})
	return all
}
