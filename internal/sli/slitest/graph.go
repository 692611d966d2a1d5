package slitest

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// Graph makes a function of blocks that are given as lists of successors. Each block
// loads x; its last instruction fits its successors.
func Graph(succs ...[]int) *ir.Func {
	f := &ir.Func{Name: "f"}
	c := f.NewReg("c", 1)
	f.Params = []ir.Reg{c}
	for range succs {
		f.NewBlock()
	}
	for i, s := range succs {
		b := f.Blocks[i]
		b.Add(&ir.Instr{Op: ir.Load, Dst: f.NewReg("", 8), Size: 8, Operand: ir.Symbol("x")})
		for _, to := range s {
			b.LinkTo(f.Blocks[to])
		}
		switch len(s) {
		case 0:
			b.Add(&ir.Instr{Op: ir.Return})
		case 1:
			b.Add(&ir.Instr{Op: ir.Jump})
		case 2:
			b.Add(&ir.Instr{Op: ir.Branch, Operand: ir.Register(c, 1)})
		}
	}
	p := &ir.Program{Funcs: []*ir.Func{f}}
	p.Finish()
	return f
}
