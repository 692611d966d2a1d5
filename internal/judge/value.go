package judge

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A value is one of these, and is never changed once it is made:
//
//	bool, string, float64, complex128
//	int64          every integer, as the bits of its type, sign- or zero-extended
//	address        a pointer, or an unsafe.Pointer
//	aggregate      a struct, an array, or a tuple
//	slice
//	mapRef, chanRef
//	*closure       a function; nil is the nil function
//	iface          an interface
//	iterator       of a range over a map or a string
//	stackRef       the deferred calls of a frame, for loops over functions
type value any

// An address is an object of the heap, or a part of one: the indexes that lead to the
// part, each as three bytes. Object 0 is nil.
type address struct {
	object int
	path   string
}

type aggregate []value

// A slice refers to an array, or to a part of one; one with no array is nil.
type slice struct {
	array         address
	from, n, room int
}

type mapRef int

type chanRef int

type closure struct {
	fn       *ssa.Function
	builtin  *ssa.Builtin
	captured []value
}

type iface struct {
	dynamic types.Type // nil: the nil interface
	held    value
}

// An iterator goes over what was there when it was made. For a map that is one of the
// behaviours the language allows, as long as a program does not depend on another.
type iterator int // the object with an iteration

type stackRef int // the index of a frame in its goroutine's stack

// part returns the address of a field or element.
func (a address) part(i int) address {
	return address{a.object, a.path + string([]byte{byte(i >> 16), byte(i >> 8), byte(i)})}
}

// overlaps reports whether two addresses share memory: they are the same, or one is a part
// of the other.
func (a address) overlaps(b address) bool {
	return a.object == b.object && (strings.HasPrefix(a.path, b.path) || strings.HasPrefix(b.path, a.path))
}

// zero returns the zero value of a type.
func zero(t types.Type) value {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		switch info := t.Info(); {
		case info&types.IsBoolean != 0:
			return false
		case info&types.IsString != 0:
			return ""
		case info&types.IsInteger != 0:
			return int64(0)
		case info&types.IsFloat != 0:
			return float64(0)
		case info&types.IsComplex != 0:
			return complex128(0)
		}
		return address{} // unsafe.Pointer, untyped nil
	case *types.Pointer:
		return address{}
	case *types.Struct:
		all := make(aggregate, t.NumFields())
		for i := range all {
			all[i] = zero(t.Field(i).Type())
		}
		return all
	case *types.Array:
		all := make(aggregate, t.Len())
		for i := range all {
			all[i] = zero(t.Elem())
		}
		return all
	case *types.Tuple:
		all := make(aggregate, t.Len())
		for i := range all {
			all[i] = zero(t.At(i).Type())
		}
		return all
	case *types.Slice:
		return slice{}
	case *types.Map:
		return mapRef(0)
	case *types.Chan:
		return chanRef(0)
	case *types.Signature:
		return (*closure)(nil)
	case *types.Interface:
		return iface{}
	}
	panic(fmt.Sprintf("judge: no zero value of %T", t))
}

// equal compares two values of the same static type. It panics, as the program would, for
// dynamic types that cannot be compared.
func equal(x, y value) bool {
	switch x := x.(type) {
	case aggregate:
		y := y.(aggregate)
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case slice:
		return x.array.object == 0 && y.(slice).array.object == 0
	case *closure:
		return x == nil && y.(*closure) == nil
	case iface:
		y := y.(iface)
		switch {
		case x.dynamic == nil || y.dynamic == nil:
			return x.dynamic == nil && y.dynamic == nil
		case !types.Identical(x.dynamic, y.dynamic):
			return false
		case !types.Comparable(x.dynamic):
			panic(runtimeError("comparing uncomparable type " + x.dynamic.String()))
		}
		return equal(x.held, y.held)
	}
	return x == y
}

// show renders a value as the outcome of a program: what fmt.Sprint would make of the
// simple ones.
func show(v value) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case iface:
		if v.dynamic == nil {
			return "<nil>"
		}
		if b, ok := v.dynamic.Underlying().(*types.Basic); ok && b.Info()&types.IsUnsigned != 0 {
			return strconv.FormatUint(uint64(v.held.(int64)), 10)
		}
		return show(v.held)
	case aggregate:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = show(v[i])
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprintf("(%T)", v)
}
