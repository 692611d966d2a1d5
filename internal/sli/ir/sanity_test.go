package ir_test

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

// TestSanityAcceptsWhatIsRightAndNamesWhatIsWrong breaks one rule at a time.
func TestSanityAcceptsWhatIsRightAndNamesWhatIsWrong(t *testing.T) {
	// 0 -> (1, 2) -> 3
	diamond := func() *ir.Func { return slitest.Graph([]int{1, 2}, []int{3}, []int{3}, nil) }
	f := diamond()
	if err := (&ir.Program{Funcs: []*ir.Func{f}}).Check(); err != nil {
		t.Fatal(err)
	}
	first := func(f *ir.Func, block int) *ir.Instr { return f.Blocks[block].Instrs[0] }
	// put replaces the first instruction of block 0.
	put := func(in *ir.Instr) func(*ir.Func) {
		return func(f *ir.Func) {
			in.Block = f.Blocks[0]
			f.Blocks[0].Instrs[0] = in
		}
	}
	other := &ir.Func{Name: "g", Params: []ir.Reg{1}, ResultSize: 8}
	for _, wrong := range []struct {
		want string
		make func(f *ir.Func)
	}{
		{"not defined on every way", func(f *ir.Func) { first(f, 3).Operand = ir.Register(first(f, 1).Dst, 8) }},
		{"used before it is defined", func(f *ir.Func) { first(f, 0).Operand = ir.Register(first(f, 0).Dst, 8) }},
		{"register 2 is not defined", func(f *ir.Func) { first(f, 0).Dst = 0; first(f, 3).Operand = ir.Register(2, 8) }},
		{"there is no register 99", func(f *ir.Func) { first(f, 0).Operand = ir.Register(99, 8) }},
		{"has 1 bytes, used are 8", func(f *ir.Func) { first(f, 0).Operand = ir.Register(f.Params[0], 8) }},
		{"defined twice", func(f *ir.Func) { first(f, 1).Dst = first(f, 0).Dst }},
		{"defined twice", func(f *ir.Func) { first(f, 1).Dst = f.Params[0] }},
		{"0 successors, not 1", func(f *ir.Func) { f.Blocks[1].Succs = nil }},
		{"do not agree", func(f *ir.Func) { f.Blocks[3].Preds = f.Blocks[3].Preds[:1] }},
		{"last of its block", func(f *ir.Func) { f.Blocks[0].Instrs = f.Blocks[0].Instrs[:1] }},
		{"in two blocks", func(f *ir.Func) { first(f, 0).Block = f.Blocks[1] }},
		{"numbered 3", func(f *ir.Func) { f.Blocks[0].Index = 3 }},
		{"is empty", func(f *ir.Func) { f.Blocks[1].Instrs = nil }},
		{"4 bytes are loaded into a register of 8", func(f *ir.Func) { first(f, 0).Size = 4 }},
		{"1 values for 0 ways", put(&ir.Instr{Op: ir.Phi, Args: []*ir.Expr{ir.Number(8, 1)}})},
		{"does not stand first", func(f *ir.Func) {
			b := f.Blocks[3]
			phi := &ir.Instr{Op: ir.Phi, Block: b, Args: []*ir.Expr{ir.Number(8, 1), ir.Number(8, 2)}}
			b.Instrs = []*ir.Instr{b.Instrs[0], phi, b.Instrs[1]}
		}},
		{"4 bytes are assigned to a register of 8", put(&ir.Instr{Op: ir.Assign, Dst: 2, Operand: ir.Number(4, 1)})},
		{"stores nothing", put(&ir.Instr{Op: ir.Store, Operand: ir.Symbol("x")})},
		{"stores 4 bytes of 8", put(&ir.Instr{Op: ir.Store, Operand: ir.Symbol("x"), Value: ir.Number(8, 1), Size: 4})},
		{"no operand", put(&ir.Instr{Op: ir.Alloc})},
		{"does not say why it fails", put(&ir.Instr{Op: ir.Test, Operand: ir.Number(1, 1)})},
		{"does not say what it calls", put(&ir.Instr{Op: ir.Call})},
		{"g has 1 parameters, given are 0", put(&ir.Instr{Op: ir.Spawn, Callee: other})},
		{"returns 8 bytes, the register has 4", func(f *ir.Func) {
			put(&ir.Instr{Op: ir.Call, Callee: other, Dst: f.NewReg("", 4), Args: []*ir.Expr{ir.Number(8, 1)}})(f)
		}},
		{"returns 8 bytes of 0", func(f *ir.Func) { f.Blocks[3].Instrs[1].Operand = ir.Number(8, 1) }},
		{"no such operation: none", put(&ir.Instr{Op: ir.Sync})},
		{"no such operation: SyncKind(200)", put(&ir.Instr{Op: ir.Sync, Sync: 200})},
		{"no such instruction: 0", put(&ir.Instr{})},
		{"no such instruction: 99", put(&ir.Instr{Op: 99})},
	} {
		f := diamond()
		wrong.make(f)
		if err := (&ir.Program{Funcs: []*ir.Func{f}}).Check(); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("error %v, want one that says %q", err, wrong.want)
		}
	}
}

// TestSanityLeavesUnreachedCodeAlone: nothing is defined on every way to code that no way
// leads to.
func TestSanityLeavesUnreachedCodeAlone(t *testing.T) {
	f := slitest.Graph([]int{2}, []int{2}, nil)
	f.Blocks[1].Instrs[0].Operand = ir.Register(f.Blocks[0].Instrs[0].Dst, 8)
	if err := (&ir.Program{Funcs: []*ir.Func{f}}).Check(); err != nil {
		t.Error(err)
	}
}
