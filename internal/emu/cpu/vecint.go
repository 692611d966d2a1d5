package cpu

import (
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Integer arithmetic on vectors.

// packed makes a handler of a function of the halves of two vectors, which are
// independent.
func packed(f func(a, b uint64) uint64) handler {
	return func(c *CPU, o *op) {
		b := c.vec(o, 1)
		x := &c.X[o.dst&15]
		x[0], x[1] = f(x[0], b[0]), f(x[1], b[1])
	}
}

// bytes8, words4 and dwords2 make functions of halves from functions of elements.
func bytes8(f func(a, b uint8) uint8) func(a, b uint64) uint64 {
	return func(a, b uint64) (r uint64) {
		for i := 0; i < 64; i += 8 {
			r |= uint64(f(uint8(a>>i), uint8(b>>i))) << i
		}
		return r
	}
}

func words4(f func(a, b uint16) uint16) func(a, b uint64) uint64 {
	return func(a, b uint64) (r uint64) {
		for i := 0; i < 64; i += 16 {
			r |= uint64(f(uint16(a>>i), uint16(b>>i))) << i
		}
		return r
	}
}

func dwords2(f func(a, b uint32) uint32) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		return uint64(f(uint32(a), uint32(b))) | uint64(f(uint32(a>>32), uint32(b>>32)))<<32
	}
}

func all[T uint8 | uint16 | uint32](b bool) T {
	if b {
		return ^T(0)
	}
	return 0
}

// clamp8 and clamp16 are the nearest signed numbers that fit.
func clamp8(v int) uint8   { return uint8(int8(max(-1<<7, min(1<<7-1, v)))) }
func clamp16(v int) uint16 { return uint16(int16(max(-1<<15, min(1<<15-1, v)))) }

// halves are the operations that work on both halves alike.
var halves = map[x86.Op]func(a, b uint64) uint64{
	x86.PAND:  func(a, b uint64) uint64 { return a & b },
	x86.PANDN: func(a, b uint64) uint64 { return ^a & b },
	x86.POR:   func(a, b uint64) uint64 { return a | b },
	x86.PXOR:  func(a, b uint64) uint64 { return a ^ b },

	x86.PADDB: bytes8(func(a, b uint8) uint8 { return a + b }),
	x86.PADDW: words4(func(a, b uint16) uint16 { return a + b }),
	x86.PADDD: dwords2(func(a, b uint32) uint32 { return a + b }),
	x86.PADDQ: func(a, b uint64) uint64 { return a + b },
	x86.PSUBB: bytes8(func(a, b uint8) uint8 { return a - b }),
	x86.PSUBW: words4(func(a, b uint16) uint16 { return a - b }),
	x86.PSUBD: dwords2(func(a, b uint32) uint32 { return a - b }),
	x86.PSUBQ: func(a, b uint64) uint64 { return a - b },

	x86.PADDSB:  bytes8(func(a, b uint8) uint8 { return clamp8(int(int8(a)) + int(int8(b))) }),
	x86.PADDSW:  words4(func(a, b uint16) uint16 { return clamp16(int(int16(a)) + int(int16(b))) }),
	x86.PSUBSB:  bytes8(func(a, b uint8) uint8 { return clamp8(int(int8(a)) - int(int8(b))) }),
	x86.PSUBSW:  words4(func(a, b uint16) uint16 { return clamp16(int(int16(a)) - int(int16(b))) }),
	x86.PADDUSB: bytes8(func(a, b uint8) uint8 { return uint8(min(255, int(a)+int(b))) }),
	x86.PADDUSW: words4(func(a, b uint16) uint16 { return uint16(min(65535, int(a)+int(b))) }),
	x86.PSUBUSB: bytes8(func(a, b uint8) uint8 { return uint8(max(0, int(a)-int(b))) }),
	x86.PSUBUSW: words4(func(a, b uint16) uint16 { return uint16(max(0, int(a)-int(b))) }),

	x86.PCMPEQB: equalBytes,
	x86.PCMPEQW: words4(func(a, b uint16) uint16 { return all[uint16](a == b) }),
	x86.PCMPEQD: dwords2(func(a, b uint32) uint32 { return all[uint32](a == b) }),
	x86.PCMPGTB: bytes8(func(a, b uint8) uint8 { return all[uint8](int8(a) > int8(b)) }),
	x86.PCMPGTW: words4(func(a, b uint16) uint16 { return all[uint16](int16(a) > int16(b)) }),
	x86.PCMPGTD: dwords2(func(a, b uint32) uint32 { return all[uint32](int32(a) > int32(b)) }),

	x86.PMINUB: bytes8(func(a, b uint8) uint8 { return min(a, b) }),
	x86.PMAXUB: bytes8(func(a, b uint8) uint8 { return max(a, b) }),
	x86.PMINSW: words4(func(a, b uint16) uint16 { return uint16(min(int16(a), int16(b))) }),
	x86.PMAXSW: words4(func(a, b uint16) uint16 { return uint16(max(int16(a), int16(b))) }),
	x86.PAVGB:  bytes8(func(a, b uint8) uint8 { return uint8((int(a) + int(b) + 1) >> 1) }),
	x86.PAVGW:  words4(func(a, b uint16) uint16 { return uint16((int(a) + int(b) + 1) >> 1) }),

	x86.PMULLW:  words4(func(a, b uint16) uint16 { return a * b }),
	x86.PMULHW:  words4(func(a, b uint16) uint16 { return uint16(int32(int16(a)) * int32(int16(b)) >> 16) }),
	x86.PMULHUW: words4(func(a, b uint16) uint16 { return uint16(uint32(a) * uint32(b) >> 16) }),
	x86.PMULUDQ: func(a, b uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) },
	x86.PMADDWD: func(a, b uint64) uint64 {
		pair := func(i int) uint64 {
			at := func(v uint64, i int) int32 { return int32(int16(v >> i)) }
			return uint64(uint32(at(a, i)*at(b, i) + at(a, i+16)*at(b, i+16)))
		}
		return pair(0) | pair(32)<<32
	},
	x86.PSADBW: func(a, b uint64) (sum uint64) {
		for i := 0; i < 64; i += 8 {
			x, y := uint8(a>>i), uint8(b>>i)
			sum += uint64(max(x, y) - min(x, y))
		}
		return sum
	},
}

// shiftsBy are the shifts of elements. Go shifts as far as it is told, so too large an
// amount needs no case of its own.
var shiftsBy = map[x86.Op]func(half, n uint64) uint64{
	x86.PSLLW: func(v, n uint64) uint64 { return words4(func(a, _ uint16) uint16 { return a << n })(v, 0) },
	x86.PSLLD: func(v, n uint64) uint64 { return dwords2(func(a, _ uint32) uint32 { return a << n })(v, 0) },
	x86.PSLLQ: func(v, n uint64) uint64 { return v << n },
	x86.PSRLW: func(v, n uint64) uint64 { return words4(func(a, _ uint16) uint16 { return a >> n })(v, 0) },
	x86.PSRLD: func(v, n uint64) uint64 { return dwords2(func(a, _ uint32) uint32 { return a >> n })(v, 0) },
	x86.PSRLQ: func(v, n uint64) uint64 { return v >> n },
	x86.PSRAW: func(v, n uint64) uint64 {
		return words4(func(a, _ uint16) uint16 { return uint16(int16(a) >> n) })(v, 0)
	},
	x86.PSRAD: func(v, n uint64) uint64 {
		return dwords2(func(a, _ uint32) uint32 { return uint32(int32(a) >> n) })(v, 0)
	},
}

// shiftVector makes the handler of a shift by an immediate or by another vector's lower
// half.
func shiftVector(shift func(half, n uint64) uint64) handler {
	return func(c *CPU, o *op) {
		n := o.imm
		if o.inst.Args[1].Place != x86.Immediate {
			n = c.vec(o, 1)[0]
		}
		x := &c.X[o.dst&15]
		x[0], x[1] = shift(x[0], n), shift(x[1], n)
	}
}

// pack makes the handler of a narrowing of both vectors into one.
func pack(half func(v Vec) uint64) handler {
	return func(c *CPU, o *op) {
		b := c.vec(o, 1)
		c.X[o.dst&15] = Vec{half(c.X[o.dst&15]), half(b)}
	}
}

// narrowWords returns eight words as bytes.
func narrowWords(f func(int16) uint8) func(Vec) uint64 {
	return func(v Vec) (r uint64) {
		for i := range 8 {
			r |= uint64(f(int16(v[i>>2]>>(16*(i&3))))) << (8 * i)
		}
		return r
	}
}

var (
	packsswb = pack(narrowWords(func(w int16) uint8 { return clamp8(int(w)) }))
	packuswb = pack(narrowWords(func(w int16) uint8 { return uint8(max(0, min(255, w))) }))
	packssdw = pack(func(v Vec) (r uint64) {
		for i := range uint64(4) {
			r |= uint64(clamp16(int(int32(v.dword(i))))) << (16 * i)
		}
		return r
	})
)

func movddup(c *CPU, o *op) {
	v := c.vec(o, 1)[0]
	c.X[o.dst&15] = Vec{v, v}
}

func movsldup(c *CPU, o *op) {
	v := c.vec(o, 1)
	c.X[o.dst&15] = Vec{v.dword(0) * (1 + 1<<32), v.dword(2) * (1 + 1<<32)}
}

func movshdup(c *CPU, o *op) {
	v := c.vec(o, 1)
	c.X[o.dst&15] = Vec{v.dword(1) * (1 + 1<<32), v.dword(3) * (1 + 1<<32)}
}
