package facts

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/protect/alias"
	"github.com/cofferdam-go/cofferdam/internal/protect/bounds"
)

// AliasedMap reports whether the map of a variable or field may be known by another name
// as well. A section must not exchange such a map for a copy.
//
//	x.m[k] = v; len(x.m); delete(x.m, k); x.m = make(map[K]V)      none of this makes a name
//	m := x.m; f(x.m); x.m = m                                      each of this does
func (f *Facts) AliasedMap(v *types.Var) bool { return f.aliasedMaps[f.KeyOf(v)] }

// observeMap notes the instructions that make another name for a map.
func (f *Facts) observeMap(i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.UnOp:
		if i.Op == token.MUL && !alias.IsNotEvaluated(i) {
			f.observeMapAt(i.X, !onlyUsesMap(i))
		}
	case *ssa.Store:
		f.observeMapAt(i.Addr, !isNewMap(i.Val, i))
	}
}

// observeMapAt notes that the map at an address, or each map in the struct there, has
// another name. A struct as a whole always takes its maps along.
func (f *Facts) observeMapAt(address ssa.Value, aliased bool) {
	t := f.code.touch(address)
	note := func(v *types.Var) {
		if IsMap(v.Type()) {
			f.aliasedMaps[f.KeyOf(v)] = true
		}
	}
	switch {
	case !IsMap(t.reached):
		if t.alloc == nil {
			eachInside(t.reached, note)
		}
	case !aliased:
	case len(t.links) > 0:
		note(t.links[0].field)
	case t.variable != nil:
		note(t.variable)
	}
}

// onlyUsesMap reports whether a map that was loaded is used at once, and not kept.
func onlyUsesMap(v ssa.Value) bool {
	for _, i := range *v.Referrers() {
		switch i := i.(type) {
		case *ssa.Lookup, *ssa.Range, *ssa.BinOp, *ssa.DebugRef:
		case *ssa.MapUpdate:
			if i.Key == v || i.Value == v {
				return false
			}
		case *ssa.Call:
			b, ok := i.Call.Value.(*ssa.Builtin)
			if !ok || b.Name() != "len" && b.Name() != "delete" && b.Name() != "clear" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isNewMap reports whether a value that is stored is a map that nothing else refers to, or
// nil.
func isNewMap(v ssa.Value, store *ssa.Store) bool {
	switch v := v.(type) {
	case *ssa.Const:
		return true
	case *ssa.Call:
		fn := calleeOf(v.Common())
		return fn != nil && fn.FullName() == "maps.Clone" && onlyStored(v, store)
	case *ssa.MakeMap:
		return onlyStored(v, store)
	}
	return false
}

// onlyStored reports whether a new map is forgotten once it has been stored. Before, it is
// filled.
func onlyStored(v ssa.Value, store *ssa.Store) bool {
	for _, i := range *v.Referrers() {
		_, fills := i.(*ssa.MapUpdate)
		_, notes := i.(*ssa.DebugRef)
		if i != ssa.Instruction(store) && !notes && !(fills && i.Block() == store.Block() && bounds.ComesBefore(i, store)) {
			return false
		}
	}
	return true
}
