package ir

// Dominators gives, for each block that can be reached, the blocks on every way to it.
func Dominators(fn *Func) []map[int]bool {
	dom := make([]map[int]bool, len(fn.Blocks))
	dom[0] = map[int]bool{0: true}
	for changed := true; changed; {
		changed = false
		for _, block := range fn.Blocks[1:] {
			var n map[int]bool
			for _, p := range block.Preds {
				d := dom[p.Index]
				if d == nil {
					continue
				}
				if n == nil {
					n = map[int]bool{}
					for k := range d {
						n[k] = true
					}
					continue
				}
				for k := range n {
					if !d[k] {
						delete(n, k)
					}
				}
			}
			if n == nil {
				continue
			}
			n[block.Index] = true
			if len(n) != len(dom[block.Index]) {
				dom[block.Index] = n
				changed = true
			}
		}
	}
	return dom
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
