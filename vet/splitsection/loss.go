package splitsection

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
)

// Most programs that look into a cache in one section and fill it in another do so knowingly: what is
// computed twice is the same for the same key, and nothing is lost but time.

// loses reports whether something is seen to be lost if two goroutines do the same: a value that is computed
// from what was read takes the place of what the other has computed, or an object with a state of its own
// that of one which the other already uses.
//
//	n := c.n                      e := r.entries[k]
//	...                           ...
//	c.n = n + 1                   r.entries[k] = &entry{}      the other goroutine counts in its own
func (c *checker) loses(read, write *whole.Member) bool {
	update, ok := write.Instr.(*ssa.MapUpdate)
	if !ok {
		return whole.ComputedFrom(write.Instr, read.Instr)
	}
	value := stored(update)
	// What was not found has no value that another could be computed from.
	if made, ok := value.(ssa.Instruction); ok && !whole.ChosenBy(update, read.Instr) && whole.ComputedFrom(made, read.Instr) {
		return true
	}
	return c.isNewState(value, make(map[ssa.Value]bool))
}

// stored is the value that an update puts into a map. Of one that is kept in a variable it is what the block
// has given it last: before that the variable may have had what was found in the map.
func stored(update *ssa.MapUpdate) ssa.Value {
	load, ok := update.Value.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return update.Value
	}
	value := update.Value
	for _, i := range load.Block().Instrs {
		if i == ssa.Instruction(load) {
			break
		}
		if store, ok := i.(*ssa.Store); ok && store.Addr == load.X {
			value = store.Val
		}
	}
	return value
}

// isNewState reports whether a value is an object that the function has made and that changes later, on all ways to it.
func (c *checker) isNewState(v ssa.Value, seen map[ssa.Value]bool) bool {
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return c.isNewState(v.X, seen)
	case *ssa.ChangeType:
		return c.isNewState(v.X, seen)
	case *ssa.Phi:
		if seen[v] {
			return true
		}
		seen[v] = true
		return !slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { return !c.isNewState(e, seen) })
	case *ssa.MakeChan:
		return true
	case *ssa.MakeMap:
		return !isFilled(v)
	}
	p, ok := v.Type().Underlying().(*types.Pointer)
	return ok && c.known.Analysis.IsMade(v) && c.changesLater(p.Elem())
}

// isFilled reports whether the function that makes a map puts something into it: it may be complete then.
func isFilled(m *ssa.MakeMap) bool {
	return slices.ContainsFunc(*m.Referrers(), func(i ssa.Instruction) bool {
		update, ok := i.(*ssa.MapUpdate)
		return ok && update.Map == ssa.Value(m)
	})
}

// changesLater reports whether objects of a type are changed when they are made: a part of theirs is written,
// is a lock, or is of a kind that has no use but to change.
func (c *checker) changesLater(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		_, basic := t.Underlying().(*types.Basic)
		return basic
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "sync" {
		return true
	}
	for field := range s.Fields() {
		v := c.variable(field)
		if v != nil && slices.ContainsFunc(v.Sites, func(s *lockset.Site) bool { return s.Kind == lockset.Write }) {
			return true
		}
		if isPart(field.Type()) && c.changesLater(field.Type()) {
			return true
		}
	}
	return false
}

// isPart reports whether a field's value is a struct in the struct.
func isPart(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}
