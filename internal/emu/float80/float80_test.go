package float80

import (
	"math"
	"testing"
)

func TestNumbersSurviveConversion(t *testing.T) {
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -2.5, math.Pi, 1e300, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1)} {
		if got := OfFloat(f).Float64(); got != f || math.Signbit(got) != math.Signbit(f) {
			t.Errorf("%v became %v", f, got)
		}
	}
	if !math.IsNaN(OfFloat(math.NaN()).Float64()) || !math.IsNaN(float64(NaN.Float32())) {
		t.Error("a NaN became a number")
	}
	for _, i := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		if got := int64(OfInt(i).ToInt(8, RoundNearest)); got != i {
			t.Errorf("%d became %d", i, got)
		}
	}
	if got := OfFloat(1.0 / 3).Float32(); got != float32(1.0/3) {
		t.Errorf("a third became %v", got)
	}
}

func TestArithmetic(t *testing.T) {
	inf, zero := OfFloat(math.Inf(1)), Number{}
	for _, c := range []struct {
		op   byte
		a, b Number
		want float64
	}{
		{'+', OfFloat(1.5), OfFloat(2), 3.5},
		{'-', OfFloat(1.5), OfFloat(2), -0.5},
		{'*', OfFloat(-1.5), OfFloat(2), -3},
		{'/', OfFloat(3), OfFloat(2), 1.5},
		{'/', OfFloat(1), zero, math.Inf(1)},
		{'/', OfFloat(1), inf, 0},
		{'*', inf, OfFloat(-2), math.Inf(-1)},
		{'+', inf, OfFloat(1), math.Inf(1)},
		{'-', OfFloat(1), inf, math.Inf(-1)},
		{'-', OfFloat(1), OfFloat(1), 0},
		{'+', zero, zero, 0},
		{'-', inf, inf, math.NaN()},
		{'*', inf, zero, math.NaN()},
		{'/', zero, zero, math.NaN()},
		{'+', NaN, OfFloat(1), math.NaN()},
		{'+', OfFloat(1), NaN, math.NaN()},
	} {
		got := Arith(c.op, c.a, c.b).Float64()
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v %c %v = %v, want %v", c.a.Float64(), c.op, c.b.Float64(), got, c.want)
		}
	}
	// 64 bits of mantissa: more than a double has.
	third := Arith('/', OfInt(1), OfInt(3))
	if third.Mant != 0xaaaaaaaaaaaaaaab || third.SE != Bias-2 {
		t.Errorf("a third is %+v", third)
	}
	tiny := OfFloat(5e-324)
	for range 15 {
		tiny = Arith('*', tiny, tiny)
	}
	if !tiny.IsZero() {
		t.Errorf("the square of a square of next to nothing is %+v", tiny)
	}
}

func TestRoundingToIntegers(t *testing.T) {
	for f, want := range map[float64][4]int64{ // nearest, down, up, to zero
		2.5: {2, 2, 3, 2}, 3.5: {4, 3, 4, 3}, -2.5: {-2, -3, -2, -2}, -0.75: {-1, -1, 0, 0}, 7: {7, 7, 7, 7},
	} {
		for mode, w := range want {
			if got := int64(OfFloat(f).ToInt(8, uint16(mode))); got != w {
				t.Errorf("%v in mode %d is %d, want %d", f, mode, got, w)
			}
		}
	}
	for _, f := range []float64{1e300, math.Inf(1), math.NaN(), 40000} {
		if got := OfFloat(f).ToInt(2, RoundNearest); got != 0x8000 {
			t.Errorf("%v in 16 bits is %#x", f, got)
		}
	}
}

func TestComparison(t *testing.T) {
	inf, minus := OfFloat(math.Inf(1)), OfFloat(math.Inf(-1))
	for _, c := range []struct {
		a, b                   Number
		less, equal, unordered bool
	}{
		{OfFloat(1), OfFloat(2), true, false, false},
		{OfFloat(2), OfFloat(2), false, true, false},
		{OfFloat(3), OfFloat(2), false, false, false},
		{minus, OfFloat(2), true, false, false},
		{OfFloat(2), inf, true, false, false},
		{inf, OfFloat(2), false, false, false},
		{inf, inf, false, true, false},
		{NaN, inf, false, false, true},
	} {
		less, equal, unordered := Compare(c.a, c.b)
		if less != c.less || equal != c.equal || unordered != c.unordered {
			t.Errorf("%v and %v: %t %t %t", c.a.Float64(), c.b.Float64(), less, equal, unordered)
		}
	}
}

func TestOfTwoNaNsTheGreaterThenThePositive(t *testing.T) {
	small, great := Number{1<<63 | 1<<62 | 1, 0xffff}, Number{1<<63 | 1<<62 | 2, 0xffff}
	positive := Number{small.Mant, 0x7fff}
	for _, c := range [][3]Number{{small, great, great}, {great, small, great}, {small, positive, positive}, {positive, small, positive}, {small, OfFloat(math.Inf(1)), small}, {OfFloat(1), great, great}} {
		if got := Arith('+', c[0], c[1]); got != c[2] {
			t.Errorf("%x and %x: %x", c[0], c[1], got)
		}
	}
}
