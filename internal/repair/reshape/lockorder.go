package reshape

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// An order is two locks of which the second is taken while the first is held.
type order struct {
	first, second *types.Var
	// taken is how many functions of the program take them so, last where the last of them
	// does.
	taken int
	last  token.Pos
}

// oneLockOrder has all functions that take two locks in one order take them in the other. Of
// the orders that led to the deadlock, the one that fewer functions have is given up.
func (r *finder) oneLockOrder() []*change.Change {
	var orders []order
	for i := range r.Failure.Waiting {
		waiter := &r.Failure.Waiting[i]
		if waiter.Shape != event.LockOrder {
			continue
		}
		second := r.lockTaken(r.LineOf(&waiter.Point))
		for j := range waiter.Holds {
			first := r.lockTaken(r.LineOf(&waiter.Holds[j].Point))
			if first == nil || second == nil || first == second {
				continue
			}
			o := order{first: first, second: second}
			if !slices.ContainsFunc(orders, func(x order) bool { return x.first == first && x.second == second }) {
				r.count(&o)
				orders = append(orders, o)
			}
		}
	}
	slices.SortStableFunc(orders, func(a, b order) int {
		if a.taken != b.taken {
			return a.taken - b.taken
		}
		return int(b.last - a.last)
	})
	changes := r.orderByIndex()
	for _, o := range orders {
		changes = append(changes, r.turnAround(o)...)
	}
	return changes
}

// orderByIndex has goroutines that take two locks of one array or slice, and wait for each other, take
// them in the order of their indexes.
//
//	t.forks[left].Lock()       first, second := min(left, right), max(left, right)
//	t.forks[right].Lock()      t.forks[first].Lock()
//	...                        t.forks[second].Lock()
//	t.forks[right].Unlock()    ...
//	t.forks[left].Unlock()     t.forks[second].Unlock()
//	                           t.forks[first].Unlock()
//
// They have to be released together: which of the two an index now means is not known.
func (r *finder) orderByIndex() []*change.Change {
	w := r.Rewrite()
	for i := range r.Failure.Waiting {
		waiter := &r.Failure.Waiting[i]
		f, line := r.LineOf(&waiter.Point)
		if waiter.Shape != event.LockOrder || f == nil || w.Edits(f) || f.Package.Module != nil && version.Compare("go"+f.Package.Module.GoVersion, "go1.21") < 0 {
			continue
		}
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			function, body := syntax.FunctionAround(append(around, n))
			first, second := syntax.ElementLocks(f, body, syntax.Statements(n), line)
			if first == nil {
				return
			}
			names := source.NamesIn(function)
			low, high := names.Free("first"), names.Free("second")
			w.Of(f).LineBefore(first.Take, fmt.Sprintf("%s, %s := min(%s, %s), max(%[3]s, %[4]s)", low, high, first.Index, second.Index))
			for _, x := range first.Indexes {
				w.Of(f).Replace(x, low)
			}
			for _, x := range second.Indexes {
				w.Of(f).Replace(x, high)
			}
			w.Note(f, first.Take)
		})
	}
	return w.Finish(&change.Change{
		Words:   "the locks are taken in the order of their indexes",
		Mistake: "goroutines take two locks of the same kind, each its own first",
		Reason:  "all goroutines take the lock with the smaller index first, so that none has one that the other needs before its own",
	})
}

// lockTaken returns the field or variable whose lock a line takes.
func (r *finder) lockTaken(f *source.File, line int) *types.Var {
	if f == nil {
		return nil
	}
	return r.Code.LockTakenAt(f, line)
}

func (r *finder) count(o *order) {
	for _, flow := range r.Code.Locks().Flows() {
		for _, e := range flow.Edges {
			if e.First == o.first && e.Second == o.second {
				o.taken++
				o.last = max(o.last, e.At)
			}
		}
	}
}

// turnAround moves the taking of the second lock in front of that of the first, wherever the
// two are statements of one list.
func (r *finder) turnAround(o order) []*change.Change {
	w := r.Rewrite()
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, _ []ast.Node) {
			list := syntax.Statements(n)
			first := -1
			for i := 0; i < len(list); i++ {
				op, class := r.operation(f, list[i])
				switch {
				case class == nil:
				case class == o.first && op.Verb == locks.Acquire && first < 0:
					first = i
				case class == o.first && op.Verb == locks.Release:
					first = -1
				case class == o.second && op.Verb == locks.Acquire && first >= 0:
					if i = r.moveUp(w, f, list, first, i); i < 0 {
						return
					}
				}
			}
		})
	}
	first, second := r.Code.Locks().ClassName(o.first), r.Code.Locks().ClassName(o.second)
	return w.Finish(&change.Change{
		Words:   fmt.Sprintf("the lock %s is taken before the lock %s", o.second.Name(), o.first.Name()),
		Mistake: "the program takes the two locks in both orders",
		Reason:  "all functions take the two locks in one order, so that no two goroutines can each have the one that the other needs",
		Check: func(after *cover.Code) string {
			for _, flow := range after.Locks().Flows() {
				for _, e := range flow.Edges {
					if after.Locks().ClassName(e.First) == first && after.Locks().ClassName(e.Second) == second {
						return fmt.Sprintf("%s still takes %s while it holds %s", e.In, o.second.Name(), o.first.Name())
					}
				}
			}
			return ""
		},
	})
}

// operation tells what a statement that is a call does to a lock, and to which.
func (r *finder) operation(f *source.File, s ast.Stmt) (locks.Op, *types.Var) {
	call := syntax.CallOf(s)
	if call == nil {
		return locks.Op{}, nil
	}
	op, ok := r.Code.Locks().Op(f.Info, call)
	if !ok {
		return locks.Op{}, nil
	}
	return op, r.Code.Locks().Places.ClassOf(op)
}

// moveUp moves a statement that takes a lock, with the deferred release behind it, in front of
// another of its list. It returns the last statement that it moved, -1 if the lock may be
// another one there, or would be held over a wait.
func (r *finder) moveUp(w *change.Rewriting, f *source.File, list []ast.Stmt, to, from int) int {
	selector, ok := ast.Unparen(syntax.CallOf(list[from]).Fun).(*ast.SelectorExpr)
	if !ok {
		return -1
	}
	p, ok := syntax.PathOf(f.Info, selector.X)
	if !ok || !p.Plain || !f.Means(f.Info.ObjectOf(p.Root), list[to].Pos()) || syntax.Assigned(f, list[to:from], p.Root) || syntax.MayWait(f, list[to:from]) {
		return -1
	}
	text := f.TextOf(list[from])
	w.Of(f).Delete(list[from])
	last := from
	if from+1 < len(list) {
		if later, ok := list[from+1].(*ast.DeferStmt); ok {
			if op, ok := r.Code.Locks().Op(f.Info, later.Call); ok && op.Verb == locks.Release {
				if on, ok := ast.Unparen(later.Call.Fun).(*ast.SelectorExpr); ok && f.TextOf(on.X) == f.TextOf(selector.X) {
					last++
					text += "\n" + f.TextOf(later)
					w.Of(f).Delete(later)
				}
			}
		}
	}
	w.Of(f).LineBefore(list[to], text)
	w.Note(f, list[to])
	return last
}
