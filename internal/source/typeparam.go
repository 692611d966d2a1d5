package source

import "go/types"

// HasTypeParam reports whether a type is a type parameter, or made of some: what it is then
// depends on the instance.
func HasTypeParam(t types.Type) bool {
	return Mentions(t, func(t types.Type) bool {
		_, ok := t.(*types.TypeParam)
		return ok
	})
}

// Mentions reports whether a type, as it is written, has a part for which found is true. What
// the names in it stand for is no part of it.
func Mentions(t types.Type, found func(types.Type) bool) bool {
	t = types.Unalias(t)
	if found(t) {
		return true
	}
	switch t := t.(type) {
	case *types.Pointer:
		return Mentions(t.Elem(), found)
	case *types.Slice:
		return Mentions(t.Elem(), found)
	case *types.Array:
		return Mentions(t.Elem(), found)
	case *types.Chan:
		return Mentions(t.Elem(), found)
	case *types.Map:
		return Mentions(t.Key(), found) || Mentions(t.Elem(), found)
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			if Mentions(arg, found) {
				return true
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if Mentions(f.Type(), found) {
				return true
			}
		}
	case *types.Signature:
		return Mentions(t.Params(), found) || Mentions(t.Results(), found)
	case *types.Tuple:
		for v := range t.Variables() {
			if Mentions(v.Type(), found) {
				return true
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if Mentions(m.Signature(), found) {
				return true
			}
		}
		for e := range t.EmbeddedTypes() {
			if Mentions(e, found) {
				return true
			}
		}
	case *types.Union:
		for term := range t.Terms() {
			if Mentions(term.Type(), found) {
				return true
			}
		}
	}
	return false
}
