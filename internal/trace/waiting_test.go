package trace

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// waits is a goroutine that waits at a site for a lock that others hold.
func waits(g, site uint32, shape event.WaitShape, holders ...uint32) Waiter {
	w := Waiter{Point: Point{Op: event.Lock, G: g, Site: site}, Shape: shape}
	for _, h := range holders {
		w.HeldBy = append(w.HeldBy, Hold{Point: Point{G: h}})
	}
	return w
}

func failure(all ...Waiter) *Failure { return &Failure{Kind: event.FailureLeak, Waiting: all} }

func TestShapeIsTheOneThatKeepsTheOthers(t *testing.T) {
	library := waits(1, 1, event.LockOrder)
	library.Library = true
	for want, f := range map[event.WaitShape]*Failure{
		event.UnknownShape:     failure(),
		event.AbandonedChannel: failure(library, waits(2, 2, event.AbandonedChannel), waits(3, 2, event.GroupHeldUp)),
		event.GroupNeverDone:   failure(waits(2, 2, event.AbandonedChannel), waits(3, 2, event.GroupNeverDone)),
		event.DoubleLock:       failure(waits(2, 2, event.AbandonedChannel), waits(3, 2, event.DoubleLock)),
	} {
		if got := f.Shape(); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestCircle(t *testing.T) {
	for _, c := range []struct {
		name string
		f    *Failure
		want int
	}{
		{"no lock", failure(waits(2, 1, event.AbandonedChannel)), 0},
		{"twice", failure(waits(2, 1, event.DoubleLock, 2)), 0},
		{"two", failure(waits(2, 1, event.LockOrder, 3), waits(3, 1, event.LockOrder, 2)), 2},
		{"three and a victim", failure(waits(9, 1, event.LockOrder, 2), waits(2, 1, event.LockOrder, 3), waits(3, 1, event.LockOrder, 4), waits(4, 1, event.LockOrder, 2)), 3},
		{"a holder that has ended", failure(waits(2, 1, event.MissingUnlock, 7)), 0},
		{"a holder that waits for something else", failure(waits(2, 1, event.LockHeldOverWait, 3), waits(3, 1, event.LockHeldOverWait)), 0},
	} {
		circle := c.f.Circle()
		if len(circle) != c.want {
			t.Errorf("%s: a circle of %d, want %d", c.name, len(circle), c.want)
		}
		for i, w := range circle {
			if next := circle[(i+1)%len(circle)]; w.HeldBy[0].G != next.G {
				t.Errorf("%s: %d waits for %d, and %d comes next", c.name, w.G, w.HeldBy[0].G, next.G)
			}
		}
	}
}

func TestALeakIsTheSameAsAPartOfIt(t *testing.T) {
	one, other := waits(2, 1, event.NilChannel), waits(3, 2, event.NilChannel)
	both := failure(one, other)
	if !both.Same(failure(other)) || !both.Same(both) {
		t.Error("a part is another leak")
	}
	if failure(other).Same(both) || failure(one).Same(failure(other)) {
		t.Error("what is not left is the same leak")
	}
	if n := (&Waiter{More: []uint32{4, 5}}).Goroutines(); n != 3 {
		t.Errorf("%d goroutines", n)
	}
}
