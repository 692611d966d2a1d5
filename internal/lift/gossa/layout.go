package gossa

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// size is how many bytes a value of type t takes in a register. A tuple's parts
// follow each other without padding.
func (p *Program) size(t types.Type) int {
	if tu, ok := t.(*types.Tuple); ok {
		n := 0
		for i := range tu.Len() {
			n += p.size(tu.At(i).Type())
		}
		return n
	}
	if hasNoLayout(t) {
		return 8
	}
	return int(p.sizes.Sizeof(types.Default(t))) // go/ssa has constants that are untyped booleans
}

// hasNoLayout types are go/ssa's own, or have no layout.
func hasNoLayout(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.Invalid || u.Info()&types.IsUntyped != 0 && u.Kind() != types.UntypedBool
	case *types.Struct, *types.Array, *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return false
	}
	return true
}

func (p *Program) resultSize(sig *types.Signature) int {
	n := 0
	for i := range sig.Results().Len() {
		n += p.size(sig.Results().At(i).Type())
	}
	return n
}

// offset is where a field lies in its struct.
func (p *Program) offset(s *types.Struct, field int) int {
	fields := make([]*types.Var, s.NumFields())
	for i := range fields {
		fields[i] = s.Field(i)
	}
	return int(p.sizes.Offsetsof(fields)[field])
}

// tupleOffset is where part i lies in a tuple, which is packed.
func (p *Program) tupleOffset(t *types.Tuple, i int) int {
	n := 0
	for j := range i {
		n += p.size(t.At(j).Type())
	}
	return n
}

// classOf says how the bits of a number are read.
func classOf(t types.Type) ir.Class {
	b, ok := t.Underlying().(*types.Basic)
	switch {
	case ok && b.Info()&types.IsFloat != 0:
		return ir.Float
	case ok && b.Info()&types.IsInteger != 0 && b.Info()&types.IsUnsigned == 0:
		return ir.Signed
	}
	return ir.Unsigned
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isComplex(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsComplex != 0
}

// isNumber reports whether the engine computes with values of the type: integers and floats,
// not complex numbers.
func isNumber(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
}

// heldDirectly reports whether an interface holds a value of the type itself, and not its
// address.
func heldDirectly(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Struct:
		return u.NumFields() == 1 && heldDirectly(u.Field(0).Type())
	case *types.Array:
		return u.Len() == 1 && heldDirectly(u.Elem())
	}
	return false
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}

// bytewise reports whether values are equal exactly if their bytes are.
func (p *Program) bytewise(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsBoolean|types.IsInteger) != 0 || u.Kind() == types.UnsafePointer
	case *types.Pointer, *types.Chan:
		return true
	case *types.Array:
		return p.bytewise(u.Elem())
	case *types.Struct:
		sum := 0
		for i := range u.NumFields() {
			f := u.Field(i)
			if !p.bytewise(f.Type()) || f.Name() == "_" {
				return false
			}
			sum += p.size(f.Type())
		}
		return sum == p.size(t)
	}
	return false
}
