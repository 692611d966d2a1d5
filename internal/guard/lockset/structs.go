package lockset

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// recordFieldsAt records an access to a struct as a whole as one to each of its fields:
//
//	*t = Table{size: 1}     a write of size, of rows, and of whatever else Table has
//	old := t.head           a read of the fields of head, if head is a struct
//
// A struct that nothing else can reach yet has none: it is being made.
func (r *recorder) recordFieldsAt(addr ssa.Value, kind Kind, instr ssa.Instruction, paths []locks.Path) {
	st, ok := deref(addr.Type()).Underlying().(*types.Struct)
	if !ok {
		return
	}
	base := r.values.Place(addr)
	if base == nil || r.isFresh(r.ctx, base, instr) {
		return
	}
	r.ofStruct = true
	defer func() { r.ofStruct = false }()
	r.recordFields(st, base, kind, instr, addr, paths, isAny)
}

// isAny is the condition that every field meets.
func isAny(*types.Var) bool { return true }

// recordElements records what a call does to the elements of a slice, if they are structs:
//
//	copy(all, t.rows)     a read of each field of the rows
func (r *recorder) recordElements(slice ssa.Value, kind Kind, instr ssa.Instruction, paths []locks.Path) {
	s, ok := slice.Type().Underlying().(*types.Slice)
	if !ok {
		return
	}
	st, ok := s.Elem().Underlying().(*types.Struct)
	base := r.values.Place(slice)
	if !ok || base == nil || r.isFresh(r.ctx, base, instr) {
		return
	}
	r.ofStruct = true
	defer func() { r.ofStruct = false }()
	r.recordFields(st, r.Places.Extend(base, locks.Step{Field: locks.Element}), kind, instr, slice, paths, isAny)
}

// recordFields records an access to the fields of a struct that meet a condition.
func (r *recorder) recordFields(st *types.Struct, base *locks.Place, kind Kind, instr ssa.Instruction, addr ssa.Value, paths []locks.Path, meets func(*types.Var) bool) {
	for f := range st.Fields() {
		if !meets(f) {
			continue
		}
		f = r.Places.Canonical(f)
		if inner, ok := f.Type().Underlying().(*types.Struct); ok && !locks.IsLock(f.Type()) {
			r.recordFields(inner, r.Places.Extend(base, locks.Step{Field: f}), kind, instr, addr, paths, meets)
		}
		if !HasOwnLock(f.Type()) {
			r.recordAccess(f, base, kind, instr, addr, paths)
		}
	}
}

// Naming returns the sites that name the variable. They say what it is for: a struct that is copied
// takes all its fields with it, whatever guards them.
func (v *Variable) Naming() []*Site {
	return slices.DeleteFunc(slices.Clone(v.Sites), func(s *Site) bool { return s.OfStruct })
}
