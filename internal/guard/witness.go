package guard

import (
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// What keeps goroutines apart besides a lock has no end of forms, and the reasons to doubt know only some of
// them. An access is therefore reported as a mistake only if something speaks for the opposite: that users of
// the package can make it at any time, and can make at the same time another one with the lock, one of both a
// write. That other access is its witness.
//
//	func (c *Cache) Get(k string) int { return c.m[k] }        at any time, on what users share
//	func (c *Cache) Put(k string)     { c.mu.Lock(); ... }     the witness: a write, with the lock, at any time
//	func (c *Cache) Start()           { c.mu.Lock(); ... }     none: it is done once, before the others
//	func NewCache() *Cache            { ... }                  none: nothing has the cache yet

// A Witness is an access that another one can happen beside, one of both a write, and what shows that
// goroutines share the object.
type Witness struct {
	Kind    Kind
	Func    string
	At      token.Position // none if none was found
	Sharing Sharing
}

// isSeen reports whether there is one.
func (w *Witness) isSeen() bool { return w.At.IsValid() || w.Sharing == Demanded }

// witness returns a witness of an access that some observations make without a lock, the one with most to show for it.
func (c *chooser) witness(v *subject, s *lockset.Site, without []lockset.Observation, way *locks.Place, alsoHeld bool) Witness {
	var best Witness
	if c.isLeftToCallers(s, way) {
		return best
	}
	for _, o := range without {
		other := c.besideOf(v, o, way)
		if other == nil {
			continue
		}
		w := Witness{other.Kind, functionName(other.Instr.Parent()), c.fset.Position(other.At), c.sharing(o, way, alsoHeld)}
		if !best.isSeen() || best.Sharing == NotShared {
			best = w
		}
	}
	return best
}

// besideOf returns an observation with the lock that another one without it can happen beside; nil if there is none.
func (c *chooser) besideOf(v *subject, o lockset.Observation, way *locks.Place) *lockset.Observation {
	if c.isStartedItself(o) && !isCommand(o.Instr.Parent()) {
		return c.besideStarted(v, o, way)
	}
	if !isOnSharedObject(o) || isOrdered(o) {
		return nil
	}
	callers := slices.DeleteFunc(slices.Clone(c.rootsOf(o)), func(r lockset.Root) bool { return !isOfUsers(r) || !isAnyTime(r) })
	ofOne := isCheckOfAPI(o) && c.isLockOfOne(v, o, way)
	for _, s := range v.sites {
		for _, p := range s.Observations {
			if c.isWitness(v, o, p, way) && (ofOne || c.runsBeside(callers, o, p)) {
				return &p
			}
		}
	}
	return nil
}

// isWitness reports whether an observation with the lock is of what another one may access without it, one of both a
// write. What writes with the lock held for reading is kept from all that has it for writing.
func (c *chooser) isWitness(v *subject, o, p lockset.Observation, way *locks.Place) bool {
	return c.hasForAccess(p, way) && v.isOfSamePart(o, p) && (o.Kind == Write || p.Kind == Write) && !o.Excludes(p) && !makesObject(p) && mayBeSame(o, p)
}

func isCheckOfAPI(o lockset.Observation) bool {
	return lockset.IsOfAPI(o.Instr.Parent()) && isCheck(o.Instr)
}

// isLockOfOne reports whether the function of an observation, and what it calls, alone takes the lock for the data: if
// it were not called twice at once, the lock would be for nothing.
//
//	func (w *Writer) Write() {
//		if w.conn == nil {
//			w.connect()      takes the lock, and sets w.conn
//		}
//	}
func (c *chooser) isLockOfOne(v *subject, o lockset.Observation, way *locks.Place) bool {
	writes := false
	for _, s := range v.sites {
		for _, p := range s.Observations {
			if !c.hasForAccess(p, way) {
				continue
			}
			if slices.ContainsFunc(c.rootsOf(p), func(r lockset.Root) bool { return r.Func != o.Instr.Parent() }) {
				return false
			}
			writes = writes || c.isWitness(v, o, p, way) && lockset.Outermost(p.Instr.Parent()) == p.Instr.Parent()
		}
	}
	return writes
}

// isOrdered reports whether a function has waited for something ahead of an access, or has looked at an atomic variable
// and gone on by what it found: the access may be behind what another goroutine did before it let this one go on.
//
//	if f.done.Load() {
//		return f.result      set before f.done is
//	}
func isOrdered(o lockset.Observation) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		switch i := i.(type) {
		case *ssa.UnOp:
			return i.Op == token.ARROW && isOwnChannel(i.X) && isAhead(i, o.Instr)
		case *ssa.Select:
			return i.Blocking && isAhead(i, o.Instr) && slices.ContainsFunc(i.States, func(s *ssa.SelectState) bool {
				return s.Dir == types.RecvOnly && isOwnChannel(s.Chan)
			})
		case *ssa.Call:
			return isAtomicLoad(i) && isCheck(i) && isAhead(i, o.Instr)
		}
		return false
	})
}

// isOwnChannel reports whether a channel is one of a method's receiver, or one that the function has from
// elsewhere than its other arguments: what those stand for is another matter than the receiver's data.
func isOwnChannel(channel ssa.Value) bool {
	for {
		switch v := channel.(type) {
		case *ssa.UnOp:
			channel = v.X
		case *ssa.FieldAddr:
			channel = v.X
		case *ssa.Parameter:
			fn := v.Parent()
			return fn.Signature.Recv() != nil && v == fn.Params[0]
		default:
			return true
		}
	}
}

// isAtomicLoad reports whether a call loads an atomic variable.
func isAtomicLoad(call *ssa.Call) bool {
	fn := call.Call.StaticCallee()
	return fn != nil && strings.HasPrefix(fn.Name(), "Load") && fn.Object() != nil && fn.Object().Pkg() != nil && fn.Object().Pkg().Path() == "sync/atomic"
}

// isLeftToCallers reports whether all calls that are seen of a function hold the lock for an access: that
// users can call it without, too, is not what it is for.
func (c *chooser) isLeftToCallers(s *lockset.Site, way *locks.Place) bool {
	held := false
	for _, o := range s.Observations {
		for _, ctx := range append([]*lockset.Context{o.Context}, o.Others...) {
			if c.hasForAccess(o, way) == ctx.IsEntry() {
				return false
			}
			held = held || !ctx.IsEntry()
		}
	}
	return held
}

// hasForAccess reports whether an observation has the lock as what it does needs it.
func (c *chooser) hasForAccess(o lockset.Observation, way *locks.Place) bool {
	holding := lockset.HoldingOf(c.places, o, way)
	return holding == lockset.Held || holding == lockset.HeldForReading && o.Kind == Read
}

// isOnSharedObject reports whether a function that users can call makes an access to what they share: a
// variable of the package, or what belongs to the object whose method they call. An object that a function
// is given as an argument may be the caller's own. Of a command all is seen.
func isOnSharedObject(o lockset.Observation) bool {
	fn := o.Instr.Parent()
	if isCommand(fn) {
		return true
	}
	if fn.Parent() != nil || !token.IsExported(fn.Name()) {
		return false
	}
	return o.Base == nil || isOfReceiver(o) || isFromElsewhere(o) || isSentBefore(o)
}

// isFromElsewhere reports whether the object of an observation is the result of a call of a function that has it from
// elsewhere: from a variable of the package, or from its own receiver.
//
//	func current() *Conn { return conn }
//	func Stop()          { c := current(); c.stopped = true }
func isFromElsewhere(o lockset.Observation) bool {
	call, ok := o.Base.Root().(*ssa.Call)
	if !ok || call.Parent() != o.Instr.Parent() {
		return false
	}
	fn := call.Call.StaticCallee()
	return fn != nil && len(fn.Blocks) > 0 && !slices.ContainsFunc(instructions(fn), func(i ssa.Instruction) bool {
		ret, ok := i.(*ssa.Return)
		return ok && !isLoadedFromShared(ret.Results[0], fn)
	})
}

// isLoadedFromShared reports whether a value is nil, or is loaded from a variable of the package or from a field of the
// receiver of a function.
func isLoadedFromShared(v ssa.Value, fn *ssa.Function) bool {
	if _, ok := v.(*ssa.Const); ok {
		return true
	}
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return false
	}
	switch at := load.X.(type) {
	case *ssa.Global:
		return true
	case *ssa.FieldAddr:
		return fn.Signature.Recv() != nil && at.X == ssa.Value(fn.Params[0])
	}
	return false
}

// isSentBefore reports whether the function of an observation has sent the object to another goroutine.
func isSentBefore(o lockset.Observation) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		send, ok := i.(*ssa.Send)
		return ok && any(send.X) == o.Base.Root() && isAhead(send, o.Instr)
	})
}

// isOfReceiver reports whether the object of an observation is the receiver of its function, or reached from it.
func isOfReceiver(o lockset.Observation) bool {
	fn := o.Instr.Parent()
	return fn.Signature.Recv() != nil && o.Base.Root() == any(fn.Params[0])
}

// runsBeside reports whether one of the callers of an access may run while another function makes the access p.
// Both must not be the work of one function: how often that runs at once is not seen.
func (c *chooser) runsBeside(callers []lockset.Root, o, p lockset.Observation) bool {
	if lockset.Outermost(o.Instr.Parent()) == lockset.Outermost(p.Instr.Parent()) {
		return false
	}
	return slices.ContainsFunc(c.rootsOf(p), func(r lockset.Root) bool {
		return isAnyTime(r) && slices.ContainsFunc(callers, func(caller lockset.Root) bool { return caller.Func != r.Func })
	})
}

// mayBeSame reports whether two observations may be of the same object. Those that are reached from two kinds of
// objects are of one only if these share it, which is not seen.
//
//	func (q *Query) Prepare()      { q.info.mu.Lock(); q.info.table = ... }
//	func (b *Batch) Table() string { return b.info.table }
func mayBeSame(o, p lockset.Observation) bool {
	if o.Base == nil || p.Base == nil || o.Base.Depth() == 0 || p.Base.Depth() == 0 {
		return true
	}
	x, ok := o.Base.Root().(ssa.Value)
	y, also := p.Base.Root().(ssa.Value)
	return !ok || !also || types.Identical(pointedTo(x.Type()), pointedTo(y.Type()))
}

func pointedTo(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// making begins the names of functions that return a new object.
var making = regexp.MustCompile(`^(?:New|Make|Must)(?:[^a-z]|$)`)

// isAnyTime reports whether a goroutine that begins in a function can do so at any time: the program starts it,
// or users call the function, which by its name does not make an object ready.
func isAnyTime(r lockset.Root) bool {
	name := r.Func.Name()
	return r.Started || isOfUsers(r) && (isCommand(r.Func) || opensAnother(r.Func) || !starting.MatchString(name) && !decoding.MatchString(name))
}

// opensAnother reports whether a function is no method and returns something besides an error: what it makes
// ready is that, and users may want another one at any time.
//
//	func Open(driver, name string) (*DB, error)
func opensAnother(fn *ssa.Function) bool {
	if fn.Signature.Recv() != nil {
		return false
	}
	for result := range fn.Signature.Results().Variables() {
		if !types.Identical(result.Type(), types.Universe.Lookup("error").Type()) {
			return true
		}
	}
	return false
}

// isOfUsers reports whether users can have a goroutine begin in a function, which by its name does not make the object.
// What a command does, it does itself.
func isOfUsers(r lockset.Root) bool {
	name := r.Func.Name()
	if isCommand(r.Func) {
		return true
	}
	return r.Outside && r.Func.Parent() == nil && token.IsExported(name) && (r.Func.Signature.Recv() != nil || !making.MatchString(name))
}

// IsOfUsers reports whether users of the package can have an access made at any time, and so twice at once.
func IsOfUsers(o lockset.Observation) bool {
	return slices.ContainsFunc(append([]*lockset.Context{o.Context}, o.Others...), func(ctx *lockset.Context) bool {
		return slices.ContainsFunc(ctx.Roots(), func(r lockset.Root) bool { return isOfUsers(r) && isAnyTime(r) })
	})
}

// rootsOf returns where the goroutines begin that make an access.
func (c *chooser) rootsOf(o lockset.Observation) []lockset.Root {
	var all []lockset.Root
	for _, ctx := range append([]*lockset.Context{o.Context}, o.Others...) {
		roots, known := c.roots[ctx]
		if !known {
			roots = ctx.Roots()
			c.roots[ctx] = roots
		}
		for _, r := range roots {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all
}
