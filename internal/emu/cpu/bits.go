package cpu

import (
	"math/bits"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Shifts, rotations, and single bits.

// amount returns how far to shift: the second or third operand, as far as it counts.
func (c *CPU) amount(o *op, arg int) uint64 {
	n := c.get(o, arg)
	if o.size == 8 {
		return n & 63
	}
	return n & 31
}

// shifted sets the flags after a shift to r, which is shifted up.
func (c *CPU) shifted(r uint64, carry, over bool, o *op) {
	c.lazy.from, c.lazy.a, c.lazy.shift = fromShift, r, o.shift
	c.lazy.carry, c.lazy.over = carry, over
}

func shl(c *CPU, o *op) {
	c.probe(o, 0)
	n := c.amount(o, 1)
	a := c.get(o, 0) << (o.shift & 63)
	r := a << n
	c.put(o, 0, r>>(o.shift&63))
	if n != 0 {
		carry := a<<(n-1)>>63 != 0
		c.shifted(r, carry, (r>>63 != 0) != carry, o)
	}
}

func shr(c *CPU, o *op) {
	c.probe(o, 0)
	n := c.amount(o, 1)
	a := c.get(o, 0)
	r := a >> n
	c.put(o, 0, r)
	if n != 0 {
		c.shifted(r<<(o.shift&63), a>>(n-1)&1 != 0, a<<(o.shift&63)>>63 != 0, o)
	}
}

func sar(c *CPU, o *op) {
	c.probe(o, 0)
	n := c.amount(o, 1)
	a := int64(c.get(o, 0)<<(o.shift&63)) >> (o.shift & 63)
	r := a >> n
	c.put(o, 0, uint64(r))
	if n != 0 {
		c.shifted(uint64(r)<<(o.shift&63), a>>(n-1)&1 != 0, false, o)
	}
}

// rotated sets carry and overflow, and leaves the other flags.
func (c *CPU) rotated(carry, over bool) {
	c.lazy.set(c.lazy.flags()&^(CF|OF) | bit(carry, CF) | bit(over, OF))
}

func rol(c *CPU, o *op) {
	c.probe(o, 0)
	n, width := c.amount(o, 1), 8*uint64(o.size)
	a := c.get(o, 0)
	k := n % width
	r := (a<<k | a>>(width-k)) & mask(o.size)
	c.put(o, 0, r)
	if n != 0 {
		c.rotated(r&1 != 0, r&1 != r>>(width-1))
	}
}

func ror(c *CPU, o *op) {
	c.probe(o, 0)
	n, width := c.amount(o, 1), 8*uint64(o.size)
	a := c.get(o, 0)
	k := n % width
	r := (a>>k | a<<(width-k)) & mask(o.size)
	c.put(o, 0, r)
	if n != 0 {
		c.rotated(r>>(width-1) != 0, r>>(width-1)&1 != r>>(width-2)&1)
	}
}

func rcl(c *CPU, o *op) {
	c.probe(o, 0)
	n, width := c.amount(o, 1), 8*uint64(o.size)
	a, carry := c.get(o, 0), bit(c.lazy.cf(), 1)
	for range n % (width + 1) {
		a, carry = (a<<1|carry)&mask(o.size), a>>(width-1)
	}
	c.put(o, 0, a)
	if n != 0 {
		c.rotated(carry != 0, carry != a>>(width-1))
	}
}

func rcr(c *CPU, o *op) {
	c.probe(o, 0)
	n, width := c.amount(o, 1), 8*uint64(o.size)
	a, carry := c.get(o, 0), bit(c.lazy.cf(), 1)
	for range n % (width + 1) {
		a, carry = a>>1|carry<<(width-1), a&1
	}
	c.put(o, 0, a)
	if n != 0 {
		c.rotated(carry != 0, a>>(width-1)&1 != a>>(width-2)&1)
	}
}

func shld(c *CPU, o *op) {
	c.probe(o, 0)
	n, width := c.amount(o, 2), 8*uint64(o.size)
	a, b := c.get(o, 0), c.get(o, 1)
	if n == 0 || n > width {
		c.put(o, 0, a)
		return
	}
	r := (a<<n | b>>(width-n)) & mask(o.size)
	c.put(o, 0, r)
	c.shifted(r<<(o.shift&63), a>>(width-n)&1 != 0, (a^r)>>(width-1) != 0, o)
}

func shrd(c *CPU, o *op) {
	c.probe(o, 0)
	n, width := c.amount(o, 2), 8*uint64(o.size)
	a, b := c.get(o, 0), c.get(o, 1)
	if n == 0 || n > width {
		c.put(o, 0, a)
		return
	}
	r := (a>>n | b<<(width-n)) & mask(o.size)
	c.put(o, 0, r)
	c.shifted(r<<(o.shift&63), a>>(n-1)&1 != 0, (a^r)>>(width-1) != 0, o)
}

func isBitTest(op x86.Op) bool {
	return op == x86.BT || op == x86.BTS || op == x86.BTR || op == x86.BTC
}

// bitAddr returns where the bit is that a register selects in memory: it may be far from
// the address of the operand.
func (c *CPU) bitAddr(o *op) uint64 {
	up := o.shift & 63
	offset := int64(c.get(o, 1)<<up) >> up
	return c.addr(o) + uint64(offset>>(3+log2(o.size)))*uint64(o.size)
}

func log2(size uint8) uint { return uint(bits.TrailingZeros8(size)) }

// bitTest makes the handler of an operation on a single bit.
func bitTest(change func(v, bit uint64) uint64) handler {
	return func(c *CPU, o *op) {
		n := c.get(o, 1) & uint64(8*o.size-1)
		if o.inst.Args[0].Place == x86.Memory && o.inst.Args[1].Place == x86.General {
			addr := c.bitAddr(o)
			v := c.load(addr, o.size)
			if change != nil {
				c.store(addr, o.size, change(v, 1<<n))
			}
			c.lazy.set(c.lazy.flags()&^CF | v>>n&1)
			return
		}
		v := c.get(o, 0)
		if change != nil {
			c.put(o, 0, change(v, 1<<n))
		}
		c.lazy.set(c.lazy.flags()&^CF | v>>n&1)
	}
}

// bsf and bsr of nothing leave the whole register as it was.
func bsf(c *CPU, o *op) {
	v := c.get(o, 1)
	if v != 0 {
		c.put(o, 0, uint64(bits.TrailingZeros64(v)))
	}
	c.lazy.set(bit(v == 0, ZF))
}

func bsr(c *CPU, o *op) {
	v := c.get(o, 1)
	if v != 0 {
		c.put(o, 0, uint64(63-bits.LeadingZeros64(v)))
	}
	c.lazy.set(bit(v == 0, ZF))
}

func tzcnt(c *CPU, o *op) {
	v := c.get(o, 1)
	n := min(uint64(bits.TrailingZeros64(v)), 8*uint64(o.size))
	c.put(o, 0, n)
	c.lazy.set(bit(v == 0, CF) | bit(n == 0, ZF))
}

func lzcnt(c *CPU, o *op) {
	v := c.get(o, 1)
	n := uint64(bits.LeadingZeros64(v)) - (64 - 8*uint64(o.size))
	c.put(o, 0, n)
	c.lazy.set(bit(v == 0, CF) | bit(n == 0, ZF))
}

func popcnt(c *CPU, o *op) {
	v := c.get(o, 1)
	c.put(o, 0, uint64(bits.OnesCount64(v)))
	c.lazy.set(bit(v == 0, ZF))
}
