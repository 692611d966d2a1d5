package reshape

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A condition is what a goroutine waits for by a sync.Cond: a loop around Wait, with the fields
// that the loop looks at. The Cond, its lock and the fields are of one struct or of the package.
type condition struct {
	cond    *types.Var
	lock    *types.Var
	watched []*types.Var
	once    bool // there is no loop, but a branch that could be one
}

// signalUnderLock has every change of what a loop around Wait looks at happen under the lock of
// the Cond, up to the signal that follows it; and, if that is so already and several goroutines
// wait, wakes all of them. What does not look again when it wakes is made to, too: neither helps alone
// where a signal that all wait for wakes one.
func (r *finder) signalUnderLock() []*change.Change {
	var changes []*change.Change
	var seen []*types.Var
	for i := range r.Failure.Waiting {
		waiter := &r.Failure.Waiting[i]
		if waiter.Shape != event.MissedSignal && waiter.Shape != event.NoSignal {
			continue
		}
		c := r.conditionAt(r.LineOf(&waiter.Point))
		if c == nil || syntax.Contains(seen, c.cond) {
			continue
		}
		seen = append(seen, c.cond)
		if locked, all := r.lockChanges(c); !all {
			changes = append(changes, locked...)
		} else {
			changes = append(changes, r.wakeAll(c)...)
		}
	}
	return changes
}

// conditionAt is what a call of Wait on a line waits for; nil if nothing looks at it.
func (r *finder) conditionAt(f *source.File, line int) *condition {
	if f == nil {
		return nil
	}
	var c *condition
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || f.Line(call.Pos()) != line || c != nil {
			return
		}
		on, ok := syntax.MethodCall(f.Info, call, "Cond", "Wait")
		if !ok {
			return
		}
		p, ok := syntax.PathOf(f.Info, on)
		function, _ := syntax.FunctionAround(around)
		flow := r.Code.Locks().Flow(function)
		if !ok || flow == nil {
			return
		}
		held := flow.Held(call)
		if len(held) != 1 || held[0].Maybe {
			return
		}
		c = &condition{cond: p.Variable.Origin(), lock: r.Code.Locks().Places.Class(held[0].Lock)}
		for i := len(around) - 1; i >= 0; i-- {
			if loop, ok := around[i].(*ast.ForStmt); ok && loop.Cond != nil {
				c.watched = syntax.FieldsIn(f, loop.Cond)
				break
			}
			if branch, ok := around[i].(*ast.IfStmt); ok && waitsOnce(f, branch) {
				c.watched, c.once = syntax.FieldsIn(f, branch.Cond), true
				break
			}
		}
	})
	if c == nil || len(c.watched) == 0 || c.lock == nil {
		return nil
	}
	return c
}

// lockChanges takes the lock around the changes that are made without it; all says that there
// are none.
func (r *finder) lockChanges(c *condition) (changes []*change.Change, all bool) {
	w := r.Rewrite()
	for _, f := range r.Code.Files() {
		failed := false
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			list := syntax.Statements(n)
			for i := 0; i < len(list) && !failed; i++ {
				if !syntax.ChangesAny(f, list[i], c.watched) || syntax.ChangesFresh(f, list[i], append(around, n)) {
					continue
				}
				function, _ := syntax.FunctionAround(append(around, n))
				flow := r.Code.Locks().Flow(function)
				if flow == nil || slices.ContainsFunc(flow.Held(list[i]), func(h locks.Held) bool { return syntax.Same(r.Code.Locks().Places.Class(h.Lock), c.lock) }) {
					continue
				}
				last := r.signalBehind(f, c, list, i)
				take, ok := r.lockName(f, c, list, i, last)
				if !ok {
					failed = true
					return
				}
				w.Of(f).LineBefore(list[i], take+".Lock()")
				w.Of(f).LineAfter(list[last], take+".Unlock()")
				w.Note(f, list[i])
				i = last
			}
		})
		if failed {
			return nil, false
		}
	}
	if w.IsEmpty() {
		return nil, true
	}
	return w.Finish(&change.Change{
		Words:   "what " + c.cond.Name() + " signals is changed and signalled with the lock " + c.lock.Name() + " held",
		Mistake: "the change and the signal fall between the waiter's look and its wait",
		Reason:  "the waiter holds the lock from its look to its wait, so that a change comes before the look or wakes the waiter",
	}), false
}

// signalBehind is the last of the statements from i on that are changes, or signal the Cond.
func (r *finder) signalBehind(f *source.File, c *condition, list []ast.Stmt, i int) int {
	last := i
	for j := i + 1; j < len(list); j++ {
		call := syntax.CallOf(list[j])
		if call == nil {
			if !syntax.ChangesAny(f, list[j], c.watched) {
				return last
			}
			continue
		}
		if !signals(f, call, c) {
			return last
		}
		last = j
	}
	return last
}

// signals reports whether a call signals a Cond.
func signals(f *source.File, call *ast.CallExpr, c *condition) bool {
	for _, verb := range []string{"Signal", "Broadcast"} {
		if on, ok := syntax.MethodCall(f.Info, call, "Cond", verb); ok {
			p, ok := syntax.PathOf(f.Info, on)
			return ok && syntax.Same(p.Variable.Origin(), c.cond)
		}
	}
	return false
}

// lockName names the lock of the Cond in front of a statement that changes a field: beside the
// field if both are of one struct.
func (r *finder) lockName(f *source.File, c *condition, list []ast.Stmt, from, to int) (string, bool) {
	var e ast.Expr
	switch s := list[from].(type) {
	case *ast.AssignStmt:
		e = s.Lhs[0]
	case *ast.IncDecStmt:
		e = s.X
	}
	if index, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		e = index.X
	}
	if slices.ContainsFunc(list[from:to+1], func(s ast.Stmt) bool { return r.Reaches(f, s, syntax.WaitsItself) }) {
		return "", false
	}
	if !c.lock.IsField() {
		return c.lock.Name(), f.Means(c.lock, list[from].Pos())
	}
	selector, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	owner := syntax.NamedType(f.Info.TypeOf(selector.X))
	if owner == nil {
		return "", false
	}
	o, _, _ := types.LookupFieldOrMethod(owner, true, f.Types, c.lock.Name())
	field, ok := o.(*types.Var)
	return f.TextOf(selector.X) + "." + c.lock.Name(), ok && syntax.Same(field.Origin(), c.lock)
}

// wakeAll makes a Broadcast of every Signal.
func (r *finder) wakeAll(c *condition) []*change.Change {
	w := r.Rewrite()
	for _, f := range r.Code.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || syntax.CalleeName(call) != "Signal" || !signals(f, call, c) {
				return true
			}
			w.Of(f).Replace(ast.Unparen(call.Fun).(*ast.SelectorExpr).Sel, "Broadcast")
			w.Note(f, call)
			return true
		})
	}
	words := "every signal of " + c.cond.Name() + " wakes all goroutines that wait"
	if c.once && !w.IsEmpty() {
		r.lookAgain(w)
		words += ", and what wakes looks again"
	}
	return w.Finish(&change.Change{
		Words:   words,
		Mistake: "a signal wakes one goroutine, and may be the only one for several, or wake one that waits for something else",
		Reason:  "each of those that wait looks again whether it may go on, in a loop",
	})
}
