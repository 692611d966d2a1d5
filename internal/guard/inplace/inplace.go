// Package inplace knows which functions change the maps and slices that they are given in place, and the caller's
// variable with it:
//
//	h.subs = remove(h.subs, i)          func remove[T any](list []T, i int) []T {
//	h.subs.remove(i)                    	copy(list[i:], list[i+1:])
//	put(c.entries, k, v)                	return list[:len(list)-1]
//	heap.Push(&q.waiting, x)            }
//
// Nothing in such a function names the variable: package lockset takes the call for what changes it.
package inplace

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Functions are those of a program. What is known of each is found when it is asked for.
type Functions struct {
	known map[parameter]bool
}

type parameter struct {
	fn    *ssa.Function
	index int
}

// New returns the functions of a program.
func New() *Functions { return &Functions{known: make(map[parameter]bool)} }

// IsContainer reports whether a type is one of maps or slices.
func IsContainer(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Map, *types.Slice:
		return true
	}
	return false
}

// Changes reports whether a function changes the entries or elements of the map or slice that a parameter
// is, or points to, itself or in what it calls.
func (f *Functions) Changes(fn *ssa.Function, index int) bool {
	if isOf(fn, "container/heap") {
		return index == 0
	}
	if len(fn.Blocks) == 0 || index >= len(fn.Params) {
		return false
	}
	key := parameter{fn, index}
	if changes, ok := f.known[key]; ok {
		return changes
	}
	f.known[key] = false // for one that calls itself
	given := partsGiven(fn.Params[index])
	isGiven := func(v ssa.Value) bool { return slices.Contains(given, v) }
	changes := slices.ContainsFunc(given, func(v ssa.Value) bool {
		return slices.ContainsFunc(*v.Referrers(), func(i ssa.Instruction) bool { return f.changesGiven(i, v, isGiven) })
	})
	f.known[key] = changes
	return changes
}

// partsGiven are the values of a function that are the map or slice of a parameter, or a part of it, and the
// parameter itself.
func partsGiven(param *ssa.Parameter) []ssa.Value {
	given := []ssa.Value{param}
	t := param.Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if !IsContainer(t) {
		return nil
	}
	for i := 0; i < len(given); i++ {
		for _, r := range *given[i].Referrers() {
			switch r := r.(type) {
			case *ssa.UnOp, *ssa.Slice, *ssa.ChangeType, *ssa.Phi, *ssa.MakeInterface:
				if v := r.(ssa.Value); !slices.Contains(given, v) && (IsContainer(v.Type()) || types.IsInterface(v.Type())) {
					given = append(given, v)
				}
			}
		}
	}
	return given
}

// changesGiven reports whether an instruction changes a map or slice that a function was given, in place.
func (f *Functions) changesGiven(i ssa.Instruction, v ssa.Value, isGiven func(ssa.Value) bool) bool {
	switch i := i.(type) {
	case *ssa.IndexAddr:
		return i.X == v && slices.ContainsFunc(*i.Referrers(), func(r ssa.Instruction) bool {
			s, ok := r.(*ssa.Store)
			return ok && s.Addr == ssa.Value(i)
		})
	case *ssa.MapUpdate:
		return i.Map == v
	case *ssa.Store: // what is appended to a list that was shortened takes the place of what it had
		return i.Addr == v && slices.ContainsFunc(Shortened(i.Val), func(part *ssa.Slice) bool { return isGiven(part.X) })
	case ssa.CallInstruction:
		c := i.Common()
		if b, ok := c.Value.(*ssa.Builtin); ok {
			switch b.Name() {
			case "delete", "clear", "copy":
				return c.Args[0] == v
			case "append":
				return c.Args[0] == v && slices.ContainsFunc(Shortened(v), func(part *ssa.Slice) bool { return part.High != nil && isGiven(part.X) })
			}
			return false
		}
		fn := c.StaticCallee()
		if fn == nil {
			return false
		}
		return slices.Contains(c.Args, v) && Reorders(fn) ||
			slices.ContainsFunc(indexesOf(c.Args, v), func(k int) bool { return f.Changes(fn, k) })
	}
	return false
}

// indexesOf are the indexes at which a value is among others.
func indexesOf(all []ssa.Value, v ssa.Value) []int {
	var at []int
	for k, one := range all {
		if one == v {
			at = append(at, k)
		}
	}
	return at
}

// Reorders reports whether a function of the standard library changes the elements of the
// slices that it is given.
func Reorders(fn *ssa.Function) bool {
	if fn == nil || fn.Object() == nil || fn.Object().Pkg() == nil {
		return false
	}
	switch name := fn.Object().Name(); fn.Object().Pkg().Path() {
	case "sort":
		return !strings.Contains(name, "Search") && !strings.Contains(name, "Sorted")
	case "slices":
		return slices.ContainsFunc([]string{"Sort", "Reverse", "Delete", "Compact", "Insert", "Replace"}, func(prefix string) bool {
			return strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, "Sorted")
		})
	}
	return false
}

// Shortened returns the slice expressions that a slice may come from, over branches, rounds of loops, and what
// was appended to it. A limited capacity has what is appended go to a new array.
//
//	kept := l.events[:0]
//	for _, e := range l.events {
//		if e.Seq > seq {
//			kept = append(kept, e)
//		}
//	}
//	l.events = kept                of kept, it is l.events[:0]
func Shortened(slice ssa.Value) []*ssa.Slice {
	var all []*ssa.Slice
	seen := make(map[ssa.Value]bool)
	var visit func(v ssa.Value)
	visit = func(v ssa.Value) {
		if seen[v] {
			return
		}
		seen[v] = true
		switch v := v.(type) {
		case *ssa.Slice:
			if v.Max == nil {
				all = append(all, v)
			}
		case *ssa.Phi:
			for _, e := range v.Edges {
				visit(e)
			}
		case *ssa.Call:
			if isAppend(&v.Call) {
				visit(v.Call.Args[0])
			}
		}
	}
	visit(slice)
	return all
}

func isAppend(c *ssa.CallCommon) bool {
	b, ok := c.Value.(*ssa.Builtin)
	return ok && b.Name() == "append"
}

// isOf reports whether a function is declared in a package.
func isOf(fn *ssa.Function, path string) bool {
	return fn.Object() != nil && fn.Object().Pkg() != nil && fn.Object().Pkg().Path() == path
}
