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
}

// Handing returns where objects with fields among the data of a lock are handed out. Objects that have
// the lock themselves can be told to be guarded by it, and an object that nothing else has needs no lock.
func Handing(a *lockset.Analysis, lock *types.Var, data []*types.Var) []HandedOut {
	var named []*types.Var // fields that users can name
	for _, v := range a.Variables {
		if o := v.Object; o.IsField() && o.Exported() && contains(data, o) && !isSettled(v) {
			named = append(named, o)
		}
	}
	if len(named) == 0 {
		return nil
	}
	var all []HandedOut
	for _, fn := range a.Functions {
		if fn.Pkg == nil || fn.Pkg.Pkg.Name() == "main" || isTestName(a.Program.Fset.Position(fn.Pos()).Filename) {
			continue
		}
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				values, toCallback := handed(a, fn, i)
				for _, x := range values {
					of := []*types.Named{elementOf(x.Type())}
					if of[0] == nil || !isPointerTo(x.Type()) || isFieldOf(of, lock) || !a.IsShared(fn, x, i) {
						continue
					}
					for _, v := range named {
						if isFieldOf(of, v) {
							all = append(all, HandedOut{v, fn, i.Pos(), toCallback})
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
