package ir_test

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

func TestSanityAcceptsWhatIsRightAndNamesWhatIsWrong(t *testing.T) {
	f := slitest.Graph([]int{1, 2}, []int{3}, []int{3}, nil)
	p := &ir.Program{Funcs: []*ir.Func{f}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct {
		want string
		make func(f *ir.Func)
	}{
		{"not defined on every way", func(f *ir.Func) {
			r := f.Blocks[1].Instrs[0].Dst
			f.Blocks[3].Instrs[0].Operand = ir.Register(r, 8)
		}},
		{"defined twice", func(f *ir.Func) { f.Blocks[1].Instrs[0].Dst = f.Blocks[0].Instrs[0].Dst }},
		{"successors", func(f *ir.Func) { f.Blocks[1].Succs = nil }},
		{"do not agree", func(f *ir.Func) { f.Blocks[3].Preds = f.Blocks[3].Preds[:1] }},
		{"last of its block", func(f *ir.Func) { f.Blocks[0].Instrs = f.Blocks[0].Instrs[:1] }},
		{"bytes", func(f *ir.Func) { f.Blocks[0].Instrs[0].Size = 4 }},
	} {
		f := slitest.Graph([]int{1, 2}, []int{3}, []int{3}, nil)
		wrong.make(f)
		if err := (&ir.Program{Funcs: []*ir.Func{f}}).Check(); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("error %v, want one that says %q", err, wrong.want)
		}
	}
}

func TestExpressionsSimplify(t *testing.T) {
	x := ir.Register(1, 8)
	for _, test := range []struct {
		e    *ir.Expr
		want string
	}{
		{ir.Binary(ir.OpAdd, ir.Unsigned, ir.Binary(ir.OpAdd, ir.Unsigned, x, ir.Number(8, 8)), ir.Number(8, 40)), "r1 + 48"},
		{ir.Binary(ir.OpEq, ir.Unsigned, x, x), "1"},
		{ir.Unary(ir.OpNot, ir.Unsigned, ir.Binary(ir.OpEq, ir.Unsigned, x, ir.Number(8, 0))), "r1 != 0"},
		{ir.Unary(ir.OpBadAddress, ir.Unsigned, ir.Symbol("g")), "0"},
		{ir.Extract(ir.Concat(x, ir.Number(8, 5)), 8, 8), "5"},
		{ir.Binary(ir.OpMul, ir.Signed, ir.Number(1, 0xff), ir.Number(1, 3)), "-3"},
		{ir.CapturedValue(ir.Closure("f", x), 0, 8), "r1"},
	} {
		if got := test.e.String(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
