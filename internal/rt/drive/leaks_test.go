package drive

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Sites of what is left waiting.
const (
	alwaysSite = iota + 50
	sometimesSite
)

// leaves leaves one goroutine in every schedule, and another if the first of two comes first.
func leaves() bool {
	ch, done := make(chan int, 1), make(chan int, 2)
	rt.Go(goSite, func() { rt.Block(alwaysSite) })
	rt.Go(goSite, func() { rt.To[int](ch).Send(1, waitSite); rt.To[int](done).Send(1, waitSite) })
	rt.Go(goSite, func() {
		if rt.LenChan(ch, loadSite) == 1 {
			rt.Go(goSite, func() { rt.Block(sometimesSite) })
		}
		rt.To[int](done).Send(1, waitSite)
	})
	rt.Recv(done, waitSite)
	rt.Recv(done, waitSite)
	return false
}

// tree is the order to try all schedules with at most two preemptions.
func tree(leaks bool) wire.Order {
	o := units(sched.MethodDFS, sched.Unit{Bound: 2})
	o.Leaks, o.WarmUp = leaks, false
	return o
}

func TestLeaksAreGatheredWithTheirNumbers(t *testing.T) {
	for _, count := range []bool{true, false} {
		u := done(t, leaves, tree(count)).Units[0]
		if len(u.Leaks) != 2 || len(u.Left) != 0 || len(u.Failures) != 0 {
			t.Fatalf("%+v", u)
		}
		for _, l := range u.Leaks {
			if always := l.Site == alwaysSite; always != (l.Runs == u.Runs) || l.Schedule == "" || l.At == 0 {
				t.Errorf("site %d in %d of %d runs: %+v", l.Site, l.Runs, u.Runs, l)
			}
		}
	}
}

// TestALeakDoesNotEndTheSearch: there is a panic in a schedule that comes later.
func TestALeakDoesNotEndTheSearch(t *testing.T) {
	target := func() bool {
		rt.Go(goSite, func() { rt.Block(alwaysSite) })
		if count(true); count(false) {
			panic("an increment was lost")
		}
		return false
	}
	u := done(t, target, tree(true)).Units[0]
	if len(u.Failures) != 1 || u.Failures[0].Kind != event.FailurePanic || u.Failures[0].At < 2 || len(u.Leaks) != 1 {
		t.Errorf("%+v", u)
	}
}

func TestWhatAFailedTestLeavesIsForgiven(t *testing.T) {
	target := func() bool { leaves(); return true }
	if out := done(t, target, wire.Order{Verb: wire.Run, Schedule: "default", Leaks: true}).Outcome; len(out.Failures) != 1 || out.Worst().Kind != event.FailureTest {
		t.Errorf("%+v", out.Failures)
	}
}

func TestAProgramThatEndsLeavesNothing(t *testing.T) {
	_, reports := ask(t, []string{""}, func([]int) bool { return leaves() }, wire.Order{Verb: wire.Run, Schedule: "default", Leaks: true})
	if out := reports[len(reports)-1].Done.Outcome; len(out.Failures) != 0 {
		t.Errorf("%+v", out.Failures)
	}
}

func TestEqualWaitsAreOne(t *testing.T) {
	target := func() bool {
		state := new(int32)
		rt.Lock(state)
		for range 3 {
			rt.Go(goSite, func() { rt.Lock(state) })
		}
		return false
	}
	worst := done(t, target, wire.Order{Verb: wire.Run, Schedule: "default"}).Outcome.Worst()
	if worst == nil || worst.Kind != event.FailurePartialDeadlock || len(worst.Waiting) != 1 || worst.Waiting[0].Goroutines() != 3 {
		t.Errorf("%+v", worst)
	}
}
