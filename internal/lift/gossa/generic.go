package gossa

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A typeParameters tells which functions are generic code as it stands, and so have no layout:
// what runs is their instances. A generic function that calls another has the other instantiated
// with its own type parameters, which is generic code too:
//
//	func Map[T, U any](s Set[T]) Set[U] {
//		out := New[U]()               New[U] is no instance that runs
//	}
type typeParameters map[types.Type]bool

// inFunction reports whether a function, or one around it, computes with values of types that
// have type parameters in them.
func (t typeParameters) inFunction(fn *ssa.Function) bool {
	for ; fn != nil; fn = fn.Parent() {
		if fn.TypeParams().Len() != len(fn.TypeArgs()) || t.inValues(fn) {
			return true
		}
	}
	return false
}

// inValues reports whether a value of a function is of such a type.
func (t typeParameters) inValues(fn *ssa.Function) bool {
	if t.hasTypeParameter(fn.Signature) {
		return true
	}
	for _, p := range fn.Params {
		if t.hasTypeParameter(p.Type()) {
			return true
		}
	}
	for _, v := range fn.FreeVars {
		if t.hasTypeParameter(v.Type()) {
			return true
		}
	}
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if v, ok := i.(ssa.Value); ok && t.hasTypeParameter(v.Type()) {
				return true
			}
		}
	}
	return false
}

// hasTypeParameter reports whether a type has a type parameter in it.
func (t typeParameters) hasTypeParameter(of types.Type) bool {
	if found, ok := t[of]; ok {
		return found
	}
	t[of] = false // a type that has itself in it
	found := false
	switch of := of.(type) {
	case *types.TypeParam:
		found = true
	case *types.Alias:
		found = t.hasTypeParameter(types.Unalias(of))
	case *types.Named:
		for arg := range of.TypeArgs().Types() {
			found = found || t.hasTypeParameter(arg)
		}
		found = found || of.TypeParams().Len() > of.TypeArgs().Len()
	case *types.Pointer:
		found = t.hasTypeParameter(of.Elem())
	case *types.Slice:
		found = t.hasTypeParameter(of.Elem())
	case *types.Array:
		found = t.hasTypeParameter(of.Elem())
	case *types.Chan:
		found = t.hasTypeParameter(of.Elem())
	case *types.Map:
		found = t.hasTypeParameter(of.Key()) || t.hasTypeParameter(of.Elem())
	case *types.Struct:
		for f := range of.Fields() {
			found = found || t.hasTypeParameter(f.Type())
		}
	case *types.Tuple:
		for v := range of.Variables() {
			found = found || t.hasTypeParameter(v.Type())
		}
	case *types.Signature:
		found = t.hasTypeParameter(of.Params()) || t.hasTypeParameter(of.Results()) || of.Recv() != nil && t.hasTypeParameter(of.Recv().Type())
	}
	t[of] = found
	return found
}
