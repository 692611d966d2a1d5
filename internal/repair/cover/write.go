package cover

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
)

// ErrCovered says that a lock covers all regions as it is: they exclude each other already,
// and another lock would change nothing.
var ErrCovered = errors.New("the lock covers all of the sections already")

// Write returns the patch, on top of an earlier one that may be nil, that has a lock cover
// regions, and so guard data. Regions that touch become one, and so do a region and a section of the lock that
// it touches; a region in a function that cannot name the lock moves to the calls of it.
func (code *Code) Write(regions []*Region, l *Lock, data []dataname.Name, base *Patch) (*Patch, error) {
	work, err := code.arrange(regions, l)
	if err != nil {
		return nil, err
	}
	e := newEdits()
	changed, err := code.copyOutHeld(e, regions, l)
	if err != nil {
		return nil, err
	}
	if work, err = code.writeVariants(e, work, l); err != nil {
		return nil, err
	}
	changed = changed || len(e.variants) > 0
	slices.SortStableFunc(work, func(a, b *Region) int { return int(a.first().Pos() - b.first().Pos()) })
	for _, r := range work {
		changed = changed || len(r.Copied) > 0
		done, err := code.absorb(e, r, l)
		if err != nil {
			return nil, err
		}
		if done {
			if err := r.copyOut(e); err != nil {
				return nil, err
			}
			continue
		}
		changed = true
		if err := code.cover(e, r, work, l); err != nil {
			return nil, err
		}
	}
	if !changed {
		return nil, ErrCovered
	}
	guarded := slices.Clone(base.Guarded(l))
	for _, n := range data {
		if !base.guardedByOther(l, n) {
			add(&guarded, n)
		}
	}
	if !l.Exists() {
		if err := l.declare(e, guarded); err != nil {
			return nil, err
		}
	} else if base.Added(l) {
		code.redeclare(e, l, guarded)
	}
	patch, err := code.patch(e, base)
	if err != nil {
		return nil, err
	}
	patch.guards[l.declared()] = Guard{l, guarded}
	if l.Exists() {
		return patch, nil
	}
	patch.NewLocks = append(patch.NewLocks, NewLock{Words: l.Words, declared: l.declared()})
	return patch, nil
}

// WriteThroughout returns the patch that holds a lock, which the earlier patch has added,
// from start to end of the methods that the regions are in; nil if they are in anything
// else, or no such patch can be written.
func (code *Code) WriteThroughout(regions []*Region, l *Lock, data []dataname.Name, base *Patch) *Patch {
	if receiver := receiverOf(regions); !base.Added(l) || receiver == nil || receiver != l.owner {
		return nil
	}
	var whole []*Region
	for _, r := range regions {
		if r.Test {
			return nil
		}
		whole = append(whole, r.throughout())
	}
	patch, err := code.Write(whole, l, data, base)
	if err != nil {
		return nil
	}
	return patch
}

// arrange returns the regions that a lock is to be written around, which stand for others.
func (code *Code) arrange(regions []*Region, l *Lock) ([]*Region, error) {
	work := make([]*Region, 0, len(regions))
	for _, r := range regions {
		more, err := code.standIns(r.clone(), l, 0)
		if err != nil {
			return nil, err
		}
		for _, r := range more {
			work = append(work, code.checkedAgain(r, l)...)
		}
	}
	for _, r := range work {
		code.widenToOuterSection(r, l)
		code.aroundLoops(r, l)
	}
	work = code.merge(work, l)
	if l.Exists() {
		// Two regions may touch the same section.
		for _, r := range work {
			if !code.readsAhead(r, l) {
				r.from, r.to = extent(r, code.lockStatements(r, l))
			}
		}
		return code.outermost(code.merge(work, l), l), nil
	}
	return code.outermost(code.toCallers(work, l), l), nil
}

// outermost drops the regions of functions that are called from other regions alone: the
// lock is held there already, unless it is released for the call. An exported function has callers that
// are not seen.
func (code *Code) outermost(regions []*Region, l *Lock) []*Region {
	within := func(c, r *Region) bool {
		return c.fn == r.fn && r.first().Pos() <= c.first().Pos() && c.last().End() <= r.last().End() &&
			!slices.ContainsFunc(code.tailsOf(r, l), func(s ast.Stmt) bool { return statement.Encloses(s, c.first()) })
	}
	for i, r := range regions {
		calls, static := code.callsOf(r.fn)
		if !static || len(calls) == 0 || code.hasUsers(r) {
			continue
		}
		inside := true
		for _, c := range calls {
			inside = inside && slices.ContainsFunc(regions, func(o *Region) bool { return o.fn != r.fn && within(c, o) })
		}
		if inside {
			return code.outermost(slices.Delete(slices.Clone(regions), i, i+1), l)
		}
	}
	return regions
}

// hasUsers reports whether code outside the program may call the function of a region.
func (code *Code) hasUsers(r *Region) bool {
	d, ok := r.fn.(*ast.FuncDecl)
	return ok && d.Name.IsExported() && r.file.Types.Name() != "main" && !r.Test
}

// widenToOuterSection makes a region cover the whole of a section of another lock that it lies in, if the lock is
// taken before the other elsewhere: a new lock is taken first everywhere, so that the two have one
// order.
func (code *Code) widenToOuterSection(r *Region, l *Lock) {
	for k := r.from - 1; k >= 0; k-- {
		op, deferred, ok := code.lockOperationOf(r.info(), r.list[k])
		if !ok || deferred {
			continue
		}
		if !op.takes() {
			return // released before
		}
		if l.Exists() && !code.isOuter(l, op) {
			return
		}
		to := len(r.list) - 1
		for i := r.to + 1; i < len(r.list); i++ {
			if u, deferred, ok := code.lockOperationOf(r.info(), r.list[i]); ok && !deferred && !u.takes() && u.class == op.class {
				to = i
				break
			}
		}
		r.from, r.to = k, to
	}
}

// isOuter reports whether the program takes another lock, of an operation, with a lock held, and
// never the other way round.
func (code *Code) isOuter(l *Lock, op operation) bool {
	class, outer := code.class(l), false
	for _, flow := range code.locks.Flows() {
		for _, e := range flow.Edges {
			if e.First == op.class && e.Second == class {
				return false
			}
			outer = outer || e.First == class && e.Second == op.class
		}
	}
	return outer
}

// maxLift is how many calls up a region may move.
const maxLift = 4

// standIns finds the regions that stand for one: itself; none, if the lock is held there
// already; or the calls of its function, if it cannot name the lock or is called by some
// with the lock held.
func (code *Code) standIns(r *Region, l *Lock, depth int) ([]*Region, error) {
	if code.isHeld(r, l) {
		return nil, nil
	}
	calls, _, static := code.callsFromOutside(r.fn)
	byHolder := l.Exists() && slices.ContainsFunc(calls, func(c *Region) bool { _, held := code.heldBefore(c, l); return held })
	if code.name(l, r) != "" && !byHolder {
		return []*Region{r}, nil
	}
	// A test calls what users of the package call: users would have to take the lock as well.
	byUsers := !r.isTest() && slices.ContainsFunc(calls, (*Region).isTest)
	if !static || len(calls) == 0 || depth == maxLift || byUsers {
		return nil, fmt.Errorf("%s cannot be named in %s", l.Words, r.place())
	}
	var all []*Region
	for _, c := range calls {
		if l.Exists() {
			if mode, held := code.heldBefore(c, l); held && (mode == locks.Write || !r.Write) {
				continue
			}
		}
		c.Write = r.Write
		more, err := code.standIns(c, l, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// isHeld reports whether a region holds the lock as it is.
func (code *Code) isHeld(r *Region, l *Lock) bool {
	return l.Exists() && (code.seenHeld(r, l) || code.heldThroughout(r, l))
}

// heldThroughout reports whether a region lies in a section of the lock, whichever way control has
// come, and does nothing to the lock.
func (code *Code) heldThroughout(r *Region, l *Lock) bool {
	flow := code.locks.Flow(r.fn)
	if flow == nil || l.striped || code.takesInside(r, l, func(ast.Stmt) bool { return false }) || code.callsTake(r, l) {
		return false
	}
	return slices.ContainsFunc(flow.Held(r.first()), func(h locks.Held) bool {
		return !h.Maybe && !h.Lost && code.locks.Places.Class(h.Lock) == code.class(l) && (h.Mode == locks.Write || !r.Write) &&
			(l.owner == nil || code.ownerPlace(r, l) == h.Lock.Parent())
	})
}

// heldBefore reports whether a lock is held, whichever way control has come, where a region
// begins, and how.
func (code *Code) heldBefore(r *Region, l *Lock) (mode locks.Mode, held bool) {
	flow := code.locks.Flow(r.fn)
	if flow == nil {
		return 0, false
	}
	for _, h := range flow.Held(r.first()) {
		if !h.Maybe && code.locks.Places.Class(h.Lock) == code.class(l) {
			return h.Mode, true
		}
	}
	return 0, false
}

// seenHeld reports whether every time that was looked at, all accesses of a region held the
// lock, from one taking of it.
func (code *Code) seenHeld(r *Region, l *Lock) bool {
	if len(r.Accesses) == 0 {
		return false
	}
	for _, x := range r.Accesses {
		if !slices.ContainsFunc(x.Held, func(h HeldLock) bool { return h.Lock == code.class(l) && (!h.Read || !r.Write) }) {
			return false
		}
	}
	if len(r.Accesses) == 1 {
		return true
	}
	// Several accesses may hold it one after the other: only if nothing in the function
	// takes it were they under one.
	taken := false
	statement.Each(r.body.List, func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			if op, ok := code.operationOf(r.info(), c); ok && code.isOn(op, l) {
				taken = true
			}
		}
	})
	return !taken && !code.callsTake(r, l)
}

// callsTake reports whether a function of the program that a region calls takes the lock, but for
// some functions.
func (code *Code) callsTake(r *Region, l *Lock, but ...*ast.FuncDecl) bool {
	found := false
	code.locks.EachAtOnce(r.info(), &ast.BlockStmt{List: r.statements()}, func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			d, _ := code.callee(r.info(), c)
			found = found || !slices.Contains(but, d) && code.locks.CallTakes(r.info(), c, code.class(l))
		}
	})
	return found
}

// callsOf are the statements that call a function, and whether it is used in no other
// way.
func (code *Code) callsOf(fn ast.Node) (calls []*Region, static bool) {
	d, ok := fn.(*ast.FuncDecl)
	if !ok {
		return nil, false
	}
	all, static := code.uses().Calls(d)
	for _, c := range all {
		if r := code.Region(c.From, []ast.Node{c.Expr}); r != nil {
			calls = append(calls, r)
		}
	}
	return calls, static
}
