package cpu

import (
	"math"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Conversions between integers and floating point numbers.

// widen and narrow convert between the two sizes of floating point numbers.
func widen(v uint32) uint64 {
	if isNaN32(v) {
		return uint64(v)>>31<<63 | 0x7ff<<52 | quiet64 | uint64(v&(1<<23-1))<<29
	}
	return math.Float64bits(float64(math.Float32frombits(v)))
}

func narrow(v uint64) uint32 {
	if isNaN64(v) {
		return uint32(v>>63<<31) | 0xff<<23 | quiet32 | uint32(v>>29)&(1<<23-1)
	}
	return math.Float32bits(float32(math.Float64frombits(v)))
}

// toInt converts to a signed integer of the given size. What does not fit becomes the
// smallest one.
func toInt(f float64, size uint8, truncate bool) uint64 {
	if truncate {
		f = math.Trunc(f)
	} else {
		f = math.RoundToEven(f)
	}
	limit := math.Ldexp(1, int(8*size)-1)
	if !(f >= -limit && f < limit) {
		return 1 << (8*size - 1)
	}
	return uint64(int64(f)) & mask(size)
}

// fromFloat makes the handlers of conversions of the lowest element to a general register.
func fromFloat(truncate bool) handler {
	return func(c *CPU, o *op) {
		v := c.vec(o, 1)[0]
		f := math.Float64frombits(v)
		if o.inst.Args[1].Size == 4 {
			f = float64(math.Float32frombits(uint32(v)))
		}
		c.put(o, 0, toInt(f, o.inst.Args[0].Size, truncate))
	}
}

func cvtsi2sd(c *CPU, o *op) { c.mergeLow(o, math.Float64bits(float64(c.signed(o)))) }
func cvtsi2ss(c *CPU, o *op) { c.mergeLow(o, uint64(math.Float32bits(float32(c.signed(o))))) }

// signed returns the second operand as a signed number.
func (c *CPU) signed(o *op) int64 {
	v := c.get(o, 1)
	if o.inst.Args[1].Size == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

func cvtss2sd(c *CPU, o *op) { c.mergeLow(o, widen(uint32(c.vec(o, 1)[0]))) }
func cvtsd2ss(c *CPU, o *op) { c.mergeLow(o, uint64(narrow(c.vec(o, 1)[0]))) }

func cvtps2pd(c *CPU, o *op) {
	v := c.vec(o, 1)[0]
	c.X[o.dst&15] = Vec{widen(uint32(v)), widen(uint32(v >> 32))}
}

func cvtpd2ps(c *CPU, o *op) {
	v := c.vec(o, 1)
	c.X[o.dst&15] = Vec{uint64(narrow(v[0])) | uint64(narrow(v[1]))<<32}
}

func cvtdq2pd(c *CPU, o *op) {
	v := c.vec(o, 1)[0]
	c.X[o.dst&15] = Vec{math.Float64bits(float64(int32(v))), math.Float64bits(float64(int32(v >> 32)))}
}

func cvtdq2ps(c *CPU, o *op) {
	v := c.vec(o, 1)
	f := dwords2(func(a, _ uint32) uint32 { return math.Float32bits(float32(int32(a))) })
	c.X[o.dst&15] = Vec{f(v[0], 0), f(v[1], 0)}
}

// cvtps2dq makes the handlers of conversions of four singles to integers.
func cvtps2dq(truncate bool) handler {
	f := dwords2(func(a, _ uint32) uint32 { return uint32(toInt(float64(math.Float32frombits(a)), 4, truncate)) })
	return func(c *CPU, o *op) {
		v := c.vec(o, 1)
		c.X[o.dst&15] = Vec{f(v[0], 0), f(v[1], 0)}
	}
}

// cvtpd2dq makes the handlers of conversions of two doubles to integers.
func cvtpd2dq(truncate bool) handler {
	return func(c *CPU, o *op) {
		v := c.vec(o, 1)
		f := func(x uint64) uint64 { return toInt(math.Float64frombits(x), 4, truncate) }
		c.X[o.dst&15] = Vec{f(v[0]) | f(v[1])<<32}
	}
}

// conversions by their operations.
var conversions = map[x86.Op]handler{
	x86.CVTSI2SD: cvtsi2sd, x86.CVTSI2SS: cvtsi2ss,
	x86.CVTSD2SI: fromFloat(false), x86.CVTSS2SI: fromFloat(false),
	x86.CVTTSD2SI: fromFloat(true), x86.CVTTSS2SI: fromFloat(true),
	x86.CVTSS2SD: cvtss2sd, x86.CVTSD2SS: cvtsd2ss,
	x86.CVTPS2PD: cvtps2pd, x86.CVTPD2PS: cvtpd2ps,
	x86.CVTDQ2PD: cvtdq2pd, x86.CVTDQ2PS: cvtdq2ps,
	x86.CVTPS2DQ: cvtps2dq(false), x86.CVTTPS2DQ: cvtps2dq(true),
	x86.CVTPD2DQ: cvtpd2dq(false), x86.CVTTPD2DQ: cvtpd2dq(true),
}
