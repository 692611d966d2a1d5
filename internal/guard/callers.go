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

// isOutsideAPI reports whether users of a package cannot call a function: it is a literal, or has a name that
// they do not know. A command has no users.
func isOutsideAPI(fn *ssa.Function) bool {
	return !isCommand(fn) && (fn.Parent() != nil || !token.IsExported(fn.Name()))
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
	key := releaseKey{access, lock}
	if known, ok := c.releases[key]; ok {
		return known
	}
	c.releases[key] = slices.ContainsFunc(instructions(access.Parent()), func(i ssa.Instruction) bool {
		if d, ok := i.(*ssa.Defer); ok && isAhead(d, access) {
			return c.analysis.ReleasesFirst(d.Call.StaticCallee(), lock) || c.analysis.Operates(d, lock) && !c.acquires(access.Parent(), lock)
		}
		return c.analysis.ReleasesOnly(i, lock) && c.analysis.ReachesWithout(access, i, func(j ssa.Instruction) bool { return c.analysis.Acquires(j, lock) })
	})
	return c.releases[key]
}

// A releaseKey is an access, or a call, and a lock of which it is asked whether it is released behind that.
// Each candidate for the lock of each variable asks it again.
type releaseKey struct {
	at   ssa.Instruction
	lock *types.Var
}

// isTakenBefore reports whether a function has taken a lock ahead of an access, and releases it nowhere in
// between, by itself or by a call of what only releases it.
//
//	s.mu.Lock()
//	defer s.mu.Unlock()
//	s.handle(first)      takes and releases s.mu for some messages, which the first is not
//	s.state = open
func (c *chooser) isTakenBefore(access ssa.Instruction, lock *types.Var) bool {
	fn := access.Parent()
	return slices.ContainsFunc(instructions(fn), func(taken ssa.Instruction) bool {
		call, ok := taken.(*ssa.Call)
		if !ok || !c.analysis.Operates(taken, lock) || !c.analysis.Acquires(taken, lock) || isForReading(call) || !isAhead(taken, access) {
			return false
		}
		return !slices.ContainsFunc(instructions(fn), func(i ssa.Instruction) bool {
			_, now := i.(*ssa.Call)
			return now && c.analysis.ReleasesOnly(i, lock) && c.analysis.Reaches(taken, i) && c.analysis.Reaches(i, access)
		})
	})
}

// isForReading reports whether an operation takes a lock for reading, which it could have more than once.
func isForReading(call *ssa.Call) bool {
	return strings.HasPrefix(call.Call.Value.Name(), "R") || call.Call.IsInvoke()
}

// acquires reports whether a function takes a lock.
func (c *chooser) acquires(fn *ssa.Function, lock *types.Var) bool {
	return slices.ContainsFunc(instructions(fn), func(i ssa.Instruction) bool { return c.analysis.Acquires(i, lock) })
}

// makesObject reports whether the function of an observation has made the object that it
// accesses, or the one that this is a part of, by itself or by a call of a constructor.
func makesObject(o lockset.Observation) bool {
	if o.Base == nil || slices.ContainsFunc(o.Base.Steps(), func(s locks.Step) bool { return s.Up || s.Field == locks.Element || !isPart(s.Field) }) {
		return false
	}
	switch made := o.Base.Root().(type) {
	case *ssa.Alloc:
		return made.Parent() == o.Instr.Parent()
	case *ssa.Call:
		return made.Parent() == o.Instr.Parent() && isConstructor(made.Call.StaticCallee(), 0)
	case *ssa.Extract:
		call, ok := made.Tuple.(*ssa.Call)
		return ok && made.Parent() == o.Instr.Parent() && isConstructor(call.Call.StaticCallee(), made.Index)
	}
	return false
}

// makesLock reports whether the function of an observation gives the object its lock: nothing can have held
// that before.
//
//	t.names = make(map[string]bool)
//	t.mu = new(sync.Mutex)
func (c *chooser) makesLock(o lockset.Observation, lock *types.Var) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		store, ok := i.(*ssa.Store)
		if !ok {
			return false
		}
		at := c.analysis.PlaceOf(store.Addr)
		return at != nil && c.places.Variable(at) == lock && o.Base != nil && at.Root() == o.Base.Root()
	})
}

// isCopied reports whether the function of an observation makes an object that it is given a copy of another
// one: it writes into a field what the same field of the other holds.
//
//	func (g *Group) CopyState(from *Group) { g.seen = from.seen }
func isCopied(o lockset.Observation) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		store, ok := i.(*ssa.Store)
		if !ok {
			return false
		}
		load, ok := store.Val.(*ssa.UnOp)
		if !ok || load.Op != token.MUL {
			return false
		}
		to, ok := store.Addr.(*ssa.FieldAddr)
		from, also := load.X.(*ssa.FieldAddr)
		if !ok || !also || to.Field != from.Field || to.X == from.X || !types.Identical(to.X.Type(), from.X.Type()) {
			return false
		}
		_, given := to.X.(*ssa.Parameter)
		return given
	})
}

// isConstructor reports whether a result of a function is always an object that it has made, or nothing.
func isConstructor(fn *ssa.Function, result int) bool {
	if fn == nil || len(fn.Blocks) == 0 {
		return false
	}
	return !slices.ContainsFunc(instructions(fn), func(i ssa.Instruction) bool {
		ret, ok := i.(*ssa.Return)
		if !ok {
			return false
		}
		switch ret.Results[result].(type) {
		case *ssa.Alloc, *ssa.Const:
			return false
		default:
			return true
		}
	})
}

// starting begins the names of functions by which users make an object ready, or start it, decoding of those by which
// decoders fill one, option of those that give it one: what these write is there when it is used.
var (
	starting = regexp.MustCompile(`^(?:[Ss]tart|[Oo]pen|[Ii]nit|[Ii]nitiali[sz]e|[Rr]eset|[Ss]et[Uu]p|[Rr]un|[Ss]erve|[Ll]isten|[Cc]onnect|[Dd]ial)(?:[^a-z]|$)`)
	decoding = regexp.MustCompile(`^(?:Unmarshal|GobDecode)`)
	option   = regexp.MustCompile(`^With(?:[^a-z]|$)`)
	setup    = []*regexp.Regexp{starting, decoding, option, making}
)

// isStarting reports whether a method, by its name, makes its object ready or sets it going. Of a command all
// is seen that is done beside it.
func isStarting(fn *ssa.Function) bool {
	return fn.Signature.Recv() != nil && !isCommand(fn) && (starting.MatchString(fn.Name()) || isOption(fn))
}

// isOption reports whether a method is one by which an object is given an option while it is made. One that
// makes a copy with the option, and leaves its receiver as it is, may be called at any time.
//
//	func (p *Plugin) WithMetrics(m Metrics) *Plugin { p.metrics = m; return p }
func isOption(fn *ssa.Function) bool {
	return option.MatchString(fn.Name()) && slices.ContainsFunc(instructions(fn), func(i ssa.Instruction) bool {
		store, ok := i.(*ssa.Store)
		if !ok {
			return false
		}
		at, ok := store.Addr.(*ssa.FieldAddr)
		return ok && at.X == ssa.Value(fn.Params[0])
	})
}

func isCommand(fn *ssa.Function) bool { return fn.Pkg != nil && fn.Pkg.Pkg.Name() == "main" }

// makesOrStarts returns what reports whether a function makes an object that has a field, and returns it, or
// starts one.
func makesOrStarts(field *types.Var) func(*ssa.Function) bool {
	return func(fn *ssa.Function) bool {
		name := lockset.Outermost(fn).Name()
		return starting.MatchString(name) || decoding.MatchString(name) || slices.ContainsFunc(instructions(fn), func(i ssa.Instruction) bool {
			made, ok := i.(*ssa.Alloc)
			return ok && made.Heap && returns(fn, made.Type()) && hasField(made.Type().Underlying().(*types.Pointer).Elem(), field, 0)
		})
	}
}

// returns reports whether a function returns values of a type, be it as an interface.
func returns(fn *ssa.Function, t types.Type) bool {
	for result := range fn.Signature.Results().Variables() {
		if types.Identical(result.Type(), t) {
			return true
		}
		if i, ok := result.Type().Underlying().(*types.Interface); ok && i.NumMethods() > 0 && types.Implements(t, i) {
			return true
		}
	}
	return false
}

// hasField reports whether a struct has a field, itself or in a part of it.
func hasField(t types.Type, field *types.Var, depth int) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || depth > maxParts {
		return false
	}
	for f := range s.Fields() {
		if f.Pos() == field.Pos() || hasField(f.Type(), field, depth+1) {
			return true
		}
	}
	return false
}

// maxParts is how deep parts of a struct are looked into.
const maxParts = 3

// isHandedAnother reports whether the function of an observation has been given another lock than the one in
// question, which it releases.
func (c *chooser) isHandedAnother(o lockset.Observation, lock *types.Var) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		other := c.analysis.Released(i)
		return other != nil && other != lock && c.releasesBehind(o.Instr, other)
	})
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
