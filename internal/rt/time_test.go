package rt_test

import (
	"fmt"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

func elapsed() int64 {
	_, mono, _ := Now()
	return mono
}

// ms is a millisecond. Each look at the clock takes some time, but far less.
const ms = 1_000_000

func elapsedMs() int64 { return elapsed() / ms }

func TestSleepersWakeInOrder(t *testing.T) {
	expect(t, every(t, func() func() string {
		order := heap("")
		mu := heap(mutex{})
		f := func(d int64) func() {
			return func() {
				Sleep(d * ms)
				mu.Lock()
				Add(order, fmt.Sprintf("%d@%d ", d, elapsedMs()), 1, 2)
				mu.Unlock()
			}
		}
		together(f(30), f(10))
		return func() string { return *order }
	}), "10@10 30@30 ")
}

func TestATickerTicksUntilItIsStopped(t *testing.T) {
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		tick, ticker := make(chan int64, 1), heap(0)
		StartTimer(ticker, 10*ms, 10*ms, tick, elapsedMs)
		for i := range int64(3) {
			if at := Recv[int64](tick, 1); at != 10*(i+1) {
				t.Errorf("tick %d at %d", i, at)
			}
		}
		Sleep(35 * ms) // one tick waits in the channel, others are lost
		if at := Recv[int64](tick, 1); at != 40 {
			t.Errorf("tick at %d", at)
		}
		if active, ok := StopTimer(ticker); !active || !ok {
			t.Error("was not active")
		}
		Recv[int64](tick, 2)
	})
	if len(r.Failures) != 1 || r.Failures[0].Kind != event.FailureDeadlock {
		t.Errorf("%+v", r)
	}
}

func TestAFullTickerIsNoHope(t *testing.T) {
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		StartTimer(heap(0), 10, 10, make(chan int64, 1), elapsed)
		Recv(make(chan int), 1)
	})
	if len(r.Failures) != 1 || r.Failures[0].Kind != event.FailureDeadlock {
		t.Errorf("%+v", r)
	}
}

func TestTickersOfLeftoversEnd(t *testing.T) {
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		tick := make(chan int64, 1)
		StartTimer(heap(0), 10, 10, tick, elapsed)
		Go(1, func() {
			for {
				Recv[int64](tick, 2)
			}
		})
	})
	if r.Failed() || r.CutOff || len(r.Left) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestStopTakesWhatWasNotReceived(t *testing.T) {
	Run(Config{Races: true, Strategy: &first{}}, func() {
		ch, timer := make(chan int64, 1), heap(0)
		StartTimer(timer, 10*ms, 0, ch, elapsedMs)
		Sleep(20 * ms)
		if active, _ := StopTimer(timer); !active || len(ch) != 0 {
			t.Errorf("active %v, %d in the channel", active, len(ch))
		}
		if active, _ := ResetTimer(timer, 5*ms, 0); active {
			t.Error("active after Stop")
		}
		if at := Recv[int64](ch, 1); at != 25 {
			t.Errorf("fired at %d", at)
		}
	})
}

func TestTimeGoesOnForThoseWhoSpin(t *testing.T) {
	for name, wait := range map[string]func(done func() bool){
		"yielding": func(done func() bool) {
			for !done() {
				Gosched()
			}
		},
		"trying": func(done func() bool) {
			for !done() {
			}
		},
		"looking at the clock": func(done func() bool) {
			for start := elapsed(); elapsed()-start < 5_000_000_000; {
				if done() {
					return
				}
			}
			t.Error("timed out")
		},
	} {
		x := heap(uint32(0))
		r := Run(Config{Races: true, Strategy: &first{}}, func() {
			Go(1, func() { Sleep(1_000_000_000); *A(x, event.AtomicStore, 1) = 1 })
			wait(func() bool { return *A(x, event.AtomicLoad, 2) == 1 })
		})
		if r.Failed() || r.CutOff || *x != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestWorkInProgressIsNotOvertakenByTime has work done that takes many steps, and little
// time, while somebody else counts the seconds.
func TestWorkInProgressIsNotOvertakenByTime(t *testing.T) {
	x, late := heap(0), heap(false)
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		done := heap(uint32(0))
		Go(1, func() {
			for range 10 {
				if Sleep(100_000_000); *A(done, event.AtomicLoad, 2) == 1 {
					return
				}
			}
			*late = true
		})
		for range 400_000 {
			*W(x, 3)++
		}
		*A(done, event.AtomicStore, 4) = 1
	})
	if r.Failed() || r.CutOff || *late {
		t.Errorf("late %v: %s", *late, outcomeOf(r))
	}
}

func TestWhoWorksByTheClockHasTime(t *testing.T) {
	x, took := heap(0), int64(0)
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		start := elapsed()
		for range 100_000 {
			elapsed()
			*W(x, 1)++
		}
		took = elapsed() - start
	})
	if r.Failed() || took > 10_000_000_000 {
		t.Errorf("%d ns: %s", took, outcomeOf(r))
	}
}

func TestAnEmptyLoopByTheClockEnds(t *testing.T) {
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		for start := elapsed(); elapsed()-start < 1_000_000_000; {
		}
	})
	if r.Failed() {
		t.Errorf("%+v", r)
	}
}

// TestToAskForTheTimeOftenTakesLittle: that a thousand calls which tell the time take no
// millisecond is what a test of theirs may ask for.
func TestToAskForTheTimeOftenTakesLittle(t *testing.T) {
	Run(Config{Races: true, Strategy: &first{}}, func() {
		began := elapsed()
		for range 1200 {
			elapsed()
		}
		if took := elapsed() - began; took >= 1_000_000 {
			t.Errorf("1200 looks at the clock took %d ns", took)
		}
	})
}

func TestTimersDueAtOnceDoNotWait(t *testing.T) {
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		ch := make(chan int64, 1)
		StartTimer(heap(0), 0, 0, ch, elapsed)
		if len(ch) != 1 {
			t.Error("not fired")
		}
	})
	if r.Failed() {
		t.Errorf("%+v", r)
	}
}
