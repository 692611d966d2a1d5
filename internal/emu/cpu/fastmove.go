package cpu

import "github.com/cofferdam-go/cofferdam/internal/x86"

// Moves, in the notation of fastalu.go, with the number of bits at the end.

func movRR64(c *CPU, o *op) { c.R[o.dst&31] = c.R[o.src&31] }
func movRR32(c *CPU, o *op) { c.R[o.dst&31] = uint64(uint32(c.R[o.src&31])) }
func movRI(c *CPU, o *op)   { c.R[o.dst&31] = o.imm }
func movRM64(c *CPU, o *op) { c.R[o.dst&31] = c.Mem.Load64(c.ea(o)) }
func movRM32(c *CPU, o *op) { c.R[o.dst&31] = uint64(c.Mem.Load32(c.ea(o))) }
func movMR64(c *CPU, o *op) { c.Mem.Store64(c.ea(o), c.R[o.src&31]) }
func movMR32(c *CPU, o *op) { c.Mem.Store32(c.ea(o), uint32(c.R[o.src&31])) }
func movMR16(c *CPU, o *op) { c.Mem.Store16(c.ea(o), uint16(c.R[o.src&31])) }
func movMR8(c *CPU, o *op)  { c.Mem.Store8(c.ea(o), uint8(c.R[o.src&31])) }
func movMI64(c *CPU, o *op) { c.Mem.Store64(c.ea(o), o.imm) }
func movMI32(c *CPU, o *op) { c.Mem.Store32(c.ea(o), uint32(o.imm)) }
func movMI8(c *CPU, o *op)  { c.Mem.Store8(c.ea(o), uint8(o.imm)) }

func lea64(c *CPU, o *op) { c.R[o.dst&31] = c.ea(o) }
func lea32(c *CPU, o *op) { c.R[o.dst&31] = uint64(uint32(c.ea(o))) }

// Extensions to 32 or 64 bits. Zero extension is the same for both.

func movzxM8(c *CPU, o *op)   { c.R[o.dst&31] = uint64(c.Mem.Load8(c.ea(o))) }
func movzxM16(c *CPU, o *op)  { c.R[o.dst&31] = uint64(c.Mem.Load16(c.ea(o))) }
func movzxR8(c *CPU, o *op)   { c.R[o.dst&31] = uint64(uint8(c.R[o.src&31])) }
func movzxR16(c *CPU, o *op)  { c.R[o.dst&31] = uint64(uint16(c.R[o.src&31])) }
func movsxdR64(c *CPU, o *op) { c.R[o.dst&31] = uint64(int32(c.R[o.src&31])) }
func movsxdM64(c *CPU, o *op) { c.R[o.dst&31] = uint64(int32(c.Mem.Load32(c.ea(o)))) }

// extendSigned is the sign extensions that are not above.
func extendSigned(c *CPU, o *op) {
	v := c.get(o, 1)
	up := (64 - 8*o.inst.Args[1].Size) & 63
	c.put(o, 0, uint64(int64(v<<up)>>up))
}

func extendZero(c *CPU, o *op) { c.put(o, 0, c.get(o, 1)) }

func pushR(c *CPU, o *op) {
	v := c.R[o.dst&31]
	c.Mem.Store64(c.R[x86.RSP]-8, v)
	c.R[x86.RSP] -= 8
}

func popR(c *CPU, o *op) {
	v := c.Mem.Load64(c.R[x86.RSP])
	c.R[x86.RSP] += 8
	c.R[o.dst&31] = v
}

// Jumps.

func jmpTo(c *CPU, o *op) { c.PC = o.imm }

func callTo(c *CPU, o *op) {
	c.Mem.Store64(c.R[x86.RSP]-8, o.next)
	c.R[x86.RSP] -= 8
	c.PC = o.imm
}

func retNear(c *CPU, _ *op) {
	c.PC = c.Mem.Load64(c.R[x86.RSP])
	c.R[x86.RSP] += 8
}

func jccTo(c *CPU, o *op) {
	if c.lazy.cond(o.cond) {
		c.PC = o.imm
	}
}

func jeTo(c *CPU, o *op) {
	if c.lazy.zf() {
		c.PC = o.imm
	}
}

func jneTo(c *CPU, o *op) {
	if !c.lazy.zf() {
		c.PC = o.imm
	}
}

func cmov(c *CPU, o *op) {
	// The source is read in any case.
	v := c.get(o, 1)
	if c.lazy.cond(o.cond) {
		c.put(o, 0, v)
	} else if o.size == 4 {
		c.R[o.dst&31] = uint64(uint32(c.R[o.dst&31]))
	}
}

func setcc(c *CPU, o *op) {
	c.put(o, 0, bit(c.lazy.cond(o.cond), 1))
}

// Shifts of registers by a constant that is neither zero nor too much.

func shlRI(c *CPU, o *op) {
	n := o.imm & 63
	a := c.dstUp(o)
	r := a << n
	c.lazy.shift = o.shift
	c.lazy.from, c.lazy.carry = fromShift, a<<(n-1)>>63 != 0
	c.lazy.a, c.lazy.over = r, (a^a<<1)>>63 != 0
	if n != 1 {
		c.lazy.over = (r>>63 != 0) != c.lazy.carry
	}
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func shrRI(c *CPU, o *op) {
	n := o.imm & 63
	a := c.R[o.dst&31] & (^uint64(0) >> (o.shift & 63))
	r := a >> n
	c.lazy.shift = o.shift
	c.lazy.from, c.lazy.carry = fromShift, a>>(n-1)&1 != 0
	c.lazy.a, c.lazy.over = r<<(o.shift&63), n == 1 && a<<(o.shift&63)>>63 != 0
	c.R[o.dst&31] = r
}

func sarRI(c *CPU, o *op) {
	n := o.imm & 63
	a := int64(c.dstUp(o)) >> (o.shift & 63)
	r := a >> n
	c.lazy.shift = o.shift
	c.lazy.from, c.lazy.carry = fromShift, a>>(n-1)&1 != 0
	c.lazy.a, c.lazy.over = uint64(r)<<(o.shift&63), false
	c.R[o.dst&31] = uint64(r) << (o.shift & 63) >> (o.shift & 63)
}
