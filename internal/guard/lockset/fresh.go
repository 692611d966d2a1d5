package lockset

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// An object is fresh from its allocation, or from when it comes out of a pool, until it is published:
// stored where others can find it, sent, or given to another goroutine. What happens to it before is initialisation
// and needs no lock.
//
//	t := &Table{}       t is fresh
//	t.rows = make(...)  initialisation
//	tables[name] = t    t is published
//	t.rows[k] = v       an access

// freshness is what has been found out about objects that are fresh.
type freshness struct {
	constructors map[parameterKey]bool // results that are fresh
	publishers   map[parameterKey]bool // parameters that are published
	publications map[publicationKey][]ssa.Instruction
	indexOf      map[ssa.Instruction]int
	spawns       map[*ssa.Function][]ssa.Instruction
	sharedLocals map[*ssa.Alloc]bool
	mentions     map[*ssa.Function]map[ssa.Value][]ssa.Instruction
	contents     map[*ssa.Function]map[ssa.Value][]stored
}

func newFreshness() freshness {
	return freshness{constructors: make(map[parameterKey]bool), publishers: make(map[parameterKey]bool),
		publications: make(map[publicationKey][]ssa.Instruction), indexOf: make(map[ssa.Instruction]int),
		spawns: make(map[*ssa.Function][]ssa.Instruction), sharedLocals: make(map[*ssa.Alloc]bool),
		mentions: make(map[*ssa.Function]map[ssa.Value][]ssa.Instruction), contents: make(map[*ssa.Function]map[ssa.Value][]stored)}
}

// A parameterKey is a parameter or a result of a function.
type parameterKey struct {
	fn    *ssa.Function
	index int
}

type publicationKey struct {
	ctx *Context
	v   ssa.Value
}

// rootValue is the value that a place begins with.
func rootValue(p *locks.Place) ssa.Value {
	v, _ := p.Root().(ssa.Value)
	return v
}

// isFresh reports whether the object at a place is fresh at an instruction.
func (a *Analysis) isFresh(ctx *Context, p *locks.Place, at ssa.Instruction) bool {
	return p != nil && p.Root() != nil && a.bornFresh(ctx, rootValue(p)) && !a.publishedBefore(ctx, rootValue(p), at) && !a.isBehindForeign(ctx, p)
}

// bornFresh reports whether a value is a new object.
func (a *Analysis) bornFresh(ctx *Context, v ssa.Value) bool {
	if slices.Contains(ctx.entry.fresh, a.Places.Root(v)) {
		return true
	}
	switch v := v.(type) {
	case *ssa.Alloc:
		return v.Parent() == ctx.fn
	case *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan:
		return v.Parent() == ctx.fn
	case *ssa.Call:
		return v.Parent() == ctx.fn && (isFromPool(v) || a.returnsFresh(v.Call.StaticCallee(), 0))
	case *ssa.Extract:
		call, ok := v.Tuple.(*ssa.Call)
		return ok && v.Parent() == ctx.fn && a.returnsFresh(call.Call.StaticCallee(), v.Index)
	}
	return false
}

// IsMade reports whether a value is an object that its function has made, by itself or by a call of a constructor.
func (a *Analysis) IsMade(v ssa.Value) bool {
	made, ok := v.(ssa.Instruction)
	return ok && a.bornFresh(&Context{fn: made.Parent()}, v)
}

// isFromPool reports whether a value comes out of a sync.Pool, which hands it to one goroutine.
//
//	s := sessions.Get().(*Session)      nothing else has s until it is published or put back
func isFromPool(call *ssa.Call) bool {
	fn := call.Call.StaticCallee()
	return fn != nil && fn.RelString(nil) == "(*sync.Pool).Get"
}

// returnsFresh reports whether a function returns an object that it made and kept to
// itself: whether it is a constructor.
func (a *Analysis) returnsFresh(fn *ssa.Function, index int) bool {
	if fn == nil || len(fn.Blocks) == 0 {
		return false
	}
	key := parameterKey{fn, index}
	if r, ok := a.constructors[key]; ok {
		return r
	}
	a.constructors[key] = false
	ctx := &Context{fn: fn}
	found := false
	for _, b := range fn.Blocks {
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		v := r.Results[index]
		if k, ok := v.(*ssa.Const); ok && k.Value == nil {
			continue
		}
		p := a.values.Place(v)
		if p.Parent() != nil || !a.isFresh(ctx, p, r) {
			return false
		}
		found = true
	}
	a.constructors[key] = found
	return found
}

// freshRoots returns what is fresh at the call of a closure among the variables and objects
// that the closure can reach.
func (a *Analysis) freshRoots(ctx *Context, closure *ssa.Function, at ssa.Instruction) []*locks.Place {
	var list []*locks.Place
	add := func(p *locks.Place) {
		if p.Parent() == nil && a.isFresh(ctx, p, at) {
			list = addPlace(list, p)
		}
	}
	for _, p := range ctx.entry.fresh {
		add(p)
	}
	for _, f := range closure.FreeVars {
		add(a.Places.Root(a.values.Place(f).Root()))
		if v := a.localVariable(f); v != nil {
			add(a.Places.Root(v))
		}
	}
	return list
}

// localVariable returns the local variable that an address is that of, nil if it is none.
func (a *Analysis) localVariable(addr ssa.Value) *ssa.Alloc {
	for {
		switch v := addr.(type) {
		case *ssa.Alloc:
			return v
		case *ssa.FreeVar:
			if addr = a.values.Binding(v); addr == nil {
				return nil
			}
		default:
			return nil
		}
	}
}

// publishedBefore reports whether an object may have been published before an instruction.
func (a *Analysis) publishedBefore(ctx *Context, v ssa.Value, at ssa.Instruction) bool {
	birth, _ := v.(ssa.Instruction)
	for _, s := range a.publicationsOf(ctx, v) {
		if a.reaches(s, at, birth) {
			return true
		}
	}
	return false
}

func (a *Analysis) publicationsOf(ctx *Context, v ssa.Value) []ssa.Instruction {
	key := publicationKey{ctx, v}
	sites, ok := a.publications[key]
	if !ok {
		a.publications[key] = nil // where objects that hold each other end
		sites = a.findPublications(ctx, v)
		a.publications[key] = sites
	}
	return sites
}

// findPublications returns the instructions of a function that publish an object.
func (a *Analysis) findPublications(ctx *Context, v ssa.Value) []ssa.Instruction {
	var sites []ssa.Instruction
	is := func(x ssa.Value) bool { return a.leadsTo(x, v) }
	// An object that is stored into another fresh one is published with it.
	into := func(addr ssa.Value, i ssa.Instruction) {
		container := rootValue(a.values.Place(addr))
		if w := a.localVariable(addr); w != nil && w.Parent() == ctx.fn {
			container = w
		}
		switch {
		case container == v:
		case a.bornFresh(ctx, container):
			sites = append(sites, a.publicationsOf(ctx, container)...)
		default:
			sites = append(sites, i)
		}
	}
	for _, i := range a.mentionsOf(ctx.fn)[v] {
		switch i := i.(type) {
		case *ssa.Store:
			if is(i.Val) {
				into(i.Addr, i)
			}
		case *ssa.MapUpdate:
			if is(i.Value) || is(i.Key) {
				into(i.Map, i)
			}
		case *ssa.Send:
			if is(i.X) {
				sites = append(sites, i)
			}
		case *ssa.Go:
			if is(i.Call.Value) || slices.ContainsFunc(i.Call.Args, is) {
				sites = append(sites, i)
			}
		case ssa.CallInstruction:
			if a.callPublishes(i, v) {
				sites = append(sites, i)
			}
		}
	}
	return sites
}

// mentionsOf returns, for each object, the instructions of a function that pass on something that
// leads to it. Without them the first values of a large table, which are thousands of objects
// of one function, would each be looked for in all of it.
func (a *Analysis) mentionsOf(fn *ssa.Function) map[ssa.Value][]ssa.Instruction {
	if all, ok := a.mentions[fn]; ok {
		return all
	}
	all := make(map[ssa.Value][]ssa.Instruction)
	a.mentions[fn] = all
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			for _, x := range passedOn(i) {
				a.eachLed(x, 0, func(v ssa.Value) {
					if list := all[v]; len(list) == 0 || list[len(list)-1] != i {
						all[v] = append(list, i)
					}
				})
			}
		}
	}
	return all
}

// passedOn returns the values that an instruction may publish.
func passedOn(i ssa.Instruction) []ssa.Value {
	switch i := i.(type) {
	case *ssa.Store:
		return []ssa.Value{i.Val}
	case *ssa.MapUpdate:
		return []ssa.Value{i.Value, i.Key}
	case *ssa.Send:
		return []ssa.Value{i.X}
	case ssa.CallInstruction:
		return append([]ssa.Value{i.Common().Value}, i.Common().Args...)
	}
	return nil
}

func (a *Analysis) callPublishes(i ssa.CallInstruction, v ssa.Value) bool {
	c := i.Common()
	fn := c.StaticCallee()
	if m, ok := c.Value.(*ssa.MakeClosure); ok {
		fn = m.Fn.(*ssa.Function)
		if a.leadsTo(m, v) && len(a.findPublications(&Context{fn: fn}, v)) > 0 {
			return true
		}
	}
	for k, arg := range c.Args {
		if !a.leadsTo(arg, v) || k == 0 && synchronises(fn) {
			continue
		}
		if fn == nil || len(fn.Blocks) == 0 {
			if _, builtin := c.Value.(*ssa.Builtin); !builtin && keepsCallbacks(c) {
				return true
			}
			continue
		}
		if a.publishesParameter(fn, k) {
			return true
		}
	}
	return false
}

// synchronises reports whether a function is a method of what package sync or sync/atomic has: such a
// part of an object is used in its place, and gives the object to nobody.
//
//	t := &Table{}
//	t.seed()            takes t.mu, and t is still fresh
//	t.rows = rows
func synchronises(fn *ssa.Function) bool {
	if fn == nil || fn.Signature.Recv() == nil || fn.Object() == nil || fn.Object().Pkg() == nil {
		return false
	}
	path := fn.Object().Pkg().Path()
	return path == "sync" || path == "sync/atomic"
}

func (a *Analysis) publishesParameter(fn *ssa.Function, index int) bool {
	if index >= len(fn.Params) {
		return false
	}
	key := parameterKey{fn, index}
	if r, ok := a.publishers[key]; ok {
		return r
	}
	a.publishers[key] = false
	r := len(a.findPublications(&Context{fn: fn}, fn.Params[index])) > 0
	a.publishers[key] = r
	return r
}

// leadsTo reports whether code that has x has the object v: x is a pointer to it or into
// it, or a closure over it.
func (a *Analysis) leadsTo(x, v ssa.Value) bool {
	found := false
	a.eachLed(x, 0, func(w ssa.Value) { found = found || w == v })
	return found
}

// eachLed calls a function with each object that code has which has x.
func (a *Analysis) eachLed(x ssa.Value, depth int, do func(ssa.Value)) {
	const deepest = 6 // closures may hold each other, and themselves
	if x == nil {
		return
	}
	do(x)
	if depth > deepest {
		return
	}
	switch copied := x.(type) {
	case *ssa.UnOp:
		// A copy of a struct leads to what the struct does.
		if copied.Op == token.MUL && holdsReferences(copied.Type()) {
			a.eachLed(copied.X, depth+1, do)
		}
	case *ssa.Call:
		// A slice has its elements, and what was appended to it.
		if b, ok := copied.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			for _, arg := range copied.Call.Args {
				a.eachLed(arg, depth+1, do)
			}
		}
	}
	if !locks.IsReference(x.Type()) {
		return
	}
	p := a.values.Place(x)
	if root := rootValue(p); p.Parent() == nil && root != nil {
		do(root)
		if m, ok := root.(*ssa.MakeClosure); ok {
			for _, b := range m.Bindings {
				a.eachLed(b, depth+1, do)
			}
			return
		}
	}
	if inner := enclosing(x); inner != x {
		do(inner)
		if p := a.values.Place(inner); p.Parent() == nil && rootValue(p) != nil {
			do(rootValue(p))
		}
	}
}

// enclosing returns the value that an address, or an interface, is made of.
func enclosing(v ssa.Value) ssa.Value {
	for {
		switch inner := v.(type) {
		case *ssa.FieldAddr:
			v = inner.X
		case *ssa.IndexAddr:
			v = inner.X
		case *ssa.Slice:
			v = inner.X
		case *ssa.MakeInterface:
			v = inner.X
		case *ssa.ChangeType:
			v = inner.X
		default:
			return v
		}
	}
}

// holdsReferences reports whether a value of a type is a struct or an array with references in it.
func holdsReferences(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return locks.IsReference(u.Elem()) || holdsReferences(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if locks.IsReference(f.Type()) || holdsReferences(f.Type()) {
				return true
			}
		}
	}
	return false
}
