package plot

import (
	"math"
	"strconv"
)

// An axis maps values to places between two ends of the picture.
type axis struct {
	low, high float64 // values
	from, to  float64 // places
	step      float64 // between two ticks
}

// newAxis covers the values, and zero, with about five steps of a round number.
func newAxis(low, high, from, to float64) axis {
	low, high = min(low, 0), max(high, 0)
	if low == high {
		high = 1
	}
	step := roundStep((high - low) / 5)
	return axis{
		low:  math.Floor(low/step) * step,
		high: math.Ceil(high/step) * step,
		from: from, to: to, step: step,
	}
}

// roundStep is the next 1, 2 or 5 times a power of ten.
func roundStep(raw float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

func (a axis) at(v float64) float64 {
	v = max(a.low, min(a.high, v))
	return a.from + (v-a.low)/(a.high-a.low)*(a.to-a.from)
}

func (a axis) ticks() []float64 {
	var ts []float64
	for i := 0; ; i++ {
		v := a.low + float64(i)*a.step
		if v > a.high+a.step/2 {
			return ts
		}
		ts = append(ts, v)
	}
}

// label writes a tick's value with as many digits as the step needs.
func (a axis) label(v float64) string {
	digits := max(0, int(math.Ceil(-math.Log10(a.step)-1e-9)))
	return strconv.FormatFloat(v+0, 'f', digits, 64)
}
