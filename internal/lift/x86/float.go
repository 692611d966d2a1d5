package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A floatOp is an operation on floating-point numbers: of one element, or of all.
type floatOp struct {
	size   int
	packed bool
	f      func(a, b *ir.Expr) *ir.Expr
}

func floatBinary(op ir.Operator) func(a, b *ir.Expr) *ir.Expr {
	return func(a, b *ir.Expr) *ir.Expr { return ir.Binary(op, ir.Float, a, b) }
}

// The second operand is the result where the two cannot be compared, or are the same.
func floatMin(a, b *ir.Expr) *ir.Expr {
	return ir.Select(ir.Binary(ir.OpLt, ir.Float, a, b), a, b)
}

func floatMax(a, b *ir.Expr) *ir.Expr {
	return ir.Select(ir.Binary(ir.OpLt, ir.Float, b, a), a, b)
}

func floatRoot(_, b *ir.Expr) *ir.Expr { return ir.Unary(ir.OpSquareRoot, ir.Float, b) }

var floats = func() map[x86.Op]floatOp {
	table := map[x86.Op]floatOp{}
	four := func(ps, pd, ss, sd x86.Op, f func(a, b *ir.Expr) *ir.Expr) {
		table[ps], table[pd], table[ss], table[sd] = floatOp{4, true, f}, floatOp{8, true, f}, floatOp{4, false, f}, floatOp{8, false, f}
	}
	four(x86.ADDPS, x86.ADDPD, x86.ADDSS, x86.ADDSD, floatBinary(ir.OpAdd))
	four(x86.SUBPS, x86.SUBPD, x86.SUBSS, x86.SUBSD, floatBinary(ir.OpSub))
	four(x86.MULPS, x86.MULPD, x86.MULSS, x86.MULSD, floatBinary(ir.OpMul))
	four(x86.DIVPS, x86.DIVPD, x86.DIVSS, x86.DIVSD, floatBinary(ir.OpDiv))
	four(x86.MINPS, x86.MINPD, x86.MINSS, x86.MINSD, floatMin)
	four(x86.MAXPS, x86.MAXPD, x86.MAXSS, x86.MAXSD, floatMax)
	four(x86.SQRTPS, x86.SQRTPD, x86.SQRTSS, x86.SQRTSD, floatRoot)
	return table
}()

func (l *lifter) float(op floatOp) {
	if op.packed {
		l.packed(op.size, op.f)
		return
	}
	b := l.arg(1)
	a := ir.Extract(l.get(vectorVar(l.inst.Args[0].Reg)), 0, op.size)
	l.putLow(op.f(a, ir.Extract(b, 0, op.size)))
}

// compareFloats lifts the comparisons that set flags. If the two cannot be compared, because
// one is no number, all three flags are set.
func (l *lifter) compareFloats() {
	size := 8
	if l.inst.Op == x86.UCOMISS || l.inst.Op == x86.COMISS {
		size = 4
	}
	b := l.assign(ir.Extract(l.arg(1), 0, size), "")
	a := ir.Extract(l.get(vectorVar(l.inst.Args[0].Reg)), 0, size)
	compare := func(op ir.Operator, x, y *ir.Expr) *ir.Expr { return ir.Binary(op, ir.Float, x, y) }
	l.set(carry, not(compare(ir.OpLe, b, a)))
	l.set(belowEqual, not(compare(ir.OpLt, b, a)))
	l.set(zero, not(unsigned(ir.OpOr, compare(ir.OpLt, a, b), compare(ir.OpLt, b, a))))
	l.set(parity, not(unsigned(ir.OpOr, compare(ir.OpLe, a, b), compare(ir.OpLe, b, a))))
	l.set(sign, number(1, 0))
	l.set(overflow, number(1, 0))
	l.set(less, number(1, 0))
	l.set(lessEqual, l.get(zero))
}

// compareLanes lifts the comparisons that make a mask: of ones where the condition holds.
func (l *lifter) compareLanes() {
	size, packed := 8, l.inst.Op == x86.CMPPS || l.inst.Op == x86.CMPPD
	if l.inst.Op == x86.CMPSS || l.inst.Op == x86.CMPPS {
		size = 4
	}
	f := func(a, b *ir.Expr) *ir.Expr {
		var holds *ir.Expr
		switch l.inst.Imm & 3 {
		case 0:
			holds = ir.Binary(ir.OpEq, ir.Float, a, b)
		case 1:
			holds = ir.Binary(ir.OpLt, ir.Float, a, b)
		case 2:
			holds = ir.Binary(ir.OpLe, ir.Float, a, b)
		case 3: // they cannot be compared
			holds = not(unsigned(ir.OpOr, ir.Binary(ir.OpLe, ir.Float, a, b), ir.Binary(ir.OpLe, ir.Float, b, a)))
		}
		if l.inst.Imm&4 != 0 {
			holds = not(holds)
		}
		return all(size, holds)
	}
	l.float(floatOp{size, packed, f})
}

// truncate lifts the conversion to an integer. What does not fit is the smallest one.
func (l *lifter) truncate() {
	from := 8
	if l.inst.Op == x86.CVTTSS2SI {
		from = 4
	}
	size := int(l.inst.Args[0].Size)
	x := l.assign(ir.Convert(ir.Extract(l.arg(1), 0, from), ir.Float, ir.Float, 8), "")
	bound := number(8, 0x41e0000000000000) // 2^31
	least := number(8, 0xc1e0000000200000) // -2^31-1, which is cut off to -2^31
	fits := unsigned(ir.OpAnd, ir.Binary(ir.OpLt, ir.Float, x, bound), ir.Binary(ir.OpLt, ir.Float, least, x))
	if size == 8 {
		bound, least = number(8, 0x43e0000000000000), number(8, 0xc3e0000000000000)
		fits = unsigned(ir.OpAnd, ir.Binary(ir.OpLt, ir.Float, x, bound), ir.Binary(ir.OpLe, ir.Float, least, x))
	}
	l.put(0, ir.Select(fits, ir.Convert(x, ir.Float, ir.Signed, size), number(size, 1<<(8*uint(size)-1))))
}

// convertAll lifts conversions of several elements.
func (l *lifter) convertAll() {
	b := l.assign(l.arg(1), "")
	from, class, to := 4, ir.Signed, 8
	switch l.inst.Op {
	case x86.CVTDQ2PS:
		to = 4
	case x86.CVTPS2PD:
		class = ir.Float
	}
	var parts []*ir.Expr
	for i := range 16 / to {
		parts = append(parts, ir.Convert(ir.Extract(b, from*i, from), class, ir.Float, to))
	}
	l.putVector(0, ir.Concat(parts...))
}
