package cpu

import (
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Stack, jumps and strings, with any operands.

func push(c *CPU, o *op) {
	size := uint64(8)
	if o.size == 2 {
		size = 2
	}
	v := c.get(o, 0)
	c.store(c.R[x86.RSP]-size, uint8(size), v)
	c.R[x86.RSP] -= size
}

func pop(c *CPU, o *op) {
	size := uint64(8)
	if o.size == 2 {
		size = 2
	}
	v := c.load(c.R[x86.RSP], uint8(size))
	// An address relative to the stack pointer is that of after.
	c.R[x86.RSP] += size
	if a := &o.inst.Args[0]; a.Place == x86.Memory {
		addr := c.addr(o)
		c.R[x86.RSP] -= size
		c.store(addr, a.Size, v)
		c.R[x86.RSP] += size
		return
	}
	c.put(o, 0, v)
}

func pushf(c *CPU, o *op) {
	c.Mem.Store64(c.R[x86.RSP]-8, c.Flags())
	c.R[x86.RSP] -= 8
}

func popf(c *CPU, o *op) {
	v := c.Mem.Load64(c.R[x86.RSP])
	c.R[x86.RSP] += 8
	c.SetFlags(v)
}

func leave(c *CPU, o *op) {
	v := c.Mem.Load64(c.R[x86.RBP])
	c.R[x86.RSP] = c.R[x86.RBP] + 8
	c.R[x86.RBP] = v
}

func enter(c *CPU, o *op) {
	if o.inst.Imm2 != 0 {
		panic(missing(o.inst, o.next-uint64(o.len), "is not executed for nested procedures"))
	}
	c.Mem.Store64(c.R[x86.RSP]-8, c.R[x86.RBP])
	c.R[x86.RSP] -= 8
	c.R[x86.RBP] = c.R[x86.RSP]
	c.R[x86.RSP] -= uint64(uint16(o.imm))
}

func jmp(c *CPU, o *op) { c.PC = c.get(o, 0) }

func call(c *CPU, o *op) {
	to := c.get(o, 0)
	c.Mem.Store64(c.R[x86.RSP]-8, o.next)
	c.R[x86.RSP] -= 8
	c.PC = to
}

func ret(c *CPU, o *op) {
	c.PC = c.Mem.Load64(c.R[x86.RSP])
	c.R[x86.RSP] += 8
	if o.inst.Args[0].Place != x86.NoArg {
		c.R[x86.RSP] += o.imm
	}
}

// loops makes the handler of the instructions that count down in rcx.
func loops(on func(l *lazy) bool) handler {
	return func(c *CPU, o *op) {
		n := c.R[x86.RCX] - 1
		if o.size == 4 {
			n = uint64(uint32(n))
		}
		c.R[x86.RCX] = n
		if n != 0 && on(&c.lazy) {
			c.PC = o.imm
		}
	}
}

func jrcxz(c *CPU, o *op) {
	if c.R[x86.RCX]&mask(o.size) == 0 {
		c.PC = o.imm
	}
}

// step is how far the pointers of string operations move.
func (c *CPU) step(o *op) uint64 {
	if c.Backwards {
		return -uint64(o.size)
	}
	return uint64(o.size)
}

// repeated makes the handler of a string operation. once does one element, and reports
// whether a repetition goes on. Registers are those of after each element, so that a
// fault in the middle can be resumed.
func repeated(once func(c *CPU, o *op, step uint64) bool) handler {
	return func(c *CPU, o *op) {
		step := c.step(o)
		if o.inst.Repeat == x86.Once {
			once(c, o, step)
			return
		}
		for c.R[x86.RCX] != 0 {
			on := once(c, o, step)
			c.R[x86.RCX]--
			if !on {
				return
			}
		}
	}
}

func movs(c *CPU, o *op, step uint64) bool {
	c.store(c.R[x86.RDI], o.size, c.load(c.R[x86.RSI]+c.R[o.segment&31], o.size))
	c.R[x86.RSI] += step
	c.R[x86.RDI] += step
	return true
}

func stos(c *CPU, o *op, step uint64) bool {
	c.store(c.R[x86.RDI], o.size, c.R[x86.RAX])
	c.R[x86.RDI] += step
	return true
}

func lods(c *CPU, o *op, step uint64) bool {
	c.setReg(x86.RAX, o.size, c.load(c.R[x86.RSI]+c.R[o.segment&31], o.size))
	c.R[x86.RSI] += step
	return true
}

func scas(c *CPU, o *op, step uint64) bool {
	shift := o.shift & 63
	v := c.load(c.R[x86.RDI], o.size)
	sub(c, c.R[x86.RAX]<<shift, v<<shift, o)
	c.R[x86.RDI] += step
	return c.lazy.zf() == (o.inst.Repeat == x86.Rep)
}

func cmps(c *CPU, o *op, step uint64) bool {
	shift := o.shift & 63
	a, b := c.load(c.R[x86.RSI]+c.R[o.segment&31], o.size), c.load(c.R[x86.RDI], o.size)
	sub(c, a<<shift, b<<shift, o)
	c.R[x86.RSI] += step
	c.R[x86.RDI] += step
	return c.lazy.zf() == (o.inst.Repeat == x86.Rep)
}

func xlat(c *CPU, o *op) {
	v := c.Mem.Load8(c.R[x86.RBX] + c.R[x86.RAX]&0xff + c.R[o.segment&31])
	c.setReg(x86.RAX, 1, uint64(v))
}

// trapAfter makes the handler of an instruction that asks for something, and is over.
func trapAfter(k TrapKind) handler {
	return func(c *CPU, o *op) {
		c.PC = o.next
		c.trap = Trap{Kind: k}
	}
}

// trapAt makes the handler of an instruction that must not be executed.
func trapAt(k TrapKind, text string) handler {
	return func(*CPU, *op) { panic(Trap{Kind: k, Text: text}) }
}

func nop(*CPU, *op) {}

func flag(change func(flags uint64) uint64) handler {
	return func(c *CPU, _ *op) { c.lazy.set(change(c.lazy.flags())) }
}

func lahf(c *CPU, _ *op) {
	c.R[x86.RAX] = c.R[x86.RAX]&^0xff00 | (c.lazy.flags()&0xff|2)<<8
}

func sahf(c *CPU, _ *op) {
	c.lazy.set(c.lazy.flags()&OF | c.R[x86.RAX]>>8&(CF|PF|AF|ZF|SF))
}
