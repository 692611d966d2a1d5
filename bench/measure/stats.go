package measure

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Median is the middle of some numbers.
func Median(xs []float64) float64 { return Quantile(xs, 0.5) }

// Quantile is the number below which a fraction q of some numbers lie.
func Quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	at := q * float64(len(s)-1)
	below := int(at)
	if below == len(s)-1 {
		return s[below]
	}
	part := at - float64(below)
	return s[below]*(1-part) + s[below+1]*part
}

// GeoMean is the geometric mean, the one under which ratios average: a program
// half as fast and one twice as fast come to 1.
func GeoMean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(xs)))
}

// draws is the number of times the bootstrap draws; the ends of its range are
// then known to a few percent of its width.
const draws = 500

// spread is the fraction of the bootstrap's ratios that a range holds.
const spread = 0.9

// Compare divides the medians of two variants. The rounds are drawn in pairs, as
// they were measured, so that a slow spell of the machine, which hit both, does
// not widen the range.
func Compare(of, to Timing) Ratio {
	r := Ratio{Of: of.Variant, To: to.Variant, Mid: of.Median / to.Median}
	n := min(len(of.Seconds), len(to.Seconds))
	random := rand.New(rand.NewPCG(1, 2))
	a, b := make([]float64, n), make([]float64, n)
	ratios := make([]float64, draws)
	for i := range ratios {
		for j := range n {
			k := random.IntN(n)
			a[j], b[j] = of.Seconds[k], to.Seconds[k]
		}
		ratios[i] = Median(a) / Median(b)
	}
	r.Low = Quantile(ratios, (1-spread)/2)
	r.High = Quantile(ratios, (1+spread)/2)
	return r
}

// Together is the geometric mean of some ratios with its spread. The cases were
// measured independently, so that their errors partly cancel: relative errors
// add up as squares.
func Together(rs []Ratio) Ratio {
	if len(rs) == 0 {
		return Ratio{Mid: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	mids := make([]float64, len(rs))
	var up, down float64
	for i, r := range rs {
		mids[i] = r.Mid
		up += square(math.Log(r.High / r.Mid))
		down += square(math.Log(r.Mid / r.Low))
	}
	n := float64(len(rs))
	mid := GeoMean(mids)
	return Ratio{
		Of: rs[0].Of, To: rs[0].To, Mid: mid,
		Low:  mid * math.Exp(-math.Sqrt(down)/n),
		High: mid * math.Exp(math.Sqrt(up)/n),
	}
}

func square(x float64) float64 { return x * x }
