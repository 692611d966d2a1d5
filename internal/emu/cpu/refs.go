package cpu

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// accessOf says what an instruction does to its operand in memory, which is its i-th.
func accessOf(in *x86.Inst, i int) access {
	switch in.Op {
	case x86.LEA, x86.NOP, x86.PREFETCH, x86.CLFLUSH:
		return 0
	}
	if i > 0 {
		if in.Op == x86.XCHG {
			return reads | writes
		}
		return reads
	}
	switch in.Op {
	case x86.CMP, x86.TEST, x86.PUSH, x86.CALL, x86.JMP, x86.MUL, x86.DIV, x86.IDIV, x86.IMUL, x86.BT, x86.LDMXCSR, x86.FXRSTOR, x86.XRSTOR,
		x86.FLD, x86.FILD, x86.FADD, x86.FMUL, x86.FCOM, x86.FCOMP, x86.FSUB, x86.FSUBR, x86.FDIV, x86.FDIVR, x86.FIADD, x86.FIMUL, x86.FICOM, x86.FICOMP,
		x86.FISUB, x86.FISUBR, x86.FIDIV, x86.FIDIVR, x86.FLDCW, x86.FLDENV, x86.FRSTOR:
		return reads
	case x86.ADD, x86.OR, x86.ADC, x86.SBB, x86.AND, x86.SUB, x86.XOR, x86.ROL, x86.ROR, x86.RCL, x86.RCR, x86.SHL, x86.SHR, x86.SAR, x86.SHLD, x86.SHRD,
		x86.INC, x86.DEC, x86.NOT, x86.NEG, x86.XCHG, x86.XADD, x86.CMPXCHG, x86.CMPXCHG8B, x86.CMPXCHG16B, x86.BTS, x86.BTR, x86.BTC:
		return reads | writes
	}
	return writes
}

// Accesses reports whether an instruction reads, and whether it writes, its operand in memory.
func Accesses(in *x86.Inst) (reading, writing bool) {
	i, ok := in.HasMemory()
	if !ok {
		return false, false
	}
	a := accessOf(in, i)
	return a&reads != 0, a&writes != 0
}

// implicit says what an operation does to memory that no operand names, except for the
// stack, which is the thread's own.
func implicit(o x86.Op) access {
	switch o {
	case x86.MOVS, x86.MOVSB:
		return reads | writes
	case x86.STOS, x86.STOSB, x86.MASKMOVDQU:
		return writes
	case x86.LODS, x86.LODSB, x86.SCAS, x86.SCASB, x86.CMPS, x86.CMPSB, x86.XLAT:
		return reads
	}
	return 0
}

// refs lists what an instruction is about to access.
func (c *CPU) refs(o *op, refs *[2]Ref) int {
	if o.access != 0 {
		refs[0] = Ref{Addr: c.addr(o), Size: o.bytes(), Kind: o.kind(), Site: o.site, Halves: o.access == reads|writes && !o.atomic && o.bytes() <= 8}
		if o.inst.Args[1].Place == x86.General && isBitTest(o.inst.Op) {
			refs[0].Addr = c.bitAddr(o)
		}
		return 1
	}
	rsi, rdi, n := c.R[x86.RSI], c.R[x86.RDI], uint64(o.size)
	if o.inst.Repeat != x86.Once {
		n *= c.R[x86.RCX]
		if c.Backwards {
			rsi, rdi = rsi+uint64(o.size)-n, rdi+uint64(o.size)-n
		}
	}
	size := uint32(min(n, 1<<30))
	from, to := Ref{Addr: rsi, Size: size, Kind: event.Load, Site: o.site}, Ref{Addr: rdi, Size: size, Kind: event.Store, Site: o.site}
	if size == 0 {
		return 0
	}
	switch o.inst.Op {
	case x86.MOVS, x86.MOVSB:
		refs[0], refs[1] = from, to
		return 2
	case x86.CMPS, x86.CMPSB:
		to.Kind = event.Load
		refs[0], refs[1] = from, to
		return 2
	case x86.LODS, x86.LODSB:
		refs[0] = from
	case x86.SCAS, x86.SCASB:
		to.Kind = event.Load
		refs[0] = to
	case x86.STOS, x86.STOSB:
		refs[0] = to
	case x86.XLAT:
		refs[0] = Ref{Addr: c.R[x86.RBX] + c.R[x86.RAX]&0xff, Size: 1, Kind: event.Load, Site: o.site}
	case x86.MASKMOVDQU:
		refs[0] = Ref{Addr: rdi, Size: 16, Kind: event.Store, Site: o.site}
	default:
		return 0
	}
	return 1
}

// bytes is the size of the operand in memory.
func (o *op) bytes() uint32 {
	if o.width != 0 {
		return uint32(o.width)
	}
	switch o.inst.Op {
	case x86.FXSAVE, x86.FXRSTOR:
		return 512
	case x86.FNSAVE, x86.FRSTOR:
		return 108
	}
	return 28
}

// kind is the kind of the event that the access to the operand in memory becomes.
func (o *op) kind() event.Kind {
	switch {
	case o.atomic && (o.inst.Op == x86.CMPXCHG || o.inst.Op == x86.CMPXCHG8B || o.inst.Op == x86.CMPXCHG16B):
		return event.AtomicCompare
	case o.atomic:
		return event.AtomicUpdate
	case o.access&writes != 0:
		return event.Store
	}
	return event.Load
}

// Record has the accesses, calls and returns of this thread written down while Advance
// executes, or no longer.
func (c *CPU) Record(on bool) {
	c.Mem.Watch(on)
	c.Mem.Forget()
	if c.record = nil; on {
		c.record = make([]event.Access, 0, 1024)
	}
}

// Recording reports whether accesses are written down.
func (c *CPU) Recording() bool { return c.record != nil }

// Recorded returns what was written down since the last call: accesses, and calls and
// returns in the same form, of which the address of a call is where it returns to, and After
// is where it went. They lack
// order, thread and frame, and are valid until the thread executes again.
func (c *CPU) Recorded() []event.Access {
	r := c.record
	if c.record != nil {
		c.record = c.record[:0]
	}
	return r
}

// RecordedLen is how much was written down since the last call of Recorded.
func (c *CPU) RecordedLen() int { return len(c.record) }

// Note writes down what is not an instruction's doing, if the thread is recorded.
func (c *CPU) Note(a event.Access) {
	if c.record != nil {
		c.record = append(c.record, a)
	}
}

// Resume says that the next instruction has read its operand already, and that was
// written down: the operand held before then, and holds what was read now that the
// instruction is executed.
func (c *CPU) Resume(before uint64) { c.half, c.before = true, before }

// note writes down what an instruction did.
func (c *CPU) note(o *op) {
	log := c.Mem.Log()
	if c.half {
		c.half = false
		if len(log) > 0 && !log[0].Write {
			log = log[1:]
		}
		if len(log) > 0 {
			log[0].Before = c.before
		}
		if len(log) == 0 {
			c.Mem.Forget()
		}
	}
	for i := range log {
		a := &log[i]
		e := event.Access{Addr: a.Addr, Before: a.Before, After: a.After, Site: o.site, Size: a.Size, Kind: event.Load}
		if a.Write {
			e.Kind = event.Store
		}
		if o.atomic {
			e.Kind = o.kind()
			if !a.Write {
				// The store that follows says what was read, too.
				if i+1 < len(log) {
					continue
				}
				e.After = e.Before
			}
		}
		c.record = append(c.record, e)
	}
	if len(log) > 0 {
		c.Mem.Forget()
	}
	if o.transfers {
		c.noteTransfer(o)
	}
}

// noteTransfer writes down a call or return.
func (c *CPU) noteTransfer(o *op) {
	switch o.inst.Op {
	case x86.CALL:
		c.record = append(c.record, event.Access{Addr: o.next, After: c.PC, Site: o.site, Kind: event.Call})
	case x86.RET:
		c.record = append(c.record, event.Access{Site: o.site, After: c.PC, Kind: event.Return})
	}
	if c.Transfer != nil {
		c.Transfer(c, o.next-uint64(o.len), o.inst.Op)
	}
}
