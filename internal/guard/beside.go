package guard

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// Two accesses of which neither is kept from the other, whatever the lock of the one is for.

// isStartedItself reports whether go statements alone run the function of an access, and nothing waits for
// its end: nothing that calls it has the lock for it.
func (c *chooser) isStartedItself(o lockset.Observation) bool {
	return !isWaitedFor(o.Instr.Parent()) && !slices.ContainsFunc(c.rootsOf(o), func(r lockset.Root) bool { return !r.Started || r.Func != o.Instr.Parent() })
}

// besideStarted returns an observation with the lock, in what users can call at any time, that one of a
// goroutine of the package can happen beside. What sends, receives or waits there may order the two.
//
//	func NewFeed() *Feed               { f := &Feed{}; go f.loop(); return f }
//	func (f *Feed) loop()              { for range f.tick { f.items = fetch() } }
//	func (f *Feed) Items() []Item      { f.mu.Lock(); ... }      at any time, and heeds no tick
func (c *chooser) besideStarted(v *subject, o lockset.Observation, way *locks.Place) *lockset.Observation {
	if !c.isOfOwner(o) || isBehindWait(o) || isBehindAtomic(o) {
		return nil
	}
	for _, s := range v.sites {
		for _, p := range s.Observations {
			if c.isWitness(v, o, p, way) && IsOfUsers(p) && c.isOfPublicAPI(p.Instr.Parent()) && !slices.ContainsFunc(instructions(p.Instr.Parent()), ordersGoroutines) {
				return &p
			}
		}
	}
	return nil
}

// isOfOwner reports whether the object of an observation in a goroutine is one that users may have: the
// receiver of the method that starts the goroutine, or what that has made, and not a copy.
func (c *chooser) isOfOwner(o lockset.Observation) bool {
	if o.Base == nil {
		return true
	}
	root := o.Base.Root()
	if given, ok := root.(*ssa.Parameter); ok && given.Parent() == o.Instr.Parent() {
		start := o.Context.Callers(1)
		if len(start) == 0 || given.Parent().Signature.Recv() == nil || given != given.Parent().Params[0] {
			return false
		}
		root = c.analysis.PlaceOf(start[0].Call.Common().Args[0]).Root()
	}
	switch root := root.(type) {
	case *ssa.Parameter:
		return root.Parent().Signature.Recv() != nil && root == root.Parent().Params[0]
	case *ssa.Alloc:
		return root.Parent() != o.Instr.Parent() && !slices.ContainsFunc(*root.Referrers(), func(i ssa.Instruction) bool {
			store, ok := i.(*ssa.Store)
			return ok && store.Addr == ssa.Value(root)
		})
	}
	return false
}

// isBehindAtomic reports whether a function has looked at an atomic variable ahead of an access.
func isBehindAtomic(o lockset.Observation) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		call, ok := i.(*ssa.Call)
		return ok && isAtomicLoad(call) && isCheck(call) && isAhead(call, o.Instr)
	})
}

// ordersGoroutines reports whether an instruction lets another goroutine go on, or waits for one, other than by a lock.
func ordersGoroutines(i ssa.Instruction) bool {
	switch i := i.(type) {
	case *ssa.Send, *ssa.Select:
		return true
	case *ssa.UnOp:
		return i.Op == token.ARROW
	case *ssa.Call:
		if b, ok := i.Call.Value.(*ssa.Builtin); ok {
			return b.Name() == "close"
		}
		return isAtomicLoad(i) || i.Call.StaticCallee() != nil && i.Call.StaticCallee().Name() == "Wait"
	}
	return false
}

// hasWrongLock reports whether users can make a write with a lock that its function takes, beside an access
// that another function makes with the guard and without that lock. Where data has two locks, of which
// readers take either and writers both, the two would have one in common.
//
//	func (r *Router) Hit(p string)    { r.statsMu.Lock(); r.hits[p]++; ... }
//	func (r *Router) Remove(p string) { r.routesMu.Lock(); delete(r.hits, p); ... }
func (c *chooser) hasWrongLock(v *subject, o lockset.Observation, way *locks.Place) bool {
	if o.Kind != Write || len(o.Held) == 0 || !c.isByEntry(o) || way.Depth() != 1 || slices.ContainsFunc(o.Held, func(r lockset.Relation) bool { return r.Lock.Depth() != 1 }) {
		return false
	}
	return slices.ContainsFunc(v.sites, func(s *lockset.Site) bool {
		return slices.ContainsFunc(s.Observations, func(p lockset.Observation) bool {
			return c.isByEntry(p) && c.isWitness(v, o, p, way) && c.runsBeside(c.rootsOf(o), o, p)
		})
	})
}

// isByEntry reports whether users alone call the function of an observation, whose receiver has the data.
func (c *chooser) isByEntry(o lockset.Observation) bool {
	return !o.Unnamed && c.isOfPublicAPI(o.Instr.Parent()) && o.Base != nil && o.Base.Depth() == 0 && isOfReceiver(o) &&
		!slices.ContainsFunc(append([]*lockset.Context{o.Context}, o.Others...), func(ctx *lockset.Context) bool { return !ctx.IsEntry() })
}
