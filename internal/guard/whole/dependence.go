package whole

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// A dependence is the loads and calls that an instruction depends on.
type dependence struct {
	// data are those that its operands are computed from, control those that decide whether
	// it is executed.
	data, control map[ssa.Instruction]bool
	// parameters are the function's own that its operands are computed from.
	parameters map[*ssa.Parameter]bool
}

// A tracer finds dependences within one function.
type tracer struct {
	fn *ssa.Function
	// deciding are the branches that decide whether a block is executed.
	deciding map[*ssa.BasicBlock][]*ssa.If
	// stores are the stores into each local variable.
	stores map[ssa.Value][]*ssa.Store
}

func newTracer(fn *ssa.Function) *tracer {
	t := &tracer{fn: fn, deciding: decidingBranches(fn), stores: make(map[ssa.Value][]*ssa.Store)}
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if s, ok := i.(*ssa.Store); ok {
				t.stores[s.Addr] = append(t.stores[s.Addr], s)
			}
		}
	}
	return t
}

// decidingBranches finds, for each block, the branches of which one side leads to the block
// and the other does not, unless control comes by the branch again.
func decidingBranches(fn *ssa.Function) map[*ssa.BasicBlock][]*ssa.If {
	all := make(map[*ssa.BasicBlock][]*ssa.If)
	for _, b := range fn.Blocks {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		yes, no := reachable(b.Succs[0], b), reachable(b.Succs[1], b)
		for _, c := range fn.Blocks {
			if c != b && yes[c.Index] != no[c.Index] {
				all[c] = append(all[c], branch)
			}
		}
	}
	return all
}

// reachable are the blocks that control can come to from a block without passing another.
func reachable(from, avoid *ssa.BasicBlock) []bool {
	seen := make([]bool, len(from.Parent().Blocks))
	todo := []*ssa.BasicBlock{from}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if b == avoid || seen[b.Index] {
			continue
		}
		seen[b.Index] = true
		todo = append(todo, b.Succs...)
	}
	return seen
}

// of is what an instruction depends on.
func (t *tracer) of(i ssa.Instruction) dependence {
	d := dependence{make(map[ssa.Instruction]bool), make(map[ssa.Instruction]bool), make(map[*ssa.Parameter]bool)}
	data := &slice{t, d.data, make(map[ssa.Value]bool)}
	for _, operand := range i.Operands(nil) {
		data.add(*operand)
	}
	control := &slice{t, d.control, make(map[ssa.Value]bool)}
	for _, branch := range t.deciding[i.Block()] {
		control.add(branch.Cond)
	}
	for v := range data.seen {
		if p, ok := v.(*ssa.Parameter); ok {
			d.parameters[p] = true
		}
	}
	return d
}

// A slice collects what values are computed from.
type slice struct {
	*tracer
	found map[ssa.Instruction]bool
	seen  map[ssa.Value]bool
}

func (s *slice) add(v ssa.Value) {
	if v == nil || s.seen[v] {
		return
	}
	s.seen[v] = true
	i, ok := v.(ssa.Instruction)
	if !ok {
		return
	}
	s.found[i] = true
	for _, operand := range i.Operands(nil) {
		s.add(*operand)
	}
	switch v := v.(type) {
	case *ssa.UnOp:
		if v.Op == token.MUL {
			for _, store := range s.stores[v.X] {
				if _, local := v.X.(*ssa.Alloc); local {
					s.add(store.Val)
				}
			}
		}
	case *ssa.Phi:
		s.addChoice(v)
	}
}

// addChoice adds what decides which of its values a phi has.
func (s *slice) addChoice(phi *ssa.Phi) {
	common := make(map[*ssa.If]bool)
	for _, branch := range s.deciding[phi.Block()] {
		common[branch] = true
	}
	for _, pred := range phi.Block().Preds {
		branches := s.deciding[pred]
		if last, ok := pred.Instrs[len(pred.Instrs)-1].(*ssa.If); ok {
			branches = append(branches[:len(branches):len(branches)], last)
		}
		for _, branch := range branches {
			if !common[branch] {
				s.add(branch.Cond)
			}
		}
	}
}
