package transactions

import (
	"math"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

func TestModelOvertakesWhereTheTimesMeet(t *testing.T) {
	m := model{alone: 1000, start: 900, reads: 100, compare: 1}
	n := m.overtakes()
	if n != 19 {
		t.Errorf("from %v leaders", n)
	}
	if clone := m.alone + m.start; m.eager(n) < clone || m.eager(n-1) > clone {
		t.Errorf("%v by %v, %v by one less", m.eager(n), n, m.eager(n-1))
	}
}

func TestModelOfFewReadsNeverOvertakes(t *testing.T) {
	m := model{alone: 100, start: 2000, reads: 4, compare: 1}
	if n := m.overtakes(); !math.IsInf(n, 1) {
		t.Errorf("from %v leaders", n)
	}
	if a, b := m.eager(5), m.eager(500); a != b {
		t.Errorf("%v by 5, %v by 500: nothing is validated more often than it is read", a, b)
	}
}

func TestModelIsMadeOfWhatWasMeasured(t *testing.T) {
	r := timed(figureLeaders, "genome", nil, map[measure.Variant]float64{Eager: 1000, Clone: 3000})
	m, ok := modelOf(r, 0.5)
	if want := (model{alone: 1000, start: 2000, reads: 5, compare: 0.5}); !ok || m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
	if _, ok := modelOf(measure.Result{}, 0.5); ok {
		t.Error("a model of nothing")
	}
}

// Two leaders that take half of the time of one for the same transactions do not disturb each
// other.
func TestTransactionOfTwoLeadersTakesTheTimeOfBoth(t *testing.T) {
	two := measure.Timing{Median: 2, Counters: map[string]float64{commits: 1e9}}
	if got := perTransaction(two, 2); got != 4 {
		t.Errorf("a transaction took %v ns, want 4", got)
	}
}
