package lockset

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/inplace"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// recordUse records that an instruction reads the map or the elements of the slice that a value
// refers to, if the value was loaded from a variable.
func (r *recorder) recordUse(reference ssa.Value, instr ssa.Instruction, paths []locks.Path) {
	for _, load := range referencesLoaded(reference) {
		v := r.variableOfReference(load)
		if v == nil {
			continue
		}
		base := r.baseOf(load.X)
		if base != nil && r.isFresh(r.ctx, base, instr) {
			continue
		}
		at := positionOf(instr, nil)
		// A loop that is over the reference where it is loaded, and not over a variable that has it since,
		// is where the reference is.
		if !at.IsValid() || IsLoopElement(instr) && instr.(*ssa.UnOp).X.Pos() == reference.Pos() {
			at = positionOf(load, load.X)
		}
		for _, path := range paths {
			ob := r.observation(base, path.Held)
			ob.Kind, ob.Instr, ob.At = Read, instr, at
			i := slices.IndexFunc(v.Uses, func(u Use) bool { return u.Load == load && u.same(ob) })
			if i < 0 {
				v.Uses = append(v.Uses, Use{load, ob})
			} else {
				v.Uses[i].Others = append(v.Uses[i].Others, ob.Context)
			}
		}
	}
}

// IsLoopElement reports whether an instruction loads the element that a loop over a slice or array has
// come to. An index expression is where its bracket is, and so is the load; the load that a loop adds is
// nowhere.
func IsLoopElement(instr ssa.Instruction) bool {
	load, ok := instr.(*ssa.UnOp)
	if !ok || load.Op != token.MUL || load.Pos().IsValid() {
		return false
	}
	_, ok = load.X.(*ssa.IndexAddr)
	return ok
}

// noteReusedArray notes a store that gives a variable a part of the array that it had: what is
// appended then overwrites elements that others may still have.
func (r *recorder) noteReusedArray(store *ssa.Store) {
	v := r.variableAt(store.Addr)
	if v == nil {
		return
	}
	for _, part := range inplace.Shortened(store.Val) {
		for _, load := range referencesLoaded(part.X) {
			if r.variableOfReference(load) == v {
				v.ChangedInPlace = true
			}
		}
	}
}

// partsOf returns the maps and slices that a value is, or is a part of, on all ways to it.
func partsOf(v ssa.Value) []ssa.Value {
	var all []ssa.Value
	seen := make(map[ssa.Value]bool)
	var visit func(v ssa.Value)
	visit = func(v ssa.Value) {
		if seen[v] {
			return
		}
		seen[v] = true
		switch v := v.(type) {
		case *ssa.Slice:
			visit(v.X)
		case *ssa.ChangeType: // to a type that sorts, for example
			visit(v.X)
		case *ssa.Phi:
			for _, e := range v.Edges {
				visit(e)
			}
		default:
			all = append(all, v)
		}
	}
	visit(v)
	return all
}

// containerOf is the map or slice that a map or slice is an entry of; nil if it is none of any.
//
//	r.members[room][who] = true     of r.members[room], it is r.members
func containerOf(reference ssa.Value) ssa.Value {
	switch reference.Type().Underlying().(type) {
	case *types.Map, *types.Slice:
	default:
		return nil
	}
	switch v := reference.(type) {
	case *ssa.Lookup:
		return v.X
	case *ssa.Extract: // of a look that says whether there is an entry, or of a loop
		switch from := v.Tuple.(type) {
		case *ssa.Lookup:
			return from.X
		case *ssa.Next:
			if over, ok := from.Iter.(*ssa.Range); ok {
				return over.X
			}
		}
	case *ssa.UnOp:
		if element, ok := v.X.(*ssa.IndexAddr); ok && v.Op == token.MUL {
			if _, slice := element.X.Type().Underlying().(*types.Slice); slice {
				return element.X
			}
		}
	}
	return nil
}

// referencesLoaded returns the loads that a map or slice may come from, over parts of it, over branches,
// and over the maps and slices that have it as an entry.
func referencesLoaded(reference ssa.Value) []*ssa.UnOp {
	var loads []*ssa.UnOp
	seen := make(map[ssa.Value]bool)
	var visit func(v ssa.Value)
	visit = func(v ssa.Value) {
		if seen[v] {
			return
		}
		seen[v] = true
		if outer := containerOf(v); outer != nil {
			visit(outer)
			return
		}
		switch v := v.(type) {
		case *ssa.UnOp:
			if v.Op == token.MUL {
				loads = append(loads, v)
			}
		case *ssa.Slice:
			visit(v.X)
		case *ssa.ChangeType:
			visit(v.X)
		case *ssa.Phi:
			for _, e := range v.Edges {
				visit(e)
			}
		}
	}
	visit(reference)
	return loads
}

// variableOfReference returns the variable that a reference was loaded from, nil if it is no data of the
// program or no reference.
func (r *recorder) variableOfReference(load *ssa.UnOp) *Variable {
	switch load.Type().Underlying().(type) {
	case *types.Map, *types.Slice:
		return r.variableAt(load.X)
	}
	return nil
}

// variableAt returns the field or variable whose address a value is, nil if it is none of
// the program's data.
func (r *recorder) variableAt(addr ssa.Value) *Variable {
	var o *types.Var
	switch v := addr.(type) {
	case *ssa.FieldAddr:
		o = r.values.Field(v.X.Type(), v.Field)
	case *ssa.Global:
		if g, ok := v.Object().(*types.Var); ok {
			o = r.Places.Canonical(g)
		}
	case *ssa.Alloc, *ssa.FreeVar:
		if local := r.localVariable(v); local != nil && local.Heap && r.isSharedLocal(local) {
			if l := r.Places.Local(local.Pos()); l != nil {
				o = r.Places.Canonical(l)
			}
		}
	}
	if o == nil || o.Pkg() == nil || !r.own[o.Pkg().Path()] {
		return nil
	}
	return r.variable(o)
}

// baseOf is the object whose field an address is that of, nil for a variable.
func (r *recorder) baseOf(addr ssa.Value) *locks.Place {
	if f, ok := addr.(*ssa.FieldAddr); ok {
		return r.values.Place(f.X)
	}
	return nil
}
