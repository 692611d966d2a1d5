package kmeans

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

var simulator = map[string]Params{"low": SimulatorLow, "high": SimulatorHigh}

// small is for the modes that need a second goroutine for each transaction.
var small = Params{MinClusters: 5, MaxClusters: 6, Threshold: 0.05, Points: 300, Dimensions: 8, Centres: 6}

func TestSequentialClusters(t *testing.T) {
	for name, p := range simulator {
		t.Run(name, func(t *testing.T) {
			in := Generate(p)
			verify(t, in, Sequential(in))
		})
	}
}

func TestReferenceIsTheSequentialResult(t *testing.T) {
	for name, p := range simulator {
		in := Generate(p)
		want, got := Sequential(in), in.reference()
		if in.cost(want) != in.cost(got) || want.Iterations != got.Iterations || !slices.Equal(want.Membership, got.Membership) {
			t.Errorf("%s: %d iterations to a cost of %v, want %d to %v", name, got.Iterations, in.cost(got), want.Iterations, in.cost(want))
		}
	}
}

func TestMutexClusters(t *testing.T) {
	for name, p := range simulator {
		t.Run(name, func(t *testing.T) {
			in := Generate(p)
			verify(t, in, Mutex(in, 2))
			verify(t, in, Atomic(in, 2))
		})
	}
}

func TestTransactionsCluster(t *testing.T) {
	for _, m := range []struct {
		name string
		mode stm.Mode
		sets map[string]Params
	}{
		{"eager", stm.Eager, simulator},
		{"timer", stm.Timer, simulator},
		{"helper", stm.Helper, map[string]Params{"small": small}},
		{"clone", stm.Clone, map[string]Params{"small": small}},
	} {
		for name, p := range m.sets {
			in := Generate(p)
			for _, goroutines := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s/%s/%d", m.name, name, goroutines), func(t *testing.T) {
					verify(t, in, Transactional(in, goroutines, stm.Options{Mode: m.mode}))
				})
			}
		}
	}
}

// One goroutine adds in the order of Sequential, so it must come to the very same
// result.
func TestOneGoroutineIsSequential(t *testing.T) {
	in := Generate(SimulatorHigh)
	want := in.cost(Sequential(in))
	for name, r := range map[string]*Result{
		"mutex":         Mutex(in, 1),
		"atomic":        Atomic(in, 1),
		"transactional": Transactional(in, 1, stm.Options{}),
	} {
		if got := in.cost(r); got != want {
			t.Errorf("%s: cost %g, and %g in Sequential", name, got, want)
		}
	}
}

func TestVerifyRejectsWrongResults(t *testing.T) {
	in := Generate(SimulatorHigh)
	for name, spoil := range map[string]func(r *Result){
		"a lost member":         func(r *Result) { r.Sizes[3]-- },
		"a lost coordinate":     func(r *Result) { r.Centres[2][1] += 0.01 },
		"a point elsewhere":     func(r *Result) { r.Membership[9] = (r.Membership[9] + 1) % in.MaxClusters },
		"a point nowhere":       func(r *Result) { r.Membership[9] = -1 },
		"an end too early":      func(r *Result) { r.Moved = len(in.points) },
		"a cluster too few":     func(r *Result) { r.Centres = r.Centres[1:] },
		"a point that vanished": func(r *Result) { r.Membership = r.Membership[1:] },
	} {
		r := Sequential(in)
		spoil(r)
		if in.Verify(r) == nil {
			t.Errorf("%s was not noticed", name)
		}
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	a, b := Generate(small), Generate(small)
	for i := range a.points {
		if distance(a.points[i], b.points[i]) != 0 {
			t.Fatalf("point %d is %v, and then %v", i, a.points[i], b.points[i])
		}
	}
}

func verify(t *testing.T, in *Input, r *Result) {
	t.Helper()
	if err := in.Verify(r); err != nil {
		t.Error(err)
	}
	if r.Elapsed <= 0 {
		t.Errorf("the run took %v", r.Elapsed)
	}
	t.Logf("%d iterations, %v", r.Iterations, r.Elapsed)
}
