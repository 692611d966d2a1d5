package transactions

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A program that takes 1000 by one and 625 by two, with a tenth of the time in the versions of
// five reads, could win a fifth.
func TestStakesAreSharesOfTheTimeByTwo(t *testing.T) {
	r := timed(figureScale, "genome", nil, map[measure.Variant]float64{Eager: 1000, byTwo(Eager): 625})
	v, ok := stakesOf(r, 25, 50, 2)
	if !ok || v.reads != 5 || v.validations != 0.02 {
		t.Errorf("%+v", v)
	}
	for name, got := range map[string][2]float64{"win": {v.win, 20}, "in cache": {v.loseCached, 10}, "in memory": {v.loseMissed, 20}, "comparing": {v.comparing, 0.008}} {
		if d := got[0] - got[1]; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %v, want %v", name, got[0], got[1])
		}
	}
	for win, want := range map[float64]string{21: "maybe", 15: "only in cache", 5: "no"} {
		v.win = win
		if got := v.verdict(); got != want {
			t.Errorf("a win of %v: %s, want %s", win, got, want)
		}
	}
}
