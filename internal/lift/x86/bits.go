package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// bits lifts shifts, rotations and what works on single bits.
func (l *lifter) bits(size int) bool {
	switch l.inst.Op {
	case x86.SHL, x86.SHR, x86.SAR, x86.ROL, x86.ROR:
		l.shift(size)
	case x86.SHLD, x86.SHRD:
		l.doubleShift(size)
	case x86.BT, x86.BTS, x86.BTR, x86.BTC:
		return l.bitTest(size)
	case x86.BSF, x86.BSR, x86.TZCNT, x86.LZCNT, x86.POPCNT:
		l.scan(size)
	default:
		return false
	}
	return true
}

// amount is how far to shift: the bits of an operand that count.
func (l *lifter) amount(arg, size int) *ir.Expr {
	mask := uint64(31)
	if size == 8 {
		mask = 63
	}
	if l.inst.Args[arg].Place == x86.Immediate {
		return number(size, uint64(l.inst.Imm)&mask)
	}
	n := unsigned(ir.OpAnd, l.arg(arg), number(1, mask))
	return l.assign(widen(n, ir.Unsigned, size), "")
}

func topBit(e *ir.Expr) *ir.Expr { return isNegative(e) }

// bitOf is the bit number n of e, as a truth value.
func bitOf(e, n *ir.Expr) *ir.Expr {
	return ir.Extract(unsigned(ir.OpAnd, unsigned(ir.OpShr, e, n), number(e.Size, 1)), 0, 1)
}

func (l *lifter) shift(size int) {
	n := l.amount(1, size)
	width := number(size, uint64(8*size))
	less1 := minus(n, number(size, 1))
	flags := map[variable]*ir.Expr{}
	switch l.inst.Op {
	case x86.SHL:
		old, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return unsigned(ir.OpShl, a, n) })
		out := topBit(unsigned(ir.OpShl, old, less1))
		flags[carry], flags[overflow] = out, unsigned(ir.OpNe, topBit(r), out)
		l.setShiftFlags(r, flags)
	case x86.SHR:
		old, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return unsigned(ir.OpShr, a, n) })
		flags[carry], flags[overflow] = bitOf(old, less1), topBit(old)
		l.setShiftFlags(r, flags)
	case x86.SAR:
		old, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return signed(ir.OpShr, a, n) })
		out := ir.Extract(unsigned(ir.OpAnd, signed(ir.OpShr, old, less1), number(size, 1)), 0, 1)
		flags[carry], flags[overflow] = out, number(1, 0)
		l.setShiftFlags(r, flags)
	case x86.ROL, x86.ROR:
		by := unsigned(ir.OpRem, n, width)
		there, back := ir.OpShl, ir.OpShr
		if l.inst.Op == x86.ROR {
			there, back = back, there
		}
		_, r := l.modify(0, func(a *ir.Expr) *ir.Expr {
			return unsigned(ir.OpOr, unsigned(there, a, by), unsigned(back, a, minus(width, by)))
		})
		low := ir.Extract(unsigned(ir.OpAnd, r, number(size, 1)), 0, 1)
		if flags[carry], flags[overflow] = low, unsigned(ir.OpNe, low, topBit(r)); l.inst.Op == x86.ROR {
			flags[carry], flags[overflow] = topBit(r), unsigned(ir.OpNe, topBit(r), topBit(unsigned(ir.OpShl, r, number(size, 1))))
		}
	}
	l.setUnlessZero(n, flags)
}

// setShiftFlags adds the flags that follow from a shift's result.
func (l *lifter) setShiftFlags(r *ir.Expr, flags map[variable]*ir.Expr) {
	flags[zero], flags[sign], flags[parity] = isZero(r), isNegative(r), evenBits(r)
}

func (l *lifter) doubleShift(size int) {
	n := l.amount(2, size)
	b := l.assign(l.arg(1), "")
	width := number(size, uint64(8*size))
	old, r := l.modify(0, func(a *ir.Expr) *ir.Expr {
		by, back := unsigned(ir.OpShl, a, n), unsigned(ir.OpShr, b, minus(width, n))
		if l.inst.Op == x86.SHRD {
			by, back = unsigned(ir.OpShr, a, n), unsigned(ir.OpShl, b, minus(width, n))
		}
		return unsigned(ir.OpOr, by, back)
	})
	out := bitOf(old, minus(width, n))
	if l.inst.Op == x86.SHRD {
		out = bitOf(old, minus(n, number(size, 1)))
	}
	flags := map[variable]*ir.Expr{carry: out, overflow: isNegative(unsigned(ir.OpXor, old, r))}
	l.setShiftFlags(r, flags)
	l.setUnlessZero(n, flags)
}

// bitTest lifts bt and its relatives. With a register for the number and memory for the
// bits, the bit may be far from the address: only that form has a byte of its own.
func (l *lifter) bitTest(size int) bool {
	in := l.inst
	change := func(a, mask *ir.Expr) *ir.Expr {
		switch in.Op {
		case x86.BTS:
			return unsigned(ir.OpOr, a, mask)
		case x86.BTR:
			return unsigned(ir.OpAnd, a, ir.Unary(ir.OpInvert, ir.Unsigned, mask))
		}
		return unsigned(ir.OpXor, a, mask)
	}
	if in.Args[0].Place == x86.Memory && in.Args[1].Place == x86.General {
		return l.bitString(size, change)
	}
	n := l.assign(unsigned(ir.OpAnd, l.argOf(1, size), number(size, uint64(8*size-1))), "")
	mask := unsigned(ir.OpShl, number(size, 1), n)
	if in.Op == x86.BT {
		l.set(carry, bitOf(l.arg(0), n))
	} else {
		old, _ := l.modify(0, func(a *ir.Expr) *ir.Expr { return change(a, mask) })
		l.set(carry, bitOf(old, n))
	}
	l.set(belowEqual, derived)
	return true
}

// bitString lifts a bit test in memory by a register.
func (l *lifter) bitString(size int, change func(a, mask *ir.Expr) *ir.Expr) bool {
	n := widen(l.arg(1), ir.Signed, 8)
	words := signed(ir.OpShr, n, number(8, map[int]uint64{2: 4, 4: 5, 8: 6}[size]))
	addr := l.assign(plus(l.address(), unsigned(ir.OpMul, words, number(8, uint64(size)))), "")
	within := l.assign(unsigned(ir.OpAnd, ir.Extract(n, 0, size), number(size, uint64(8*size-1))), "")
	mask := unsigned(ir.OpShl, number(size, 1), within)
	var old *ir.Expr
	switch {
	case l.inst.Op == x86.BT:
		old = l.load(addr, size)
	case l.inst.Lock:
		old = l.update(addr, size, func(a *ir.Expr) *ir.Expr { return change(a, mask) })
	default:
		old = l.load(addr, size)
		l.store(addr, change(old, mask))
	}
	l.set(carry, bitOf(old, within))
	l.set(belowEqual, derived)
	return true
}

func (l *lifter) scan(size int) {
	src := l.assign(l.arg(1), "")
	width := number(size, uint64(8*size-1))
	none := isZero(src)
	var r *ir.Expr
	switch l.inst.Op {
	case x86.BSF, x86.TZCNT:
		r = ir.Unary(ir.OpTrailingZeros, ir.Unsigned, src)
	case x86.LZCNT:
		r = ir.Unary(ir.OpLeadingZeros, ir.Unsigned, src)
	case x86.BSR:
		r = minus(width, ir.Unary(ir.OpLeadingZeros, ir.Unsigned, src))
	case x86.POPCNT:
		r = ir.Unary(ir.OpOnesCount, ir.Unsigned, src)
	}
	if l.inst.Op == x86.BSF || l.inst.Op == x86.BSR {
		// Of nothing, the register stays as it is, its upper half too.
		was := l.get(variable(l.inst.Args[0].Reg))
		l.put(0, r)
		l.setGeneral(l.inst.Args[0].Reg, ir.Select(none, was, l.get(variable(l.inst.Args[0].Reg))))
		l.forget(carry, sign, overflow, parity)
		l.set(zero, none)
		return
	}
	r = l.assign(r, "")
	l.put(0, r)
	if l.inst.Op == x86.POPCNT {
		l.setLogic(number(size, 0))
		l.set(zero, none)
		l.set(sign, number(1, 0))
		l.set(parity, number(1, 0))
		l.setDerived()
		return
	}
	l.forget(sign, overflow, parity)
	l.set(carry, none)
	l.set(zero, isZero(r))
}
