package ir_test

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

func TestExpressionsSimplify(t *testing.T) {
	x := ir.Register(1, 8)
	for _, test := range []struct {
		e    *ir.Expr
		want string
	}{
		{ir.Binary(ir.OpAdd, ir.Unsigned, ir.Binary(ir.OpAdd, ir.Unsigned, x, ir.Number(8, 8)), ir.Number(8, 40)), "r1 + 48"},
		{ir.Binary(ir.OpSub, ir.Signed, x, ir.Number(8, 0)), "r1"},
		{ir.Binary(ir.OpEq, ir.Unsigned, x, x), "1"},
		{ir.Binary(ir.OpNe, ir.Unsigned, x, x), "0"},
		{ir.Binary(ir.OpEq, ir.Float, x, x), "r1 == r1"}, // it may be no number
		{ir.Binary(ir.OpEq, ir.Unsigned, ir.Binary(ir.OpAdd, ir.Unsigned, ir.Symbol("g"), ir.Number(8, 8)), ir.Number(8, 0)), "0"},
		{ir.Unary(ir.OpNot, ir.Unsigned, ir.Binary(ir.OpEq, ir.Unsigned, x, ir.Number(8, 0))), "r1 != 0"},
		{ir.Unary(ir.OpNot, ir.Unsigned, ir.Binary(ir.OpNe, ir.Unsigned, x, ir.Number(8, 0))), "r1 == 0"},
		{ir.Unary(ir.OpNot, ir.Unsigned, ir.Unary(ir.OpNot, ir.Unsigned, ir.Register(2, 1))), "r2"},
		{ir.Unary(ir.OpBadAddress, ir.Unsigned, ir.Symbol("g")), "0"},
		{ir.Unary(ir.OpBadAddress, ir.Unsigned, ir.Closure("f")), "0"},
		{ir.Extract(ir.Concat(x, ir.Number(8, 5)), 8, 8), "5"},
		{ir.Extract(ir.Extract(ir.Register(3, 24), 8, 16), 8, 4), "r3[16:20]"},
		{ir.Extract(ir.Number(8, 0x0102), 1, 1), "1"},
		{ir.Extract(ir.Opaque("what", 16), 8, 8), "<what>"},
		{ir.Extract(ir.Concat(x, ir.Number(8, 5)), 4, 8), "{r1, 5}[4:12]"},
		{ir.Concat(x), "r1"},
		{ir.Concat(ir.Number(1, 1), ir.Number(1, 2)), "513"},
		{ir.Binary(ir.OpMul, ir.Signed, ir.Number(1, 0xff), ir.Number(1, 3)), "-3"},
		{ir.CapturedValue(ir.Closure("f", x), 0, 8), "r1"},
		{ir.Convert(x, ir.Signed, ir.Unsigned, 8), "r1"},
		{ir.Convert(ir.Number(1, 0xff), ir.Signed, ir.Signed, 8), "-1"},
	} {
		if got := test.e.String(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

func TestExpressionsAsText(t *testing.T) {
	x, y := ir.Register(1, 8), ir.Register(2, 8)
	for _, test := range []struct {
		e    *ir.Expr
		want string
	}{
		{ir.Binary(ir.OpMul, ir.Signed, ir.Binary(ir.OpAdd, ir.Signed, x, y), y), "(r1 + r2) * r2"},
		{ir.Unary(ir.OpNeg, ir.Signed, x), "-r1"},
		{ir.Unary(ir.OpInvert, ir.Signed, ir.Binary(ir.OpAndNot, ir.Signed, x, y)), "^(r1 &^ r2)"},
		{ir.Convert(x, ir.Signed, ir.Float, 4), "f32(r1)"},
		{ir.Convert(x, ir.Signed, ir.Signed, 2), "i16(r1)"},
		{ir.Convert(x, ir.Signed, ir.Unsigned, 1), "u8(r1)"},
		{ir.Unary(ir.OpBadAddress, ir.Unsigned, x), "BadAddr(r1)"},
		{ir.Raced(x, y), "Raced(r1, r2)"},
		{ir.Closure("f", x), "func f{r1}"},
		{ir.CapturedValue(x, 2, 8), "r1.captured2"},
		{ir.Binary(ir.OpSameText, ir.Unsigned, x, y), "r1 =~ r2"},
		{ir.Opaque("call of time.Now", 8), "<call of time.Now>"},
	} {
		if got := test.e.String(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// loads are two loads in one context, the second through the first.
func loads() (inner, outer *ir.Expr) {
	f := &ir.Func{Name: "f"}
	b := f.NewBlock()
	c := ir.NewContexts().Get(nil, nil, f)
	at := func() *ir.Label {
		return &ir.Label{Point: ir.Point{Context: c, Instr: b.Add(&ir.Instr{Op: ir.Load, ID: len(b.Instrs) + 1})}}
	}
	inner = ir.LoadExpr(at(), 8, ir.Symbol("head"))
	return inner, ir.LoadExpr(at(), 8, ir.Binary(ir.OpAdd, ir.Unsigned, inner, ir.Number(8, 16)))
}

func TestLoadsAreFoundAndReplaced(t *testing.T) {
	inner, outer := loads()
	if got := outer.String(); got != "load(load(head@b0.0) + 16@b0.1)" {
		t.Errorf("as text: %s", got)
	}
	if all := outer.Loads(); len(all) != 2 || all[0] != inner || all[1] != outer {
		t.Errorf("loads %v", all)
	}
	if !outer.HasLoads() || outer.HasRegisters() {
		t.Error("it has loads and no registers")
	}
	got := outer.Rewrite(func(x *ir.Expr) *ir.Expr {
		if x.Key() == inner.Key() {
			return ir.Register(4, 8)
		}
		return nil
	}, map[*ir.Expr]*ir.Expr{})
	if want := "load(r4 + 16@b0.1)"; got.String() != want || !got.HasRegisters() {
		t.Errorf("rewritten: %v, want %s", got, want)
	}
	if got := ir.LoadExpr(outer.Label, 8, ir.Symbol("table"), ir.AnyKey).String(); got != "load(table[<any>]@b0.1)" {
		t.Errorf("of an element: %s", got)
	}
	again := &ir.Label{Point: inner.Label.Point, Rounds: 2}
	if x := ir.LoadExpr(again, 8, ir.Symbol("head")); x.Key() == inner.Key() || x.String() != "load(head@b0.0-2)" {
		t.Errorf("the load of an earlier round is %v", x)
	}
}

// TestRewritingBuildsEveryOperatorAnew: what is put in may make the expression simpler.
func TestRewritingBuildsEveryOperatorAnew(t *testing.T) {
	x := ir.Register(1, 8)
	for _, test := range []struct {
		e    *ir.Expr
		want string
	}{
		{ir.Binary(ir.OpAdd, ir.Signed, x, ir.Number(8, 1)), "6"},
		{ir.Unary(ir.OpNeg, ir.Signed, x), "-5"},
		{ir.Unary(ir.OpBadAddress, ir.Unsigned, x), "1"},
		{ir.Convert(x, ir.Signed, ir.Signed, 2), "5"},
		{ir.Extract(x, 0, 1), "5"},
		{ir.Concat(x, x), "05000000000000000500000000000000"},
		{ir.CapturedValue(x, 0, 8), "5.captured0"},
		{ir.Closure("f", x), "func f{5}"},
		{ir.Raced(x), "Raced(5)"},
	} {
		got := test.e.Rewrite(func(y *ir.Expr) *ir.Expr {
			if y.Op == ir.OpRegister {
				return ir.Number(8, 5)
			}
			return nil
		}, map[*ir.Expr]*ir.Expr{})
		if got.String() != test.want || got.HasRegisters() {
			t.Errorf("%v with 5 for r1 is %v, want %s", test.e, got, test.want)
		}
	}
}

func TestRegistersOfTwoCallsDiffer(t *testing.T) {
	f := &ir.Func{Name: "f"}
	r := f.NewReg("count", 8)
	contexts := ir.NewContexts()
	one, other := contexts.Get(nil, nil, f), contexts.Get(nil, &ir.Instr{}, f)
	e := ir.Binary(ir.OpAdd, ir.Signed, ir.Register(r, 8), ir.Number(8, 1))
	a, b := e.InContext(one), e.InContext(other)
	if a.Key() == b.Key() || a.Key() != e.InContext(one).Key() {
		t.Error("the registers of two calls have the same key, or those of one call have not")
	}
	if a.String() != "count + 1" {
		t.Errorf("with its name the register is written %v", a)
	}
	var none *ir.Expr
	if none.InContext(one) != nil {
		t.Error("no expression in a context is one")
	}
	if n := ir.Number(8, 1); n.InContext(one) != n {
		t.Error("a constant is copied")
	}
}

func TestHugeExpressionsBecomeOpaque(t *testing.T) {
	e := ir.Register(1, 8)
	for range 20 {
		e = ir.Binary(ir.OpMul, ir.Signed, e, ir.Binary(ir.OpXor, ir.Signed, e, ir.Register(2, 8)))
	}
	found := false
	e.Walk(map[*ir.Expr]bool{}, func(x *ir.Expr) { found = found || x.Op == ir.OpOpaque })
	if !found || len(e.String()) > 1<<20 || strings.Contains(e.Key(), "too large*") {
		t.Error("an expression grows without bound")
	}
}
