package search

import (
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// fakeUnits are n units, which are known by their numbers.
func fakeUnits(n int) []sched.Unit {
	all := make([]sched.Unit, n)
	for i := range all {
		all[i].From = uint64(i)
	}
	return all
}

// TestAWaveIsTheSameForAnyNumberOfWorkers: the units that count, and the error, depend on
// the units alone, whoever is faster.
func TestAWaveIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 300 {
		n := 1 + r.Intn(200)
		ends, dies := r.Intn(2*n), r.Intn(2*n) // beyond n: none does
		var want string
		for _, workers := range []int{1, 2, 3, 7} {
			w := &wave{units: fakeUnits(n), more: func() bool { return true }}
			w.ends = func(u *wire.UnitDone) bool { return u.Failed > 0 }
			w.do = func(_ int, units []sched.Unit) (done []wire.UnitDone, err error) {
				for _, u := range units {
					for range r2(u.From) {
						runtime.Gosched()
					}
					if int(u.From) == dies {
						return done, fmt.Errorf("unit %d", u.From)
					}
					d := wire.UnitDone{UnitDone: sched.UnitDone{Runs: 1, Steps: u.From}}
					if int(u.From) == ends {
						d.Failed = 1
						return append(done, d), nil
					}
					done = append(done, d)
				}
				return done, nil
			}
			done, err := w.run(workers)
			got := fmt.Sprint(err)
			for i := range done {
				if done[i].Runs > 0 {
					got += fmt.Sprint(" ", done[i].Steps, ":", done[i].Failed)
				}
			}
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("%d workers: %s, want %s", workers, got, want)
			}
		}
	}
}

// r2 is some number, to have workers be of different speed.
func r2(n uint64) int { return int(n*2654435761>>7) % 20 }

// TestAWaveEndsWithItsTime: no unit is begun after it, but for the first.
func TestAWaveEndsWithItsTime(t *testing.T) {
	for _, workers := range []int{1, 3} {
		left := 5
		w := &wave{units: fakeUnits(40), apart: true, ends: func(*wire.UnitDone) bool { return false }}
		w.more = func() bool { left--; return left > 0 }
		w.do = func(_ int, units []sched.Unit) ([]wire.UnitDone, error) {
			return slices.Repeat([]wire.UnitDone{{UnitDone: sched.UnitDone{Runs: 1}}}, len(units)), nil
		}
		done, err := w.run(workers)
		runs := 0
		for i := range done {
			runs += done[i].Runs
		}
		if err != nil || runs != 5 {
			t.Errorf("%d workers: %d units, %v", workers, runs, err)
		}
	}
}

func TestAnErrorCountsUnlessTheSearchEndsBefore(t *testing.T) {
	broken := errors.New("broken")
	w := &wave{units: fakeUnits(3), more: func() bool { return true }, ends: func(u *wire.UnitDone) bool { return u.Failed > 0 }}
	w.limit, w.done = 3, make([]wire.UnitDone, 3)
	w.put(2, nil, broken)
	w.put(0, []wire.UnitDone{{Failed: 1}}, nil)
	if w.err != nil || w.limit != 1 {
		t.Errorf("limit %d, %v", w.limit, w.err)
	}
	w.put(1, nil, broken)
	if w.err != nil {
		t.Error(w.err)
	}
}

// TestUnitsAreTakenTogetherButForTheLast: a worker asks seldom, all are busy to the end, and where
// each unit needs a process of its own it gets one.
func TestUnitsAreTakenTogetherButForTheLast(t *testing.T) {
	for _, c := range []struct {
		units, workers, asked, last int
		takes                       time.Duration
		apart                       bool
	}{
		{64, 1, 8, 8, 0, false}, {64, 2, 21, 1, 0, false}, {6400, 1, 64, 100, 0, false}, {3, 1, 1, 3, 0, false}, {3, 2, 3, 1, 0, false},
		{64, 2, 64, 1, time.Second, false}, {30, 2, 9, 1, 500 * time.Microsecond, false}, {64, 1, 8, 8, time.Second, false}, {6400, 2, 6400, 1, 0, true},
	} {
		w := &wave{units: fakeUnits(c.units), limit: c.units, workers: c.workers, unitTakes: c.takes, apart: c.apart, more: func() bool { return true }}
		asked, last := 0, 0
		for from, to := w.take(); from < to; from, to = w.take() {
			asked, last = asked+1, to-from
		}
		if asked > c.asked || last != c.last || w.next != c.units {
			t.Errorf("%d units, %d workers: asked %d times, for %d the last time", c.units, c.workers, asked, last)
		}
	}
}
