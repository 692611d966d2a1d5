package search

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A toyCrew runs a program of two threads that take so many steps each. A run is known by
// the order of its steps; fails says how one fails.
type toyCrew struct {
	mu     sync.Mutex
	steps  int
	fails  func(order string) event.FailureKind
	leaves int
}

func (c *toyCrew) Starting() time.Duration { return 0 }
func (c *toyCrew) Leaves() int             { return c.leaves }

func (c *toyCrew) Do(_ int, units []sched.Unit, deadline func() time.Time) (all []wire.UnitDone, err error) {
	for i := range units {
		if i > 0 && !time.Now().Before(deadline()) {
			break
		}
		all = append(all, c.unit(&units[i]))
	}
	return all, nil
}

func (c *toyCrew) unit(u *sched.Unit) wire.UnitDone {
	s := u.Strategy()
	rec := sched.NewRecorder(s, true)
	var done wire.UnitDone
	for first := true; first || !s.Exhausted() && done.Runs < u.Runs && (u.Steps == 0 || done.Steps < u.Steps); first = false {
		order := c.run(rec)
		done.Runs++
		done.Steps += uint64(len(order))
		done.Prints = binary.LittleEndian.AppendUint64(done.Prints, rec.Fingerprint())
		if kind := c.fails(order); kind != 0 {
			done.Failures = append(done.Failures, wire.Found{Failure: trace.Failure{Kind: kind, Message: order}, Schedule: rec.Schedule().String(), At: done.Runs, Runs: 1})
			done.Failed++
		}
	}
	runs, steps := done.Runs, done.Steps
	done.UnitDone = u.Done(s)
	done.Runs, done.Steps = runs, steps
	return done
}

// run makes a run: all steps are stores to one word.
func (c *toyCrew) run(s sched.Strategy) (order string) {
	c.mu.Lock()
	steps := c.steps
	c.mu.Unlock()
	s.Begin()
	taken := map[uint32]int{}
	current := uint32(0)
	for {
		p := &sched.Turn{Step: uint64(len(order)), Current: current}
		for g := uint32(1); g <= 2; g++ {
			if taken[g] < steps {
				p.Ready = append(p.Ready, g)
				p.Ops = append(p.Ops, event.Op{Kind: event.Store, G: g, Site: uint32(taken[g] + 1), Addr: 64, Size: 8})
			}
		}
		if current != 0 && taken[current] >= steps {
			p.Current = 0
		}
		if len(p.Ready) == 0 {
			break
		}
		current = p.Ready[s.Pick(p)]
		taken[current]++
		order += fmt.Sprint(current)
	}
	ending := event.Passed
	if c.fails(order) != 0 {
		ending = event.Failed
	}
	s.End(ending, sched.Used{})
	return order
}

func never(string) event.FailureKind { return 0 }

func TestTheSameIsFoundByAnyNumberOfWorkers(t *testing.T) {
	for _, method := range []sched.Method{sched.MethodDFS, sched.MethodPCT, sched.MethodRandom} {
		want := ""
		for _, workers := range []int{1, 2, 5} {
			crew := &toyCrew{steps: 6, fails: func(order string) event.FailureKind {
				if order[3:8] == "12112" {
					return event.FailureCrash
				}
				return 0
			}}
			x := New(Options{PlanOptions: sched.PlanOptions{Method: method, Seed: 1, Preemptions: 6}})
			if err := x.Run(crew, time.Minute, workers); err != nil {
				t.Fatal(err)
			}
			best := x.Best()
			if best == nil || !x.Over {
				t.Fatalf("%s: nothing found in %d runs", method, x.Sum.Runs)
			}
			got := fmt.Sprint(best.Schedule, " ", best.At, " ", x.Sum.First)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s, %d workers: %s, want %s", method, workers, got, want)
			}
		}
	}
}

// TestASearchBeginsAnewWhenStepsChange: when a program turns out to have more steps than was
// known, all schedules are those with the new steps.
func TestASearchBeginsAnewWhenStepsChange(t *testing.T) {
	crew := &toyCrew{steps: 1, fails: never}
	learnt := 0
	x := New(Options{PlanOptions: sched.PlanOptions{Method: sched.MethodDFS, Preemptions: 8}, Learn: func([]wire.UnitDone) bool {
		crew.mu.Lock()
		defer crew.mu.Unlock()
		if crew.steps == 4 {
			return false
		}
		crew.steps++
		learnt++
		return true
	}})
	if err := x.Run(crew, time.Minute, 2); err != nil {
		t.Fatal(err)
	}
	p := x.Sum.Search
	// 8 over 4 orders of the steps of two threads.
	if learnt != 3 || !p.Exhausted || p.Diverged != 0 || p.Runs < 70 {
		t.Errorf("learnt %d times; %+v", learnt, p)
	}
}

// TestARaceDoesNotEndTheSearchForHarm: a run that crashes is told, though one that races came
// before it.
func TestARaceDoesNotEndTheSearchForHarm(t *testing.T) {
	fails := func(order string) event.FailureKind {
		switch {
		case order[2:7] == "21221":
			return event.FailureCrash
		case order[0] == '2':
			return event.FailureRace
		}
		return 0
	}
	for _, harm := range []time.Duration{0, time.Minute} {
		x := New(Options{PlanOptions: sched.PlanOptions{Method: sched.MethodDFS, Preemptions: 8}, Harm: harm})
		if err := x.Run(&toyCrew{steps: 5, fails: fails}, time.Minute, 1); err != nil {
			t.Fatal(err)
		}
		want := event.FailureRace
		if harm > 0 {
			want = event.FailureCrash
		}
		if best := x.Best(); best == nil || best.Kind != want || x.Sum.First > best.At {
			t.Errorf("harm %v: %+v", harm, best)
		}
	}
}

func TestPartOfARunLimitIsLeft(t *testing.T) {
	x := New(Options{PlanOptions: sched.PlanOptions{Method: sched.MethodRandom, Runs: 400}})
	if err := x.Run(&toyCrew{steps: 20, fails: never, leaves: 4}, time.Minute, 2); err != nil {
		t.Fatal(err)
	}
	if x.Sum.Runs != 300 || x.Sum.Passed != 300 {
		t.Errorf("%d runs, of which %d passed", x.Sum.Runs, x.Sum.Passed)
	}
}

func TestADisbelievedFailureIsForgottenAndAnotherCanBeSet(t *testing.T) {
	x := New(Options{PlanOptions: sched.PlanOptions{Method: sched.MethodDFS, Preemptions: 1}})
	if err := x.Run(&toyCrew{steps: 2, fails: func(string) event.FailureKind { return event.FailureCrash }}, time.Minute, 1); err != nil || x.Best() == nil {
		t.Fatal(x.Best(), err)
	}
	if x.Disbelieve(); x.Best() != nil || x.Over || x.Sum.Best != nil || x.Sum.Cut != 1 || len(x.Sum.Disbelieved) != 1 {
		t.Errorf("%+v", x.Sum)
	}
	leak := &wire.Found{Failure: trace.Failure{Kind: event.FailureLeak}, At: 3}
	if x.EndWith(leak); x.Best() != leak || x.Sum.First != 3 {
		t.Errorf("%+v", x.Best())
	}
}

func TestAllFailuresAreGathered(t *testing.T) {
	x := New(Options{PlanOptions: sched.PlanOptions{Method: sched.MethodDFS, Preemptions: 8}, All: true})
	told := 0
	x.o.Progress = func(p *wire.Progress) { told = p.Runs }
	fails := func(order string) event.FailureKind {
		if order[0] == '2' {
			return event.FailureDeadlock
		}
		return 0
	}
	if err := x.Run(&toyCrew{steps: 3, fails: fails}, time.Minute, 1); err != nil {
		t.Fatal(err)
	}
	x.settled = wire.Progress{}
	if new(Tally).Note(x, 1, wire.Progress{Runs: 2}); told != x.Sum.Runs+2 {
		t.Errorf("told %d", told)
	}
	if len(x.Sum.Failures) == 0 || x.Sum.Passed == 0 || x.Sum.Passed == x.Sum.Runs {
		t.Errorf("%d failures, %d of %d passed", len(x.Sum.Failures), x.Sum.Passed, x.Sum.Runs)
	}
}

// TestWhatIsLeftWaitingEndsASearchLater: a leak counts once many more runs have not failed, and only
// where leaks are failures.
func TestWhatIsLeftWaitingEndsASearchLater(t *testing.T) {
	leak := wire.Found{Failure: trace.Failure{Kind: event.FailureLeak, Message: "left"}, At: 1, Runs: 1}
	for _, leaks := range []bool{true, false} {
		x := New(Options{PlanOptions: sched.PlanOptions{Method: sched.MethodRandom, Seed: 1}, Leaks: leaks})
		x.Sum.Runs = 2 * leakRuns
		if x.endsWithLeak() {
			t.Error("the search ends with a leak that nothing has seen")
		}
		x.Sum.Leaks, x.Sum.Runs = []wire.Found{leak}, leakRuns
		if x.endsWithLeak() {
			t.Error("the search ends before worse was looked for")
		}
		x.Sum.Runs++
		if x.endsWithLeak() != leaks {
			t.Errorf("with Leaks %v, the search ends: %v", leaks, x.endsWithLeak())
		}
	}
}
