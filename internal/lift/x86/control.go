package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// instruction lifts the instruction at hand, which is the last of its block or not. It
// reports whether it ended the engine's block.
func (l *lifter) instruction(mb *machineBlock, last bool) bool {
	in := l.inst
	switch in.Op {
	case x86.JMP:
		if in.Args[0].Place == x86.Relative {
			l.jump(l.blockAt(in.Target(in.pc)))
		} else {
			l.indirectJump(mb)
		}
		return true
	case x86.JCC:
		l.branchTo(l.condition(in.Cond))
		return true
	case x86.JRCXZ:
		l.branchTo(isZero(ir.Extract(l.get(variable(x86.RCX)), 0, int(in.Size))))
		return true
	case x86.LOOP, x86.LOOPE, x86.LOOPNE:
		n := minus(l.get(variable(x86.RCX)), number(8, 1))
		l.setGeneral(x86.RCX, n)
		cond := not(isZero(l.get(variable(x86.RCX))))
		switch in.Op {
		case x86.LOOPE:
			cond = unsigned(ir.OpAnd, cond, l.get(zero))
		case x86.LOOPNE:
			cond = unsigned(ir.OpAnd, cond, not(l.get(zero)))
		}
		l.branchTo(cond)
		return true
	case x86.RET:
		l.returns()
		return true
	case x86.CALL:
		return l.call()
	case x86.UD0, x86.UD1, x86.UD2, x86.INT3, x86.INT1, x86.HLT:
		l.emit(&ir.Instr{Op: ir.Test, Cause: ir.Abort, Operand: number(1, 1)})
		l.stop()
		return true
	case x86.SYSCALL:
		l.systemCall()
		return false
	}
	if l.inst.Op.IsString() {
		l.stringOperation()
		return false
	}
	if !l.integer() && !l.vector() {
		l.giveUp()
	}
	return false
}

// branchTo ends the block with a branch to the instruction's target.
func (l *lifter) branchTo(cond *ir.Expr) {
	yes := l.blockAt(l.inst.Target(l.inst.pc))
	no := l.byPC[l.inst.next()]
	if no == nil {
		no = l.blockAt(l.inst.next())
	}
	l.branch(cond, yes, no)
}

// indirectJump lifts a jump through a register or a table as branches to all the places it
// can go to; where none is known, what follows is not either. Through a slot of the dynamic
// linker it is a call in tail position.
func (l *lifter) indirectJump(mb *machineBlock) {
	target := l.assign(l.arg(0), "")
	if len(mb.follows) == 0 {
		if name := l.program.importedBy(l.inst); name != "" {
			l.callOutside(name)
			l.returns()
			return
		}
		l.callFunction(nil, target, l.get(variable(x86.RSP)))
		l.returns()
		return
	}
	for i, pc := range mb.follows {
		to := l.blockAt(pc)
		if i == len(mb.follows)-1 {
			l.jump(to)
			return
		}
		next := l.newBlock()
		l.branch(unsigned(ir.OpEq, target, number(8, pc)), to, next)
		l.current = next
	}
}

// result is what a function returns.
func (l *lifter) result() *ir.Expr {
	return ir.Concat(l.get(variable(x86.RAX)), l.get(variable(x86.RDX)), l.get(vector0))
}

func (l *lifter) returns() {
	l.emit(&ir.Instr{Op: ir.Return, Operand: l.result()})
}

// stringOperation lifts movs and its relatives: one element, or a loop over as many as rcx
// says.
//
//	head:  branch rcx == 0 after body
//	body:  r = load rsi; store rdi := r; rsi += size; rdi += size; rcx -= 1; jump head
func (l *lifter) stringOperation() {
	in := l.inst
	if in.Repeat == x86.Once {
		l.stringElement()
		return
	}
	head, body, after := l.newBlock(), l.newBlock(), l.newBlock()
	head.open = true
	l.jump(head)
	l.current = head
	rcx := variable(x86.RCX)
	l.branch(isZero(l.get(rcx)), after, body)
	l.current = body
	compares := l.stringElement()
	l.setGeneral(x86.RCX, minus(l.get(rcx), number(8, 1)))
	if compares {
		more := l.get(zero)
		if in.Repeat == x86.RepUntil {
			more = not(more)
		}
		l.branch(more, head, after)
	} else {
		l.jump(head)
	}
	l.current = after
}

// stringElement lifts one element. It reports whether it compares.
func (l *lifter) stringElement() bool {
	in := l.inst
	size := int(in.Size)
	if in.Op.IsByteString() {
		size = 1
	}
	from, to := l.get(variable(x86.RSI)), l.get(variable(x86.RDI))
	step := number(8, uint64(size))
	advance := func(regs ...x86.Reg) {
		for _, r := range regs {
			l.setGeneral(r, plus(l.get(variable(r)), step))
		}
	}
	switch in.Op {
	case x86.MOVS, x86.MOVSB:
		l.store(to, l.load(from, size))
		advance(x86.RSI, x86.RDI)
	case x86.STOS, x86.STOSB:
		l.store(to, ir.Extract(l.get(variable(x86.RAX)), 0, size))
		advance(x86.RDI)
	case x86.LODS, x86.LODSB:
		l.putGeneral(x86.RAX, l.load(from, size))
		advance(x86.RSI)
	case x86.SCAS, x86.SCASB:
		value := l.load(to, size)
		l.setComparison(ir.Extract(l.get(variable(x86.RAX)), 0, size), value)
		advance(x86.RDI)
		return true
	case x86.CMPS, x86.CMPSB:
		a, b := l.load(from, size), l.load(to, size)
		l.setComparison(a, b)
		advance(x86.RSI, x86.RDI)
		return true
	}
	return false
}
