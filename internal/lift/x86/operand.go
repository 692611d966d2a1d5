package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

func number(size int, n uint64) *ir.Expr { return ir.Number(size, n) }

// plus adds, with constants last, so that they are added up.
func plus(a, b *ir.Expr) *ir.Expr {
	if a.Op == ir.OpConst && b.Op != ir.OpConst {
		a, b = b, a
	}
	if b.Op == ir.OpAdd && b.Args[1].Op == ir.OpConst && a.Op != ir.OpConst {
		return ir.Binary(ir.OpAdd, ir.Unsigned, ir.Binary(ir.OpAdd, ir.Unsigned, a, b.Args[0]), b.Args[1])
	}
	return ir.Binary(ir.OpAdd, ir.Unsigned, a, b)
}

// minus subtracts. A constant is added as its negative: see plus.
func minus(a, b *ir.Expr) *ir.Expr {
	if b.Op == ir.OpConst && b.Size <= 8 {
		return plus(a, number(b.Size, -b.Value.Uint()))
	}
	return ir.Binary(ir.OpSub, ir.Unsigned, a, b)
}

func unsigned(op ir.Operator, a, b *ir.Expr) *ir.Expr { return ir.Binary(op, ir.Unsigned, a, b) }

func signed(op ir.Operator, a, b *ir.Expr) *ir.Expr { return ir.Binary(op, ir.Signed, a, b) }

func not(e *ir.Expr) *ir.Expr { return ir.Unary(ir.OpNot, ir.Unsigned, e) }

// widen makes an integer larger, or takes its low bytes.
func widen(e *ir.Expr, class ir.Class, size int) *ir.Expr {
	if size < e.Size {
		return ir.Extract(e, 0, size)
	}
	return ir.Convert(e, class, class, size)
}

// address is the address of the operand in memory.
func (l *lifter) address() *ir.Expr {
	m := &l.inst.Mem
	var sum *ir.Expr
	include := func(e *ir.Expr) {
		if sum == nil {
			sum = e
		} else {
			sum = plus(sum, e)
		}
	}
	disp := uint64(m.Disp)
	switch m.Base {
	case x86.RIP:
		disp += l.inst.next()
	case x86.NoReg:
	default:
		include(l.get(variable(m.Base)))
	}
	if disp != 0 {
		include(number(8, disp))
	}
	if m.Index != x86.NoReg {
		index := l.get(variable(m.Index))
		if m.Scale > 1 {
			index = unsigned(ir.OpMul, index, number(8, uint64(m.Scale)))
		}
		include(index)
	}
	if sum == nil {
		sum = number(8, 0)
	}
	if m.Narrow {
		sum = ir.Convert(ir.Extract(sum, 0, 4), ir.Unsigned, ir.Unsigned, 8)
	}
	switch m.Segment {
	case x86.FS:
		sum = plus(l.get(threadBase), sum)
	case x86.GS:
		sum = plus(l.get(otherBase), sum)
	}
	return sum
}

// load reads memory at an address.
func (l *lifter) load(addr *ir.Expr, size int) *ir.Expr {
	dst := l.fn.NewReg("", size)
	l.emit(&ir.Instr{Op: ir.Load, Dst: dst, Size: size, Operand: addr, Sites: []uint32{l.site()}, Data: l.program.dataName(addr)})
	return ir.Register(dst, size)
}

// store writes memory at an address.
func (l *lifter) store(addr, value *ir.Expr) {
	if l.testsStore {
		l.testsStore = false
		l.testAddress(addr)
	}
	l.emit(&ir.Instr{Op: ir.Store, Size: value.Size, Operand: addr, Value: value, Sites: []uint32{l.site()}, Data: l.program.dataName(addr)})
}

// update changes memory at an address in one step, and gives what was there. change makes
// no instructions.
func (l *lifter) update(addr *ir.Expr, size int, change func(old *ir.Expr) *ir.Expr) *ir.Expr {
	dst := l.fn.NewReg("", size)
	old := ir.Register(dst, size)
	l.emit(&ir.Instr{Op: ir.Update, Dst: dst, Size: size, Operand: addr, Value: change(old), Atomic: true, Sites: []uint32{l.site()}, Data: l.program.dataName(addr)})
	return old
}

// arg is the value of an operand.
func (l *lifter) arg(i int) *ir.Expr {
	a := &l.inst.Args[i]
	switch a.Place {
	case x86.General:
		return ir.Extract(l.get(variable(a.Reg)), 0, int(a.Size))
	case x86.HighByte:
		return ir.Extract(l.get(variable(a.Reg)), 1, 1)
	case x86.Vector:
		return ir.Extract(l.get(vectorVar(a.Reg)), 0, max(int(a.Size), 1))
	case x86.Memory:
		return l.load(l.address(), int(a.Size))
	case x86.Immediate:
		return number(max(int(a.Size), 1), uint64(l.inst.Imm))
	}
	return ir.Opaque("operand", 8)
}

// argOf is an immediate operand or another one, with a size.
func (l *lifter) argOf(i, size int) *ir.Expr {
	if l.inst.Args[i].Place == x86.Immediate {
		return number(size, uint64(l.inst.Imm))
	}
	return l.arg(i)
}

// put gives an operand a value.
func (l *lifter) put(i int, value *ir.Expr) {
	a := &l.inst.Args[i]
	switch a.Place {
	case x86.General:
		l.putGeneral(a.Reg, value)
	case x86.HighByte:
		old := l.get(variable(a.Reg))
		l.setGeneral(a.Reg, ir.Concat(ir.Extract(old, 0, 1), value, ir.Extract(old, 2, 6)))
	case x86.Memory:
		l.store(l.address(), value)
	}
}

// putGeneral writes the low bytes of a register. Four bytes clear the rest, fewer keep it.
func (l *lifter) putGeneral(r x86.Reg, value *ir.Expr) {
	switch value.Size {
	case 8:
	case 4:
		value = ir.Convert(value, ir.Unsigned, ir.Unsigned, 8)
	default:
		value = ir.Concat(value, ir.Extract(l.get(variable(r)), value.Size, 8-value.Size))
	}
	l.setGeneral(r, value)
}

// modify changes an operand: in memory by a load and a store, or in one step if the
// instruction has it so. change makes no instructions. The result is what was there and what
// is there now.
func (l *lifter) modify(i int, change func(old *ir.Expr) *ir.Expr) (old, new *ir.Expr) {
	a := &l.inst.Args[i]
	if a.Place != x86.Memory {
		old = l.arg(i)
		new = l.assign(change(old), "")
		l.put(i, new)
		return old, new
	}
	addr := l.assign(l.address(), "")
	if l.inst.Lock || l.inst.Op == x86.XCHG {
		old = l.update(addr, int(a.Size), change)
		return old, change(old)
	}
	old = l.load(addr, int(a.Size))
	new = l.assign(change(old), "")
	l.store(addr, new)
	return old, new
}
