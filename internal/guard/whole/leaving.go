package whole

import (
	"go/token"
	"go/types"

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
	if fn.Parent() != nil || fn.Object() == nil || !fn.Object().Exported() {
		return false
	}
	return isReturned(load, make(map[ssa.Value]bool)) && !j.isChangedByCallers(fn)
}

// isReturned reports whether a function returns a value, or a part of it.
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
		case *ssa.Phi:
			if isReturned(r, seen) {
				return true
			}
		case *ssa.ChangeType:
			if isReturned(r, seen) {
				return true
			}
		}
	}
	return false
}

// isChangedByCallers reports whether the program changes what a function returned: the result is
// there to be changed.
func (j *judge) isChangedByCallers(fn *ssa.Function) bool {
	if j.changed == nil {
		j.changed = make(map[*ssa.Function]bool)
		for _, caller := range j.Functions {
			for _, b := range caller.Blocks {
				for _, i := range b.Instrs {
					if call, ok := i.(*ssa.Call); ok && call.Call.StaticCallee() != nil && isChanged(call) {
						j.changed[call.Call.StaticCallee()] = true
					}
				}
			}
		}
	}
	return j.changed[fn]
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
