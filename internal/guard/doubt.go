package guard

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A Doubt is why an access without the lock may be meant to be so. Each is a discipline beside
// that of one lock for every access, which a program may follow without saying so. Where an
// annotation or a comment names the lock, only what no lock could make better is in doubt.
type Doubt int

const (
	NoDoubt Doubt = iota
	// Reference: the map, slice or pointer is read alone, which nothing replaces; what it refers
	// to is not accessed without the lock.
	Reference
	// Maker: the function has made the object itself, and knows whether others have it yet.
	Maker
	// HandedOver: the function releases the lock behind the access, and so has been given it.
	HandedOver
	// GivenToHolder: the function is given to one that takes the lock, and may call it then.
	GivenToHolder
	// OtherLock: another lock of the object, or of one that it was reached from, is held. The
	// data has more than one lock, of which readers take any and writers all.
	OtherLock
	// OwnersLock: the lock is that of an owner which refers to the object by a pointer, or which
	// the function does not know. An object that has a life of its own is often used before the
	// owner has it, after, or as a copy.
	OwnersLock
	// LocalVariable: functions that share a local variable are mostly ordered by how they are run.
	LocalVariable
	// HelperFunction: the function is no part of an API, runs on the goroutines of its callers, and does not
	// operate on the lock: what orders its callers is not seen.
	HelperFunction
	// SetWhileMade: all that writes the data are functions that make the object.
	SetWhileMade
	// Signal: the read comes behind a receive of nothing but a signal, from a channel of the same object.
	Signal
	// BeforeStart: the goroutine that reads the data was started by a function that has written it before.
	BeforeStart
	// BehindCall: the read comes behind a call that takes the lock and releases it, as one that has
	// the object started.
	BehindCall
	// MostReads: most lines that read the data do without the lock, as where one goroutine alone
	// writes, and need not keep others from it when it reads.
	MostReads
)

func (d Doubt) String() string {
	switch d {
	case NoDoubt:
		return "none"
	case Reference:
		return "the reference alone is read, which nothing replaces"
	case Maker:
		return "the function has made the object"
	case HandedOver:
		return "the function releases the lock later, and so has been given it"
	case OtherLock:
		return "another lock is held"
	case OwnersLock:
		return "the lock is that of an owner, which has a pointer to the object or is not known here"
	case LocalVariable:
		return "it is a local variable"
	case HelperFunction:
		return "what orders the callers of the function is not seen"
	case GivenToHolder:
		return "the function is given to one that takes the lock"
	case SetWhileMade:
		return "only functions that make the object write it"
	case Signal:
		return "a signal was received from a channel of the object"
	case BeforeStart:
		return "it is written before the goroutine is started that reads it"
	case BehindCall:
		return "a call before it has taken the lock and released it"
	case MostReads:
		return "most lines that read it do without the lock"
	}
	panic(fmt.Sprintf("guard: doubt %d", int(d)))
}

// doubt says why observations without a lock may be meant to be so.
func (c *chooser) doubt(v *subject, without []lockset.Observation, way *locks.Place, stated bool) Doubt {
	lock := c.places.Variable(way)
	all := func(is func(o lockset.Observation) bool) bool {
		return !slices.ContainsFunc(without, func(o lockset.Observation) bool { return !is(o) })
	}
	reads := isRead(without)
	switch {
	case all(func(o lockset.Observation) bool { return c.isReferenceAlone(v, o, way) }):
		return Reference
	case all(makesObject):
		return Maker
	case all(func(o lockset.Observation) bool { return c.releasesBehind(o.Instr, lock) }):
		return HandedOver
	case all(func(o lockset.Observation) bool { return c.isGivenToHolder(o.Instr.Parent(), lock) }):
		return GivenToHolder
	case stated:
		return NoDoubt
	case all(func(o lockset.Observation) bool { return len(o.Held) > 0 && !holdsSame(c.places, o, way) }):
		return OtherLock
	case leadsUpByPointer(way) || way.Ups() > 0 && !all(isReachedFromOwner):
		return OwnersLock
	case !v.Object.IsField() && v.Object.Parent() != v.Object.Pkg().Scope():
		return LocalVariable
	case all(func(o lockset.Observation) bool { return c.isHelper(o.Instr.Parent(), lock) }):
		return HelperFunction
	case !reads:
		return NoDoubt
	case setWhileMade(v):
		return SetWhileMade
	case all(isBehindSignal):
		return Signal
	case all(func(o lockset.Observation) bool { return isWrittenBeforeStart(v, o) }):
		return BeforeStart
	case all(func(o lockset.Observation) bool { return c.isBehindCall(o.Instr, lock) }):
		return BehindCall
	}
	return NoDoubt
}

// leastOften is how many lines make a habit.
const leastOften = 3

// doubtMajority puts the reads in doubt if most of them do without the lock.
func (d *Datum) doubtMajority(stated bool) {
	if stated || d.Evidence.ReadsWithout < leastOften || d.Evidence.ReadsWithout <= d.Evidence.ReadsWith {
		return
	}
	for i := range d.Deviations {
		if v := &d.Deviations[i]; v.Kind == Read && v.Doubt == NoDoubt {
			v.Doubt = MostReads
		}
	}
}

// isReachedFromOwner reports whether a function comes to the object by way of another, which
// may be its owner. One that it is given may belong to none.
func isReachedFromOwner(o lockset.Observation) bool { return o.Base != nil && o.Base.Parent() != nil }

// isHelper reports whether a function has a name of its own that users of the package do not
// know, and operates on the lock nowhere.
func (c *chooser) isHelper(fn *ssa.Function, lock *types.Var) bool {
	return fn.Parent() == nil && !token.IsExported(fn.Name()) && !slices.ContainsFunc(instructions(fn), func(i ssa.Instruction) bool {
		return c.analysis.Operates(i, lock)
	})
}

// isGivenToHolder reports whether a function literal is handed to a call, and that to nothing but calls,
// of functions that take the lock.
//
//	db.Update(func(tx *Tx) error { return db.file.Sync() })
func (c *chooser) isGivenToHolder(fn *ssa.Function, lock *types.Var) bool {
	if fn.Parent() == nil {
		return false
	}
	given := false
	for _, i := range instructions(fn.Parent()) {
		literal, ok := i.(*ssa.MakeClosure)
		if !ok || literal.Fn != fn {
			continue
		}
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
	}
	return given
}

func instructions(fn *ssa.Function) []ssa.Instruction {
	var all []ssa.Instruction
	for _, b := range fn.Blocks {
		all = append(all, b.Instrs...)
	}
	return all
}

// releasesBehind reports whether a function releases a lock behind an access, without taking it
// in between: it holds the lock, whatever was seen of how it came by it.
func (c *chooser) releasesBehind(access ssa.Instruction, lock *types.Var) bool {
	return slices.ContainsFunc(instructions(access.Parent()), func(i ssa.Instruction) bool {
		return c.analysis.ReleasesOnly(i, lock) && c.analysis.ReachesWithout(access, i, func(j ssa.Instruction) bool { return c.analysis.Acquires(j, lock) })
	})
}

// isBehindCall reports whether an access comes only behind a call of a function that takes a lock and
// releases it.
func (c *chooser) isBehindCall(access ssa.Instruction, lock *types.Var) bool {
	return slices.ContainsFunc(instructions(access.Parent()), func(i ssa.Instruction) bool {
		call, ok := i.(*ssa.Call)
		return ok && !c.analysis.IsOp(call.Common()) && c.analysis.Acquires(i, lock) &&
			i.Block().Dominates(access.Block()) && (i.Block() != access.Block() || isBefore(i, access))
	})
}

func isRead(all []lockset.Observation) bool {
	return !slices.ContainsFunc(all, func(o lockset.Observation) bool { return o.Kind == Write })
}

// holdsSame reports whether an observation holds the lock in question, for reading only.
func holdsSame(places *locks.Places, o lockset.Observation, way *locks.Place) bool {
	return lockset.HoldingOf(places, o, way) == lockset.HeldForReading
}

// leadsUpByPointer reports whether a way leads to the lock of an object that refers to the one
// with the data, and does not contain it.
//
//	type Conn struct {
//		mu   sync.Mutex
//		opts Options     ^opts.mu: a part of the Conn
//		br   *reader     ^br.mu: an object of its own
//	}
func leadsUpByPointer(way *locks.Place) bool {
	return slices.ContainsFunc(way.Steps(), func(s locks.Step) bool { return s.Up && !isPart(s.Field) })
}

// isPart reports whether a field's value lies in the struct, and is no object of its own.
func isPart(field *types.Var) bool {
	switch field.Type().Underlying().(type) {
	case *types.Struct, *types.Basic, *types.Array:
		return true
	}
	return false
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

// setWhileMade reports whether functions that make the object are all that writes a variable.
func setWhileMade(v *subject) bool {
	for _, s := range v.sites {
		for _, o := range s.Observations {
			if o.Kind == Write && !makesObject(o) {
				return false
			}
		}
	}
	return true
}

// isReferenceAlone reports whether an observation reads a reference that nothing replaces once the object
// is shared, and the lock is held where that is used.
func (c *chooser) isReferenceAlone(v *subject, o lockset.Observation, way *locks.Place) bool {
	load, ok := o.Instr.(*ssa.UnOp)
	if !ok || load.Op != token.MUL || o.Kind == Write || !locks.IsReference(v.Object.Type()) {
		return false
	}
	for _, s := range v.sites {
		for _, p := range s.Observations {
			if _, replaces := p.Instr.(*ssa.Store); replaces {
				return false
			}
		}
	}
	return !slices.ContainsFunc(v.Uses, func(u lockset.Use) bool {
		return u.Load == load && lockset.HoldingOf(c.places, u.Observation, way) == lockset.NotHeld
	})
}

// isBehindSignal reports whether an access is made only behind a receive from a channel of
// signals: its elements have no value, as those of channels that are closed to tell something.
//
//	select {
//	case <-s.shutdown:
//		return s.err      set before the channel is closed
//	...
func isBehindSignal(o lockset.Observation) bool {
	at := o.Instr.Block()
	for _, b := range o.Instr.Parent().Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.UnOp:
				if i.Op == token.ARROW && isSignal(i.X) && b.Dominates(at) && (b != at || isBefore(i, o.Instr)) {
					return true
				}
			case *ssa.Select:
				if slices.ContainsFunc(signalCases(i), func(c *ssa.BasicBlock) bool { return c.Dominates(at) }) {
					return true
				}
			}
		}
	}
	return false
}

// isSignal reports whether a value is a channel that a field holds and whose elements are empty.
func isSignal(channel ssa.Value) bool {
	load, ok := channel.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return false
	}
	if _, ok := load.X.(*ssa.FieldAddr); !ok {
		return false
	}
	t, ok := channel.Type().Underlying().(*types.Chan)
	if !ok {
		return false
	}
	empty, ok := t.Elem().Underlying().(*types.Struct)
	return ok && empty.NumFields() == 0
}

// signalCases returns where the cases of a select begin that receive a signal.
func signalCases(s *ssa.Select) []*ssa.BasicBlock {
	var all []*ssa.BasicBlock
	for _, user := range *s.Referrers() {
		index, ok := user.(*ssa.Extract)
		if !ok || index.Index != 0 {
			continue
		}
		for _, compared := range *index.Referrers() {
			equal, ok := compared.(*ssa.BinOp)
			if !ok || equal.Op != token.EQL {
				continue
			}
			number, ok := equal.Y.(*ssa.Const)
			if !ok {
				continue
			}
			state := s.States[number.Int64()]
			if state.Dir != types.RecvOnly || !isSignal(state.Chan) {
				continue
			}
			for _, chosen := range *equal.Referrers() {
				if branch, ok := chosen.(*ssa.If); ok {
					all = append(all, branch.Block().Succs[0])
				}
			}
		}
	}
	return all
}

func isBefore(i, j ssa.Instruction) bool {
	instrs := i.Block().Instrs
	return slices.Index(instrs, i) < slices.Index(instrs, j)
}

// isWrittenBeforeStart reports whether a read is made by the function of a goroutine that was started
// behind a write.
func isWrittenBeforeStart(v *subject, read lockset.Observation) bool {
	return slices.ContainsFunc(v.sites, func(s *lockset.Site) bool {
		return slices.ContainsFunc(s.Observations, func(o lockset.Observation) bool {
			return o.Kind == Write && startsBehind(o.Instr, read.Instr.Parent())
		})
	})
}

// startsBehind reports whether a goroutine that runs a function is started behind an instruction
// in all that may follow it, or in the same block.
func startsBehind(i ssa.Instruction, fn *ssa.Function) bool {
	for _, b := range i.Parent().Blocks {
		for _, j := range b.Instrs {
			start, ok := j.(*ssa.Go)
			if !ok || startedFunction(start) != fn {
				continue
			}
			if i.Block().Dominates(b) && (i.Block() != b || isBefore(i, start)) {
				return true
			}
		}
	}
	return false
}

func startedFunction(g *ssa.Go) *ssa.Function {
	if m, ok := g.Call.Value.(*ssa.MakeClosure); ok {
		return m.Fn.(*ssa.Function)
	}
	return g.Call.StaticCallee()
}
