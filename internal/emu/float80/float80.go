// Package float80 is the numbers of the x87 floating point unit: 64 bits of mantissa and 15
// of exponent, rounded to the nearest. Results are computed with math/big; speed does not
// matter for what long double is used for.
package float80

import (
	"math"
	"math/big"
)

// A Number has a sign and exponent, and a mantissa of which the highest bit is not implied.
type Number struct {
	Mant uint64
	SE   uint16
}

const (
	Bias  = 16383
	quiet = 1 << 51 // what makes a NaN of 64 bits a quiet one
)

var NaN = Number{3 << 62, 0xffff}

func (x Number) IsNaN() bool  { return x.SE&0x7fff == 0x7fff && x.Mant<<1 != 0 }
func (x Number) IsInf() bool  { return x.SE&0x7fff == 0x7fff && x.Mant<<1 == 0 }
func (x Number) IsZero() bool { return x.Mant == 0 && x.SE&0x7fff != 0x7fff }
func (x Number) Negative() bool {
	return x.SE>>15 != 0
}

// OfInt and the like convert exactly.
func OfInt(v int64) Number {
	if v == 0 {
		return Number{}
	}
	return OfBig(new(big.Float).SetPrec(64).SetInt64(v))
}

func OfFloat(f float64) Number {
	v := math.Float64bits(f)
	sign := uint16(v >> 63 << 15)
	switch {
	case f != f:
		return Number{1<<63 | quiet<<11 | v<<12>>1, sign | 0x7fff}
	case math.IsInf(f, 0):
		return Number{1 << 63, sign | 0x7fff}
	case f == 0:
		return Number{0, sign}
	}
	return OfBig(new(big.Float).SetFloat64(f))
}

// OfBig rounds a finite number.
func OfBig(f *big.Float) Number {
	sign := uint16(0)
	if f.Signbit() {
		sign = 1 << 15
	}
	if f.Sign() == 0 {
		return Number{0, sign}
	}
	r := new(big.Float).SetPrec(64).SetMode(big.ToNearestEven).Set(f)
	mant := new(big.Float)
	exp := r.MantExp(mant) // mant in [0.5, 1)
	m, _ := mant.Abs(mant).SetMantExp(mant, 64).Uint64()
	biased := exp - 1 + Bias
	switch {
	case biased >= 0x7fff:
		return Number{1 << 63, sign | 0x7fff}
	case biased <= 0:
		// A number with fewer bits than usual. It is rounded twice, which can be off by one
		// in the last place.
		if biased < -63 {
			return Number{0, sign}
		}
		return Number{m >> uint(1-biased), sign}
	}
	return Number{m, sign | uint16(biased)}
}

// Big converts a number that is neither infinite nor a NaN.
func (x Number) Big() *big.Float {
	f := new(big.Float).SetPrec(64).SetUint64(x.Mant)
	exp := max(int(x.SE&0x7fff), 1) - Bias - 63
	f.SetMantExp(f, exp)
	if x.Negative() {
		f.Neg(f)
	}
	return f
}

func (x Number) Float64() float64 {
	switch {
	case x.IsNaN():
		v := uint64(x.SE>>15)<<63 | 0x7ff<<52 | quiet | x.Mant<<1>>12
		return math.Float64frombits(v)
	case x.IsInf():
		return math.Inf(1 - 2*int(x.SE>>15))
	}
	f, _ := x.Big().Float64()
	return f
}

func (x Number) Float32() float32 {
	if x.IsNaN() || x.IsInf() {
		return float32(x.Float64())
	}
	f, _ := x.Big().Float32()
	return f
}

// Rounding modes of the control word.
const (
	RoundNearest = iota
	RoundDown
	RoundUp
	RoundToZero
)

// Integer rounds a finite number to an integer.
func (x Number) Integer(mode uint16) *big.Int {
	f := x.Big()
	i, acc := f.Int(nil) // towards zero
	if acc == big.Exact || mode == RoundToZero {
		return i
	}
	away := false
	switch mode {
	case RoundDown:
		away = x.Negative()
	case RoundUp:
		away = !x.Negative()
	default:
		rest := new(big.Float).Sub(f, new(big.Float).SetInt(i))
		switch rest.Abs(rest).Cmp(big.NewFloat(0.5)) {
		case 1:
			away = true
		case 0:
			away = i.Bit(0) == 1
		}
	}
	if away {
		if x.Negative() {
			return i.Sub(i, big.NewInt(1))
		}
		return i.Add(i, big.NewInt(1))
	}
	return i
}

// ToInt converts to a signed integer of the given size; what does not fit becomes the
// smallest one.
func (x Number) ToInt(size uint8, mode uint16) uint64 {
	smallest := uint64(1) << (8*size - 1)
	if x.IsNaN() || x.IsInf() {
		return smallest
	}
	i := x.Integer(mode)
	if !i.IsInt64() {
		return smallest
	}
	v := i.Int64()
	if up := 64 - 8*size; v<<up>>up != v {
		return smallest
	}
	return uint64(v) & (^uint64(0) >> (64 - 8*size))
}

// Arith computes a op b for op one of + - * /.
func Arith(op byte, a, b Number) Number {
	if a.IsNaN() || b.IsNaN() {
		return quieted(a, b)
	}
	if op == '-' {
		b.SE ^= 1 << 15
		op = '+'
	}
	sign := (a.SE ^ b.SE) & (1 << 15)
	switch op {
	case '+':
		switch {
		case a.IsInf() && b.IsInf() && a.SE != b.SE:
			return NaN
		case a.IsInf():
			return a
		case b.IsInf():
			return b
		case a.IsZero() && b.IsZero():
			return Number{0, a.SE & b.SE}
		}
		r := new(big.Float).SetPrec(64).SetMode(big.ToNearestEven)
		return OfBig(r.Add(a.Big(), b.Big()))
	case '*':
		if (a.IsInf() && b.IsZero()) || (a.IsZero() && b.IsInf()) {
			return NaN
		}
		if a.IsInf() || b.IsInf() {
			return Number{1 << 63, sign | 0x7fff}
		}
		r := new(big.Float).SetPrec(64).SetMode(big.ToNearestEven)
		return OfBig(r.Mul(a.Big(), b.Big()))
	default:
		switch {
		case (a.IsInf() && b.IsInf()) || (a.IsZero() && b.IsZero()):
			return NaN
		case a.IsInf() || b.IsZero():
			return Number{1 << 63, sign | 0x7fff}
		case b.IsInf() || a.IsZero():
			return Number{0, sign}
		}
		r := new(big.Float).SetPrec(64).SetMode(big.ToNearestEven)
		return OfBig(r.Quo(a.Big(), b.Big()))
	}
}

// quieted is the result of an operation on a NaN, made quiet: of two, the one with the
// greater mantissa, and of equal ones the positive.
func quieted(a, b Number) Number {
	isA, isB := a.IsNaN(), b.IsNaN()
	a.Mant, b.Mant = a.Mant|1<<62, b.Mant|1<<62
	switch {
	case !isB:
		return a
	case !isA, b.Mant > a.Mant, b.Mant == a.Mant && a.Negative():
		return b
	}
	return a
}

// Compare reports how a stands to b.
func Compare(a, b Number) (less, equal, unordered bool) {
	switch {
	case a.IsNaN() || b.IsNaN():
		return false, false, true
	case a.IsInf() || b.IsInf():
		if a == b {
			return false, true, false
		}
		return a.IsInf() && a.Negative() || b.IsInf() && !b.Negative(), false, false
	}
	n := a.Big().Cmp(b.Big())
	return n < 0, n == 0, false
}
