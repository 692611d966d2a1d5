package lockset

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A container that is fresh may hold objects that are not:
//
//	all := make([]*Item, 0, len(s.items))     all is fresh
//	for _, it := range s.items {
//		all = append(all, it)                 and its elements are the shop's
//	}
//	s.mu.Unlock()
//	return all[0].stock                       an access to an item, without the lock
//
// So what is reached by way of a fresh object is fresh itself only if no code has stored there what it
// had from elsewhere.

// A stored is what code has put into a place.
type stored struct {
	at    *locks.Place // without the keys of elements
	value ssa.Value
}

// isBehindForeign reports whether the way from the root of a place, a fresh object, leads through
// something that was not made with it.
func (a *Analysis) isBehindForeign(ctx *Context, p *locks.Place) bool {
	if p.Parent() == nil && !isCell(rootValue(p)) {
		return false
	}
	own := a.Places.Unkeyed(p)
	return slices.ContainsFunc(a.storedIn(ctx.fn)[rootValue(p)], func(s stored) bool {
		return leadsThrough(own, s.at) && a.isForeign(ctx, s.value, 0)
	})
}

// isCell reports whether a value is the variable of a pointer, map or the like: that the variable is the
// function's own says nothing of what it refers to. The result of a function that defers is one.
func isCell(v ssa.Value) bool {
	local, ok := v.(*ssa.Alloc)
	return ok && locks.IsReference(deref(local.Type()))
}

// leadsThrough reports whether a place is another, or is reached by way of it.
func leadsThrough(p, way *locks.Place) bool {
	for ; p != nil; p = p.Parent() {
		if p == way {
			return true
		}
	}
	return false
}

// storedIn returns what a function stores, by the root of the place where it does.
func (a *Analysis) storedIn(fn *ssa.Function) map[ssa.Value][]stored {
	if all, ok := a.contents[fn]; ok {
		return all
	}
	all := make(map[ssa.Value][]stored)
	a.contents[fn] = all
	add := func(at *locks.Place, value ssa.Value) {
		if at = a.Places.Unkeyed(at); at != nil && rootValue(at) != nil {
			all[rootValue(at)] = append(all[rootValue(at)], stored{at, value})
		}
	}
	element := func(container ssa.Value) *locks.Place {
		return a.Places.Extend(a.values.Place(container), locks.Step{Field: locks.Element})
	}
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Store:
				add(a.values.Place(i.Addr), i.Val)
			case *ssa.MapUpdate:
				add(element(i.Map), i.Value)
			case *ssa.Call:
				// copy(all, s.list) and maps.Copy(all, s.items) store what the second has.
				if callee := i.Call.StaticCallee(); len(i.Call.Args) == 2 && (isBuiltin(&i.Call, "copy") || isOf(callee, "maps") && callee.Object().Name() == "Copy") {
					add(element(i.Call.Args[0]), i.Call.Args[1])
				}
			}
		}
	}
	return all
}

func isBuiltin(c *ssa.CallCommon, name string) bool {
	b, ok := c.Value.(*ssa.Builtin)
	return ok && b.Name() == name
}

// isForeign reports whether a value leads to an object that the function of a context has not made.
func (a *Analysis) isForeign(ctx *Context, v ssa.Value, depth int) bool {
	const deepest = 4 // objects may hold each other
	switch v := v.(type) {
	case *ssa.Const, *ssa.Function, *ssa.MakeClosure, *ssa.Builtin:
		return false
	case *ssa.UnOp:
		if local, ok := v.X.(*ssa.Alloc); ok && holdsReferences(v.Type()) { // a copy of a struct that is made here
			return depth < deepest && slices.ContainsFunc(a.storedIn(ctx.fn)[local], func(s stored) bool { return a.isForeign(ctx, s.value, depth+1) })
		}
	}
	if !locks.IsReference(v.Type()) && !holdsReferences(v.Type()) {
		return false
	}
	root := rootValue(a.values.Place(v))
	return root != nil && !a.bornFresh(ctx, root)
}

// IsShared reports whether others may have the objects, at an instruction of a function, that a value of
// the function leads to. What its callers have given it they have themselves.
func (a *Analysis) IsShared(fn *ssa.Function, v ssa.Value, at ssa.Instruction) bool {
	if _, nothing := v.(*ssa.Const); nothing {
		return false
	}
	p := a.values.Place(v)
	if _, given := rootValue(p).(*ssa.Parameter); given && p.Parent() == nil {
		return false
	}
	switch v.Type().Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array:
		p = a.Places.Extend(p, locks.Step{Field: locks.Element})
	}
	return !a.isFresh(&Context{fn: fn}, p, at)
}
