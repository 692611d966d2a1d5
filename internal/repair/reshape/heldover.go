package reshape

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// releaseBeforeWait releases a lock before the last thing that is done under it, if that is to
// send or receive by a channel and needs nothing that the lock may guard.
func (r *finder) releaseBeforeWait() []*change.Change {
	var changes []*change.Change
	var seen []ast.Stmt
	for i := range r.Failure.Waiting {
		waiter := &r.Failure.Waiting[i]
		if waiter.Op != event.Send && waiter.Op != event.Recv {
			continue
		}
		f, line := r.LineOf(&waiter.Point)
		for j := range waiter.Holds {
			t := r.takingAt(r.LineOf(&waiter.Holds[j].Point))
			if f == nil || t == nil || t.file != f {
				continue
			}
			syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
				s, ok := n.(ast.Stmt)
				if !ok || f.Line(n.Pos()) != line || !syntax.Within(n, t.body) || slices.Contains(seen, s) || !r.needsNoLock(f, s) {
					return
				}
				if list, at := syntax.ListAround(s, around); list != nil {
					seen = append(seen, s)
					changes = append(changes, r.releaseBefore(t, list, at)...)
				}
			})
		}
	}
	return changes
}

// needsNoLock reports whether a statement is a send or a receive whose channel is made once, and
// whose value is a variable of the function or a constant.
func (r *finder) needsNoLock(f *source.File, s ast.Stmt) bool {
	var channel ast.Expr
	switch s := s.(type) {
	case *ast.SendStmt:
		if syntax.MayNeedLock(f.Info, s.Value) || syntax.Calls(s.Value) {
			return false
		}
		channel = s.Chan
	case *ast.ExprStmt:
		channel = syntax.ReceivedFrom(s.X)
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE && len(s.Rhs) == 1 {
			channel = syntax.ReceivedFrom(s.Rhs[0])
		}
	}
	if channel == nil {
		return false
	}
	p, ok := syntax.PathOf(f.Info, channel)
	return ok && p.Plain && !r.MadeAgain(p.Variable)
}

// releaseBefore has a lock released before a statement of a list: by the release that follows
// it, or in the place of a deferred one.
func (r *finder) releaseBefore(t *taking, list []ast.Stmt, at int) []*change.Change {
	w := r.Rewrite()
	f := t.file
	change := &change.Change{
		Words:   "the lock " + t.class.Name() + " is released before the channel is waited for",
		Mistake: "the goroutine waits while it holds a lock that another needs to end the wait",
		Reason:  "what ends the wait can take the lock, and the channel needs none",
	}
	w.Note(f, list[at])
	if at+1 < len(list) {
		if call := syntax.CallOf(list[at+1]); call != nil && f.TextOf(call) == t.release {
			w.Of(f).LineBefore(list[at], f.TextOf(list[at+1]))
			w.Of(f).Delete(list[at+1])
			return w.Finish(change)
		}
	}
	taken := slices.Index(t.body.List, t.statement)
	if taken < 0 || taken+1 >= at || !slices.Equal(list, t.body.List) || at+1 != len(list) {
		return nil
	}
	later, ok := list[taken+1].(*ast.DeferStmt)
	if !ok || f.TextOf(later.Call) != t.release || slices.ContainsFunc(list[taken+2:at], func(s ast.Stmt) bool { return syntax.Leaves(s) || syntax.MayPanic(f, s) }) {
		return nil
	}
	if op, ok := r.Code.Locks().Op(f.Info, later.Call); !ok || op.Verb != locks.Release {
		return nil
	}
	w.Of(f).Delete(later)
	w.Of(f).LineBefore(list[at], t.release)
	return w.Finish(change)
}
