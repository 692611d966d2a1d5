package cpu

// The most frequent operations on 32 and 64 bits, one function for each combination of
// operands: R a register, I an immediate, M memory; the first is the destination.
// Operands are shifted up, which makes the two sizes one.

// up loads 4 or 8 bytes, shifted up.
func (c *CPU) up(addr uint64, shift uint8) uint64 {
	if shift == 0 {
		return c.Mem.Load64(addr)
	}
	return uint64(c.Mem.Load32(addr)) << 32
}

// down stores 4 or 8 bytes that are shifted up.
func (c *CPU) down(addr uint64, shift uint8, v uint64) {
	if shift == 0 {
		c.Mem.Store64(addr, v)
	} else {
		c.Mem.Store32(addr, uint32(v>>32))
	}
}

func (c *CPU) dstUp(o *op) uint64 { return c.R[o.dst&31] << (o.shift & 63) }
func (c *CPU) srcUp(o *op) uint64 { return c.R[o.src&31] << (o.shift & 63) }
func (o *op) immUp() uint64       { return o.imm << (o.shift & 63) }

func addRR(c *CPU, o *op) {
	a, b := c.dstUp(o), c.srcUp(o)
	c.lazy.add(a, b, o.shift)
	c.R[o.dst&31] = (a + b) >> (o.shift & 63)
}

func addRI(c *CPU, o *op) {
	a, b := c.dstUp(o), o.immUp()
	c.lazy.add(a, b, o.shift)
	c.R[o.dst&31] = (a + b) >> (o.shift & 63)
}

func addRM(c *CPU, o *op) {
	a, b := c.dstUp(o), c.up(c.ea(o), o.shift)
	c.lazy.add(a, b, o.shift)
	c.R[o.dst&31] = (a + b) >> (o.shift & 63)
}

func addMR(c *CPU, o *op) {
	addr, b := c.ea(o), c.srcUp(o)
	a := c.up(addr, o.shift)
	c.down(addr, o.shift, a+b)
	c.lazy.add(a, b, o.shift)
}

func addMI(c *CPU, o *op) {
	addr, b := c.ea(o), o.immUp()
	a := c.up(addr, o.shift)
	c.down(addr, o.shift, a+b)
	c.lazy.add(a, b, o.shift)
}

func subRR(c *CPU, o *op) {
	a, b := c.dstUp(o), c.srcUp(o)
	c.lazy.sub(a, b, o.shift)
	c.R[o.dst&31] = (a - b) >> (o.shift & 63)
}

func subRI(c *CPU, o *op) {
	a, b := c.dstUp(o), o.immUp()
	c.lazy.sub(a, b, o.shift)
	c.R[o.dst&31] = (a - b) >> (o.shift & 63)
}

func subRM(c *CPU, o *op) {
	a, b := c.dstUp(o), c.up(c.ea(o), o.shift)
	c.lazy.sub(a, b, o.shift)
	c.R[o.dst&31] = (a - b) >> (o.shift & 63)
}

func subMR(c *CPU, o *op) {
	addr, b := c.ea(o), c.srcUp(o)
	a := c.up(addr, o.shift)
	c.down(addr, o.shift, a-b)
	c.lazy.sub(a, b, o.shift)
}

func subMI(c *CPU, o *op) {
	addr, b := c.ea(o), o.immUp()
	a := c.up(addr, o.shift)
	c.down(addr, o.shift, a-b)
	c.lazy.sub(a, b, o.shift)
}

func andRR(c *CPU, o *op) {
	a, b := c.dstUp(o), c.srcUp(o)
	r := a & b
	c.lazy.logic(r, o.shift)
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func andRI(c *CPU, o *op) {
	a, b := c.dstUp(o), o.immUp()
	r := a & b
	c.lazy.logic(r, o.shift)
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func andRM(c *CPU, o *op) {
	a, b := c.dstUp(o), c.up(c.ea(o), o.shift)
	r := a & b
	c.lazy.logic(r, o.shift)
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func andMR(c *CPU, o *op) {
	addr, b := c.ea(o), c.srcUp(o)
	a := c.up(addr, o.shift)
	r := a & b
	c.down(addr, o.shift, r)
	c.lazy.logic(r, o.shift)
}

func andMI(c *CPU, o *op) {
	addr, b := c.ea(o), o.immUp()
	a := c.up(addr, o.shift)
	r := a & b
	c.down(addr, o.shift, r)
	c.lazy.logic(r, o.shift)
}

func orRR(c *CPU, o *op) {
	a, b := c.dstUp(o), c.srcUp(o)
	r := a | b
	c.lazy.logic(r, o.shift)
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func orRI(c *CPU, o *op) {
	a, b := c.dstUp(o), o.immUp()
	r := a | b
	c.lazy.logic(r, o.shift)
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func orRM(c *CPU, o *op) {
	a, b := c.dstUp(o), c.up(c.ea(o), o.shift)
	r := a | b
	c.lazy.logic(r, o.shift)
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func orMR(c *CPU, o *op) {
	addr, b := c.ea(o), c.srcUp(o)
	a := c.up(addr, o.shift)
	r := a | b
	c.down(addr, o.shift, r)
	c.lazy.logic(r, o.shift)
}

func orMI(c *CPU, o *op) {
	addr, b := c.ea(o), o.immUp()
	a := c.up(addr, o.shift)
	r := a | b
	c.down(addr, o.shift, r)
	c.lazy.logic(r, o.shift)
}

func xorRR(c *CPU, o *op) {
	a, b := c.dstUp(o), c.srcUp(o)
	r := a ^ b
	c.lazy.logic(r, o.shift)
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func xorRI(c *CPU, o *op) {
	a, b := c.dstUp(o), o.immUp()
	r := a ^ b
	c.lazy.logic(r, o.shift)
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func xorRM(c *CPU, o *op) {
	a, b := c.dstUp(o), c.up(c.ea(o), o.shift)
	r := a ^ b
	c.lazy.logic(r, o.shift)
	c.R[o.dst&31] = r >> (o.shift & 63)
}

func xorMR(c *CPU, o *op) {
	addr, b := c.ea(o), c.srcUp(o)
	a := c.up(addr, o.shift)
	r := a ^ b
	c.down(addr, o.shift, r)
	c.lazy.logic(r, o.shift)
}

func xorMI(c *CPU, o *op) {
	addr, b := c.ea(o), o.immUp()
	a := c.up(addr, o.shift)
	r := a ^ b
	c.down(addr, o.shift, r)
	c.lazy.logic(r, o.shift)
}

func cmpRR(c *CPU, o *op) {
	a, b := c.dstUp(o), c.srcUp(o)
	c.lazy.sub(a, b, o.shift)
}

func cmpRI(c *CPU, o *op) {
	a, b := c.dstUp(o), o.immUp()
	c.lazy.sub(a, b, o.shift)
}

func cmpRM(c *CPU, o *op) {
	a, b := c.dstUp(o), c.up(c.ea(o), o.shift)
	c.lazy.sub(a, b, o.shift)
}

func cmpMR(c *CPU, o *op) {
	a, b := c.up(c.ea(o), o.shift), c.srcUp(o)
	c.lazy.sub(a, b, o.shift)
}

func cmpMI(c *CPU, o *op) {
	a, b := c.up(c.ea(o), o.shift), o.immUp()
	c.lazy.sub(a, b, o.shift)
}

func testRR(c *CPU, o *op) {
	a, b := c.dstUp(o), c.srcUp(o)
	c.lazy.logic(a&b, o.shift)
}

func testRI(c *CPU, o *op) {
	a, b := c.dstUp(o), o.immUp()
	c.lazy.logic(a&b, o.shift)
}

func testMR(c *CPU, o *op) {
	a, b := c.up(c.ea(o), o.shift), c.srcUp(o)
	c.lazy.logic(a&b, o.shift)
}

func testMI(c *CPU, o *op) {
	a, b := c.up(c.ea(o), o.shift), o.immUp()
	c.lazy.logic(a&b, o.shift)
}
