package rt_test

import (
	"fmt"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// stalling runs f under every schedule, with stalls up to a limit, and returns the
// outcomes and what was held.
func stalling(t *testing.T, limit int64, f func() string) (map[string]int, sched.Held) {
	t.Helper()
	found := map[string]int{}
	var held sched.Held
	for a := (&all{}); !a.over; {
		text := ""
		r := Run(Config{Races: true, Strategy: a, Stall: limit}, func() { text = f() })
		if r.Failed() || r.Stalled > limit {
			t.Fatalf("%s; it stalled for %d", outcomeOf(r), r.Stalled)
		}
		held.Merge(r.Held)
		found[text]++
	}
	return found, held
}

// sleepBesideWork sleeps while another goroutine works, and returns how far that has come.
func sleepBesideWork(nanoseconds int64) func() string {
	return func() string {
		x := heap(uint32(0))
		done := make(chan int, 1)
		Go(1, func() {
			*A(x, event.AtomicStore, 2) = 1
			To[int](done).Send(1, 3)
		})
		Sleep(nanoseconds)
		text := fmt.Sprint(*A(x, event.AtomicLoad, 4))
		Recv[int](done, 5)
		return text
	}
}

func TestASleepMayBeOverWhileOthersAreReady(t *testing.T) {
	found, held := stalling(t, 100, sleepBesideWork(100))
	if len(found) != 2 || found["0"] == 0 || found["1"] == 0 {
		t.Errorf("%v", found)
	}
	if held.Any() {
		t.Errorf("held %+v", held)
	}
}

func TestTheLimitOfStallsHoldsTimersBack(t *testing.T) {
	for _, limit := range []int64{0, 99} {
		found, held := stalling(t, limit, sleepBesideWork(100))
		if len(found) != 1 || found["1"] == 0 {
			t.Errorf("limit %d: %v", limit, found)
		}
		if want := (sched.Held{Stall: limit > 0, StallLimit: limit}); held != want {
			t.Errorf("limit %d: held %+v", limit, held)
		}
	}
}

// TestStallsOfARunAddUp: two sleeps of 60 need 120 for both to be too short.
func TestStallsOfARunAddUp(t *testing.T) {
	twice := func() string {
		return sleepBesideWork(60)() + sleepBesideWork(60)()
	}
	if found, _ := stalling(t, 119, twice); found["00"] > 0 || found["01"] == 0 || found["10"] == 0 || found["11"] == 0 {
		t.Errorf("%v", found)
	}
	if found, _ := stalling(t, 120, twice); found["00"] == 0 {
		t.Errorf("%v", found)
	}
}

func TestAFullTickerIsNotWaitedFor(t *testing.T) {
	found, _ := stalling(t, 1000, func() string {
		tick := make(chan int64, 1)
		ticker := heap(0)
		StartTimer(ticker, 10, 10, tick, elapsed)
		StopTimer(ticker)
		return fmt.Sprint(len(tick))
	})
	if len(found) != 1 || found["0"] == 0 { // Stop takes what was not received
		t.Errorf("%v", found)
	}
}
