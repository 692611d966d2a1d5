package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// integer lifts the instructions on general registers. It reports whether it knows the
// instruction.
func (l *lifter) integer() bool {
	in := l.inst
	size := int(in.Size)
	if a := &in.Args[0]; a.Place != x86.NoArg && a.Size != 0 {
		size = int(a.Size)
	}
	switch in.Op {
	case x86.MOV, x86.MOVNTI:
		if in.Args[0].Place == x86.Segment || in.Args[1].Place == x86.Segment {
			return false
		}
		l.put(0, l.argOf(1, size))
	case x86.LEA:
		l.put(0, ir.Extract(l.address(), 0, size))
	case x86.MOVZX:
		l.put(0, widen(l.arg(1), ir.Unsigned, size))
	case x86.MOVSX, x86.MOVSXD:
		l.put(0, widen(l.arg(1), ir.Signed, size))
	case x86.CWDE:
		l.putGeneral(x86.RAX, widen(ir.Extract(l.get(variable(x86.RAX)), 0, size/2), ir.Signed, size))
	case x86.CDQ:
		a := ir.Extract(l.get(variable(x86.RAX)), 0, size)
		l.putGeneral(x86.RDX, signed(ir.OpShr, a, number(size, uint64(8*size-1))))
	case x86.ADD, x86.SUB, x86.ADC, x86.SBB, x86.AND, x86.OR, x86.XOR, x86.CMP, x86.TEST:
		l.twoOperands(size)
	case x86.INC, x86.DEC, x86.NEG, x86.NOT:
		l.oneOperand(size)
	case x86.MUL, x86.IMUL:
		l.multiply(size)
	case x86.DIV, x86.IDIV:
		l.divide(size)
	case x86.BSWAP:
		l.modify(0, func(old *ir.Expr) *ir.Expr {
			var parts []*ir.Expr
			for i := size - 1; i >= 0; i-- {
				parts = append(parts, ir.Extract(old, i, 1))
			}
			return ir.Concat(parts...)
		})
	case x86.XCHG:
		src := l.arg(1)
		if in.Args[1].Place == x86.Memory {
			in.Args[0], in.Args[1] = in.Args[1], in.Args[0]
			src = l.arg(1)
		}
		old, _ := l.modify(0, func(*ir.Expr) *ir.Expr { return src })
		l.put(1, old)
	case x86.XADD:
		src := l.arg(1)
		old, r := l.modify(0, func(old *ir.Expr) *ir.Expr { return plus(old, src) })
		l.setSum(old, src, r, unsigned(ir.OpLt, r, old))
		l.put(1, old)
		if in.Args[0] == in.Args[1] { // the sum is what stays
			l.put(0, r)
		}
	case x86.CMPXCHG:
		l.compareExchange(size)
	case x86.CMPXCHG8B, x86.CMPXCHG16B:
		l.compareExchangePair()
	case x86.PUSH, x86.POP, x86.LEAVE, x86.PUSHF, x86.ENTER:
		return l.stack(size)
	case x86.SETCC:
		l.put(0, l.condition(in.Cond))
	case x86.CMOVCC:
		src := l.arg(1)
		l.put(0, ir.Select(l.condition(in.Cond), src, l.arg(0)))
	case x86.CLC, x86.STC, x86.CMC:
		l.setCarry()
	case x86.LAHF, x86.SAHF, x86.POPF:
		return false
	case x86.NOP, x86.ENDBR64, x86.PAUSE, x86.PREFETCH, x86.CLFLUSH, x86.LFENCE, x86.MFENCE, x86.SFENCE, x86.CLD, x86.FWAIT, x86.RDSSP:
	case x86.RDFSBASE:
		l.put(0, ir.Extract(l.get(threadBase), 0, size))
	default:
		return l.bits(size)
	}
	return true
}

// twoOperands lifts what combines two operands.
func (l *lifter) twoOperands(size int) {
	in := l.inst
	b := l.assign(l.argOf(1, size), "")
	if in.Op == x86.CMP || in.Op == x86.TEST {
		a := l.assign(l.arg(0), "")
		if in.Op == x86.CMP {
			l.setComparison(a, b)
		} else {
			l.setLogic(bitAnd(a, b))
		}
		return
	}
	same := in.Args[0] == in.Args[1] && in.Args[0].Place != x86.Memory
	switch in.Op {
	case x86.ADD:
		old, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return plus(a, b) })
		l.setSum(old, b, r, unsigned(ir.OpLt, r, old))
	case x86.SUB:
		if same { // the usual way to zero
			l.put(0, number(size, 0))
			l.setLogic(number(size, 0))
			return
		}
		old, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return minus(a, b) })
		l.setComparison(old, b)
		l.set(sign, isNegative(r))
	case x86.ADC:
		in := l.get(carry)
		old, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return plus(plus(a, b), widen(in, ir.Unsigned, size)) })
		l.setSum(old, b, r, unsigned(ir.OpOr, unsigned(ir.OpLt, r, old), unsigned(ir.OpAnd, in, unsigned(ir.OpEq, r, old))))
	case x86.SBB:
		in := l.get(carry)
		old, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return minus(minus(a, b), widen(in, ir.Unsigned, size)) })
		l.setDifference(old, b, r, unsigned(ir.OpOr, unsigned(ir.OpLt, old, b), unsigned(ir.OpAnd, in, unsigned(ir.OpEq, old, b))))
	case x86.AND:
		_, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return bitAnd(a, b) })
		l.setLogic(r)
	case x86.OR:
		_, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return unsigned(ir.OpOr, a, b) })
		l.setLogic(r)
	case x86.XOR:
		if same {
			l.put(0, number(size, 0))
			l.setLogic(number(size, 0))
			return
		}
		_, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return unsigned(ir.OpXor, a, b) })
		l.setLogic(r)
	}
}

// bitAnd is a & b; a value with itself is the value.
func bitAnd(a, b *ir.Expr) *ir.Expr {
	if a.Key() == b.Key() {
		return a
	}
	return unsigned(ir.OpAnd, a, b)
}

func (l *lifter) oneOperand(size int) {
	one, top := number(size, 1), number(size, 1<<(8*uint(size)-1))
	switch l.inst.Op {
	case x86.INC:
		_, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return plus(a, one) })
		l.set(overflow, unsigned(ir.OpEq, r, top))
		l.setResult(r)
	case x86.DEC:
		_, r := l.modify(0, func(a *ir.Expr) *ir.Expr { return minus(a, one) })
		l.set(overflow, unsigned(ir.OpEq, r, number(size, 1<<(8*uint(size)-1)-1)))
		l.setResult(r)
	case x86.NEG:
		old, _ := l.modify(0, func(a *ir.Expr) *ir.Expr { return ir.Unary(ir.OpNeg, ir.Unsigned, a) })
		l.setComparison(number(size, 0), old)
	case x86.NOT:
		l.modify(0, func(a *ir.Expr) *ir.Expr { return ir.Unary(ir.OpInvert, ir.Unsigned, a) })
	}
}

// multiply lifts products. What has one operand gives twice the size.
func (l *lifter) multiply(size int) {
	in := l.inst
	class := ir.Signed
	if in.Op == x86.MUL {
		class = ir.Unsigned
	}
	a, b := ir.Extract(l.get(variable(x86.RAX)), 0, size), (*ir.Expr)(nil)
	switch {
	case in.Args[1].Place == x86.NoArg:
		b = l.arg(0)
	case in.Args[2].Place != x86.NoArg:
		a, b = l.arg(1), l.argOf(2, size)
	default:
		a, b = l.arg(0), l.arg(1)
	}
	whole := l.assign(ir.Binary(ir.OpMul, class, ir.Convert(a, class, class, 2*size), ir.Convert(b, class, class, 2*size)), "")
	low := ir.Extract(whole, 0, size)
	lost := unsigned(ir.OpNe, whole, ir.Convert(low, class, class, 2*size))
	switch {
	case in.Args[1].Place != x86.NoArg:
		l.put(0, low)
	case size == 1:
		l.putGeneral(x86.RAX, whole)
	default:
		l.putGeneral(x86.RAX, low)
		l.putGeneral(x86.RDX, ir.Extract(whole, size, size))
	}
	l.forget(zero, sign, parity)
	l.set(carry, lost)
	l.set(overflow, lost)
}

// divide lifts division of twice the size.
func (l *lifter) divide(size int) {
	class := ir.Unsigned
	if l.inst.Op == x86.IDIV {
		class = ir.Signed
	}
	by := l.assign(l.arg(0), "")
	whole := ir.Extract(l.get(variable(x86.RAX)), 0, 2)
	if size > 1 {
		whole = ir.Concat(ir.Extract(l.get(variable(x86.RAX)), 0, size), ir.Extract(l.get(variable(x86.RDX)), 0, size))
	}
	whole = l.assign(whole, "")
	wide := ir.Convert(by, class, class, 2*size)
	quotient := ir.Extract(ir.Binary(ir.OpDiv, class, whole, wide), 0, size)
	rest := ir.Extract(ir.Binary(ir.OpRem, class, whole, wide), 0, size)
	if size == 1 {
		l.putGeneral(x86.RAX, ir.Concat(quotient, rest))
	} else {
		quotient, rest = l.assign(quotient, ""), l.assign(rest, "")
		l.putGeneral(x86.RAX, quotient)
		l.putGeneral(x86.RDX, rest)
	}
	l.forget(carry, zero, sign, overflow, parity)
}

// compareExchange lifts cmpxchg: memory becomes the source if it holds what rax does, else
// rax becomes memory.
func (l *lifter) compareExchange(size int) {
	want := l.assign(ir.Extract(l.get(variable(x86.RAX)), 0, size), "")
	src := l.assign(l.arg(1), "")
	to := &l.inst.Args[0]
	before := l.get(variable(x86.RAX))
	if to.Place == x86.General {
		before = l.get(variable(to.Reg))
	}
	old, _ := l.modify(0, func(old *ir.Expr) *ir.Expr { return ir.Select(unsigned(ir.OpEq, old, want), src, old) })
	equal := unsigned(ir.OpEq, old, want)
	if size == 4 && to.Place == x86.General { // what is not written keeps its upper half
		l.setGeneral(to.Reg, ir.Select(equal, l.get(variable(to.Reg)), before))
	}
	if to.Place != x86.General || to.Reg != x86.RAX {
		was := l.get(variable(x86.RAX))
		l.putGeneral(x86.RAX, old)
		if size == 4 {
			l.setGeneral(x86.RAX, ir.Select(equal, was, l.get(variable(x86.RAX))))
		}
	}
	l.setComparison(want, old)
}

// compareExchangePair lifts cmpxchg8b and cmpxchg16b.
func (l *lifter) compareExchangePair() {
	half := 4
	if l.inst.Op == x86.CMPXCHG16B {
		half = 8
	}
	part := func(r x86.Reg) *ir.Expr { return ir.Extract(l.get(variable(r)), 0, half) }
	want := l.assign(ir.Concat(part(x86.RAX), part(x86.RDX)), "")
	src := l.assign(ir.Concat(part(x86.RBX), part(x86.RCX)), "")
	addr := l.assign(l.address(), "")
	old := l.update(addr, 2*half, func(old *ir.Expr) *ir.Expr { return ir.Select(unsigned(ir.OpEq, old, want), src, old) })
	equal := l.assign(unsigned(ir.OpEq, old, want), "")
	for i, r := range []x86.Reg{x86.RAX, x86.RDX} {
		was := l.get(variable(r))
		l.setGeneral(r, ir.Select(equal, was, widen(ir.Extract(old, i*half, half), ir.Unsigned, 8)))
	}
	l.set(zero, equal)
	l.setDerived()
}

// stack lifts what moves the stack pointer.
func (l *lifter) stack(size int) bool {
	rsp := variable(x86.RSP)
	eight := number(8, 8)
	switch l.inst.Op {
	case x86.PUSH:
		if size == 2 || l.inst.Size == 2 {
			return false
		}
		value := widen(l.argOf(0, 8), ir.Signed, 8)
		to := l.assign(minus(l.get(rsp), eight), "rsp")
		l.store(to, value)
		l.set(rsp, to)
	case x86.POP:
		if size == 2 || l.inst.Size == 2 {
			return false
		}
		value := l.load(l.get(rsp), 8)
		l.set(rsp, l.assign(plus(l.get(rsp), eight), "rsp"))
		l.put(0, value)
	case x86.LEAVE:
		base := l.get(variable(x86.RBP))
		value := l.load(base, 8)
		l.set(rsp, l.assign(plus(base, eight), "rsp"))
		l.setGeneral(x86.RBP, value)
	case x86.ENTER:
		return false
	case x86.PUSHF:
		to := l.assign(minus(l.get(rsp), eight), "rsp")
		l.store(to, ir.Opaque("flags", 8))
		l.set(rsp, to)
	}
	return true
}

func (l *lifter) setCarry() {
	switch l.inst.Op {
	case x86.CLC:
		l.set(carry, number(1, 0))
	case x86.STC:
		l.set(carry, number(1, 1))
	case x86.CMC:
		l.set(carry, not(l.get(carry)))
	}
	l.set(belowEqual, derived)
}
