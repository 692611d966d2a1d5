package whole

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// A lock that stands in one object may guard the fields of others. Users of the package that are given
// such an object can access it, and do not have the lock:
//
//	func (s *Shop) Find(id int) *Item {
//		s.mu.Lock()
//		defer s.mu.Unlock()
//		return s.items[id]          the lock is gone when the caller reads Stock
//	}

// A HandedOut is a place where users of a package are given an object with a guarded field that they
// can name.
type HandedOut struct {
	Variable *types.Var
	Func     *ssa.Function
	At       token.Pos
	// ToCallback says that a function of theirs is called with the object, and not that it is returned.
	ToCallback bool
	// Address says that they are given the address of the variable itself, or of a part of it.
	Address bool
}

// Handing returns where objects with fields among the data of a lock are handed out, and where addresses of
// the data are. Objects that have the lock themselves can be told to be guarded by it, and an object that
// nothing else has needs no lock.
func Handing(a *lockset.Analysis, lock *types.Var, data []*types.Var) []HandedOut {
	var named []*types.Var // fields that users can name
	for _, v := range a.Variables {
		if o := v.Object; o.IsField() && o.Exported() && contains(data, o) && !isSettled(v) {
			named = append(named, o)
		}
	}
	var all []HandedOut
	for _, fn := range a.Functions {
		if fn.Pkg == nil || fn.Pkg.Pkg.Name() == "main" || isTestName(a.Program.Fset.Position(fn.Pos()).Filename) {
			continue
		}
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				if h, ok := addressHanded(a, fn, i, data); ok && !isTold(all, h) {
					all = append(all, h)
				}
				values, toCallback := handed(a, fn, i)
				for _, x := range values {
					of := []*types.Named{elementOf(x.Type())}
					if of[0] == nil || !isPointerTo(x.Type()) || isFieldOf(of, lock) || !a.IsShared(fn, x, i) {
						continue
					}
					for _, v := range named {
						if isFieldOf(of, v) {
							all = append(all, HandedOut{Variable: v, Func: fn, At: i.Pos(), ToCallback: toCallback})
						}
					}
				}
			}
		}
	}
	return slices.CompactFunc(all, func(x, y HandedOut) bool { return x.Func == y.Func && x.Variable == y.Variable })
}

// handed returns the values that an instruction gives to users of the package: those that an exported
// function returns, and those that a function of theirs is called with.
func handed(a *lockset.Analysis, fn *ssa.Function, i ssa.Instruction) (values []ssa.Value, toCallback bool) {
	switch i := i.(type) {
	case *ssa.Return:
		// The one without a place is for what recovers from a panic.
		if fn.Parent() == nil && fn.Object() != nil && fn.Object().Exported() && i.Pos().IsValid() {
			return i.Results, false
		}
	case *ssa.Call:
		if _, builtin := i.Call.Value.(*ssa.Builtin); !builtin && !i.Call.IsInvoke() && len(a.Callees(&i.Call)) == 0 {
			return i.Call.Args, true
		}
	}
	return nil, false
}

// addressHanded tells of an instruction that computes the address of data which an exported function
// returns:
//
//	func (b *Book) Limits() *limits { return &b.limits }
//	func (r *Ring) All() []int      { return r.slots[:] }
func addressHanded(a *lockset.Analysis, fn *ssa.Function, i ssa.Instruction, data []*types.Var) (HandedOut, bool) {
	v := dataAt(a, i, data)
	if v == nil || fn.Parent() != nil || fn.Object() == nil || !fn.Object().Exported() {
		return HandedOut{}, false
	}
	at := i.Pos()
	if !at.IsValid() {
		at = fn.Pos()
	}
	return HandedOut{Variable: v.Object, Func: fn, At: at, Address: true}, waysOutOf(i.(ssa.Value), nil).asResult
}

// dataAt is the variable among some data whose address, or that of a part of which, an instruction computes,
// if the data changes; nil if there is none. An object with a lock of its own takes care of itself.
func dataAt(a *lockset.Analysis, i ssa.Instruction, data []*types.Var) *lockset.Variable {
	find := func(o *types.Var) *lockset.Variable {
		k := slices.IndexFunc(a.Variables, func(v *lockset.Variable) bool { return v.Object.Pos() == o.Pos() })
		if k < 0 || !contains(data, o) || isSettled(a.Variables[k]) || lockset.HasOwnLock(o.Type()) {
			return nil
		}
		return a.Variables[k]
	}
	switch i := i.(type) {
	case *ssa.FieldAddr:
		if v := find(fieldAt(i)); v != nil {
			return v
		}
		if outer, ok := i.X.(*ssa.FieldAddr); ok {
			return dataAt(a, outer, data)
		}
	case *ssa.IndexAddr:
		switch x := i.X.(type) {
		case *ssa.FieldAddr: // of an array
			return dataAt(a, x, data)
		case *ssa.UnOp:
			if field, ok := x.X.(*ssa.FieldAddr); ok {
				if v := find(fieldAt(field)); v != nil && v.ChangedInPlace {
					return v
				}
			}
		}
	}
	return nil
}

// isTold reports whether an address is a part of what was told already.
func isTold(all []HandedOut, h HandedOut) bool {
	return slices.ContainsFunc(all, func(o HandedOut) bool { return o.Address && o.Func == h.Func && o.Variable == h.Variable })
}

// isPointerTo reports whether a value of a type leads to objects, and is not one itself.
func isPointerTo(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return true
	case *types.Slice:
		return isPointerTo(u.Elem())
	case *types.Array:
		return isPointerTo(u.Elem())
	case *types.Map:
		return isPointerTo(u.Elem())
	case *types.Chan:
		return isPointerTo(u.Elem())
	}
	return false
}
