package slitest

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// Graph makes a function of blocks that are given as lists of successors. Each block
// loads x; its last instruction fits its successors.
func Graph(succs ...[]int) *ir.Func {
	fn := &ir.Func{Name: "f"}
	c := fn.NewReg("c", 1)
	fn.Params = []ir.Reg{c}
	for range succs {
		fn.NewBlock()
	}
	for i, s := range succs {
		block := fn.Blocks[i]
		block.Add(&ir.Instr{Op: ir.Load, Dst: fn.NewReg("", 8), Size: 8, Operand: ir.Symbol("x")})
		for _, to := range s {
			block.LinkTo(fn.Blocks[to])
		}
		switch len(s) {
		case 0:
			block.Add(&ir.Instr{Op: ir.Return})
		case 1:
			block.Add(&ir.Instr{Op: ir.Jump})
		case 2:
			block.Add(&ir.Instr{Op: ir.Branch, Operand: ir.Register(c, 1)})
		}
	}
	program := &ir.Program{Funcs: []*ir.Func{fn}}
	program.Finish()
	return fn
}
