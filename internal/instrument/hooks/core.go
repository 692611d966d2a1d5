package hooks

import "go/types"

// core returns a type's underlying type; for a type parameter, the one that all
// its type arguments share, or nil.
func core(t types.Type) types.Type {
	p, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		return t.Underlying()
	}
	var one types.Type
	same := true
	var walk func(types.Type)
	walk = func(t types.Type) {
		switch u := t.Underlying().(type) {
		case *types.Interface:
			for e := range u.EmbeddedTypes() {
				walk(e)
			}
		case *types.Union:
			for term := range u.Terms() {
				walk(term.Type())
			}
		default:
			if one != nil && !types.Identical(one, u) {
				same = false
			}
			one = u
		}
	}
	walk(p.Constraint())
	if !same {
		return nil
	}
	return one
}

// is reports whether a type is, in its core, a T.
func is[T types.Type](t types.Type) bool {
	_, ok := core(t).(T)
	return ok
}

func isPointer(t types.Type) bool { return is[*types.Pointer](t) }
func isMap(t types.Type) bool     { return is[*types.Map](t) }
func isSlice(t types.Type) bool   { return is[*types.Slice](t) }
func isArray(t types.Type) bool   { return is[*types.Array](t) }
func isChan(t types.Type) bool    { return is[*types.Chan](t) }

// pointee returns what a pointer type points to.
func pointee(t types.Type) types.Type {
	if p, ok := core(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return types.Typ[types.Invalid]
}

// element returns the type of the elements of a slice, an array or an array behind a
// pointer.
func element(t types.Type) types.Type {
	if isPointer(t) {
		t = pointee(t)
	}
	if c, ok := core(t).(interface{ Elem() types.Type }); ok {
		return c.Elem()
	}
	return types.Typ[types.Invalid]
}

// isString reports whether t is a string type, or all its type arguments are.
func isString(t types.Type) bool {
	b, ok := core(t).(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// pointsToArray reports whether t is a pointer to an array.
func pointsToArray(t types.Type) bool {
	p, ok := core(t).(*types.Pointer)
	return ok && isArray(p.Elem())
}
