package source

import "go/types"

// HasTypeParam reports whether a type is a type parameter, or made of some: what it is then
// depends on the instance.
func HasTypeParam(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Pointer:
		return HasTypeParam(t.Elem())
	case *types.Slice:
		return HasTypeParam(t.Elem())
	case *types.Array:
		return HasTypeParam(t.Elem())
	case *types.Chan:
		return HasTypeParam(t.Elem())
	case *types.Map:
		return HasTypeParam(t.Key()) || HasTypeParam(t.Elem())
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			if HasTypeParam(arg) {
				return true
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if HasTypeParam(f.Type()) {
				return true
			}
		}
	case *types.Signature:
		return HasTypeParam(t.Params()) || HasTypeParam(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if HasTypeParam(v.Type()) {
				return true
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if HasTypeParam(m.Signature()) {
				return true
			}
		}
		for e := range t.EmbeddedTypes() {
			if HasTypeParam(e) {
				return true
			}
		}
	case *types.Union:
		for term := range t.Terms() {
			if HasTypeParam(term.Type()) {
				return true
			}
		}
	}
	return false
}
