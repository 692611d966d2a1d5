package lockset

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A Kind says what an access does.
type Kind int

const (
	Read Kind = iota
	Write
)

func (k Kind) String() string {
	switch k {
	case Read:
		return "read"
	case Write:
		return "write"
	}
	panic(fmt.Sprintf("lockset: kind %d", int(k)))
}

// A Variable is data with the lines that access it.
type Variable struct {
	Object *types.Var
	Sites  []*Site
	Early  int  // initialising accesses, which are not among the sites
	Atomic bool // package sync/atomic is used on it
	// Uses are the reads of what the variable refers to, a map or the array of a slice, with
	// what is held at the use. They are no sites: what was taken out of the variable under a
	// lock may be the goroutine's own.
	Uses []Use
	// Parts are the accesses to a part of it, of a variable that is a struct: to cfg.Port of cfg.
	// They are no sites: the field has its own.
	Parts []Observation
	// Operations are what sync/atomic does to it, or what it does itself as a sync.Map. They are no
	// sites: each by itself needs no lock.
	Operations []Operation
	// ChangedInPlace: the map or array that the variable refers to is changed after it was
	// stored there.
	ChangedInPlace bool
	// InnerChanged: a map or array that this one has among its entries or elements is.
	InnerChanged bool
}

// An Operation is one step of sync/atomic or of a sync.Map. Validates says that it writes only if
// the variable is as it was found before.
type Operation struct {
	Observation
	Validates bool
}

// A Use is a read by way of a reference that was loaded from a variable.
type Use struct {
	Load *ssa.UnOp // of the reference
	Observation
}

// A Site is one line that accesses one variable. What the line does in several contexts,
// and in several instances of a generic function, is observed at the same site; x++ is one
// site, and a write.
type Site struct {
	At           token.Position
	Func         *ssa.Function
	Kind         Kind
	Observations []Observation
	// OfStruct says that the line does not name the variable: it copies or overwrites a struct that
	// the variable is a field of.
	OfStruct bool
}

type siteKey struct {
	file string
	line int
	of   types.Object
}

// An Observation is what is held at a site in one context, on one path.
type Observation struct {
	Kind Kind
	// Held are the locks of which it is known how they relate to the data.
	Held []Relation
	// OfUnknownObject are classes of locks that are held, of which object cannot be told.
	OfUnknownObject []*types.Var
	// OfUnrelatedObject are classes of locks that are held, of an object with no relation
	// to the one that has the data.
	OfUnrelatedObject []*types.Var
	// Unrelated are these locks themselves, as the function names them.
	Unrelated []Relation
	// Unnamed: locks that cannot be named may be held.
	Unnamed bool
	// FromOutside: the context was entered by code that is not at hand.
	FromOutside bool
	// Base is the object that has the field, nil for a variable.
	Base    *locks.Place
	Context *Context
	// Others are further contexts in which the same is held.
	Others []*Context
	// Instr is what accesses, At where it names the data.
	Instr ssa.Instruction
	At    token.Pos
}

// A Relation is a lock as seen from the data: the way from the object that has the field to
// the lock, or the lock itself if it is a variable.
type Relation struct {
	Lock  *locks.Place
	Mode  locks.Mode
	Maybe bool
}

func (o Observation) same(p Observation) bool {
	return o.Kind == p.Kind && o.Instr == p.Instr && o.Base == p.Base && o.Unnamed == p.Unnamed && o.FromOutside == p.FromOutside &&
		slices.Equal(o.Held, p.Held) && slices.Equal(o.OfUnknownObject, p.OfUnknownObject) && slices.Equal(o.OfUnrelatedObject, p.OfUnrelatedObject) && slices.Equal(o.Unrelated, p.Unrelated)
}

// addObservation adds an observation, or its context to the one that is the same.
func addObservation(all []Observation, ob Observation) []Observation {
	i := slices.IndexFunc(all, ob.same)
	if i < 0 {
		return append(all, ob)
	}
	if all[i].Context != ob.Context && !slices.Contains(all[i].Others, ob.Context) {
		all[i].Others = append(all[i].Others, ob.Context)
	}
	return all
}

// ReachedFrom returns the functions from whose calls the contexts of the observation are reached.
func (o *Observation) ReachedFrom() map[*ssa.Function]bool {
	all := make(map[*ssa.Function]bool)
	for _, ctx := range append([]*Context{o.Context}, o.Others...) {
		ctx.addReachedFrom(all)
	}
	return all
}

// IsOnlyFrom reports whether a function makes the access, or what it calls and nothing else does.
func (o *Observation) IsOnlyFrom(fn *ssa.Function) bool {
	return o.IsOnlyFromSome(func(f *ssa.Function) bool { return f == fn })
}

// IsOnlyFromSome reports whether functions of some kind make the access, or what they alone call.
func (o *Observation) IsOnlyFromSome(is func(*ssa.Function) bool) bool {
	return !slices.ContainsFunc(append([]*Context{o.Context}, o.Others...), func(ctx *Context) bool { return !ctx.isOnlyFromSome(is) })
}

// IsInGoroutine reports whether the access is made by goroutines that the program starts, and not by
// those of its users.
func (o *Observation) IsInGoroutine() bool {
	return !slices.ContainsFunc(append([]*Context{o.Context}, o.Others...), func(ctx *Context) bool { return !ctx.isInGoroutine() })
}

// IsWrittenOnlyBy reports whether a function makes all writes of a variable, itself or in what it alone
// calls.
func (v *Variable) IsWrittenOnlyBy(fn *ssa.Function) bool {
	for _, s := range v.Sites {
		for _, o := range s.Observations {
			if o.Kind == Write && !o.IsOnlyFrom(fn) {
				return false
			}
		}
	}
	return true
}

// A recorder collects the accesses of one context.
type recorder struct {
	*Analysis
	ctx   *Context
	loads map[ssa.Value][]locks.Path // what was held when a value was loaded
	// ofStruct says that accesses are those of a struct as a whole.
	ofStruct bool
	// byPointer says that accesses are made by a pointer to one of several fields: they do not name
	// the field.
	byPointer bool
}

// record goes through a context once more, when all is known that is held in it, and
// records its accesses.
func (a *Analysis) record(ctx *Context) {
	r := &recorder{Analysis: a, ctx: ctx, loads: make(map[ssa.Value][]locks.Path)}
	a.observe = r.recordInstruction
	defer func() { a.observe = nil }()
	for _, b := range ctx.fn.Blocks {
		paths := ctx.before[b.Index]
		for _, i := range b.Instrs {
			if len(paths) == 0 {
				break
			}
			paths = a.transfer(ctx, i, paths)
		}
	}
}

func (r *recorder) recordInstruction(instr ssa.Instruction, paths []locks.Path) {
	if len(paths) == 0 {
		return
	}
	switch i := instr.(type) {
	case *ssa.UnOp:
		if i.Op == token.MUL {
			r.loads[i] = paths
			r.recordAddress(i.X, Read, i, paths)
			r.recordFieldsAt(i.X, Read, i, paths)
			if element, ok := i.X.(*ssa.IndexAddr); ok {
				r.recordUse(element.X, i, paths)
			}
		}
	case *ssa.Lookup:
		r.recordUse(i.X, i, paths)
	case *ssa.Range:
		r.recordUse(i.X, i, paths)
	case *ssa.Next:
		if over, ok := i.Iter.(*ssa.Range); ok {
			r.recordUse(over.X, i, paths)
		}
	case *ssa.Store:
		r.recordAddress(i.Addr, Write, i, paths)
		r.recordFieldsAt(i.Addr, Write, i, paths)
		r.noteReusedArray(i)
	case *ssa.MapUpdate:
		r.recordContentWrite(i.Map, i, paths)
	case ssa.CallInstruction:
		r.recordCall(i, paths)
	}
}

// recordContentWrite records a write into a map or slice, which is a write of the variable that holds it, or
// holds a map or slice that has it as an entry. A lock that was held when the variable was read still counts:
// what was taken out under the lock may be the goroutine's own by now.
func (r *recorder) recordContentWrite(container ssa.Value, instr ssa.Instruction, paths []locks.Path) {
	seen := make(map[ssa.Value]bool) // a tree of maps may be walked down in a loop
	var visit func(v ssa.Value, inner bool)
	visit = func(v ssa.Value, inner bool) {
		for _, one := range partsOf(v) {
			if seen[one] {
				continue
			}
			seen[one] = true
			if outer := containerOf(one); outer != nil {
				visit(outer, true)
			} else {
				r.recordWriteOfHolder(one, inner, instr, paths)
			}
		}
	}
	visit(container, false)
}

// recordWriteOfHolder is recordContentWrite for a map or slice that is no part of another, and is found on
// one way alone. inner says that the write is into one of its entries.
func (r *recorder) recordWriteOfHolder(container ssa.Value, inner bool, instr ssa.Instruction, paths []locks.Path) {
	load, ok := container.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return
	}
	if v := r.variableOfReference(load); v != nil {
		v.ChangedInPlace, v.InnerChanged = true, v.InnerChanged || inner
	}
	if before := r.loads[load]; len(before) > 0 {
		paths = slices.Clone(paths)
		for i := range paths {
			for _, h := range locks.Flatten(before).Held {
				if paths[i].Held.Find(h.Lock) < 0 {
					paths[i].Held = paths[i].Held.With(h)
				}
			}
		}
	}
	r.recordAddress(load.X, Write, instr, paths)
}

// recordAccess records an access. base is the object whose field is accessed, nil for a variable.
func (r *recorder) recordAccess(o *types.Var, base *locks.Place, kind Kind, instr ssa.Instruction, addr ssa.Value, paths []locks.Path) {
	if o.Pkg() == nil || !r.own[o.Pkg().Path()] || !isData(o.Type()) || o.Name() == "_" {
		return
	}
	v := r.variable(o)
	// An access with the object's own lock speaks for the lock, whether it is needed already or not.
	if base != nil && !holdsOwnLock(base, paths) && r.isFresh(r.ctx, base, instr) || r.ctx.entry.beforeGoroutines && !r.spawnedBefore(r.ctx.fn, instr) {
		v.Early++
		return
	}
	pos := positionOf(instr, addr)
	if r.byPointer {
		pos = instr.Pos()
	}
	if !pos.IsValid() {
		return
	}
	found := &accessFound{v, r.ctx.fn, pos, r.ofStruct, nil}
	for _, path := range paths {
		ob := r.observation(base, path.Held)
		ob.Kind, ob.Instr, ob.At = kind, instr, pos
		found.observations = append(found.observations, ob)
	}
	if r.isBeforeOthers(instr, paths) {
		r.byOnce = append(r.byOnce, found)
		return
	}
	r.addAccess(found)
}

// An accessFound is an access on a line.
type accessFound struct {
	variable     *Variable
	fn           *ssa.Function
	at           token.Pos
	ofStruct     bool
	observations []Observation
}

// addAccess adds an access to the sites of its variable.
func (a *Analysis) addAccess(found *accessFound) {
	v, at := found.variable, a.position(found.at)
	key := siteKey{at.Filename, at.Line, v.Object}
	s := a.sites[key]
	if s == nil {
		s = &Site{At: at, Func: found.fn, OfStruct: true}
		a.sites[key] = s
		v.Sites = append(v.Sites, s)
	}
	s.OfStruct = s.OfStruct && found.ofStruct
	for _, ob := range found.observations {
		s.Kind = max(s.Kind, ob.Kind)
		s.Observations = addObservation(s.Observations, ob)
	}
}

// holdsOwnLock reports whether a lock of an object is held on all ways to an access.
func holdsOwnLock(object *locks.Place, paths []locks.Path) bool {
	return !slices.ContainsFunc(paths, func(p locks.Path) bool {
		return !slices.ContainsFunc(p.Held, func(h locks.Held) bool { return h.Lock.Root() == object.Root() })
	})
}

// isBeforeOthers reports whether an access is made before other goroutines can make theirs: none runs yet,
// or a sync.Once may have them wait, and no lock says that they do not.
func (r *recorder) isBeforeOthers(instr ssa.Instruction, paths []locks.Path) bool {
	holds := slices.ContainsFunc(paths, func(p locks.Path) bool { return len(p.Held) > 0 })
	return (r.ctx.entry.beforeGoroutines || r.ctx.entry.byOnce && !holds) && !r.spawnedBefore(r.ctx.fn, instr)
}

func (a *Analysis) variable(o *types.Var) *Variable {
	v := a.variableOf[o]
	if v == nil {
		v = &Variable{Object: o}
		a.variableOf[o] = v
		a.Variables = append(a.Variables, v)
	}
	return v
}

// observation says how the locks that are held relate to an object.
func (r *recorder) observation(base *locks.Place, held locks.Set) Observation {
	ob := Observation{Base: base, Context: r.ctx, Unnamed: r.ctx.entry.unnamedLocks, FromOutside: r.ctx.entry.fromOutside}
	if base != nil && slices.Contains(r.ctx.entry.outsideParameters, r.Places.Root(base.Root())) {
		ob.FromOutside = true
	}
	if base != nil && ob.FromOutside && r.ctx.fn.Parent() != nil && rootValue(base).Parent() == r.ctx.fn {
		// What a closure is given by unknown callers, as functional options are, is often
		// not published yet.
		ob.Unnamed = true
	}
	for _, h := range held {
		class := r.Places.Variable(h.Lock)
		if base != nil {
			if way := r.Places.Relate(base, h.Lock); way != nil {
				r.addHeldLock(&ob, way, h)
			} else if class != nil {
				ob.OfUnrelatedObject = append(ob.OfUnrelatedObject, class)
				ob.Unrelated = append(ob.Unrelated, Relation{h.Lock, h.Mode, h.Maybe})
			}
		}
		if class != nil && h.Lock.Ups() > 0 {
			// Of an object that this function cannot reach otherwise: by which of its
			// parameters it was found says nothing.
			ob.OfUnknownObject = append(ob.OfUnknownObject, class)
		}
		switch {
		case h.Lock.IsGlobal():
			r.addHeldLock(&ob, h.Lock, h)
		case !isLexical(r.ctx.fn, rootValue(h.Lock)) && class != nil:
			ob.OfUnknownObject = append(ob.OfUnknownObject, class)
		case !isLexical(r.ctx.fn, rootValue(h.Lock)):
			ob.Unnamed = true
		case base == nil:
			r.addHeldLock(&ob, h.Lock, h)
		}
	}
	return ob
}

// addHeldLock adds a lock that is held to an observation, named by the way that leads to it from the data.
// Elements are not told apart: each object of a container is guarded like the others.
func (r *recorder) addHeldLock(ob *Observation, way *locks.Place, h locks.Held) {
	way = r.Places.Unkeyed(way)
	if way == nil || r.Places.Variable(way) == nil || slices.ContainsFunc(ob.Held, func(x Relation) bool { return x.Lock == way }) {
		return
	}
	ob.Held = append(ob.Held, Relation{way, h.Mode, h.Maybe})
}

// isLexical reports whether a value is one of a function or of those around it.
func isLexical(fn *ssa.Function, v ssa.Value) bool {
	for ; fn != nil; fn = fn.Parent() {
		if v.Parent() == fn {
			return true
		}
	}
	return false
}

// positionOf finds the place of an access in the source; loads have none of their own.
func positionOf(instr ssa.Instruction, addr ssa.Value) token.Pos {
	if f, ok := addr.(*ssa.FieldAddr); ok && f.Pos().IsValid() {
		return f.Pos()
	}
	if v, ok := instr.(ssa.Value); ok && v.Referrers() != nil {
		for _, r := range *v.Referrers() {
			if d, ok := r.(*ssa.DebugRef); ok {
				return d.Expr.Pos()
			}
		}
	}
	return instr.Pos()
}
