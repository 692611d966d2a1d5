package cpu

import (
	"math/bits"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Integer arithmetic with any operands. Operands are shifted up; a result that goes to
// memory is probed first, because flags and registers must be as they were if it faults.

// An arithmetic computes a result from two operands and sets the flags.
type arithmetic func(c *CPU, a, b uint64, o *op) uint64

// twoOperands makes a handler of an arithmetic whose result replaces the first operand.
func twoOperands(f arithmetic) handler {
	return func(c *CPU, o *op) {
		c.probe(o, 0)
		shift := o.shift & 63
		a, b := c.get(o, 0)<<shift, c.get(o, 1)<<shift
		c.put(o, 0, f(c, a, b, o)>>shift)
	}
}

// comparison makes a handler of an arithmetic of which only the flags are wanted.
func comparison(f arithmetic) handler {
	return func(c *CPU, o *op) {
		shift := o.shift & 63
		f(c, c.get(o, 0)<<shift, c.get(o, 1)<<shift, o)
	}
}

func add(c *CPU, a, b uint64, o *op) uint64 {
	c.lazy.add(a, b, o.shift)
	return a + b
}

func sub(c *CPU, a, b uint64, o *op) uint64 {
	c.lazy.sub(a, b, o.shift)
	return a - b
}

func and(c *CPU, a, b uint64, o *op) uint64 {
	c.lazy.logic(a&b, o.shift)
	return a & b
}

func or(c *CPU, a, b uint64, o *op) uint64 {
	c.lazy.logic(a|b, o.shift)
	return a | b
}

func xor(c *CPU, a, b uint64, o *op) uint64 {
	c.lazy.logic(a^b, o.shift)
	return a ^ b
}

func adc(c *CPU, a, b uint64, o *op) uint64 {
	if !c.lazy.cf() {
		return add(c, a, b, o)
	}
	one := uint64(1) << (o.shift & 63)
	r := a + b + one
	c.carried(r, r <= a, int64((a^r)&(b^r)) < 0, (a^b^r)>>(o.shift&63)&16 != 0, o)
	return r
}

func sbb(c *CPU, a, b uint64, o *op) uint64 {
	if !c.lazy.cf() {
		return sub(c, a, b, o)
	}
	one := uint64(1) << (o.shift & 63)
	r := a - b - one
	c.carried(r, a <= b, int64((a^b)&(a^r)) < 0, (a^b^r)>>(o.shift&63)&16 != 0, o)
	return r
}

// carried sets all flags; those of a result r that is shifted up, and the given ones.
func (c *CPU) carried(r uint64, carry, over, half bool, o *op) {
	low := r >> (o.shift & 63)
	c.lazy.set(bit(carry, CF) | bit(over, OF) | bit(half, AF) | bit(r == 0, ZF) | bit(int64(r) < 0, SF) | bit(bits.OnesCount8(uint8(low))&1 == 0, PF))
}

func inc(c *CPU, o *op) {
	c.probe(o, 0)
	shift := o.shift & 63
	r := c.get(o, 0)<<shift + 1<<shift
	c.lazy.carry = c.lazy.cf()
	c.lazy.from, c.lazy.a, c.lazy.shift = fromInc, r, o.shift
	c.put(o, 0, r>>shift)
}

func dec(c *CPU, o *op) {
	c.probe(o, 0)
	shift := o.shift & 63
	r := c.get(o, 0)<<shift - 1<<shift
	c.lazy.carry = c.lazy.cf()
	c.lazy.from, c.lazy.a, c.lazy.shift = fromDec, r, o.shift
	c.put(o, 0, r>>shift)
}

func neg(c *CPU, o *op) {
	c.probe(o, 0)
	shift := o.shift & 63
	r := sub(c, 0, c.get(o, 0)<<shift, o)
	c.put(o, 0, r>>shift)
}

func not(c *CPU, o *op) {
	c.probe(o, 0)
	c.put(o, 0, ^c.get(o, 0))
}

func mov(c *CPU, o *op) { c.put(o, 0, c.get(o, 1)) }

func xchg(c *CPU, o *op) {
	c.probe(o, 0)
	a, b := c.get(o, 0), c.get(o, 1)
	c.put(o, 0, b)
	c.put(o, 1, a)
}

func xadd(c *CPU, o *op) {
	c.probe(o, 0)
	shift := o.shift & 63
	a, b := c.get(o, 0), c.get(o, 1)
	r := add(c, a<<shift, b<<shift, o) >> shift
	c.put(o, 1, a)
	c.put(o, 0, r)
}

func cmpxchg(c *CPU, o *op) {
	c.probe(o, 0)
	shift := o.shift & 63
	old, want := c.get(o, 0), c.R[x86.RAX]&mask(o.size)
	sub(c, want<<shift, old<<shift, o)
	if old == want {
		c.put(o, 0, c.get(o, 1))
		return
	}
	// Memory is written in any case; a register keeps its upper half.
	if o.access != 0 {
		c.put(o, 0, old)
	}
	c.setReg(x86.RAX, o.size, old)
}

func cmpxchg8b(c *CPU, o *op) {
	addr := c.addr(o)
	c.Mem.Probe(addr, 8)
	old := c.Mem.Load64(addr)
	equal := old == uint64(uint32(c.R[x86.RDX]))<<32|uint64(uint32(c.R[x86.RAX]))
	if equal {
		c.Mem.Store64(addr, uint64(uint32(c.R[x86.RCX]))<<32|uint64(uint32(c.R[x86.RBX])))
	} else {
		c.Mem.Store64(addr, old)
		c.R[x86.RAX], c.R[x86.RDX] = uint64(uint32(old)), old>>32
	}
	c.lazy.set(c.lazy.flags()&^ZF | bit(equal, ZF))
}

func cmpxchg16b(c *CPU, o *op) {
	addr := c.addr(o)
	if addr&15 != 0 {
		panic(Trap{Kind: Protection, Text: "16 bytes that are not aligned"})
	}
	c.Mem.Probe(addr, 16)
	low, high := c.Mem.Load64(addr), c.Mem.Load64(addr+8)
	equal := low == c.R[x86.RAX] && high == c.R[x86.RDX]
	if equal {
		c.storeVec(addr, Vec{c.R[x86.RBX], c.R[x86.RCX]})
	} else {
		c.storeVec(addr, Vec{low, high})
		c.R[x86.RAX], c.R[x86.RDX] = low, high
	}
	c.lazy.set(c.lazy.flags()&^ZF | bit(equal, ZF))
}

// product sets the flags after a multiplication, of which carry and overflow are defined:
// the product does not fit.
func (c *CPU) product(low uint64, over bool, o *op) {
	c.lazy.from, c.lazy.a, c.lazy.shift = fromShift, low<<(o.shift&63), o.shift
	c.lazy.carry, c.lazy.over = over, over
}

// imul2 is the multiplication with two or three operands.
func imul2(c *CPU, o *op) {
	first := 0
	if o.inst.Args[2].Place != x86.NoArg {
		first = 2
	}
	shift := o.shift & 63
	a, b := int64(c.get(o, first)<<shift)>>shift, int64(c.get(o, 1)<<shift)>>shift
	low := a * b
	high, _ := bits.Mul64(uint64(a), uint64(b))
	high -= uint64(a>>63)&uint64(b) + uint64(b>>63)&uint64(a)
	over := int64(high) != low>>63 || low<<shift>>shift != low
	c.put(o, 0, uint64(low))
	c.product(uint64(low), over, o)
}

// mul1 and imul1 multiply the accumulator.
func mul1(c *CPU, o *op) {
	a, b := c.R[x86.RAX]&mask(o.size), c.get(o, 0)
	high, low := bits.Mul64(a, b)
	if o.size < 8 {
		high = low >> (8 * o.size & 63)
	}
	c.setPair(o.size, high, low)
	c.product(low, high&mask(o.size) != 0, o)
}

func imul1(c *CPU, o *op) {
	shift := o.shift & 63
	a, b := int64(c.R[x86.RAX]<<shift)>>shift, int64(c.get(o, 0)<<shift)>>shift
	low := a * b
	h, _ := bits.Mul64(uint64(a), uint64(b))
	high := int64(h - uint64(a>>63)&uint64(b) - uint64(b>>63)&uint64(a))
	over := high != low>>63
	if o.size < 8 {
		high = low >> (8 * o.size & 63)
		over = low<<shift>>shift != low
	}
	c.setPair(o.size, uint64(high), uint64(low))
	c.product(uint64(low), over, o)
}

// setPair sets the two halves of a double-width result: ah and al, or rdx and rax.
func (c *CPU) setPair(size uint8, high, low uint64) {
	if size == 1 {
		c.setReg(x86.RAX, 2, high<<8&0xff00|low&0xff)
		return
	}
	c.setReg(x86.RAX, size, low)
	c.setReg(x86.RDX, size, high)
}

var divideError = Trap{Kind: Divide, Text: "a division by zero, or a quotient that does not fit"}

func div(c *CPU, o *op) {
	d := c.get(o, 0)
	low := c.R[x86.RAX] & mask(o.size)
	high := c.R[x86.RDX] & mask(o.size)
	if o.size == 1 {
		low, high = c.R[x86.RAX]&0xff, c.R[x86.RAX]>>8&0xff
	}
	if high >= d {
		panic(divideError)
	}
	var q, r uint64
	if o.size == 8 {
		q, r = bits.Div64(high, low, d)
	} else {
		n := high<<(8*o.size&63) | low
		q, r = n/d, n%d
	}
	c.setPair(o.size, r, q)
}

func idiv(c *CPU, o *op) {
	shift := o.shift & 63
	d := int64(c.get(o, 0)<<shift) >> shift
	if d == 0 {
		panic(divideError)
	}
	if o.size == 8 {
		c.idiv64(d)
		return
	}
	var n int64
	switch o.size {
	case 1:
		n = int64(int16(c.R[x86.RAX]))
	case 2:
		n = int64(int32(c.R[x86.RDX]<<16 | c.R[x86.RAX]&0xffff))
	case 4:
		n = int64(c.R[x86.RDX]<<32 | c.R[x86.RAX]&0xffffffff)
	}
	if n == -1<<63 && d == -1 || n/d<<shift>>shift != n/d {
		panic(divideError)
	}
	c.setPair(o.size, uint64(n%d), uint64(n/d))
}

// idiv64 divides 128 bits: without signs, and the signs put on afterwards.
func (c *CPU) idiv64(d int64) {
	high, low := c.R[x86.RDX], c.R[x86.RAX]
	negative := int64(high) < 0
	if negative {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	divisor := uint64(d)
	if d < 0 {
		divisor = -divisor
	}
	if high >= divisor {
		panic(divideError)
	}
	q, r := bits.Div64(high, low, divisor)
	if negative != (d < 0) {
		if q > 1<<63 {
			panic(divideError)
		}
		q = -q
	} else if q > 1<<63-1 {
		panic(divideError)
	}
	if negative {
		r = -r
	}
	c.R[x86.RAX], c.R[x86.RDX] = q, r
}

// cwde extends the accumulator to twice its size, in place.
func cwde(c *CPU, o *op) {
	half := o.size / 2
	up := (64 - 8*half) & 63
	c.setReg(x86.RAX, o.size, uint64(int64(c.R[x86.RAX]<<up)>>up))
}

// cdq fills rdx with the accumulator's sign.
func cdq(c *CPU, o *op) {
	c.setReg(x86.RDX, o.size, uint64(int64(c.R[x86.RAX]<<(o.shift&63))>>63))
}

func bswap(c *CPU, o *op) {
	if o.size == 8 {
		c.R[o.dst&31] = bits.ReverseBytes64(c.R[o.dst&31])
	} else {
		c.R[o.dst&31] = uint64(bits.ReverseBytes32(uint32(c.R[o.dst&31])))
	}
}
