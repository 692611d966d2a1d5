package rt_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// starved says that the machine has no time for this process, and looks counts how often the
// process was asked for what it has done.
var (
	starved atomic.Bool
	looks   atomic.Int32
)

// pause is Config.Sleep.
func pause(nanoseconds int64) (worked int64, busy bool) {
	if starved.Load() {
		<-time.After(100 * time.Microsecond)
		looks.Add(1)
		return 0, true
	}
	<-time.After(time.Duration(nanoseconds))
	return nanoseconds, false
}

func TestABusyMachineTakesNoGoroutineFromControl(t *testing.T) {
	starved.Store(true)
	defer starved.Store(false)
	r := Run(Config{Races: true, Strategy: &first{}, Sleep: pause}, func() {
		Go(1, func() { Gosched() })
		for begin := looks.Load(); looks.Load() < begin+200; {
			runtime.Gosched() // no hook
		}
	})
	if r.Failed() || len(r.Outside) != 0 {
		t.Errorf("%+v, outside: %+v", r, r.Outside)
	}
}

func TestAGoroutineStuckOutsideLetsOthersGo(t *testing.T) {
	stuck, x := make(chan int), heap(0)
	r := Run(Config{Races: true, Strategy: &first{}, Sleep: pause}, func() {
		done := make(chan int)
		Go(1, func() {
			*W(x, 2) = 1
			<-stuck // not a hook
			*W(x, 3) = 2
			To[int](done).Send(1, 4)
		})
		Sleep(1)
		stuck <- 1 // not a hook either
		Recv(done, 5)
	})
	if r.Failed() || *x != 2 {
		t.Errorf("%+v, x = %d", r, *x)
	}
	if len(r.Outside) == 0 || r.Outside[0].G != 2 || r.Outside[0].Site != 2 {
		t.Errorf("outside: %+v", r.Outside)
	}
}

func TestAGoroutineStuckWhenTheRunEndsEndsAtItsNextHook(t *testing.T) {
	before := runtime.NumGoroutine()
	stuck, x := make(chan int), heap(0)
	r := Run(Config{Races: true, Strategy: &first{}, Sleep: pause}, func() {
		Go(1, func() {
			<-stuck
			*W(x, 3) = 2
			t.Error("went on")
		})
		Gosched()
		panic("the end")
	})
	if len(r.Failures) != 1 {
		t.Errorf("%+v", r)
	}
	Run(Config{Races: true, Strategy: &first{}}, func() {
		Gosched()
		stuck <- 1
		Gosched()
	})
	settled(t, before+1) // the watchdog stays
}

// TestAnIdleGoroutineLeavesWithItsRun: a goroutine that ends while another is stuck outside waits
// for that one, here until after its run is over. It must not take part in the next run.
func TestAnIdleGoroutineLeavesWithItsRun(t *testing.T) {
	// What idle asks for is short; what the watchdog asks for, after which a goroutine is
	// taken to be stuck, comes several times before a run gets to idle.
	long := func(nanoseconds int64) (int64, bool) {
		if nanoseconds < int64(time.Millisecond) {
			nanoseconds = int64(55 * time.Millisecond)
		}
		return pause(nanoseconds)
	}
	for range 8 {
		stuck := make(chan int)
		r := Run(Config{Races: true, Strategy: &first{}, Sleep: long}, func() {
			done := make(chan int)
			Go(1, func() {
				<-stuck // not a hook
				To[int](done).Send(1, 2)
			})
			Go(3, func() {
				go func() {
					pause(int64(20 * time.Millisecond))
					stuck <- 1
				}()
			})
			Recv(done, 4)
		})
		if r.Failed() || len(r.Left) > 0 {
			t.Fatalf("%+v", r)
		}
	}
}

func TestOthersTakePart(t *testing.T) {
	for name, f := range map[string]func(){
		"sender": func() {
			ch := make(chan int)
			go func() { ch <- 7 }()
			if Recv(ch, 1) != 7 {
				t.Error("received something else")
			}
		},
		"receiver": func() {
			ch, got := make(chan int), new(atomic.Int32)
			go func() { got.Store(int32(<-ch)) }()
			To[int](ch).Send(7, 1)
		},
		"select": func() {
			ch := make(chan int)
			go func() { ch <- 7 }()
			c := CaseRecv(ch)
			if Select(1, false, nil, c, CaseRecv(make(chan string))) != 0 || c.Value() != 7 {
				t.Error("received something else")
			}
		},
		"closer": func() {
			ch := make(chan int)
			go func() { close(ch) }()
			Recv(ch, 1)
		},
		"lock": func() {
			mu, held := heap(mutex{}), make(chan int)
			go func() {
				mu.Lock()
				close(held)
				runtime.Gosched()
				mu.Unlock()
			}()
			<-held
			lockUnlock(mu)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run(Config{Races: true, Strategy: &first{}, Sleep: pause}, f)
			if len(r.Failures) > 0 || len(r.Left) > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestTimeDoesNotWaitForThoseWhoWereThereBefore has a goroutine outside that answers, and
// one inside that counts the hours, even when the run is over.
func TestTimeDoesNotWaitForThoseWhoWereThereBefore(t *testing.T) {
	const hour = 3600_000_000_000
	requests, replies := make(chan int), make(chan int)
	Go(1, func() {
		for v := range requests {
			replies <- v + 1
		}
	})
	defer close(requests)
	var naps atomic.Int32
	nap := func(nanoseconds int64) (int64, bool) {
		if nanoseconds < 1_000_000 { // the watchdog sleeps longer
			naps.Add(1)
		}
		return pause(nanoseconds)
	}
	r := Run(Config{Races: true, Strategy: &first{}, Sleep: nap}, func() {
		Go(2, func() {
			for {
				Sleep(hour)
			}
		})
		Gosched()
		start := elapsed()
		for i := range 10 {
			To[int](requests).Send(i, 3)
			if Recv(replies, 4) != i+1 {
				t.Error("received something else")
			}
		}
		if elapsed()-start >= hour {
			t.Error("time went on before there was an answer")
		}
		for range 10 {
			Go(5, func() { Recv(make(chan int), 6) })
		}
		Sleep(10 * hour)
	})
	if r.Failed() || naps.Load() > 0 || r.Steps > 10_000 {
		t.Errorf("slept %d times, %d steps: %s", naps.Load(), r.Steps, outcomeOf(r))
	}
}

func TestHooksArePlainOperationsOutsideARun(t *testing.T) {
	x, ch, m := heap(1), make(chan int, 1), map[int]int{}
	defer Leave(Enter(1))
	Add(x, 2, 1, 2)
	To[int](ch).Send(R(x, 1), 2)
	c := CaseRecv(ch)
	if i := Select(1, true, func() int {
		select {
		case c.V, c.OK = <-c.Ch:
			return 0
		default:
			return -1
		}
	}, c); i != 0 || c.Value() != 3 {
		t.Errorf("case %d, value %d", i, c.Value())
	}
	Map(m).Set(1, 2, 3)
	if MR(m, 1)[1] != 2 || Copy(make([]int, 2), []int{1}, 1) != 1 || LenChan(ch, 1) != 0 {
		t.Error("something is wrong")
	}
	Go(1, func() { Close[int](ch, 2) })
	if _, ok := Recv2(ch, 1); ok {
		t.Error("received from a closed channel")
	}
	*A(x, event.AtomicUpdate, 1) = 1
	if Controlled() {
		t.Error("under control")
	}
}

// pondering takes so long for each choice that the watchdog never sees a goroutine outside hooks.
type pondering struct{ first }

func (s *pondering) Pick(p *sched.Turn) int {
	for !Overdue() {
		runtime.Gosched()
	}
	return s.first.Pick(p)
}

// TestARunThatIsAlwaysInHooksIsCutOff: the limit of real time holds although the token is never
// to be had for the watchdog.
func TestARunThatIsAlwaysInHooksIsCutOff(t *testing.T) {
	var now atomic.Int64
	x := heap(0)
	r := Run(Config{Strategy: &pondering{}, Sleep: pause, Within: 1, Now: func() int64 { return now.Add(2) }}, func() {
		Go(1, func() { W(x, 2) })
		for {
			R(x, 3)
		}
	})
	if !r.CutOff || !r.TookTooLong || len(r.Late) != 1 || r.Steps > 10 {
		t.Errorf("cut off: %t, after too long: %t, in %d steps: %+v", r.CutOff, r.TookTooLong, r.Steps, r.Late)
	}
	// Nothing of it is left for the next run, which has another limit.
	r = Run(Config{Strategy: &first{}, Sleep: pause, Within: 1 << 60, Now: func() int64 { return now.Add(2) }}, func() { Gosched() })
	if r.CutOff {
		t.Error("the run after it is cut off, too")
	}
}
