package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Flags are kept as the comparison that they follow from, so that a branch reads as the
// program means it: after "cmp eax, [count]; jb" the condition is eax < count.

func isZero(e *ir.Expr) *ir.Expr { return unsigned(ir.OpEq, e, ir.Const(ir.Zero(e.Size))) }

func isNegative(e *ir.Expr) *ir.Expr { return signed(ir.OpLt, e, ir.Const(ir.Zero(e.Size))) }

// evenBits is the parity flag: whether the lowest byte has an even number of ones.
func evenBits(e *ir.Expr) *ir.Expr {
	ones := ir.Unary(ir.OpOnesCount, ir.Unsigned, ir.Extract(e, 0, 1))
	return isZero(unsigned(ir.OpAnd, ones, number(1, 1)))
}

// setDerived has conditions of several flags computed when they are read.
func (l *lifter) setDerived() {
	l.set(less, derived)
	l.set(lessEqual, derived)
	l.set(belowEqual, derived)
}

// setResult sets the flags that follow from a result alone.
func (l *lifter) setResult(r *ir.Expr) {
	l.set(zero, isZero(r))
	l.set(sign, isNegative(r))
	l.set(parity, evenBits(r))
	l.setDerived()
}

// setSum sets the flags of r = a + b, with a carry out.
func (l *lifter) setSum(a, b, r, out *ir.Expr) {
	l.set(carry, out)
	l.set(overflow, isNegative(unsigned(ir.OpAnd, unsigned(ir.OpXor, a, r), unsigned(ir.OpXor, b, r))))
	l.setResult(r)
}

// setDifference sets the flags of r = a - b, with a borrow.
func (l *lifter) setDifference(a, b, r, borrow *ir.Expr) {
	l.set(carry, borrow)
	l.set(overflow, isNegative(unsigned(ir.OpAnd, unsigned(ir.OpXor, a, b), unsigned(ir.OpXor, a, r))))
	l.setResult(r)
}

// setComparison sets the flags of a comparison of a and b.
func (l *lifter) setComparison(a, b *ir.Expr) {
	l.setDifference(a, b, minus(a, b), unsigned(ir.OpLt, a, b))
	l.set(zero, unsigned(ir.OpEq, a, b))
	l.set(less, signed(ir.OpLt, a, b))
	l.set(lessEqual, signed(ir.OpLe, a, b))
	l.set(belowEqual, unsigned(ir.OpLe, a, b))
}

// setLogic sets the flags of a bitwise operation.
func (l *lifter) setLogic(r *ir.Expr) {
	l.set(carry, number(1, 0))
	l.set(overflow, number(1, 0))
	l.setResult(r)
	l.set(less, isNegative(r))
	l.set(lessEqual, signed(ir.OpLe, r, ir.Const(ir.Zero(r.Size))))
	l.set(belowEqual, isZero(r))
}

// setUnlessZero sets flags of a shift, which leaves them alone if it shifts by nothing.
func (l *lifter) setUnlessZero(amount *ir.Expr, flags map[variable]*ir.Expr) {
	none := isZero(amount)
	for v := carry; v <= parity; v++ {
		e, ok := flags[v]
		if !ok {
			continue
		}
		if none.Op == ir.OpConst {
			if none.Value.Uint() == 0 {
				l.set(v, e)
			}
			continue
		}
		l.set(v, ir.Select(none, l.get(v), e))
	}
	l.setDerived()
}

// forget makes flags unknown that an instruction leaves undefined.
func (l *lifter) forget(which ...variable) {
	for _, v := range which {
		l.set(v, ir.Opaque("undefined flag", 1))
	}
	l.setDerived()
}

// condition is the condition of a branch, a move or a set.
func (l *lifter) condition(c x86.Cond) *ir.Expr {
	v := map[x86.Cond]variable{
		x86.Overflow: overflow, x86.Below: carry, x86.Equal: zero, x86.BelowEqual: belowEqual,
		x86.Sign: sign, x86.Parity: parity, x86.Less: less, x86.LessEqual: lessEqual,
	}[c&^1]
	e := l.get(v)
	if c&1 != 0 {
		return not(e)
	}
	return e
}
