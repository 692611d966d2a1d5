package cpu

import "github.com/cofferdam-go/cofferdam/internal/x86"

// mask is the largest number of size bytes.
func mask(size uint8) uint64 { return ^uint64(0) >> ((64 - 8*size) & 63) }

// ea returns the address of the operand in memory, unless addresses are narrow.
func (c *CPU) ea(o *op) uint64 {
	return c.R[o.base&31] + c.R[o.index&31]<<(o.scale&63) + o.disp + c.R[o.segment&31]
}

// addr returns the address of the operand in memory.
func (c *CPU) addr(o *op) uint64 {
	if o.inst.Mem.Narrow {
		return uint64(uint32(c.R[o.base&31]+c.R[o.index&31]<<(o.scale&63)+o.disp)) + c.R[o.segment&31]
	}
	return c.ea(o)
}

func (c *CPU) load(addr uint64, size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.Mem.Load8(addr))
	case 2:
		return uint64(c.Mem.Load16(addr))
	case 4:
		return uint64(c.Mem.Load32(addr))
	default:
		return c.Mem.Load64(addr)
	}
}

func (c *CPU) store(addr uint64, size uint8, v uint64) {
	switch size {
	case 1:
		c.Mem.Store8(addr, uint8(v))
	case 2:
		c.Mem.Store16(addr, uint16(v))
	case 4:
		c.Mem.Store32(addr, uint32(v))
	default:
		c.Mem.Store64(addr, v)
	}
}

// get returns operand i, of up to 8 bytes.
func (c *CPU) get(o *op, i int) uint64 {
	a := &o.inst.Args[i]
	switch a.Place {
	case x86.General:
		return c.R[a.Reg&31] & mask(a.Size)
	case x86.HighByte:
		return c.R[a.Reg&31] >> 8 & 0xff
	case x86.Memory:
		return c.load(c.addr(o), a.Size)
	case x86.Immediate:
		return o.imm & mask(a.Size)
	default:
		panic(missing(o.inst, o.next-uint64(o.len), "has an operand of a kind that is not executed here"))
	}
}

// put sets operand i. 32 bits clear the upper half of a register, fewer leave the rest.
func (c *CPU) put(o *op, i int, v uint64) {
	a := &o.inst.Args[i]
	switch a.Place {
	case x86.General:
		c.setReg(a.Reg, a.Size, v)
	case x86.HighByte:
		c.R[a.Reg&31] = c.R[a.Reg&31]&^0xff00 | v&0xff<<8
	case x86.Memory:
		c.store(c.addr(o), a.Size, v)
	default:
		panic(missing(o.inst, o.next-uint64(o.len), "has a result of a kind that is not executed here"))
	}
}

func (c *CPU) setReg(r x86.Reg, size uint8, v uint64) {
	switch size {
	case 8:
		c.R[r&31] = v
	case 4:
		c.R[r&31] = uint64(uint32(v))
	default:
		m := mask(size)
		c.R[r&31] = c.R[r&31]&^m | v&m
	}
}

// probe makes sure that a result can be stored, before anything else is changed.
func (c *CPU) probe(o *op, i int) {
	if a := &o.inst.Args[i]; a.Place == x86.Memory {
		c.Mem.Probe(c.addr(o), a.Size)
	}
}

// vec returns operand i as 16 bytes: a register, or as many bytes of memory as the
// operand has, and zeroes.
func (c *CPU) vec(o *op, i int) Vec {
	a := &o.inst.Args[i]
	if a.Place == x86.Vector {
		return c.X[a.Reg&15]
	}
	addr := c.addr(o)
	switch a.Size {
	case 16:
		c.align(o, addr)
		return Vec{c.Mem.Load64(addr), c.Mem.Load64(addr + 8)}
	default:
		return Vec{c.load(addr, a.Size)}
	}
}

// putVec stores 16 bytes.
func (c *CPU) putVec(o *op, i int, v Vec) {
	a := &o.inst.Args[i]
	if a.Place == x86.Vector {
		c.X[a.Reg&15] = v
		return
	}
	addr := c.addr(o)
	c.align(o, addr)
	c.storeVec(addr, v)
}

func (c *CPU) storeVec(addr uint64, v Vec) {
	if addr&4095 > 4096-16 {
		c.Mem.Probe(addr, 16)
	}
	c.Mem.Store64(addr, v[0])
	c.Mem.Store64(addr+8, v[1])
}

// align traps if 16 bytes have to be aligned and are not.
func (c *CPU) align(o *op, addr uint64) {
	if addr&15 == 0 {
		return
	}
	switch o.inst.Op {
	case x86.MOVUPS, x86.MOVUPD, x86.MOVDQU:
	default:
		panic(Trap{Kind: Protection, Text: "16 bytes that are not aligned"})
	}
}
