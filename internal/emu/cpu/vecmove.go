package cpu

import (
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Moves between vector registers, general registers and memory, and shuffles.

func movVV(c *CPU, o *op) { c.X[o.dst&15] = c.X[o.src&15] }

func movVMu(c *CPU, o *op) {
	addr := c.ea(o)
	c.X[o.dst&15] = Vec{c.Mem.Load64(addr), c.Mem.Load64(addr + 8)}
}

func movMVu(c *CPU, o *op) { c.storeVec(c.ea(o), c.X[o.src&15]) }

// movVec is a move of 16 bytes between any operands.
func movVec(c *CPU, o *op) { c.putVec(o, 0, c.vec(o, 1)) }

// movScalar is movss and movsd: from memory it clears the rest of the register, from a
// register it leaves it.
func movScalar(c *CPU, o *op) {
	a := &o.inst.Args[0]
	switch {
	case a.Place == x86.Memory:
		c.store(c.addr(o), a.Size, c.X[o.src&15][0])
	case o.inst.Args[1].Place == x86.Memory:
		c.X[o.dst&15] = Vec{c.load(c.addr(o), a.Size)}
	default:
		c.mergeLow(o, c.X[o.src&15][0])
	}
}

// mergeLow sets the lowest 4 or 8 bytes of the destination.
func (c *CPU) mergeLow(o *op, v uint64) {
	m := mask(o.inst.Args[0].Size)
	x := &c.X[o.dst&15]
	x[0] = x[0]&^m | v&m
}

// movq clears the upper half, from wherever it is.
func movq(c *CPU, o *op) {
	v := c.vec(o, 1)[0]
	if o.inst.Args[0].Place == x86.Memory {
		c.Mem.Store64(c.addr(o), v)
		return
	}
	c.X[o.dst&15] = Vec{v}
}

// movd is movd and movq between a vector register and a general one or memory.
func movd(c *CPU, o *op) {
	if o.inst.Args[0].Place == x86.Vector {
		c.X[o.dst&15] = Vec{c.get(o, 1)}
		return
	}
	c.put(o, 0, c.X[o.src&15][0])
}

// movHalf makes the handler of a move between memory and one half of a register.
func movHalf(half int) handler {
	return func(c *CPU, o *op) {
		if o.inst.Args[0].Place == x86.Memory {
			c.Mem.Store64(c.addr(o), c.X[o.src&15][half])
			return
		}
		c.X[o.dst&15][half] = c.Mem.Load64(c.addr(o))
	}
}

func movhlps(c *CPU, o *op) { c.X[o.dst&15][0] = c.X[o.src&15][1] }
func movlhps(c *CPU, o *op) { c.X[o.dst&15][1] = c.X[o.src&15][0] }
func movnti(c *CPU, o *op)  { c.put(o, 0, c.get(o, 1)) }

func pmovmskb(c *CPU, o *op) {
	x := c.X[o.src&15]
	c.R[o.dst&31] = signs(x[0]) | signs(x[1])<<8
}

// signs collects the highest bits of eight bytes.
func signs(x uint64) uint64 { return x & 0x8080808080808080 >> 7 * 0x0102040810204080 >> 56 }

func movmskps(c *CPU, o *op) {
	x := c.X[o.src&15]
	c.R[o.dst&31] = x[0]>>31&1 | x[0]>>63<<1 | x[1]>>31&1<<2 | x[1]>>63<<3
}

func movmskpd(c *CPU, o *op) {
	x := c.X[o.src&15]
	c.R[o.dst&31] = x[0]>>63 | x[1]>>63<<1
}

func pinsrw(c *CPU, o *op) {
	n := o.imm & 7
	v := c.get(o, 1) & 0xffff
	x := &c.X[o.dst&15][n>>2]
	*x = *x&^(0xffff<<(16*(n&3))) | v<<(16*(n&3))
}

func pextrw(c *CPU, o *op) {
	n := o.imm & 7
	c.R[o.dst&31] = c.X[o.src&15][n>>2] >> (16 * (n & 3)) & 0xffff
}

func maskmovdqu(c *CPU, o *op) {
	v, m := c.X[o.dst&15], c.X[o.src&15]
	for i := range uint64(16) {
		if m[i>>3]>>(8*(i&7)+7)&1 != 0 {
			c.Mem.Store8(c.R[x86.RDI]+c.R[o.segment&31]+i, uint8(v[i>>3]>>(8*(i&7))))
		}
	}
}

// dword returns 4 bytes of a vector.
func (v Vec) dword(i uint64) uint64 { return v[i>>1&1] >> (32 * (i & 1)) & 0xffffffff }

func (v Vec) qword(i uint64) uint64 { return v[i&1] }

func pshufd(c *CPU, o *op) {
	v, n := c.vec(o, 1), o.imm
	c.X[o.dst&15] = Vec{v.dword(n&3) | v.dword(n>>2&3)<<32, v.dword(n>>4&3) | v.dword(n>>6&3)<<32}
}

// shuffleWords shuffles the four words of half a vector.
func shuffleWords(v, n uint64) (r uint64) {
	for i := range uint64(4) {
		r |= v >> (16 * (n >> (2 * i) & 3)) & 0xffff << (16 * i)
	}
	return r
}

func pshuflw(c *CPU, o *op) {
	v := c.vec(o, 1)
	c.X[o.dst&15] = Vec{shuffleWords(v[0], o.imm), v[1]}
}

func pshufhw(c *CPU, o *op) {
	v := c.vec(o, 1)
	c.X[o.dst&15] = Vec{v[0], shuffleWords(v[1], o.imm)}
}

func shufps(c *CPU, o *op) {
	a, b, n := c.X[o.dst&15], c.vec(o, 1), o.imm
	c.X[o.dst&15] = Vec{a.dword(n&3) | a.dword(n>>2&3)<<32, b.dword(n>>4&3) | b.dword(n>>6&3)<<32}
}

func shufpd(c *CPU, o *op) {
	a, b := c.X[o.dst&15], c.vec(o, 1)
	c.X[o.dst&15] = Vec{a.qword(o.imm & 1), b.qword(o.imm >> 1 & 1)}
}

// interleave returns the elements of the given number of bits of one half of a and b in
// turn.
func interleave(width uint64) func(a, b uint64) Vec {
	m := ^uint64(0) >> (64 - width)
	return func(a, b uint64) (r Vec) {
		for i := range 64 / width {
			at := 2 * i * width
			r[at>>6] |= (a >> (i * width) & m) << (at & 63)
			at += width
			r[at>>6] |= (b >> (i * width) & m) << (at & 63)
		}
		return r
	}
}

// unpack makes the handler of the unpack operations on one half.
func unpack(width uint64, half int) handler {
	f := interleave(width)
	return func(c *CPU, o *op) {
		b := c.vec(o, 1)
		c.X[o.dst&15] = f(c.X[o.dst&15][half], b[half])
	}
}

func psrldq(c *CPU, o *op) {
	x := c.X[o.dst&15]
	switch n := o.imm; {
	case n >= 16:
		x = Vec{}
	case n >= 8:
		x = Vec{x[1] >> (8 * (n - 8))}
	default:
		x = Vec{x[0]>>(8*n) | x[1]<<(64-8*n), x[1] >> (8 * n)}
	}
	c.X[o.dst&15] = x
}

func pslldq(c *CPU, o *op) {
	x := c.X[o.dst&15]
	switch n := o.imm; {
	case n >= 16:
		x = Vec{}
	case n >= 8:
		x = Vec{0, x[0] << (8 * (n - 8))}
	default:
		x = Vec{x[0] << (8 * n), x[1]<<(8*n) | x[0]>>(64-8*n)}
	}
	c.X[o.dst&15] = x
}

// equalBytes sets the bytes in which a and b are equal to ones, without a loop: it is
// what searches for the end of strings consist of.
func equalBytes(a, b uint64) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	x := a ^ b
	t := ^((x&low + low) | x | low)
	return t >> 7 * 0xff
}
