package lockset

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// recordAddress records an access to what an address points to: the innermost field that is
// declared in the analysed packages, or a variable.
func (r *recorder) recordAddress(addr ssa.Value, kind Kind, instr ssa.Instruction, paths []locks.Path) {
	if phi, ok := addr.(*ssa.Phi); ok {
		r.byPointer = true
		for _, one := range addressesOf(phi) {
			r.recordAddress(one, kind, instr, paths)
		}
		r.byPointer = false
		return
	}
	for inner := true; ; inner = false {
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			f := r.values.Field(v.X.Type(), v.Field)
			if f.Pkg() != nil && r.own[f.Pkg().Path()] {
				// A struct with a lock of its own is a place, not data.
				if inner || !HasOwnLock(f.Type()) {
					r.recordAccess(f, r.values.Place(v.X), kind, instr, v, paths)
				}
				r.recordAsPart(v.X, kind, instr, v, paths)
				return
			}
			addr = v.X
		case *ssa.IndexAddr:
			if _, array := deref(v.X.Type()).Underlying().(*types.Array); !array {
				if kind == Write {
					r.recordContentWrite(v.X, instr, paths)
				}
				return
			}
			addr = v.X
		case *ssa.Global:
			if o, ok := v.Object().(*types.Var); ok && (inner || !HasOwnLock(o.Type())) {
				r.recordAccess(r.Places.Canonical(o), nil, kind, instr, v, paths)
			}
			return
		case *ssa.Alloc, *ssa.FreeVar:
			r.recordLocal(v, kind, instr, paths)
			return
		default:
			return
		}
	}
}

// recordAsPart records an access, to a field of the struct at an address, as one to a part of the fields
// and variables that the struct is in.
func (r *recorder) recordAsPart(addr ssa.Value, kind Kind, instr ssa.Instruction, field ssa.Value, paths []locks.Path) {
	for {
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			f := r.values.Field(v.X.Type(), v.Field)
			base := r.values.Place(v.X)
			if f.Pkg() != nil && r.own[f.Pkg().Path()] && !HasOwnLock(f.Type()) && isData(f.Type()) && (base == nil || !r.isFresh(r.ctx, base, instr)) {
				r.recordPart(r.variable(f), base, kind, instr, field, paths)
			}
			addr = v.X
		case *ssa.IndexAddr:
			if _, array := deref(v.X.Type()).Underlying().(*types.Array); !array {
				return
			}
			addr = v.X
		case *ssa.Global:
			if o, ok := v.Object().(*types.Var); ok && o.Pkg() != nil && r.own[o.Pkg().Path()] && !HasOwnLock(o.Type()) && isData(o.Type()) {
				r.recordPart(r.variable(r.Places.Canonical(o)), nil, kind, instr, field, paths)
			}
			return
		default:
			return
		}
	}
}

func (r *recorder) recordPart(v *Variable, base *locks.Place, kind Kind, instr ssa.Instruction, field ssa.Value, paths []locks.Path) {
	if r.isBeforeOthers(instr, paths) {
		return
	}
	pos := positionOf(instr, field)
	if !pos.IsValid() {
		return
	}
	for _, path := range paths {
		ob := r.observation(base, path.Held)
		ob.Kind, ob.Instr, ob.At = kind, instr, pos
		v.Parts = addObservation(v.Parts, ob)
	}
}

// recordLocal records an access to a local variable that goroutines share.
func (r *recorder) recordLocal(addr ssa.Value, kind Kind, instr ssa.Instruction, paths []locks.Path) {
	v := r.localVariable(addr)
	if v == nil || !v.Heap {
		return
	}
	o := r.Places.Local(v.Pos())
	if o == nil || HasOwnLock(o.Type()) || !r.isSharedLocal(v) {
		return
	}
	if r.isFresh(r.ctx, r.Places.Root(v), instr) || v.Parent() == r.ctx.fn && r.waitedBefore(r.ctx.fn, instr) {
		return
	}
	r.recordAccess(r.Places.Canonical(o), nil, kind, instr, v, paths)
}

// isSharedLocal reports whether another goroutine may come to have a local variable.
func (r *recorder) isSharedLocal(v *ssa.Alloc) bool {
	shared, ok := r.sharedLocals[v]
	if !ok {
		shared = len(r.findPublications(&Context{fn: v.Parent()}, v)) > 0
		r.sharedLocals[v] = shared
	}
	return shared
}

// addressesOf are the fields and elements that a pointer may point to which differs from round to
// round, or from branch to branch:
//
//	p := &t.root
//	for *p != nil {
//		p = &(*p).left
//	}
//	*p = n               a write of root, or of left
func addressesOf(phi *ssa.Phi) []ssa.Value {
	var all []ssa.Value
	seen := make(map[*ssa.Phi]bool)
	var visit func(phi *ssa.Phi)
	visit = func(phi *ssa.Phi) {
		if seen[phi] {
			return
		}
		seen[phi] = true
		for _, e := range phi.Edges {
			switch e := e.(type) {
			case *ssa.Phi:
				visit(e)
			case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Global:
				all = append(all, e)
			}
		}
	}
	visit(phi)
	return all
}
