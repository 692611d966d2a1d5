package facts

import (
	"go/types"
	"strings"
)

// IsGlobal reports whether a variable is one of a package.
func IsGlobal(v *types.Var) bool {
	return !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// IsPointer reports whether the values of a type are pointers.
func IsPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// Deref returns what a type points to, or the type if it is not that of pointers.
func Deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// IsArray reports whether a type, which may be missing, is that of arrays.
func IsArray(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// IsSlice reports whether a type is a slice.
func IsSlice(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// IsMap reports whether a type is that of maps.
func IsMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// isUnsafePointer reports whether a type is unsafe.Pointer.
func isUnsafePointer(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

// TypeName writes a type with the paths of its packages.
func TypeName(t types.Type) string { return types.TypeString(t, nil) }

// coreOf returns the type that an expression is ranged over or indexed as, nil if that
// depends on a type parameter.
func coreOf(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return nil
	}
	return t.Underlying()
}

// RangesOverFunction reports whether a range statement over values of a type calls a
// function, or may do so.
func RangesOverFunction(t types.Type) bool {
	switch coreOf(t).(type) {
	case *types.Signature, nil:
		return true
	}
	return false
}

// Holds reports whether values of type t have one of the structs in them.
func Holds(t types.Type, structs []types.Type) bool {
	for _, s := range structs {
		if types.Identical(origin(t), origin(s)) {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if Holds(f.Type(), structs) {
				return true
			}
		}
	case *types.Array:
		return Holds(u.Elem(), structs)
	}
	return false
}

// origin returns the generic type that t is an instance of, or t.
func origin(t types.Type) types.Type {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Origin()
	}
	return t
}

// Uncopyable returns what in a type must not be copied: a lock, an atomic, or a type
// that is marked by noCopy. It returns "" if there is nothing of the kind. As for go vet's
// copylocks, a struct that has a lock's methods from an embedded lock counts as well.
func Uncopyable(t types.Type) string {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
		switch path := n.Obj().Pkg().Path(); {
		case path == "sync" && !types.IsInterface(t), path == "sync/atomic", strings.HasSuffix(path, "/atomic"):
			return "a " + n.Obj().Pkg().Name() + "." + n.Obj().Name()
		case strings.EqualFold(n.Obj().Name(), "nocopy"):
			return "a " + n.Obj().Name()
		case !types.IsInterface(t) && hasMethod(t, "Lock") && hasMethod(t, "Unlock"):
			return "the lock " + n.Obj().Name()
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if what := Uncopyable(f.Type()); what != "" {
				return what
			}
		}
	case *types.Array:
		return Uncopyable(u.Elem())
	}
	return ""
}

// hasMethod reports whether variables of a type have a method.
func hasMethod(t types.Type, name string) bool {
	o, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, name)
	_, ok := o.(*types.Func)
	return ok
}

// HeapReference returns what in a type the garbage collector has to see, "" if there is
// nothing: the collector does not look at protected pages.
func HeapReference(t types.Type) string {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return "a value of a type parameter"
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return "a string"
		case u.Kind() == types.UnsafePointer:
			return "a pointer"
		}
		return ""
	case *types.Array:
		return HeapReference(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if what := HeapReference(f.Type()); what != "" {
				return what
			}
		}
		return ""
	case *types.Slice:
		return "a slice"
	case *types.Map:
		return "a map"
	case *types.Chan:
		return "a channel"
	case *types.Signature:
		return "a function"
	case *types.Interface:
		return "an interface"
	default:
		return "a pointer"
	}
}

// HasArray reports whether a type is or has an array.
func HasArray(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if HasArray(f.Type()) {
				return true
			}
		}
	}
	return false
}
