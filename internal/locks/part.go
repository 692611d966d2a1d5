package locks

import (
	"go/types"
	"slices"
)

// PartsOf returns a struct type and those of what its values lead to: types that users of the
// package cannot name and that have no lock of their own, as the nodes of a list.
func PartsOf(n *types.Named) []*types.Named { return addParts(n, nil) }

// addParts adds the parts of a struct type to those known.
func addParts(n *types.Named, known []*types.Named) []*types.Named {
	if n == nil || slices.Contains(known, n) {
		return known
	}
	st, ok := n.Underlying().(*types.Struct)
	if !ok {
		return known
	}
	known = append(known, n)
	for f := range st.Fields() {
		part := elementType(f.Type())
		if part != nil && !part.Obj().Exported() && part.Obj().Pkg() == n.Obj().Pkg() && !hasLock(part) {
			known = addParts(part.Origin(), known)
		}
	}
	return known
}

// elementType is the named type that a type leads to, over pointers, maps and the like. An
// atomic.Pointer is one, too.
func elementType(t types.Type) *types.Named {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if o := t.Obj(); o.Name() == "Pointer" && o.Pkg() != nil && o.Pkg().Path() == "sync/atomic" {
			return elementType(t.TypeArgs().At(0))
		}
		return t
	case *types.Pointer:
		return elementType(t.Elem())
	case *types.Slice:
		return elementType(t.Elem())
	case *types.Array:
		return elementType(t.Elem())
	case *types.Map:
		return elementType(t.Elem())
	}
	return nil
}

// hasLock reports whether a struct type has a field that is a lock.
func hasLock(n *types.Named) bool {
	st, ok := n.Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for f := range st.Fields() {
		if IsLock(f.Type()) {
			return true
		}
	}
	return false
}
