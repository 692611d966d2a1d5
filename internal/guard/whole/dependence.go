package whole

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A dependence is the loads and calls that an instruction depends on.
type dependence struct {
	// data are those that its operands are computed from, control those that decide whether
	// it is executed.
	data, control map[ssa.Instruction]bool
}

// A tracer finds dependences within one function.
type tracer struct {
	fn *ssa.Function
	// deciding are the branches that decide whether a block is executed.
	deciding map[*ssa.BasicBlock][]*ssa.If
	// stores are the stores into each local variable, and into parts of it.
	stores map[*ssa.Alloc][]*ssa.Store
	// sends are the sends of the function.
	sends []*ssa.Send
	known map[ssa.Instruction]dependence
}

// ComputedFrom reports whether the operands of an instruction are computed from another.
func ComputedFrom(i, from ssa.Instruction) bool {
	return newTracer(i.Parent()).dependenceOf(i).data[from]
}

// ChosenBy reports whether an instruction is executed on one side of a branch by what another loads, and not
// on the other. Which case of a select it is does not depend on what its channels were made from.
//
//	if !ok {                select {
//		m[k] = v            case <-stop:
//	}                           return
//	                        case <-time.After(rest(failed)):
//	                        }
//	                        m[k] = now
func ChosenBy(i, by ssa.Instruction) bool {
	t := newTracer(i.Parent())
	return slices.ContainsFunc(decidingBranches(i.Parent())[i.Block()], func(branch *ssa.If) bool {
		return t.dependenceOf(branch).data[by] && !isCase(branch)
	})
}

// isCase reports whether a branch is by which case of a select was taken.
func isCase(branch *ssa.If) bool {
	compared, ok := branch.Cond.(*ssa.BinOp)
	if !ok {
		return false
	}
	index, ok := compared.X.(*ssa.Extract)
	if !ok || index.Index != 0 {
		return false
	}
	_, ok = index.Tuple.(*ssa.Select)
	return ok
}

func newTracer(fn *ssa.Function) *tracer {
	t := &tracer{fn: fn, deciding: decidingBranches(fn), stores: make(map[*ssa.Alloc][]*ssa.Store), known: make(map[ssa.Instruction]dependence)}
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Store:
				if local := localOf(i.Addr); local != nil {
					t.stores[local] = append(t.stores[local], i)
				}
			case *ssa.Send:
				t.sends = append(t.sends, i)
			}
		}
	}
	return t
}

// localOf is the local variable that an address is of, or of a part of it; nil if it is of none.
func localOf(addr ssa.Value) *ssa.Alloc {
	for {
		switch v := addr.(type) {
		case *ssa.Alloc:
			return v
		case *ssa.FieldAddr:
			addr = v.X
		case *ssa.IndexAddr:
			addr = v.X
		default:
			return nil
		}
	}
}

// decidingBranches finds, for each block, the branches of which one side leads to the block
// and the other does not, unless control comes by the branch again. What follows a loop is not
// decided by the loop: control comes there whatever the rounds have found. So does what another
// loop around it does in its next round.
func decidingBranches(fn *ssa.Function) map[*ssa.BasicBlock][]*ssa.If {
	all := make(map[*ssa.BasicBlock][]*ssa.If)
	loops := loopsOf(fn).loops
	ends := &ends{fn: fn, without: make(map[*ssa.BasicBlock][]bool)}
	for _, b := range fn.Blocks {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		yes, no := reachable(b.Succs[0], b), reachable(b.Succs[1], b)
		left := leftAtHeader(b, loops)
		for _, c := range fn.Blocks {
			if c != b && yes[c.Index] != no[c.Index] && !ends.areBehind(b, c) && (left == nil || left.blocks[c]) {
				all[c] = append(all[c], branch)
			}
		}
	}
	return all
}

// ends are the ways on which a function comes to its end.
type ends struct {
	fn *ssa.Function
	// without are the blocks after which it can end without passing another block, nil for none.
	without map[*ssa.BasicBlock][]bool
}

// areBehind reports whether the function cannot end, after one block, without another. Of a function
// without an end, nothing can be said.
func (e *ends) areBehind(b, c *ssa.BasicBlock) bool {
	return !e.avoiding(c)[b.Index] && e.avoiding(nil)[b.Index]
}

// avoiding are the blocks after which the function can end without passing one block. They are found
// backwards from the ends, for all at once: forwards, each pair of blocks of a long function would be a
// search through it.
func (e *ends) avoiding(avoid *ssa.BasicBlock) []bool {
	if known := e.without[avoid]; known != nil {
		return known
	}
	can := make([]bool, len(e.fn.Blocks))
	var todo []*ssa.BasicBlock
	for _, b := range e.fn.Blocks {
		if len(b.Succs) == 0 {
			todo = append(todo, b)
		}
	}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if b == avoid || can[b.Index] {
			continue
		}
		can[b.Index] = true
		todo = append(todo, b.Preds...)
	}
	e.without[avoid] = can
	return can
}

// leftAtHeader returns the loop whose rounds a block begins, if it can only be left there; nil if there is none.
func leftAtHeader(header *ssa.BasicBlock, loops []*loop) *loop {
	i := slices.IndexFunc(loops, func(l *loop) bool { return l.header == header })
	if i < 0 || slices.ContainsFunc(header.Parent().Blocks, func(b *ssa.BasicBlock) bool {
		return b != header && loops[i].blocks[b] && slices.ContainsFunc(b.Succs, func(next *ssa.BasicBlock) bool { return !loops[i].blocks[next] })
	}) {
		return nil
	}
	return loops[i]
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

// dependenceOf is what an instruction depends on.
func (t *tracer) dependenceOf(i ssa.Instruction) dependence {
	if d, ok := t.known[i]; ok {
		return d
	}
	d := dependence{make(map[ssa.Instruction]bool), make(map[ssa.Instruction]bool)}
	data := &slice{t, d.data, make(map[ssa.Value]bool)}
	for _, operand := range i.Operands(nil) {
		data.add(*operand)
	}
	control := &slice{t, d.control, make(map[ssa.Value]bool)}
	for _, branch := range t.deciding[i.Block()] {
		control.add(branch.Cond)
	}
	t.known[i] = d
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
	case *ssa.Alloc: // of which this is a value or a part, or that is given away
		for _, store := range s.stores[v] {
			s.add(store.Val)
		}
		s.addSetters(v)
	case *ssa.UnOp: // of a channel, what the function sends comes out
		if v.Op == token.ARROW {
			for _, send := range s.sends {
				if send.Chan == v.X {
					s.add(send.X)
				}
			}
		}
	case *ssa.Phi:
		s.addChoice(v)
	}
}

// addSetters adds the calls that run a function literal which has a variable, as the body of a loop over
// an iterator is one: what it stores there it has from its caller.
//
//	for k, v := range maps.All(m) {       maps.All(m)(func(k K, v V) bool {
//		sum += v                          	sum += v
//	}                                     	return true
//	                                      })
//
// How control leaves such a loop is in a variable without a place, and what follows a loop is not decided
// by it.
func (s *slice) addSetters(v *ssa.Alloc) {
	if !v.Pos().IsValid() {
		return
	}
	for _, r := range *v.Referrers() {
		literal, ok := r.(*ssa.MakeClosure)
		if !ok {
			continue
		}
		for _, use := range *literal.Referrers() {
			if call, ok := use.(*ssa.Call); ok {
				s.add(call)
			}
		}
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
