package splitsection

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// Other things than the lock keep goroutines from what is between two sections.

// isKept reports whether no other goroutine writes the data between a read and a write of it.
func (c *checker) isKept(read, write *whole.Member) bool {
	v := c.variable(write.Variable)
	return isSingleFlight(write.Instr.Parent()) || v != nil && (c.hasAnotherLock(v, read, write) || isOnlyWriter(v, write) || c.isMarked(read, write) || c.isTakenOut(v, write))
}

// isOfUsers reports whether users of the package can have a write made twice at once, of the same data. What
// goroutines of the package do, as a rule one does for each object. An element whose key is a pointer that
// the function is given is that of the caller, and a value that is computed from what was read may be the
// work of the one user of an object, if the package makes objects of the type for its own use. A comment may
// say that the function is for one goroutine at a time.
func (c *checker) isOfUsers(read, write *whole.Member) bool {
	v := c.variable(write.Variable)
	if v == nil {
		return true
	}
	if whole.ComputedFrom(write.Instr, read.Instr) && isOfHiddenType(write.Instr) || isKeyOfCaller(write.Instr) || c.known.IsRemarked(write.Instr.Parent(), write.At) {
		return false
	}
	return slices.ContainsFunc(observationsAt(v, write.Instr), guard.IsOfUsers)
}

// isOfHiddenType reports whether a function is a method of a type that users of the package cannot name.
func isOfHiddenType(write ssa.Instruction) bool {
	receiver := write.Parent().Signature.Recv()
	if receiver == nil {
		return false
	}
	t := receiver.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && !named.Obj().Exported()
}

// isKeyOfCaller reports whether the key of an element is a pointer that the function is given.
func isKeyOfCaller(write ssa.Instruction) bool {
	update, ok := write.(*ssa.MapUpdate)
	if !ok {
		return false
	}
	_, given := update.Key.(*ssa.Parameter)
	_, isPointer := update.Key.Type().Underlying().(*types.Pointer)
	return given && isPointer
}

// isSingleFlight reports whether a function is a literal that is given to a method Do with a key: what
// such a method runs, it does not run twice at once for one key.
//
//	c.flight.Do(key, func() (any, error) { look; compute; store })
func isSingleFlight(fn *ssa.Function) bool {
	if fn.Parent() == nil {
		return false
	}
	for _, b := range fn.Parent().Blocks {
		for _, i := range b.Instrs {
			call, ok := i.(ssa.CallInstruction)
			if !ok || !flights[methodName(call.Common())] || len(call.Common().Args) < 2 {
				continue
			}
			if slices.ContainsFunc(call.Common().Args, func(arg ssa.Value) bool { return isLiteral(arg, fn) }) {
				return true
			}
		}
	}
	return false
}

// flights are the methods of what runs a function once for a key at a time, as that of x/sync is called and
// those made after it.
var flights = map[string]bool{"Do": true, "DoChan": true, "DoEx": true, "DoContext": true}

func methodName(c *ssa.CallCommon) string {
	if c.IsInvoke() {
		return c.Method.Name()
	}
	if fn := c.StaticCallee(); fn != nil && fn.Signature.Recv() != nil {
		return fn.Name()
	}
	return ""
}

// isLiteral reports whether a value is a function literal, be it as another type.
func isLiteral(v ssa.Value, fn *ssa.Function) bool {
	if changed, ok := v.(*ssa.ChangeType); ok {
		v = changed.X
	}
	if literal, ok := v.(*ssa.MakeClosure); ok {
		v = literal.Fn
	}
	return v == ssa.Value(fn)
}

// isTakenOut reports whether an element is written of a map or slice that the function has taken out of
// its variable, and put something else there, in one section: nothing else has it any more.
//
//	c.mu.Lock()
//	pending := c.pending
//	c.pending = nil
//	c.mu.Unlock()
//	pending[k] = v
func (c *checker) isTakenOut(v *lockset.Variable, write *whole.Member) bool {
	var reference ssa.Value
	switch w := write.Instr.(type) {
	case *ssa.MapUpdate:
		reference = w.Map
	case *ssa.Store:
		if element, ok := w.Addr.(*ssa.IndexAddr); ok {
			reference = element.X
		}
	}
	taken, ok := reference.(*ssa.UnOp)
	return ok && slices.ContainsFunc(writesOf(v, taken.Parent()), func(i ssa.Instruction) bool {
		_, replaces := i.(*ssa.Store)
		return replaces && c.known.Analysis.Reaches(taken, i) && !c.known.Analysis.ReleasedBetween(taken, i, c.lock)
	})
}

func (c *checker) variable(of *types.Var) *lockset.Variable {
	i := slices.IndexFunc(c.known.Analysis.Variables, func(v *lockset.Variable) bool { return v.Object == of })
	if i < 0 {
		return nil
	}
	return c.known.Analysis.Variables[i]
}

// hasAnotherLock reports whether another lock is held from the read to the write.
//
//	c.resize.Lock()
//	defer c.resize.Unlock()
//	c.mu.RLock()
//	old := c.shards
//	c.mu.RUnlock()
//	shards := grow(old)
//	c.mu.Lock()
//	c.shards = shards
//	c.mu.Unlock()
//
// The lock is one of the object that has the data. That of an owner may be one of many that share the
// object.
func (c *checker) hasAnotherLock(v *lockset.Variable, read, write *whole.Member) bool {
	atWrite := heldAt(v, write.Instr, locks.Write)
	return slices.ContainsFunc(heldAt(v, read.Instr, locks.Write), func(way *locks.Place) bool {
		l := c.known.Analysis.Places.Variable(way)
		return way.Ups() == 0 && l != c.lock && slices.Contains(atWrite, way) && !c.known.Analysis.ReleasedBetween(read.Instr, write.Instr, l)
	})
}

// hasLock reports whether the lock is held at an access, be it for reading.
func (c *checker) hasLock(v *lockset.Variable, i ssa.Instruction) bool {
	return slices.ContainsFunc(heldAt(v, i, locks.Read), func(way *locks.Place) bool { return c.known.Analysis.Places.Variable(way) == c.lock })
}

// heldAt are the locks that are always held at an access, at least in some mode, by the ways that lead to
// them from the object that has the data.
func heldAt(v *lockset.Variable, i ssa.Instruction, least locks.Mode) []*locks.Place {
	var always []*locks.Place
	for n, o := range observationsAt(v, i) {
		var held []*locks.Place
		for _, r := range o.Held {
			if r.Mode >= least && !r.Maybe {
				held = append(held, r.Lock)
			}
		}
		if n == 0 {
			always = held
		}
		always = slices.DeleteFunc(always, func(way *locks.Place) bool { return !slices.Contains(held, way) })
	}
	return always
}

func observationsAt(v *lockset.Variable, i ssa.Instruction) []lockset.Observation {
	var all []lockset.Observation
	for _, s := range v.Sites {
		all = append(all, s.Observations...)
	}
	for _, u := range v.Uses {
		all = append(all, u.Observation)
	}
	return slices.DeleteFunc(all, func(o lockset.Observation) bool { return o.Instr != i })
}

// isOnlyWriter reports whether a function makes all writes of a variable, and is run by goroutines that
// the package starts: one, as a rule, for each object.
func isOnlyWriter(v *lockset.Variable, write *whole.Member) bool {
	return v.IsWrittenOnlyBy(write.Instr.Parent()) && !slices.ContainsFunc(observationsAt(v, write.Instr), func(o lockset.Observation) bool {
		return !o.IsInGoroutine()
	})
}

// isMarked reports whether the first section leaves a mark, in other data of the lock, by which others
// know that the second one is to come: it looks for the mark, too.
//
//	c.mu.Lock()
//	if c.busy[k] || c.done[k] {
//		c.mu.Unlock()
//		return
//	}
//	c.busy[k] = true
//	c.mu.Unlock()
//	work(k)
//	c.mu.Lock()
//	delete(c.busy, k)
//	c.done[k] = true
//	c.mu.Unlock()
func (c *checker) isMarked(read, write *whole.Member) bool {
	inOneSection := func(i, j ssa.Instruction) bool {
		return c.known.Analysis.Reaches(i, j) && !c.known.Analysis.ReleasedBetween(i, j, c.lock)
	}
	return slices.ContainsFunc(c.guard.Data, func(d *guard.Datum) bool {
		mark, ok := d.Object.(*types.Var)
		v := c.variable(mark)
		if !ok || v == nil || mark == write.Variable {
			return false
		}
		fn := write.Instr.Parent()
		return slices.ContainsFunc(writesOf(v, fn), func(set ssa.Instruction) bool {
			return inOneSection(read.Instr, set) && c.known.Analysis.Reaches(set, write.Instr) &&
				slices.ContainsFunc(readsOf(v, fn), func(look ssa.Instruction) bool { return look != set && inOneSection(look, set) })
		})
	})
}
