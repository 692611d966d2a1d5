package nolock

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// TestRefusalNamesTheShapeOfTheWait: of several goroutines, the shape that says most about the
// others is told, and goroutines of the standard library say nothing.
func TestRefusalNamesTheShapeOfTheWait(t *testing.T) {
	waiter := func(s event.WaitShape, library bool) trace.Waiter { return trace.Waiter{Shape: s, Library: library} }
	for _, c := range []struct {
		waiting []trace.Waiter
		want    string
	}{
		{[]trace.Waiter{waiter(event.AbandonedChannel, false), waiter(event.LockOrder, false)}, "in different orders"},
		{[]trace.Waiter{waiter(event.MissedSignal, false), waiter(event.LockOrder, true)}, "a signal was given before"},
		{[]trace.Waiter{waiter(event.DoubleLock, false)}, "that it holds already"},
		{nil, "all goroutines wait for each other"},
	} {
		if why := Why(&trace.Failure{Kind: event.FailureDeadlock, Waiting: c.waiting}); !strings.Contains(why, c.want) {
			t.Errorf("%v: %s", c.waiting, why)
		}
	}
	if why := Why(&trace.Failure{Kind: event.FailureRace}); why != "" {
		t.Errorf("a race: %s", why)
	}
}

func TestLockIsTriedForWaitsThatMayComeOfRaces(t *testing.T) {
	race := trace.Failure{Kind: event.FailureRace}
	for _, c := range []struct {
		shape event.WaitShape
		races []trace.Failure
		want  bool
	}{
		{event.AbandonedChannel, []trace.Failure{race}, true},
		{event.AbandonedChannel, nil, false},
		{event.LockOrder, []trace.Failure{race}, false},
	} {
		wait := trace.Failure{Kind: event.FailureDeadlock, Waiting: []trace.Waiter{{Shape: c.shape}}}
		if got := IsDisturbed(&trace.Outcome{Failures: append(c.races, wait)}); got != c.want {
			t.Errorf("%v with %d races: %t", c.shape, len(c.races), got)
		}
	}
}
