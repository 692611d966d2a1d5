package explore

import (
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// TestADeadlockIsWhereItsReasonIs: a finding is shown where its first access is, and that is not a test that
// waits in package testing, or a goroutine that waits for those in the circle.
func TestADeadlockIsWhereItsReasonIs(t *testing.T) {
	waits := func(g uint32, shape event.WaitShape, library bool) trace.Waiter {
		return trace.Waiter{Point: trace.Point{G: g}, Shape: shape, Library: library}
	}
	f := &trace.Failure{Kind: event.FailureDeadlock, Waiting: []trace.Waiter{
		waits(1, event.AbandonedChannel, true), waits(2, event.GroupHeldUp, false), waits(3, event.LockOrder, false), waits(4, event.LockOrder, false),
	}}
	var order []uint32
	for _, w := range inFront(f).Waiting {
		order = append(order, w.G)
	}
	if want := []uint32{3, 4, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("the accesses are those of goroutines %v, want %v", order, want)
	}
	if f.Waiting[0].G != 1 {
		t.Error("the failure itself was changed")
	}
}
