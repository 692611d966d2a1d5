package transactions

import (
	"math"
	"runtime"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

func TestModelOvertakesWhereTheTimesMeet(t *testing.T) {
	m := model{alone: 1000, start: 1000, reads: 100, costs: costs{compare: 1, log: 1, clock: 50}}
	n := m.overtakes()
	if n != 19 {
		t.Errorf("from %v leaders", n)
	}
	if clone := m.clone(); m.eager(n) < clone || m.eager(n-1) > clone {
		t.Errorf("%v by %v, %v by one less", m.eager(n), n, m.eager(n-1))
	}
}

func TestModelOfFewReadsNeverOvertakes(t *testing.T) {
	m := model{alone: 100, start: 2000, reads: 4, costs: costs{compare: 1}}
	if n := m.overtakes(); !math.IsInf(n, 1) {
		t.Errorf("from %v leaders", n)
	}
	if a, b := m.eager(5), m.eager(500); a != b {
		t.Errorf("%v by 5, %v by 500: nothing is validated more often than it is read", a, b)
	}
}

func TestModelIsMadeOfWhatWasMeasured(t *testing.T) {
	r := timed(figureLeaders, "genome", nil, map[measure.Variant]float64{Eager: 1000, Clone: 3000})
	m, ok := modelOf(r, costs{compare: 0.5})
	if want := (model{alone: 1000, start: 2000, reads: 5, costs: costs{compare: 0.5}}); !ok || m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
	if _, ok := modelOf(measure.Result{}, costs{}); ok {
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

// By one leader there is neither a log nor a clock that comes from elsewhere; what starting a
// clone takes is more than that, or Clone is ahead from two leaders on.
func TestModelHasNoOthersByOneLeader(t *testing.T) {
	m := model{alone: 100, start: 5, reads: 10, costs: costs{compare: 1, log: 1, clock: 70}}
	if one, two := m.eager(1), m.eager(2); one != 100 || two != 100+70+10+5 {
		t.Errorf("%v by one, %v by two", one, two)
	}
	if n := m.overtakes(); n != 2 {
		t.Errorf("from %v leaders", n)
	}
}

func TestCostsAreMeasured(t *testing.T) {
	c := costsHere()
	if c.compare <= 0 || c.compare > 1000 || c.log < 0 || c.log > 1000 || runtime.GOMAXPROCS(0) > 1 && c.clock <= 0 {
		t.Errorf("%+v", c)
	}
}
