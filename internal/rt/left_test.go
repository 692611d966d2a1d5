package rt_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

// left is a program, and what is to be said of the goroutines that it leaves: the kinds of
// its failures, and of each goroutine why it waits, or that nothing is known.
type left struct {
	name    string
	program func()
	want    string
}

// own is the first site of the programs below that is not in the standard library.
const own = 100

var lefts = []left{
	{"nobody", func() { ch := make(chan int, 1); Go(own, func() { To[int](ch).Send(1, own) }) }, ""},
	{"a channel", func() { ch := make(chan int); Go(own, func() { Recv(ch, own) }) }, "leak: channel with nobody left"},
	{"a nil channel", func() { var ch chan int; Go(own, func() { To[int](ch).Send(1, own) }) }, "leak: nil channel"},
	{"select {}", func() { Go(own, func() { Block(own) }) }, "leak: empty select"},
	{"a WaitGroup", func() {
		wg := new(atomic.Uint64)
		WaitGroupAdd(wg, 2)
		Go(own, func() { WaitGroupWait(wg) })
	}, "leak: wait group never done"},
	{"a Cond that was signalled early", func() {
		c := heap(0)
		Signal(c, new(uint32), new(uint32))
		Go(own, func() { CondAdd(c); CondWait(c) })
	}, "leak: missed signal"},
	{"a Cond that is not signalled", func() { c := heap(0); Go(own, func() { CondAdd(c); CondWait(c) }) }, "leak: no signal"},
	{"a lock twice", func() { mu := heap(mutex{}); Go(own, func() { mu.Lock(); mu.Lock() }) }, "partial deadlock: double lock"},
	{"a lock of one that has ended", func() {
		mu := heap(mutex{})
		mu.Lock()
		Go(own, func() { mu.Lock() })
	}, "partial deadlock: missing unlock"},
	{"two locks in two orders", func() {
		a, b := heap(mutex{}), heap(mutex{})
		in, out := make(chan int), make(chan int)
		Go(own, func() { a.Lock(); To[int](in).Send(1, own); Recv(out, own); b.Lock() })
		Go(own, func() { b.Lock(); Recv(in, own); To[int](out).Send(1, own); a.Lock() })
	}, "partial deadlock: lock order, lock order"},
	{"a lock held over a channel", func() {
		mu, ch := heap(mutex{}), make(chan int)
		Go(own, func() { mu.Lock(); Recv(ch, own) })
		Go(own, func() { mu.Lock() })
	}, "partial deadlock: lock held over a wait, lock held over a wait"},
	{"a leak beside a deadlock", func() {
		mu, ch := heap(mutex{}), make(chan int)
		Go(own, func() { mu.Lock(); mu.Lock() })
		Go(own, func() { Recv(ch, own) })
	}, "partial deadlock, leak: double lock, channel with nobody left"},

	// What is not for ever, or not known to be.
	{"a ticker", func() {
		tick := make(chan int64, 1)
		StartTimer(heap(0), 10, 10, tick, elapsed)
		Go(own, func() {
			for {
				Recv[int64](tick, own)
			}
		})
	}, ": waits for a timer"},
	{"beside a ticker", func() {
		tick, ch := make(chan int64, 1), make(chan int)
		StartTimer(heap(0), 10, 10, tick, elapsed)
		Go(own, func() {
			for {
				Recv[int64](tick, own)
			}
		})
		Go(own, func() { Recv(ch, own) })
	}, ": waits for a timer, not known; undecided"},
	{"beside one that spins", func() {
		x, ch, mu := heap(0), make(chan int), heap(mutex{})
		Go(own, func() {
			for *A(x, event.AtomicLoad, own) == 0 {
				Gosched()
			}
		})
		Go(own, func() { Recv(ch, own) })
		Go(own, func() { mu.Lock(); mu.Lock() })
	}, "partial deadlock: not known, double lock; undecided"},
	{"a lock that was handed over before, beside one that spins", func() {
		x, ch, mu := heap(0), make(chan int, 1), heap(mutex{})
		mu.Lock()
		Go(own, func() { mu.Unlock(); mu.Lock(); To[int](ch).Send(1, own) })
		Recv(ch, own)
		Go(own, func() { mu.Lock() })
		Go(own, func() {
			for *A(x, event.AtomicLoad, own) == 0 {
				Gosched()
			}
		})
	}, ": not known; undecided"},
	{"a goroutine of the standard library", func() { ch := make(chan int); Go(1, func() { Recv(ch, 2) }) }, ": library"},
	{"the standard library, in a goroutine of the program", func() { ch := make(chan int); Go(own, func() { Recv(ch, 2) }) }, "leak: channel with nobody left"},
	{"one that sleeps, and then wakes another", func() {
		ch := make(chan int)
		Go(own, func() { Sleep(1 << 40); To[int](ch).Send(1, own) })
		Go(own, func() { Recv(ch, own) })
	}, ""},
}

func TestWhatIsLeftWaiting(t *testing.T) {
	for _, c := range lefts {
		r := Run(Config{Strategy: &first{}, Leaks: true, OwnSites: own}, c.program)
		if got := leftText(r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if r.CutOff {
			t.Errorf("%s: cut off", c.name)
		}
		// Without Leaks the same is known, and only locks count.
		r = Run(Config{Strategy: &first{}, OwnSites: own}, c.program)
		for _, f := range r.Failures {
			if f.Kind != event.FailurePartialDeadlock {
				t.Errorf("%s: %v without Leaks", c.name, f.Kind)
			}
		}
		if _, want, _ := strings.Cut(c.want, ":"); !strings.HasSuffix(leftText(r), strings.TrimSpace(want)) {
			t.Errorf("%s: %q without Leaks, want %q", c.name, leftText(r), c.want)
		}
	}
}

// leftText is what is known of the goroutines that a run left.
func leftText(r *Result) string {
	if len(r.Left) == 0 {
		return ""
	}
	var kinds, waits []string
	for _, f := range r.Failures {
		kinds = append(kinds, f.Kind.String())
	}
	for i := range r.Left {
		switch b := &r.Left[i]; {
		case b.Timer:
			waits = append(waits, "waits for a timer")
		case b.Library:
			waits = append(waits, "library")
		case !b.Stuck:
			waits = append(waits, "not known")
		default:
			waits = append(waits, b.Shape.String())
		}
	}
	text := strings.Join(kinds, ", ") + ": " + strings.Join(waits, ", ")
	if r.Undecided {
		text += "; undecided"
	}
	return text
}

// TestWhoHoldsTheLock: each goroutine of a deadlock has what it holds, and who has what it
// waits for, with the place where that was taken.
func TestWhoHoldsTheLock(t *testing.T) {
	a, b := heap(rwMutex{}), heap(mutex{})
	r := Run(Config{Strategy: &first{}, Races: true}, func() {
		in := make(chan int)
		Go(1, func() { a.RLock(); Recv(in, 2); b.Lock() })
		b.Lock()
		To[int](in).Send(1, 2)
		a.Lock()
	})
	if len(r.Failures) != 1 || r.Failures[0].Kind != event.FailureDeadlock {
		t.Fatalf("%+v", r.Failures)
	}
	var got []string
	for _, w := range r.Failures[0].Blocked {
		for _, h := range w.HeldBy {
			if h.Kind == event.Lock && h.Site == 0 {
				t.Error("where the mutex was taken is not known")
			}
			got = append(got, fmt.Sprintf("%d waits for %d (%v)", w.G, h.G, h.Kind))
		}
		for _, h := range w.Holds {
			got = append(got, fmt.Sprintf("%d has a lock (%v)", w.G, h.Kind))
		}
	}
	want := "1 waits for 2 (read lock), 1 has a lock (lock), 2 waits for 1 (lock), 2 has a lock (read lock)"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// TestALockOfSeveralReadersHasThemAll: a reader that releases is not told any more.
func TestALockOfSeveralReadersHasThemAll(t *testing.T) {
	rw := heap(rwMutex{})
	r := Run(Config{Strategy: &first{}}, func() {
		ready := make(chan int)
		for i := range 3 {
			Go(1, func() {
				rw.RLock()
				if i == 1 {
					rw.RUnlock()
				}
				To[int](ready).Send(i, 2)
			})
		}
		for range 3 {
			Recv(ready, 2)
		}
		rw.Lock()
	})
	var holders []uint32
	for _, h := range r.Left[0].HeldBy {
		holders = append(holders, h.G)
	}
	if fmt.Sprint(holders) != "[2 4]" || r.Left[0].Shape != event.MissingUnlock {
		t.Errorf("held by %v, %v", holders, r.Left[0].Shape)
	}
}
