// Package copying says of which types a section can have private copies, and by which expression two values of a
// type are compared. At its end a section compares the variable with what it was at the beginning: if they differ,
// careless code has written it meanwhile, and if the section has changed it as well, both changes are merged.
//
//	copying.go   types, and how their values are compared
//	merge.go     how changes are merged
package copying

import (
	"fmt"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// maxWide is the size of a struct, in bytes, beyond which a copy costs more than it
// is worth.
const maxWide = 256

// Unfit returns why there can be no copy of a variable of a type, or "".
func Unfit(t types.Type, sizes types.Sizes) string {
	if what := facts.Uncopyable(t); what != "" {
		return "it is or has " + what
	}
	switch t.Underlying().(type) {
	case *types.Array, *types.Struct:
		if parametrised(t) {
			return ""
		}
		if n := sizes.Sizeof(t); n > maxWide {
			return fmt.Sprintf("it has %d bytes", n)
		}
	}
	return ""
}

// parametrised reports whether the size of a type depends on type parameters.
func parametrised(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Named:
		return parametrised(u.Underlying())
	case *types.Array:
		return parametrised(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if parametrised(f.Type()) {
				return true
			}
		}
	}
	return false
}

// A Sameness is how two values of a type are found to be the same, bit by bit: by == or
// by a function of package tolerate.
type Sameness string

const (
	// Unknown is that of types with several parts, or of which nothing is known.
	Unknown       Sameness = ""
	Comparison    Sameness = "=="
	SameFloat     Sameness = "SameFloat" // 0 == -0
	SameString    Sameness = "SameString"
	SamePointer   Sameness = "SamePointer"
	SameSlice     Sameness = "SameSlice"
	SameInterface Sameness = "SameInterface"
)

// SamenessOf returns the sameness of a type.
func SamenessOf(t types.Type) Sameness {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return Unknown
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		switch info := t.Info(); {
		case info&(types.IsInteger|types.IsBoolean) != 0 || t.Kind() == types.UnsafePointer:
			return Comparison
		case info&types.IsFloat != 0:
			return SameFloat
		case info&types.IsString != 0:
			return SameString
		}
	case *types.Pointer, *types.Chan:
		return Comparison
	case *types.Map, *types.Signature:
		return SamePointer
	case *types.Slice:
		return SameSlice
	case *types.Interface:
		return SameInterface
	case *types.Array:
		if SamenessOf(t.Elem()) == Comparison {
			return Comparison
		}
	}
	return Unknown
}

// IsWord reports whether a value of a type is loaded by one instruction, and leads to nothing
// else.
func IsWord(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsBoolean|types.IsFloat) != 0
}
