package cpu

import (
	"encoding/binary"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/emu/float80"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// missingText names code that cannot be decoded.
func missingText(raw []byte, pc uint64, err error) string {
	return fmt.Sprintf("the bytes % x at %#x are %v", raw, pc, err)
}

// CPUID answers like a processor of a known maker that has SSE2 and nothing after it, so
// that programs and libraries that ask pick code that can be executed here. An unknown
// maker makes the C library give up.
func CPUID(leaf, sub uint32) (a, b, c, d uint32) {
	text := func(s string) uint32 { return binary.LittleEndian.Uint32([]byte(s)) }
	switch leaf {
	case 0:
		return 0xd, text("Auth"), text("cAMD"), text("enti")
	case 1:
		// fpu tsc msr pae cx8 cmov clflush mmx fxsr sse sse2, cx16; family 15 as the first
		// processors of this architecture.
		return 0x00000f4a, 0x00010800, 1 << 13, 1<<0 | 1<<4 | 1<<5 | 1<<6 | 1<<8 | 1<<15 | 1<<19 | 1<<23 | 1<<24 | 1<<25 | 1<<26
	case 0x80000000:
		return 0x80000008, text("Auth"), text("cAMD"), text("enti")
	case 0x80000001:
		// lahf; syscall nx lm
		return 0x00000f4a, 0, 1, 1<<11 | 1<<20 | 1<<29
	case 0x80000005:
		return 0, 0, 64<<24 | 2<<16 | 1<<8 | 64, 64<<24 | 2<<16 | 1<<8 | 64
	case 0x80000006:
		return 0, 0, 1024<<16 | 8<<12 | 1<<8 | 64, 0
	case 0x80000008:
		return 0x3028, 0, 0, 0
	}
	return 0, 0, 0, 0
}

func cpuid(c *CPU, _ *op) {
	a, b, cx, d := CPUID(uint32(c.R[x86.RAX]), uint32(c.R[x86.RCX]))
	c.R[x86.RAX], c.R[x86.RBX], c.R[x86.RCX], c.R[x86.RDX] = uint64(a), uint64(b), uint64(cx), uint64(d)
}

func rdtsc(c *CPU, o *op) {
	t := c.Clock()
	c.R[x86.RAX], c.R[x86.RDX] = uint64(uint32(t)), t>>32
	if o.inst.Op == x86.RDTSCP {
		c.R[x86.RCX] = 0
	}
}

// mxcsrMask are the bits of MXCSR that can be set.
const mxcsrMask = 0xffff

func ldmxcsr(c *CPU, o *op) {
	v := uint32(c.get(o, 0))
	if v&^mxcsrMask != 0 {
		panic(Trap{Kind: Protection, Text: "a reserved bit of MXCSR"})
	}
	c.setMXCSR(v, o)
}

// setMXCSR refuses what would make floating point numbers come out otherwise.
func (c *CPU) setMXCSR(v uint32, o *op) {
	const rounding, flush, denormals, masks = 3 << 13, 1 << 15, 1 << 6, 0x1f80
	if v&(rounding|flush|denormals) != 0 || v&masks != masks {
		panic(missing(o.inst, o.next-uint64(o.len), fmt.Sprintf("asks for a floating point mode (MXCSR %#x) other than the usual one, which is not emulated", v)))
	}
	c.MXCSR = v
}

func stmxcsr(c *CPU, o *op) { c.put(o, 0, uint64(c.MXCSR)) }

// fxsave stores the state of x87 and SSE in the format of the manual.
func fxsave(c *CPU, o *op) {
	addr := c.addr(o)
	if addr&15 != 0 {
		panic(Trap{Kind: Protection, Text: "a state that is not aligned"})
	}
	var area [416]byte
	c.EncodeFXState(area[:])
	c.Mem.Probe(addr, 1)
	c.Mem.Probe(addr+511, 1)
	for i := 0; i < len(area); i += 8 {
		c.Mem.Store64(addr+uint64(i), binary.LittleEndian.Uint64(area[i:]))
	}
}

func fxrstor(c *CPU, o *op) {
	addr := c.addr(o)
	if addr&15 != 0 {
		panic(Trap{Kind: Protection, Text: "a state that is not aligned"})
	}
	var area [416]byte
	for i := 0; i < len(area); i += 8 {
		binary.LittleEndian.PutUint64(area[i:], c.Mem.Load64(addr+uint64(i)))
	}
	c.setMXCSR(binary.LittleEndian.Uint32(area[24:]), o)
	c.DecodeFXState(area[:])
}

// EncodeFXState fills the 416 bytes in which fxsave and signal frames keep x87 and SSE.
func (c *CPU) EncodeFXState(area []byte) {
	le := binary.LittleEndian
	le.PutUint16(area[0:], c.FPU.Control)
	le.PutUint16(area[2:], c.FPU.status())
	area[4] = c.FPU.used
	le.PutUint32(area[24:], c.MXCSR)
	le.PutUint32(area[28:], mxcsrMask)
	for i := range 8 {
		v := c.FPU.st(i)
		le.PutUint64(area[32+16*i:], v.Mant)
		le.PutUint16(area[40+16*i:], v.SE)
	}
	for i, x := range c.X {
		le.PutUint64(area[160+16*i:], x[0])
		le.PutUint64(area[168+16*i:], x[1])
	}
}

// DecodeFXState is the reverse of EncodeFXState.
func (c *CPU) DecodeFXState(area []byte) {
	le := binary.LittleEndian
	c.FPU.Control = le.Uint16(area[0:])
	c.FPU.setStatus(le.Uint16(area[2:]))
	c.FPU.used = area[4]
	c.MXCSR = le.Uint32(area[24:])
	for i := range 8 {
		*c.FPU.st(i) = float80.Number{Mant: le.Uint64(area[32+16*i:]), SE: le.Uint16(area[40+16*i:])}
	}
	for i := range c.X {
		c.X[i] = Vec{le.Uint64(area[160+16*i:]), le.Uint64(area[168+16*i:])}
	}
}

// readBase and writeBase make the handlers of the bases of segments.
func readBase(n int) handler {
	return func(c *CPU, o *op) { c.put(o, 0, c.R[n]) }
}

func writeBase(n int) handler {
	return func(c *CPU, o *op) { c.R[n] = c.get(o, 0) }
}

// movSegment reads a segment register, of which programs see constants.
func movSegment(c *CPU, o *op) {
	if o.inst.Args[0].Place == x86.Segment {
		panic(missing(o.inst, o.next-uint64(o.len), "changes a segment register"))
	}
	selectors := [8]uint64{1: 0x33, 2: 0x2b}
	c.put(o, 0, selectors[o.src&7])
}
