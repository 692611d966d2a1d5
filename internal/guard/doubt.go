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
// annotation or a comment names the data, only what no lock could make better is in doubt, and what
// another comment speaks of.
type Doubt int

const (
	NoDoubt Doubt = iota
	// Reference: the map, slice or pointer is read alone, which nothing replaces; what it refers
	// to is not accessed without the lock.
	Reference
	// Maker: the function has made the object itself, or makes it a copy of another one, or is called with the
	// lock by all but the one that has: that knows whether others have it yet.
	Maker
	// HandedOver: the function, or one that calls it, releases the lock behind the access, and so has
	// been given it.
	HandedOver
	// TakenBefore: the function has taken the lock and not released it, and what it calls takes it once more:
	// on that way control would never come to the access.
	TakenBefore
	// Starting: the function, by its name, makes the object ready or sets it going, which is done before others
	// have the object, and by one goroutine. What it does later, it does without the lock by mistake as
	// rarely as not.
	Starting
	// Remarked: a comment in the function, or on it, says that the lock is not needed, or when it may be
	// called.
	Remarked
	// ForOne: a comment says that objects of the type are for one goroutine at a time.
	ForOne
	// OnlyWriter: all writes are made by the function, or by what it alone calls. What alone writes takes the
	// lock to write, for the sake of others, and need not to read, if it is not run twice at once. A function
	// that users of the package call may be, where it writes what it has not found.
	OnlyWriter
	// Uncovered: nothing that accesses the data has the lock, and what says that the lock is for it
	// does not name it.
	Uncovered
	// GivenToHolder: the function is given to one that takes the lock, and may call it then.
	GivenToHolder
	// OtherLock: another lock of the object, or of one that it was reached from, is held, or a channel
	// that is one. The data has more than one lock, of which readers take any and writers all.
	OtherLock
	// OwnersLock: the lock is that of an owner which refers to the object by a pointer, or which
	// the function does not know. An object that has a life of its own is often used before the
	// owner has it, after, or as a copy.
	OwnersLock
	// LocalVariable: functions that share a local variable are mostly ordered by how they are run.
	LocalVariable
	// HelperFunction: the function is no part of an API, runs on the goroutines of its callers, and does not
	// operate on the lock, or it is kept as a value: what orders its callers is not seen.
	HelperFunction
	// OutsideAPI: users of the package cannot call the function, whatever it does to the lock. What calls it
	// may keep others away by a protocol of the package.
	OutsideAPI
	// SetWhileMade: all that writes the data are functions that make the object, decode it or start it, or what
	// these alone call, or are for before it is used; or the function decodes it.
	SetWhileMade
	// SetOnce: the data is written only while it has no value, and the read comes behind a section of the lock, which has
	// seen or given it one.
	SetOnce
	// WonSwap: the function goes on only if it has changed an atomic state of the object from what it must
	// be, which one goroutine at a time can.
	WonSwap
	// Signal: the read comes behind a receive of nothing but a signal, from a channel of the same object, or
	// behind a wait for goroutines.
	Signal
	// BeforeStart: the goroutine that reads the data was started by a function that has written it before.
	BeforeStart
	// OtherSetting: the read is made only of objects with a setting with which nothing writes the data.
	OtherSetting
	// BehindCall: the read comes behind a call that takes the lock and releases it, as one that has
	// the object started.
	BehindCall
	// MostWrites: no fewer lines write the data without the lock than with it, so that a read would be no
	// better for taking it.
	MostWrites
	// MostReads: most lines that read the data do without the lock, as where one goroutine alone
	// writes, and need not keep others from it when it reads.
	MostReads
	// Unwitnessed: none of the disciplines above is known to be followed, but nothing shows that goroutines
	// can make the access beside another one either.
	Unwitnessed
	// NotShown: users can make the access beside another one, but nothing shows that goroutines are meant to share the
	// object.
	NotShown
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
	case Starting:
		return "the function makes the object ready or sets it going"
	case TakenBefore:
		return "the function has taken the lock, and what it calls would wait for it"
	case OtherLock:
		return "another lock is held"
	case OwnersLock:
		return "the lock is that of an owner, which has a pointer to the object or is not known here"
	case LocalVariable:
		return "it is a local variable"
	case HelperFunction:
		return "what orders the callers of the function is not seen"
	case OutsideAPI:
		return "users of the package cannot call the function"
	case Remarked:
		return "a comment of the function says that it may be so"
	case ForOne:
		return "a comment says that the object is for one goroutine at a time"
	case OnlyWriter:
		return "all that writes it is done by the function that reads it"
	case Uncovered:
		return "nothing has the lock that accesses it"
	case GivenToHolder:
		return "the function is given to one that takes the lock"
	case SetWhileMade:
		return "only functions that make the object, or start it, write it"
	case Signal:
		return "a signal was received from a channel of the object, or goroutines were waited for"
	case BeforeStart:
		return "it is written before the goroutine is started that reads it"
	case OtherSetting:
		return "the object has a setting with which nothing writes it"
	case BehindCall:
		return "a call before it has taken the lock and released it"
	case SetOnce:
		return "it is written only while it has no value, and the lock was held before"
	case WonSwap:
		return "the goroutine has changed an atomic state of the object, which one at a time can"
	case MostWrites:
		return "as many lines write it without the lock as with it"
	case MostReads:
		return "most lines that read it do without the lock"
	case Unwitnessed:
		return "nothing shows that it can happen beside an access with the lock"
	case NotShown:
		return "nothing shows that goroutines are meant to share the object"
	}
	panic(fmt.Sprintf("guard: doubt %d", int(d)))
}

// doubt says why observations without a lock may be meant to be so.
func (c *chooser) doubt(v *subject, without []lockset.Observation, way *locks.Place, named bool) Doubt {
	lock := c.places.Variable(way)
	all := func(is func(o lockset.Observation) bool) bool {
		return !slices.ContainsFunc(without, func(o lockset.Observation) bool { return !is(o) })
	}
	reads := isRead(without)
	switch {
	case all(func(o lockset.Observation) bool { return c.isReferenceAlone(v, o, way) }):
		return Reference
	case all(func(o lockset.Observation) bool {
		return makesObject(o) || isCopied(o) || c.makesLock(o, lock) || c.isCalledByMaker(o)
	}):
		return Maker
	case all(func(o lockset.Observation) bool { return c.isHandedLock(o, lock) }):
		return HandedOver
	case all(func(o lockset.Observation) bool {
		return c.isHeldOnOtherWay(v, o, way) && c.isTakenBefore(o.Instr, lock)
	}):
		return TakenBefore
	case all(func(o lockset.Observation) bool { return c.isGivenToHolder(o.Instr.Parent(), lock) }):
		return GivenToHolder
	case all(func(o lockset.Observation) bool { return c.declarations.isRemarked(o.Instr.Parent(), o.At) }):
		return Remarked
	case all(func(o lockset.Observation) bool { return c.declarations.isForOne(o.Instr.Parent()) }):
		return ForOne
	case reads && all(func(o lockset.Observation) bool { return c.isOnlyWriter(v, o.Instr, way) }):
		return OnlyWriter
	case all(func(o lockset.Observation) bool { return isStarting(o.Instr.Parent()) && !c.isStartedItself(o) }):
		return Starting
	case reads && all(func(o lockset.Observation) bool { return isBehindSignal(o, isSignalBeside(v.Object)) }):
		return Signal
	case all(func(o lockset.Observation) bool {
		return len(o.Held) > 0 && !holdsSame(c.places, o, way) && !c.hasWrongLock(v, o, way)
	}):
		return OtherLock
	case reads && all(func(o lockset.Observation) bool { return c.isBehindSection(o, lock) }) && isSetOnce(v):
		return SetOnce
	case named:
		return NoDoubt
	case all(func(o lockset.Observation) bool { return isBehindWonSwap(o, v.Object) }):
		return WonSwap
	case all(func(o lockset.Observation) bool {
		return (len(o.Held) > 0 && !holdsSame(c.places, o, way) || isBehindSend(o) || c.isHandedAnother(o, lock)) && !c.hasWrongLock(v, o, way)
	}):
		return OtherLock
	case leadsUpByPointer(way) || way.Ups() > 0 && !all(isReachedFromOwner):
		return OwnersLock
	case !v.Object.IsField() && v.Object.Parent() != v.Object.Pkg().Scope():
		return LocalVariable
	case all(func(o lockset.Observation) bool {
		return c.isHelper(o.Instr.Parent(), lock) && !c.isStartedItself(o) || isKept(o.Instr.Parent())
	}):
		return HelperFunction
	case all(func(o lockset.Observation) bool { return isOutsideAPI(o.Instr.Parent()) && !c.isStartedItself(o) }):
		return OutsideAPI
	case all(func(o lockset.Observation) bool {
		return decoding.MatchString(lockset.Outermost(o.Instr.Parent()).Name())
	}):
		return SetWhileMade
	case !reads:
		return NoDoubt
	case setWhileMade(v):
		return SetWhileMade
	case all(func(o lockset.Observation) bool { return isBehindSignal(o, isSignal) || isBehindWait(o) }):
		return Signal
	case all(func(o lockset.Observation) bool { return isWrittenBeforeStart(v, o) }):
		return BeforeStart
	case all(func(o lockset.Observation) bool { return c.isLeftAloneBySetting(v, o) }):
		return OtherSetting
	case all(func(o lockset.Observation) bool { return c.isBehindCall(o.Instr, lock) }):
		return BehindCall
	}
	return NoDoubt
}

// isOnlyWriter reports whether a function makes all writes of a variable, itself or in what it alone calls, and
// with the lock, and does not decide about them by the read if users of the package can call it.
func (c *chooser) isOnlyWriter(v *subject, read ssa.Instruction, way *locks.Place) bool {
	fn := read.Parent()
	if !v.IsWrittenOnlyBy(fn) || lockset.IsOfAPI(fn) && isCheck(read) {
		return false
	}
	writes := false // those of another package are not seen
	for _, s := range v.sites {
		for _, o := range s.Observations {
			if o.Kind == Write && lockset.HoldingOf(c.places, o, way) != lockset.Held {
				return false
			}
			writes = writes || o.Kind == Write
		}
	}
	return writes
}

// isCheck reports whether a branch depends on nothing but what an instruction loads.
//
//	if c.m == nil {      the load, a comparison, a branch
func isCheck(read ssa.Instruction) bool {
	v, ok := read.(ssa.Value)
	return ok && slices.ContainsFunc(*v.Referrers(), func(user ssa.Instruction) bool {
		switch user := user.(type) {
		case *ssa.If:
			return true
		case *ssa.BinOp:
			return slices.ContainsFunc(*user.Referrers(), func(i ssa.Instruction) bool { _, branch := i.(*ssa.If); return branch })
		}
		return false
	})
}

// leastOften is how many lines make a habit.
const leastOften = 3

// doubtMajority puts the reads in doubt if most of them do without the lock, or the writes do.
func (d *Datum) doubtMajority(named bool) {
	doubt := NoDoubt
	switch e := &d.Evidence; {
	case named || d.readsAreOfOne():
	case e.WritesWithout > 0 && e.WritesWithout >= e.WritesWith && e.ReadsWithout >= leastOften:
		doubt = MostWrites
	case e.ReadsWithout >= leastOften && e.ReadsWithout > e.ReadsWith:
		doubt = MostReads
	}
	for i := range d.Deviations {
		if v := &d.Deviations[i]; v.Kind == Read && v.Doubt == NoDoubt {
			v.Doubt = doubt
		}
	}
}

// readsAreOfOne reports whether one function makes all reads without the lock: it has as many lines as it
// has, and that is no habit of others.
func (d *Datum) readsAreOfOne() bool {
	fn := ""
	for _, v := range d.Deviations {
		if v.Kind == Read && fn != "" && v.Func != fn {
			return false
		}
		if v.Kind == Read {
			fn = v.Func
		}
	}
	return true
}

// doubtUncovered puts all deviations in doubt if there is no access that has the lock.
func (d *Datum) doubtUncovered(named bool) {
	if named || d.Evidence.ReadsWith+d.Evidence.WritesWith > 0 {
		return
	}
	for i := range d.Deviations {
		if v := &d.Deviations[i]; v.Doubt == NoDoubt {
			v.Doubt = Uncovered
		}
	}
}

// isReachedFromOwner reports whether a function comes to the object by way of another, which
// may be its owner. One that it is given may belong to none.
func isReachedFromOwner(o lockset.Observation) bool { return o.Base != nil && o.Base.Parent() != nil }

// doubtUnwitnessed puts the deviations in doubt that no other reason speaks for or against, and no witness against
// them. Data that nothing writes with the lock is read with it by chance, unless a comment names it.
func (d *Datum) doubtUnwitnessed(named bool) {
	byChance := !named && d.Evidence.WritesWith == 0
	for i := range d.Deviations {
		switch v := &d.Deviations[i]; {
		case v.Doubt != NoDoubt:
		case byChance || !v.Witness.isSeen():
			v.Doubt = Unwitnessed
		case v.Witness.Sharing == NotShared:
			v.Doubt = NotShown
		}
	}
}

func instructions(fn *ssa.Function) []ssa.Instruction {
	length := 0
	for _, b := range fn.Blocks {
		length += len(b.Instrs)
	}
	all := make([]ssa.Instruction, 0, length)
	for _, b := range fn.Blocks {
		all = append(all, b.Instrs...)
	}
	return all
}

// isBehindCall reports whether an access comes only behind a call of a function that takes a lock and
// releases it.
func (c *chooser) isBehindCall(access ssa.Instruction, lock *types.Var) bool {
	return slices.ContainsFunc(instructions(access.Parent()), func(i ssa.Instruction) bool {
		call, ok := i.(*ssa.Call)
		return ok && !c.analysis.IsOp(call.Common()) && c.analysis.Acquires(i, lock) &&
			isAhead(i, access)
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

// setWhileMade reports whether functions that make the object or start it, or are for before it is used, are all
// that writes a variable.
func setWhileMade(v *subject) bool {
	for _, s := range v.sites {
		for _, o := range s.Observations {
			if o.Kind == Write && !makesObject(o) && !isForBefore(o.Instr.Parent()) && !o.IsOnlyFromSome(makesOrStarts(v.Object)) {
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
	passed := c.analysis.Acquires(o.Instr, c.places.Variable(way)) // to a function that takes the lock to use it
	if o.Kind == Write || !locks.IsReference(v.Object.Type()) || !passed && (!ok || load.Op != token.MUL) {
		return false
	}
	for _, s := range v.sites {
		for _, p := range s.Observations {
			if store, ok := p.Instr.(*ssa.Store); ok && !isOfElement(store) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(v.Uses, func(u lockset.Use) bool {
		return u.Load == load && lockset.HoldingOf(c.places, u.Observation, way) == lockset.NotHeld && !c.analysis.Acquires(u.Instr, c.places.Variable(way))
	})
}

// isOfElement reports whether a store is into the array of a slice, or into an object in it: the reference
// stays as it is.
func isOfElement(store *ssa.Store) bool {
	at := store.Addr
	for {
		switch v := at.(type) {
		case *ssa.IndexAddr:
			return true
		case *ssa.FieldAddr:
			at = v.X
		default:
			return false
		}
	}
}

// isAhead reports whether control comes to one instruction only by way of another.
func isAhead(i, of ssa.Instruction) bool {
	return i.Block().Dominates(of.Block()) && (i.Block() != of.Block() || isBefore(i, of))
}

func isBefore(i, j ssa.Instruction) bool {
	instrs := i.Block().Instrs
	return slices.Index(instrs, i) < slices.Index(instrs, j)
}
