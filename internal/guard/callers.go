package guard

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// What a function does without a lock may be the matter of what calls it.

// isHelper reports whether a function has a name of its own that users of the package do not
// know, and operates on the lock nowhere; or is run by one that has, which waits for its end, or has
// another call it.
func (c *chooser) isHelper(fn *ssa.Function, lock *types.Var) bool {
	for fn.Parent() != nil && (isWaitedFor(fn) || isArgument(fn)) {
		fn = fn.Parent()
	}
	return fn.Parent() == nil && !token.IsExported(fn.Name()) && !slices.ContainsFunc(instructions(fn), func(i ssa.Instruction) bool {
		return c.analysis.Operates(i, lock)
	})
}

// isKept reports whether a function literal is put into a field or an element, from where anything
// may call it.
//
//	c.lru.OnEvicted = func(k, v any) { c.size-- }    called by c.lru.Add, which is called with the lock
func isKept(fn *ssa.Function) bool {
	literal := literalOf(fn)
	return literal != nil && slices.ContainsFunc(*literal.Referrers(), func(i ssa.Instruction) bool {
		store, ok := i.(*ssa.Store)
		if !ok || store.Val != ssa.Value(literal) {
			return false
		}
		switch store.Addr.(type) {
		case *ssa.FieldAddr, *ssa.IndexAddr:
			return true
		}
		return false
	})
}

// isWaitedFor reports whether a function literal is a goroutine whose starter receives from a channel
// that it has made for both: it does not go on before it has heard from the goroutine.
func isWaitedFor(fn *ssa.Function) bool {
	literal := literalOf(fn)
	if literal == nil || !slices.ContainsFunc(*literal.Referrers(), func(i ssa.Instruction) bool { _, ok := i.(*ssa.Go); return ok }) {
		return false
	}
	return slices.ContainsFunc(instructions(fn.Parent()), func(i ssa.Instruction) bool {
		switch i := i.(type) {
		case *ssa.UnOp:
			return i.Op == token.ARROW && isShared(i.X, literal)
		case *ssa.Select:
			return i.Blocking && slices.ContainsFunc(i.States, func(s *ssa.SelectState) bool {
				return s.Dir == types.RecvOnly && isShared(s.Chan, literal)
			})
		}
		return false
	})
}

// isArgument reports whether a function literal is given to calls of functions that call it, and to
// nothing else: it is run before these return.
func isArgument(fn *ssa.Function) bool {
	literal := literalOf(fn)
	return literal != nil && !slices.ContainsFunc(*literal.Referrers(), func(i ssa.Instruction) bool {
		switch i := i.(type) {
		case *ssa.DebugRef:
			return false
		case *ssa.Call:
			return !isCalledBy(i.Call.StaticCallee(), slices.Index(i.Call.Args, ssa.Value(literal)))
		}
		return true
	})
}

// isCalledBy reports whether a function does nothing with a parameter but call it.
func isCalledBy(fn *ssa.Function, parameter int) bool {
	if fn == nil || len(fn.Blocks) == 0 || parameter < 0 || parameter >= len(fn.Params) {
		return false
	}
	given := fn.Params[parameter]
	return !slices.ContainsFunc(*given.Referrers(), func(i ssa.Instruction) bool {
		switch i := i.(type) {
		case *ssa.DebugRef:
			return false
		case *ssa.Call:
			return i.Call.Value != ssa.Value(given)
		}
		return true
	})
}

// isShared reports whether a function literal has a channel from the function that it stands in, which
// made it.
func isShared(channel ssa.Value, literal *ssa.MakeClosure) bool {
	if load, ok := channel.(*ssa.UnOp); ok && load.Op == token.MUL {
		channel = load.X
	}
	switch channel.(type) {
	case *ssa.MakeChan, *ssa.Alloc:
		return slices.Contains(literal.Bindings, channel)
	}
	return false
}

// literalOf returns what makes a function literal in the function that it stands in.
func literalOf(fn *ssa.Function) *ssa.MakeClosure {
	if fn.Parent() == nil {
		return nil
	}
	for _, i := range instructions(fn.Parent()) {
		if literal, ok := i.(*ssa.MakeClosure); ok && literal.Fn == fn {
			return literal
		}
	}
	return nil
}

// isGivenToHolder reports whether a function literal is handed to a call, and that to nothing but calls,
// of functions that take the lock.
//
//	db.Update(func(tx *Tx) error { return db.file.Sync() })
func (c *chooser) isGivenToHolder(fn *ssa.Function, lock *types.Var) bool {
	literal := literalOf(fn)
	if literal == nil {
		return false
	}
	given := false
	for _, user := range *literal.Referrers() {
		if _, ok := user.(*ssa.DebugRef); ok {
			continue
		}
		call, ok := user.(*ssa.Call)
		if !ok || !slices.Contains(call.Call.Args, ssa.Value(literal)) || !c.analysis.Acquires(call, lock) {
			return false
		}
		given = true
	}
	return given
}

// releasesBehind reports whether a function releases a lock behind an access, without taking it
// in between: it holds the lock, whatever was seen of how it came by it. It may have deferred that.
func (c *chooser) releasesBehind(access ssa.Instruction, lock *types.Var) bool {
	return slices.ContainsFunc(instructions(access.Parent()), func(i ssa.Instruction) bool {
		if d, ok := i.(*ssa.Defer); ok && isAhead(d, access) && c.analysis.ReleasesFirst(d.Call.StaticCallee(), lock) {
			return true
		}
		return c.analysis.ReleasesOnly(i, lock) && c.analysis.ReachesWithout(access, i, func(j ssa.Instruction) bool { return c.analysis.Acquires(j, lock) })
	})
}

// makesObject reports whether the function of an observation has made the object that it
// accesses, or the one that this is a part of.
func makesObject(o lockset.Observation) bool {
	if o.Base == nil || slices.ContainsFunc(o.Base.Steps(), func(s locks.Step) bool { return s.Up || s.Field == locks.Element || !isPart(s.Field) }) {
		return false
	}
	made, ok := o.Base.Root().(*ssa.Alloc)
	return ok && made.Parent() == o.Instr.Parent()
}

// isCalledByMaker reports whether a function asks its caller for the lock, and the caller without it
// has made the object.
func (c *chooser) isCalledByMaker(o lockset.Observation) bool {
	_, asks := c.declarations.expected(o.Instr.Parent())
	return asks && c.analysis.MadeByCaller(o)
}

// isHandedLock reports whether the function of an observation, or one that calls it, has been given the
// lock, which it releases.
func (c *chooser) isHandedLock(o lockset.Observation, lock *types.Var) bool {
	if c.releasesBehind(o.Instr, lock) {
		return true
	}
	return slices.ContainsFunc(o.Context.Callers(maxCallers), func(caller lockset.Caller) bool { return c.releasesBehind(caller.Call, lock) })
}
