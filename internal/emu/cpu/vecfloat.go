package cpu

import (
	"math"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Floating point numbers in vectors. Go rounds as the processor does by default. What a
// NaN becomes is spelled out, because a compiler may exchange operands: the first operand
// that is one, made quiet; a NaN of no NaN is the one with a sign and nothing else.
//
// The flags of MXCSR that say that something was inexact, and the like, are not kept.

const (
	quiet64, nan64 = 1 << 51, 0xfff8 << 48
	quiet32, nan32 = 1 << 22, 0xffc0 << 16
)

func isNaN64(v uint64) bool { return v&^(1<<63) > 0x7ff<<52 }
func isNaN32(v uint32) bool { return v&^(1<<31) > 0xff<<23 }

// double and single make functions of representations from functions of numbers.
func double(f func(a, b float64) float64) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		if isNaN64(a) {
			return a | quiet64
		}
		if isNaN64(b) {
			return b | quiet64
		}
		r := math.Float64bits(f(math.Float64frombits(a), math.Float64frombits(b)))
		if isNaN64(r) {
			return nan64
		}
		return r
	}
}

func single(f func(a, b float32) float32) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		if isNaN32(a) {
			return a | quiet32
		}
		if isNaN32(b) {
			return b | quiet32
		}
		r := math.Float32bits(f(math.Float32frombits(a), math.Float32frombits(b)))
		if isNaN32(r) {
			return nan32
		}
		return r
	}
}

// choice64 and choice32 make a minimum or maximum: the second operand unless the first is better, which
// a NaN never is.
func choice64(better func(a, b float64) bool) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		if better(math.Float64frombits(a), math.Float64frombits(b)) {
			return a
		}
		return b
	}
}

func choice32(better func(a, b float32) bool) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		if better(math.Float32frombits(a), math.Float32frombits(b)) {
			return a
		}
		return b
	}
}

// The functions of one operand look at the second operand only.
func sqrt64(_, b uint64) uint64 {
	return double(func(_, x float64) float64 { return math.Sqrt(x) })(0, b)
}

func sqrt32(_, b uint32) uint32 {
	return single(func(_, x float32) float32 { return float32(math.Sqrt(float64(x))) })(0, b)
}

// The approximations are exact here; processors differ in them.
func rcp32(_, b uint32) uint32 { return single(func(_, x float32) float32 { return 1 / x })(0, b) }

func rsqrt32(_, b uint32) uint32 {
	return single(func(_, x float32) float32 { return float32(1 / math.Sqrt(float64(x))) })(0, b)
}

var doubles = map[[2]x86.Op]func(a, b uint64) uint64{
	{x86.ADDPD, x86.ADDSD}:   double(func(a, b float64) float64 { return a + b }),
	{x86.SUBPD, x86.SUBSD}:   double(func(a, b float64) float64 { return a - b }),
	{x86.MULPD, x86.MULSD}:   double(func(a, b float64) float64 { return a * b }),
	{x86.DIVPD, x86.DIVSD}:   double(func(a, b float64) float64 { return a / b }),
	{x86.MINPD, x86.MINSD}:   choice64(func(a, b float64) bool { return a < b }),
	{x86.MAXPD, x86.MAXSD}:   choice64(func(a, b float64) bool { return a > b }),
	{x86.SQRTPD, x86.SQRTSD}: sqrt64,
}

var singles = map[[2]x86.Op]func(a, b uint32) uint32{
	{x86.ADDPS, x86.ADDSS}:     single(func(a, b float32) float32 { return a + b }),
	{x86.SUBPS, x86.SUBSS}:     single(func(a, b float32) float32 { return a - b }),
	{x86.MULPS, x86.MULSS}:     single(func(a, b float32) float32 { return a * b }),
	{x86.DIVPS, x86.DIVSS}:     single(func(a, b float32) float32 { return a / b }),
	{x86.MINPS, x86.MINSS}:     choice32(func(a, b float32) bool { return a < b }),
	{x86.MAXPS, x86.MAXSS}:     choice32(func(a, b float32) bool { return a > b }),
	{x86.SQRTPS, x86.SQRTSS}:   sqrt32,
	{x86.RCPPS, x86.RCPSS}:     rcp32,
	{x86.RSQRTPS, x86.RSQRTSS}: rsqrt32,
}

// scalar64 and scalar32 make handlers that change the lowest element only.
func scalar64(f func(a, b uint64) uint64) handler {
	return func(c *CPU, o *op) {
		b := c.vec(o, 1)[0]
		x := &c.X[o.dst&15]
		x[0] = f(x[0], b)
	}
}

func scalar32(f func(a, b uint32) uint32) handler {
	return func(c *CPU, o *op) {
		b := c.vec(o, 1)[0]
		x := &c.X[o.dst&15]
		x[0] = x[0]&^0xffffffff | uint64(f(uint32(x[0]), uint32(b)))
	}
}

// predicate is a comparison by its number.
func predicate(n uint64, less, equal, unordered bool) bool {
	var r bool
	switch n & 3 {
	case 0:
		r = equal
	case 1:
		r = less
	case 2:
		r = less || equal
	case 3:
		r = unordered
	}
	return r != (n&4 != 0)
}

func compare64(n uint64) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 {
		x, y := math.Float64frombits(a), math.Float64frombits(b)
		if predicate(n, x < y, x == y, x != x || y != y) {
			return ^uint64(0)
		}
		return 0
	}
}

func compare32(n uint64) func(a, b uint32) uint32 {
	return func(a, b uint32) uint32 {
		x, y := math.Float32frombits(a), math.Float32frombits(b)
		return all[uint32](predicate(n, x < y, x == y, x != x || y != y))
	}
}

// compareVec makes the handler of a comparison; which one it is is in the immediate.
func compareVec(o *op) handler {
	switch o.inst.Op {
	case x86.CMPPD:
		return packed(compare64(o.imm))
	case x86.CMPPS:
		return packed(dwords2(compare32(o.imm)))
	case x86.CMPSD:
		return scalar64(compare64(o.imm))
	default:
		return scalar32(compare32(o.imm))
	}
}

// ordered sets the flags after a comparison.
func (c *CPU) ordered(less, equal, unordered bool) {
	switch {
	case unordered:
		c.lazy.set(ZF | PF | CF)
	case less:
		c.lazy.set(CF)
	case equal:
		c.lazy.set(ZF)
	default:
		c.lazy.set(0)
	}
}

func ucomisd(c *CPU, o *op) {
	a, b := math.Float64frombits(c.X[o.dst&15][0]), math.Float64frombits(c.vec(o, 1)[0])
	c.ordered(a < b, a == b, a != a || b != b)
}

func ucomiss(c *CPU, o *op) {
	a, b := math.Float32frombits(uint32(c.X[o.dst&15][0])), math.Float32frombits(uint32(c.vec(o, 1)[0]))
	c.ordered(a < b, a == b, a != a || b != b)
}
