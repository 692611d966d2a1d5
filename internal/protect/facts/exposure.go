package facts

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// An Exposure says which pointers might lead to a variable or field. Code that uses such
// a pointer must find the variable published.
type Exposure uint8

const (
	// Hidden is what no pointer leads to.
	Hidden Exposure = iota
	// Pointed is what pointers to its type, or to that of a part, may lead to: its
	// address is taken.
	Pointed
	// Forged is what any pointer may lead to: one was made with package unsafe, or
	// converted.
	Forged
)

// Exposure returns how a variable or field is exposed.
func (f *Facts) Exposure(v *types.Var) Exposure { return f.exposures[f.KeyOf(v)] }

// ExposedWithin reports whether the address of a field that values of a type have is
// taken anywhere.
func (f *Facts) ExposedWithin(t types.Type) bool {
	found := false
	eachInside(t, func(v *types.Var) { found = found || f.Exposure(v) != Hidden })
	return found
}

func (f *Facts) expose(v *types.Var, how Exposure) {
	k := f.KeyOf(v)
	if f.exposures[k] == Hidden {
		eachType(v.Type(), func(part types.Type) { f.exposed[TypeName(part)] = append(f.exposed[TypeName(part)], k) })
	}
	f.exposures[k] = max(f.exposures[k], how)
}

// observeExposure notes the addresses that an instruction takes along. A pointer to a part
// of something is one to the whole for package unsafe alone; but what has the part is no
// longer reached by its own name only.
func (f *Facts) observeExposure(i ssa.Instruction) {
	var buffer [8]*ssa.Value
	for n, operand := range i.Operands(buffer[:0]) {
		if !f.isAddress(*operand) {
			continue
		}
		switch use := f.useOfAddress(i, n, *operand); use {
		case followed:
			continue
		case borrowed, borrowedToWrite:
			f.observeLending(i.(*ssa.Call).Common(), *operand, use)
			continue
		case kept:
		}
		if usesUnsafe(i) {
			f.forgeObject(*operand)
			continue
		}
		t := f.code.touch(*operand)
		if t.variable != nil {
			f.expose(t.variable, Pointed)
		}
		for _, l := range t.links {
			f.expose(l.field, Pointed)
		}
	}
	switch i := i.(type) {
	case *ssa.Convert:
		f.exposeConverted(i.X.Type(), i.Type())
	case *ssa.MultiConvert:
		f.exposeConverted(i.X.Type(), i.Type())
	case *ssa.ChangeType:
		f.exposeConverted(i.X.Type(), i.Type())
	}
}

// usesUnsafe reports whether an instruction makes pointers of which the type does not say
// where they lead.
func usesUnsafe(i ssa.Instruction) bool {
	switch i := i.(type) {
	case *ssa.Convert:
		return isUnsafePointer(i.Type())
	case *ssa.Call:
		b, ok := i.Call.Value.(*ssa.Builtin)
		return ok && (b.Name() == "Slice" || b.Name() == "Add" || b.Name() == "String")
	}
	return false
}

// forgeObject exposes all of the object that an address is in: package unsafe leads from one
// field to the next.
func (f *Facts) forgeObject(address ssa.Value) {
	for {
		if v := f.code.variable(address); v != nil {
			f.expose(v, Forged)
		}
		f.forgeType(Deref(address.Type()))
		switch a := address.(type) {
		case *ssa.FieldAddr:
			address = a.X
		case *ssa.IndexAddr:
			if !IsPointer(a.X.Type()) {
				return
			}
			address = a.X
		default:
			return
		}
	}
}

// forgeType exposes the fields of a type, and variables of the type that pointers lead to.
func (f *Facts) forgeType(t types.Type) {
	f.forged[TypeName(t)] = true
	eachInside(t, func(v *types.Var) { f.expose(v, Forged) })
}

// exposeConverted exposes what a pointer of another type is made for.
//
//	(*B)(unsafe.Pointer(&a))      a is reached as a B
//	(*B)(p)                       the fields of what p points to are
func (f *Facts) exposeConverted(from, to types.Type) {
	switch {
	case isUnsafePointer(to) && IsPointer(from):
		f.forgeType(Deref(from))
	case IsPointer(to) && isUnsafePointer(from):
		f.forgeType(Deref(to))
	case IsPointer(to) && IsPointer(from) && !types.Identical(Deref(to), Deref(from)):
		f.forgeType(Deref(from))
		f.forgeType(Deref(to))
	}
}

// exposeReflected exposes what reflection can make pointers to: the exported fields of a
// struct that it may look into.
func (f *Facts) exposeReflected(t types.Type) {
	eachInside(t, func(v *types.Var) {
		if v.Exported() {
			f.expose(v, Pointed)
		}
	})
}
