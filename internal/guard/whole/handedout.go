package whole

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
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
// can name, or where an address of the data goes to code that need not have the lock.
type HandedOut struct {
	Variable *types.Var
	Func     *ssa.Function
	At       token.Pos
	// ToCallback says that a function of theirs is called with it, and not that it is returned.
	ToCallback bool
	// ToGoroutine says that it is sent, or that a goroutine is started with it.
	ToGoroutine bool
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
	j := &judge{Analysis: a, data: data}
	var all []HandedOut
	for _, fn := range a.Functions {
		if fn.Pkg == nil || fn.Pkg.Pkg.Name() == "main" || isTestName(a.Program.Fset.Position(fn.Pos()).Filename) {
			continue
		}
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				for _, h := range j.addressesHanded(fn, i) {
					if !isTold(all, h) {
						all = append(all, h)
					}
				}
				values, toCallback := j.handed(fn, i)
				for _, x := range values {
					of := []*types.Named{elementOf(x.Type())}
					if j.dataAt(x) != nil {
						continue // listed as an address
					}
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
func (j *judge) handed(fn *ssa.Function, i ssa.Instruction) (values []ssa.Value, toCallback bool) {
	switch i := i.(type) {
	case *ssa.Return:
		// The one without a place is for what recovers from a panic.
		if fn.Parent() == nil && fn.Object() != nil && fn.Object().Exported() && i.Pos().IsValid() {
			return i.Results, false
		}
	case *ssa.Call:
		if callsValue(&i.Call) && j.isOfUsers(i.Call.Value, make(map[ssa.Value]bool)) {
			return i.Call.Args, true
		}
	}
	return nil, false
}

// callsValue reports whether a call is one of a function value.
func callsValue(c *ssa.CallCommon) bool {
	_, builtin := c.Value.(*ssa.Builtin)
	return !builtin && !c.IsInvoke() && c.StaticCallee() == nil
}

// isOfUsers reports whether a function value may be one of the package's users: all may but those that the
// function makes itself, as one that calls itself by a variable, and those that the package gives to a function
// which users cannot call. seen are values that were looked at.
func (j *judge) isOfUsers(f ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[f] {
		return false
	}
	seen[f] = true
	switch v := f.(type) {
	case *ssa.MakeClosure, *ssa.Function:
		return false
	case *ssa.ChangeType:
		return j.isOfUsers(v.X, seen)
	case *ssa.Phi:
		return slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { return j.isOfUsers(e, seen) })
	case *ssa.UnOp:
		if p := j.PlaceOf(v.X); p != nil && p.Parent() == nil {
			switch root := p.Root().(type) {
			case *ssa.Alloc:
				only := locks.OnlyStore(root)
				return only == nil || j.isOfUsers(only, seen)
			case *ssa.MakeClosure, *ssa.Function, *ssa.Parameter: // what the variable is given once
				return j.isOfUsers(root.(ssa.Value), seen)
			}
		}
	case *ssa.Parameter:
		in := v.Parent()
		if in.Parent() != nil || in.Object() == nil || in.Object().Exported() {
			return true
		}
		index := slices.Index(in.Params, v)
		return slices.ContainsFunc(j.callsOf(in), func(call *ssa.Call) bool { return j.isOfUsers(call.Call.Args[index], seen) })
	}
	return true
}

// addressesHanded tells of an instruction that computes or uses the address of data which goes to users of the
// package, or to another goroutine:
//
//	func (b *Book) Limits() *limits { return &b.limits }
//	func (r *Ring) All() []int      { return r.slots[:] }
//	func Total() *int               { return &total }
//	func (b *Book) Each(f func(*limits)) { f(&b.limits) }
//	func (b *Book) Used() func() int { return b.limits.used }      a method that has the address
func (j *judge) addressesHanded(fn *ssa.Function, i ssa.Instruction) []HandedOut {
	var all []HandedOut
	tell := func(v *lockset.Variable, w *waysOut) {
		h := HandedOut{Variable: v.Object, Func: fn, At: i.Pos(), Address: true}
		if !h.At.IsValid() {
			h.At = fn.Pos()
		}
		switch {
		case (w.asResult || len(w.into) > 0) && fn.Parent() == nil && j.answersUsers(fn, nil, make(map[*ssa.Function]bool)):
		case slices.ContainsFunc(w.calls, func(c *ssa.Call) bool { return j.isOfUsers(c.Call.Value, make(map[ssa.Value]bool)) }):
			h.ToCallback = true
		case w.toGoroutine:
			h.ToGoroutine = true
		default:
			return
		}
		all = append(all, h)
	}
	if address, ok := i.(ssa.Value); ok {
		if v := j.dataAt(address); v != nil {
			tell(v, waysOutOf(address, nil))
		}
	}
	for _, operand := range i.Operands(nil) {
		if global, ok := (*operand).(*ssa.Global); ok {
			if v := j.dataAt(global); v != nil {
				w := &waysOut{isAddress: true, seen: make(map[ssa.Value]bool)}
				w.followUse(global, i)
				tell(v, w)
			}
		}
	}
	return all
}

// dataAt is the variable of the data that an address is the address of, or of a part of it, if the data
// changes; nil if there is none. An object with a lock of its own takes care of itself.
func (j *judge) dataAt(address ssa.Value) *lockset.Variable {
	find := func(o types.Object) *lockset.Variable {
		k := slices.IndexFunc(j.Variables, func(v *lockset.Variable) bool { return v.Object.Pos() == o.Pos() })
		if k < 0 || !contains(j.data, j.Variables[k].Object) || isSettled(j.Variables[k]) || lockset.HasOwnLock(o.Type()) {
			return nil
		}
		return j.Variables[k]
	}
	switch x := address.(type) {
	case *ssa.Global:
		if x.Object() != nil {
			return find(x.Object())
		}
	case *ssa.FieldAddr:
		if v := find(fieldAt(x)); v != nil {
			return v
		}
		return j.dataAt(x.X)
	case *ssa.IndexAddr:
		load, ofSlice := x.X.(*ssa.UnOp)
		if !ofSlice {
			return j.dataAt(x.X) // of an array
		}
		if v := j.dataAt(load.X); v != nil && v.ChangedInPlace {
			return v
		}
	}
	return nil
}

// isTold reports whether an address is a part of what was listed already.
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
