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

func explore(leaks bool) wire.Order {
	return wire.Order{Verb: wire.Explore, Method: sched.MethodDFS, Preemptions: 2, Budget: 1 << 40, Shrink: true, Leaks: leaks}
}

func TestALeakOfSomeSchedulesIsToldBeforeOneOfAll(t *testing.T) {
	d := done(t, leaves, explore(true))
	if len(d.Leaks) != 2 || !d.Search.Complete() {
		t.Fatalf("%d leaks, %v", len(d.Leaks), d.Search)
	}
	for _, l := range d.Leaks {
		if always := l.Site == alwaysSite; always != (l.Runs == d.Runs) {
			t.Errorf("site %d in %d of %d runs", l.Site, l.Runs, d.Runs)
		}
	}
	if d.Best.Site != sometimesSite || d.Outcome.Worst().Kind != event.FailureLeak || len(d.Outcome.Worst().Waiting) != 2 {
		t.Errorf("the best is at %d, the outcome %+v", d.Best.Site, d.Outcome.Worst())
	}
}

func TestLeaksAreKnownWhereTheyDoNotCount(t *testing.T) {
	if d := done(t, leaves, explore(false)); len(d.Leaks) != 2 || d.Best != nil || d.Outcome != nil || d.First != 0 {
		t.Errorf("%+v", d)
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
	d := done(t, target, explore(true))
	if d.Best == nil || d.Best.Kind != event.FailurePanic || d.First < 2 {
		t.Errorf("%v at run %d", d.Best, d.First)
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
