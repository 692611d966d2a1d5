package whole

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// leaves reports whether an instruction loads a map or slice that an exported function returns,
// and that the program does not change by way of the result:
//
//	func (c *Cache) All() map[string]int {
//		c.mu.Lock()
//		defer c.mu.Unlock()
//		return c.m                 the lock is gone when the caller ranges over it
//	}
func (j *judge) leaves(i ssa.Instruction) bool {
	load, ok := i.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return false
	}
	switch load.Type().Underlying().(type) {
	case *types.Map, *types.Slice:
	default:
		return false
	}
	fn := load.Parent()
	return fn.Parent() == nil && isReturned(load, make(map[ssa.Value]bool)) && j.answersUsers(fn, make(map[*ssa.Function]bool)) && !j.isChangedByCallers(fn)
}

// answersUsers reports whether users of the package are given what a function returns: it is exported,
// or such a function returns what it has from this one.
func (j *judge) answersUsers(fn *ssa.Function, seen map[*ssa.Function]bool) bool {
	if fn.Object() != nil && fn.Object().Exported() {
		return true
	}
	seen[fn] = true
	return slices.ContainsFunc(j.callsOf(fn), func(call *ssa.Call) bool {
		return !seen[call.Parent()] && isReturned(call, make(map[ssa.Value]bool)) && j.answersUsers(call.Parent(), seen)
	})
}

// isReturned reports whether a function returns a value, a part of it, or something that reads it later:
//
//	return maps.Keys(c.m)                     the caller's loop ranges over the map
//	return bytes.NewReader(c.page)            the caller reads the bytes
//	m := c.m; return func() int { return len(m) }
func isReturned(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] || v.Referrers() == nil {
		return false
	}
	seen[v] = true
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.Return:
			return true
		case *ssa.Store: // a result of a function with deferred calls is kept in a variable
			if local, ok := r.Addr.(*ssa.Alloc); ok && r.Val == v && isReturned(local, seen) {
				return true
			}
		case *ssa.UnOp:
			if _, ok := v.(*ssa.Alloc); ok && isReturned(r, seen) {
				return true
			}
		case *ssa.Slice:
			if r.X == v && isReturned(r, seen) {
				return true
			}
		case *ssa.Phi, *ssa.ChangeType, *ssa.MakeInterface, *ssa.MakeClosure:
			if isReturned(r.(ssa.Value), seen) {
				return true
			}
		case *ssa.Call:
			if mayKeep(r, v, seen) && isReturned(r, seen) {
				return true
			}
		}
	}
	return false
}

// mayKeep reports whether the result of a call may refer to an argument. Of a library's function its
// type tells; a map or slice is taken for a new one, as those of slices.Sorted and maps.Collect are.
func mayKeep(call *ssa.Call, argument ssa.Value, seen map[ssa.Value]bool) bool {
	fn := call.Call.StaticCallee()
	switch {
	case fn == nil:
		return false
	case fn.Blocks != nil:
		for i, p := range fn.Params {
			if call.Call.Args[i] == argument && isReturned(p, seen) {
				return true
			}
		}
		return false
	}
	switch call.Type().Underlying().(type) {
	case *types.Signature, *types.Pointer:
		return true
	case *types.Interface:
		return !types.Identical(call.Type(), types.Universe.Lookup("error").Type())
	}
	return false
}

// isChangedByCallers reports whether the program changes what a function returned: the result is
// there to be changed.
func (j *judge) isChangedByCallers(fn *ssa.Function) bool {
	return slices.ContainsFunc(j.callsOf(fn), func(call *ssa.Call) bool { return isChanged(call) })
}

// callsOf are the calls of a function, where it is named.
func (j *judge) callsOf(fn *ssa.Function) []*ssa.Call {
	if j.calls == nil {
		j.calls = make(map[*ssa.Function][]*ssa.Call)
		for _, caller := range j.Functions {
			for _, b := range caller.Blocks {
				for _, i := range b.Instrs {
					if call, ok := i.(*ssa.Call); ok && call.Call.StaticCallee() != nil {
						j.calls[call.Call.StaticCallee()] = append(j.calls[call.Call.StaticCallee()], call)
					}
				}
			}
		}
	}
	return j.calls[fn]
}

func isChanged(v ssa.Value) bool {
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.MapUpdate:
			if r.Map == v {
				return true
			}
		case *ssa.IndexAddr:
			for _, use := range *r.Referrers() {
				if s, ok := use.(*ssa.Store); ok && s.Addr == ssa.Value(r) {
					return true
				}
			}
		case *ssa.Call:
			if b, ok := r.Call.Value.(*ssa.Builtin); ok && (b.Name() == "delete" || b.Name() == "clear") {
				return true
			}
		case *ssa.Extract:
			if isChanged(r) {
				return true
			}
		}
	}
	return false
}
