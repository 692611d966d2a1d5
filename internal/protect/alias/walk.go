package alias

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A walk follows one value, and all that is derived from it, through its function.
type walk struct {
	*finder
	home    ssa.Value // the address of the holder that it begins at, if it does
	derived map[ssa.Value]bool
	list    []ssa.Value
	branch  bool // a value comes from several ways

	uses    []ssa.Instruction // that reach elements
	writes  []ssa.Instruction // those of them that may change some
	stores  []*ssa.Store      // to variables and fields that hold slices
	returns []*ssa.Return
	escaped ssa.Instruction
	why     string
}

// newWalk follows a value. What the instruction end does with it, if there is one, the caller knows.
func (f *finder) newWalk(root ssa.Value, end ssa.Instruction) *walk {
	w := &walk{finder: f, derived: make(map[ssa.Value]bool)}
	if load, ok := root.(*ssa.UnOp); ok {
		w.home = load.X
	}
	w.derive(root)
	for len(w.list) > 0 && w.why == "" {
		v := w.list[0]
		w.list = w.list[1:]
		if refs := v.Referrers(); refs != nil {
			for _, i := range *refs {
				if i != end {
					w.use(v, i)
				}
			}
		}
	}
	return w
}

// derive has the walk follow a value.
func (w *walk) derive(v ssa.Value) {
	if !w.derived[v] {
		w.derived[v] = true
		w.list = append(w.list, v)
	}
}

// escape ends the walk.
func (w *walk) escape(i ssa.Instruction, why string) {
	if w.why == "" {
		w.escaped, w.why = i, why
	}
}

// reach notes an instruction that reaches elements.
func (w *walk) reach(i ssa.Instruction, changes bool) {
	if !slices.Contains(w.uses, i) {
		w.uses = append(w.uses, i)
	}
	if changes && !slices.Contains(w.writes, i) {
		w.writes = append(w.writes, i)
	}
}

// use looks at what an instruction does with a value: a slice, the address of an element or of a part of one, or a
// struct or array with slices in it.
func (w *walk) use(v ssa.Value, i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.DebugRef, *ssa.BinOp:
	case *ssa.Phi:
		w.branch = true
		w.derive(i)
	case *ssa.Slice:
		w.derive(i)
	case *ssa.ChangeType:
		w.derive(i)
	case *ssa.IndexAddr:
		w.derive(i)
	case *ssa.FieldAddr:
		w.derive(i)
	case *ssa.SliceToArrayPointer:
		w.derive(i)
	case *ssa.UnOp:
		if i.Op != token.MUL {
			w.escape(i, "it is used in a way that is not known")
			return
		}
		w.reach(i, false)
		if holdsSlice(i.Type()) {
			w.derive(i)
		}
	case *ssa.Field:
		w.part(i)
	case *ssa.Index:
		w.part(i)
	case *ssa.Extract:
		w.part(i)
	case *ssa.Convert: // to a string
		w.reach(i, false)
	case *ssa.Store:
		w.store(v, i)
	case *ssa.Return:
		w.returns = append(w.returns, i)
	case *ssa.Call:
		w.call(v, i)
	case *ssa.MakeInterface:
		w.boxed(i)
	default:
		w.escape(i, "it is given to other code")
	}
}

// part follows a part of a value, if it has slices.
func (w *walk) part(v ssa.Value) {
	if holdsSlice(v.Type()) {
		w.derive(v)
	}
}

// store looks at a store to an element, or of a value that is followed.
func (w *walk) store(v ssa.Value, i *ssa.Store) {
	if i.Addr == v {
		w.reach(i, true)
		if holdsSlice(i.Val.Type()) {
			if why := w.origin(i.Val, i, w.isLoadedFromHome); why != "" {
				w.escape(i, why)
			}
		}
		return
	}
	switch {
	case w.derived[i.Addr], w.isOfHome(i.Addr): // from one element to another
	case w.holderOfSlice(i.Addr) != "":
		w.stores = append(w.stores, i)
	case isInside(i.Addr):
		w.derive(root(i.Addr))
	default:
		w.escape(i, "it is assigned to something else")
	}
}

// isLoadedFromHome reports whether a value was an element of the holder's slice, or of one that is an element.
func (w *walk) isLoadedFromHome(load *ssa.UnOp) bool {
	return w.derived[load] || w.derived[load.X] || w.isOfHome(load.X)
}

// isOfHome reports whether an address is that of an element of the holder's slice, which was loaded anew.
func (w *walk) isOfHome(address ssa.Value) bool {
	if w.home == nil {
		return false
	}
	load, ok := root(address).(*ssa.UnOp)
	if !ok || load.Op != token.MUL || root(address) == address {
		return false
	}
	return w.samePlace(load.X, w.home, !w.branch) || w.isOfHome(load.X)
}

// isInside reports whether an address is in memory that a function has made for a literal, or to call something with:
// what is stored there goes where that goes.
func isInside(address ssa.Value) bool {
	switch address.(type) {
	case *ssa.IndexAddr, *ssa.FieldAddr:
		a, ok := root(address).(*ssa.Alloc)
		return ok && (a.Comment == "varargs" || a.Comment == "slicelit")
	}
	return false
}

// root is what an address is a part of.
func root(address ssa.Value) ssa.Value {
	for {
		switch a := address.(type) {
		case *ssa.IndexAddr:
			address = a.X
		case *ssa.FieldAddr:
			address = a.X
		default:
			return address
		}
	}
}

// follow looks at what becomes of a slice that was loaded from a holder.
func (f *finder) follow(k string, load ssa.Value, at ssa.Instruction, from ssa.Value) {
	w := f.newWalk(load, nil)
	f.conclude(k, w)
	for _, s := range w.stores {
		if f.holderOfSlice(s.Addr) != k || !f.samePlace(s.Addr, from, !w.branch) {
			f.escape(k, s, "another variable gets it")
		}
	}
	f.out.names[k] = append(f.out.names[k], Name{at, w.uses})
}

// conclude notes what a walk has found of a holder's slice.
func (f *finder) conclude(k string, w *walk) {
	switch {
	case w.why != "":
		f.escape(k, w.escaped, w.why)
	case len(w.returns) > 0:
		f.escape(k, w.returns[0], "it is returned")
	}
	for _, i := range w.writes {
		if !slices.Contains(f.out.changes[i], k) {
			f.out.changes[i] = append(f.out.changes[i], k)
		}
	}
}

// samePlace reports whether two addresses are of one variable, or of one field of one object. Two values that are
// computed by one instruction are of the same time only if nothing has gone around a loop in between.
func (f *finder) samePlace(a, b ssa.Value, atOnce bool) bool {
	if a == b {
		switch a.(type) {
		case *ssa.Parameter, *ssa.Global, *ssa.FreeVar, *ssa.Const:
			return true
		}
		return atOnce
	}
	switch a := a.(type) {
	case *ssa.FieldAddr:
		b, ok := b.(*ssa.FieldAddr)
		return ok && a.Field == b.Field && f.samePlace(a.X, b.X, atOnce)
	case *ssa.UnOp:
		b, ok := b.(*ssa.UnOp)
		return ok && a.Op == token.MUL && b.Op == token.MUL && f.samePlace(a.X, b.X, atOnce) && f.IsStable(a.X)
	}
	return false
}
