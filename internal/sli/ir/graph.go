package ir

import "slices"

// A Dominance tells which blocks of a function are on every way to which.
type Dominance struct {
	// parent is each block's nearest dominator, -1 if the block cannot be reached; first and
	// last number the tree of dominators, so that a block's numbers lie within those of
	// the blocks that dominate it.
	parent, first, last []int
}

// Reached reports whether a block can be reached.
func (d *Dominance) Reached(block int) bool { return d.parent[block] >= 0 }

// Dominates reports whether the first block is on every way to the second, which can be
// reached. A block dominates itself.
func (d *Dominance) Dominates(first, second int) bool {
	return d.parent[first] >= 0 && d.first[first] <= d.first[second] && d.last[second] <= d.last[first]
}

// Dominators finds the dominators of all blocks that can be reached. (Cooper, Harvey and
// Kennedy, A Simple, Fast Dominance Algorithm: functions of machine code have thousands of
// blocks.)
func Dominators(fn *Func) *Dominance {
	n := len(fn.Blocks)
	order := reversePostorder(fn)
	number := make([]int, n) // in the order
	for i, b := range order {
		number[b] = i
	}
	d := &Dominance{parent: make([]int, n), first: make([]int, n), last: make([]int, n)}
	for i := range d.parent {
		d.parent[i] = -1
	}
	d.parent[0] = 0
	for changed := true; changed; {
		changed = false
		for _, b := range order[1:] {
			nearest := -1
			for _, p := range fn.Blocks[b].Preds {
				switch {
				case d.parent[p.Index] < 0:
				case nearest < 0:
					nearest = p.Index
				default:
					nearest = d.meet(nearest, p.Index, number)
				}
			}
			if nearest != d.parent[b] {
				d.parent[b], changed = nearest, true
			}
		}
	}
	d.numberTree(order)
	return d
}

// meet is the nearest block that dominates two.
func (d *Dominance) meet(a, b int, number []int) int {
	for a != b {
		for number[a] > number[b] {
			a = d.parent[a]
		}
		for number[b] > number[a] {
			b = d.parent[b]
		}
	}
	return a
}

// numberTree numbers the tree of dominators from its root.
func (d *Dominance) numberTree(order []int) {
	children := make([][]int, len(d.parent))
	for _, b := range order[1:] {
		children[d.parent[b]] = append(children[d.parent[b]], b)
	}
	next := 0
	type visit struct{ block, child int }
	stack := []visit{{0, 0}}
	for len(stack) > 0 {
		v := &stack[len(stack)-1]
		if v.child == 0 {
			next++
			d.first[v.block] = next
		}
		if v.child < len(children[v.block]) {
			v.child++
			stack = append(stack, visit{children[v.block][v.child-1], 0})
			continue
		}
		next++
		d.last[v.block] = next
		stack = stack[:len(stack)-1]
	}
}

// reversePostorder lists the blocks that can be reached so that all but the ways back of
// loops lead forwards.
func reversePostorder(fn *Func) []int {
	seen := make([]bool, len(fn.Blocks))
	var order []int
	type visit struct{ block, succ int }
	stack := []visit{{0, 0}}
	seen[0] = true
	for len(stack) > 0 {
		v := &stack[len(stack)-1]
		if succs := fn.Blocks[v.block].Succs; v.succ < len(succs) {
			next := succs[v.succ].Index
			v.succ++
			if !seen[next] {
				seen[next] = true
				stack = append(stack, visit{next, 0})
			}
			continue
		}
		order = append(order, v.block)
		stack = stack[:len(stack)-1]
	}
	slices.Reverse(order)
	return order
}

// InLoop reports whether a block can be reached from itself.
func InLoop(block *Block) bool {
	seen := map[*Block]bool{}
	list := append([]*Block(nil), block.Succs...)
	for len(list) > 0 {
		x := list[len(list)-1]
		list = list[:len(list)-1]
		if x == block {
			return true
		}
		if !seen[x] {
			seen[x] = true
			list = append(list, x.Succs...)
		}
	}
	return false
}

// PredIndex is which of the target's predecessors the edge is. A branch whose sides
// meet has two edges to the same block.
func PredIndex(from *Block, succ int) int {
	to, nth := from.Succs[succ], 0
	for i := 0; i < succ; i++ {
		if from.Succs[i] == to {
			nth++
		}
	}
	for i, p := range to.Preds {
		if p == from {
			if nth == 0 {
				return i
			}
			nth--
		}
	}
	return 0
}
