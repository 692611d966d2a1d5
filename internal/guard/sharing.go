package guard

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// That users can call two functions on one object says nothing yet about whether they may do so at once. Most
// types are for one goroutine at a time, and so are many that have a lock, which is for one of their uses: a
// widget to which any goroutine may write text, and which its event loop alone may change. An access is told
// only if something shows that the author expects other goroutines there.

// A Sharing is what shows that goroutines share the object of an access.
type Sharing int

const (
	// NotShared: nothing does.
	NotShared Sharing = iota
	// Demanded: an annotation asks for the lock, or what was found out where the field is declared.
	Demanded
	// InCommand: the access is in a command, all of whose goroutines are seen.
	InCommand
	// ReadLock: the data is written with the lock held for reading, which two goroutines can have at once.
	ReadLock
	// InGoroutine: a goroutine that the package starts makes the access, and users can call what makes the other
	// one at any time.
	InGoroutine
	// OwnLock: the function that makes the access also takes the lock of the same object, ahead of it or behind
	// it. On another branch it may do so by what it knows of the object.
	OwnLock
	// Habit: users can call the function, which uses data of its receiver, or of the package, and of those that
	// they can call and that use what the lock guards, at least two of three take it. What has the data from
	// another object may be called by one that holds the lock.
	Habit
)

func (s Sharing) String() string {
	switch s {
	case NotShared:
		return "nothing"
	case Demanded:
		return "an annotation"
	case InCommand:
		return "a command"
	case ReadLock:
		return "a write with the lock held for reading"
	case InGoroutine:
		return "a goroutine beside what users call"
	case OwnLock:
		return "the function takes the lock too"
	case Habit:
		return "most functions that users call take the lock"
	}
	panic(fmt.Sprintf("guard: sharing %d", int(s)))
}

// sharing says what shows that the object of an access without the lock is shared. alsoHeld says that the
// lock is held there in other calls of the function, or on other ways: then it may be left to callers, or not
// be needed.
func (c *chooser) sharing(o lockset.Observation, way *locks.Place, alsoHeld bool) Sharing {
	lock, fn := c.places.Variable(way), o.Instr.Parent()
	switch {
	case isCommand(fn):
		return InCommand
	case o.Kind == Write && lockset.HoldingOf(c.places, o, way) == lockset.HeldForReading:
		return ReadLock
	case !alsoHeld && c.takesLockOf(o, lock):
		return OwnLock
	case !alsoHeld && c.isStartedItself(o):
		return InGoroutine
	case alsoHeld || !c.isOfPublicAPI(fn) || o.Base != nil && o.Base.Depth() > 0 && !isInside(o.Base):
		return NotShared
	case !speaksOfSharing(fn) && c.habitOf(lock, way).isToTake():
		return Habit
	}
	return NotShared
}

// takesLockOf reports whether the function of an access takes the lock of the object that it accesses, on a
// way to the access or from it. That of a variable is that of all.
//
//	if len(t.rows) > 0 {       the author knows that the lock is needed
//		t.mu.Lock()
//		t.rows = nil
func (c *chooser) takesLockOf(o lockset.Observation, lock *types.Var) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		taken := c.analysis.Taken(i)
		return taken != nil && c.places.Variable(taken) == lock && (o.Base == nil || taken.Root() == o.Base.Root()) &&
			(c.analysis.Reaches(i, o.Instr) || c.analysis.Reaches(o.Instr, i))
	})
}

// isInside reports whether an object lies in the one that a place begins with, and is not reached by a pointer from it.
func isInside(p *locks.Place) bool {
	return !slices.ContainsFunc(p.Steps(), func(s locks.Step) bool { return s.Up || s.Field == locks.Element || !isPart(s.Field) })
}

// A habit is which functions that users can call take a lock wherever they use what it guards, and which do not.
type habit struct {
	careful, careless map[*ssa.Function]bool
	ofOwner           bool // the lock is that of another object, which has uses of its own for it
}

// isToTake reports whether the habit is to take the lock. Where a third of several functions do without, the
// lock is for something else. Of a type with two functions the one that takes it is what there is to go by:
//
//	func (c *Counter) Add(n int) { c.mu.Lock(); c.n += n; c.mu.Unlock() }
//	func (c *Counter) Get() int  { return c.n }
func (h *habit) isToTake() bool {
	careful, careless := len(h.careful), len(h.careless)
	return careful >= 2 && careful >= 2*careless || careful == 1 && careless == 1 && !h.ofOwner
}

// A habitKey is a lock, and where that begins what leads to it: the lock itself, or a field by which data
// refers to the owner of its lock.
type habitKey struct{ lock, beside *types.Var }

// habitOf returns the habit for a lock. What it guards is what stands beside it, or beside the field that
// leads to it, and is written with it by something.
//
//	r.hub.mu.Lock()
//	r.members[name] = c      counts for all fields of the room that stand beside hub
func (c *chooser) habitOf(lock *types.Var, way *locks.Place) *habit {
	beside := lock
	switch {
	case way.Root() == nil && way.Ups() == 0:
		beside = way.Steps()[0].Field
	case lock.IsField():
		way = c.besideWay(lock)
	}
	key := habitKey{lock, beside}
	if h := c.habits[key]; h != nil {
		return h
	}
	h := &habit{make(map[*ssa.Function]bool), make(map[*ssa.Function]bool), beside != lock}
	for _, v := range c.subjects {
		if (lock.IsField() && !c.declarations.areNeighbours(v.Object, beside)) || !c.isWrittenWith(v, way) {
			continue
		}
		for _, s := range v.sites {
			for _, o := range s.Observations {
				c.countHabit(h, o, way)
			}
		}
	}
	for fn := range h.careless {
		delete(h.careful, fn)
	}
	c.habits[key] = h
	return h
}

// countHabit counts the function of an observation, if users can call it. One that makes the object ready has
// no need of the lock, and yet may take it.
func (c *chooser) countHabit(h *habit, o lockset.Observation, way *locks.Place) {
	fn := lockset.Outermost(o.Instr.Parent())
	if !token.IsExported(fn.Name()) || makesObject(o) || isCopied(o) || c.declarations.isRemarked(o.Instr.Parent(), o.At) {
		return
	}
	switch {
	case c.hasForAccess(o, way):
		h.careful[fn] = true
	case !isForSetup(fn) && lockset.HoldingOf(c.places, o, way) != lockset.CannotTell:
		h.careless[fn] = true
	}
}

// isForSetup reports whether a function, by its name, is for making an object or making it ready.
func isForSetup(fn *ssa.Function) bool {
	return slices.ContainsFunc(setup, func(begin *regexp.Regexp) bool { return begin.MatchString(fn.Name()) })
}

func (c *chooser) isWrittenWith(v *subject, way *locks.Place) bool {
	return slices.ContainsFunc(v.sites, func(s *lockset.Site) bool {
		return slices.ContainsFunc(s.Observations, func(o lockset.Observation) bool {
			return o.Kind == Write && lockset.HoldingOf(c.places, o, way) == lockset.Held
		})
	})
}

// isOfPublicAPI reports whether users of the module can call a function: by its name, or as a method of an
// interface that they know. What is internal is called by the module alone, which knows when.
func (c *chooser) isOfPublicAPI(fn *ssa.Function) bool {
	if fn.Parent() != nil || fn.Pkg == nil || slices.Contains(strings.Split(fn.Pkg.Pkg.Path(), "/"), "internal") {
		return false
	}
	return lockset.IsOfAPI(fn) || token.IsExported(fn.Name()) && c.isBehindInterface(fn)
}

// isBehindInterface reports whether a type is made an interface that users know and that has the method. One
// with a single method from elsewhere, such as fmt.Stringer, is for anything.
//
//	func NewStore() Store { return &store{} }      users know Store's methods, not the type
func (c *chooser) isBehindInterface(method *ssa.Function) bool {
	if c.interfaces == nil {
		c.findInterfaces()
	}
	owner := receiverOf(method)
	return owner != nil && slices.ContainsFunc(c.interfaces[owner], func(i *types.Interface) bool {
		for m := range i.Methods() {
			if m.Name() == method.Name() {
				return true
			}
		}
		return false
	})
}

func receiverOf(method *ssa.Function) *types.Named {
	r := method.Signature.Recv()
	if r == nil {
		return nil
	}
	if named, ok := types.Unalias(pointedTo(r.Type())).(*types.Named); ok {
		return named.Origin()
	}
	return nil
}

// findInterfaces notes the interfaces with names that users know that values of each type are made.
func (c *chooser) findInterfaces() {
	c.interfaces = make(map[*types.Named][]*types.Interface)
	for _, fn := range c.analysis.Functions {
		for _, i := range instructions(fn) {
			made, ok := i.(*ssa.MakeInterface)
			if !ok {
				continue
			}
			of, ok := types.Unalias(pointedTo(made.X.Type())).(*types.Named)
			as, isNamed := types.Unalias(made.Type()).(*types.Named)
			if !ok || !isNamed || !as.Obj().Exported() {
				continue
			}
			methods := as.Underlying().(*types.Interface)
			if known := c.interfaces[of.Origin()]; (methods.NumMethods() > 1 || as.Obj().Pkg() == of.Obj().Pkg()) && !slices.Contains(known, methods) {
				c.interfaces[of.Origin()] = append(known, methods)
			}
		}
	}
}
