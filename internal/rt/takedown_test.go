package rt_test

import (
	"runtime"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

// leftovers are programs that leave a goroutine behind, each in another way.
var leftovers = map[string]func(){
	"receive": func() { ch := make(chan int); Go(1, func() { Recv(ch, 2) }) },
	"send":    func() { ch := make(chan int); Go(1, func() { To[int](ch).Send(1, 2) }) },
	"nil":     func() { Go(1, func() { Recv[int](nil, 2) }) },
	"block":   func() { Go(1, func() { Block(2) }) },
	"select": func() {
		a, b := make(chan int), make(chan string)
		Go(1, func() { Select(2, false, nil, CaseRecv(a), CaseSend(b).Of("x")) })
	},
	"mutex": func() {
		mu := heap(mutex{})
		mu.Lock()
		Go(1, func() { mu.Lock(); defer mu.Unlock() })
	},
	"mutex held": func() {
		mu := heap(mutex{})
		Go(1, func() { mu.Lock(); defer mu.Unlock(); Block(2) })
	},
	"writer": func() {
		rw := heap(rwMutex{})
		rw.RLock()
		Go(1, func() { rw.Lock(); defer rw.Unlock() })
	},
	"cond": func() {
		mu := heap(mutex{})
		c := heap(cond{L: mu})
		Go(1, func() { mu.Lock(); defer mu.Unlock(); c.Wait() })
	},
	"wait group": func() {
		wg := heap(waitGroup{})
		wg.Add(1)
		Go(1, func() { defer wg.Done(); wg.Wait() })
	},
	"defers that call hooks": func() {
		x, ch, mu, m := heap(0), make(chan int), heap(mutex{}), map[int]int{}
		Go(1, func() {
			defer func() { Recv(ch, 1); panic("not reached") }()
			defer func() { panic("in a defer") }()
			defer func() { recover() }()
			defer mu.Unlock()
			defer func() {
				defer Leave(Enter(7))
				*W(x, 2) = 1
				Map(m).Set(1, 1, 2)
				Go(3, func() { panic("not started") })
				Sleep(10)
				Select(2, true, nil, CaseRecv(ch))
				after(10)
			}()
			defer func() {
				for *A(x, event.AtomicLoad, 2) == 0 {
					Gosched()
				}
			}()
			Recv(ch, 4)
		})
	},
}

func TestLeftoversAreTakenDown(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, f := range leftovers {
		r := Run(Config{Races: true, Strategy: &first{}}, f)
		if len(r.Left) != 1 || r.Failed() != r.Left[0].Locked {
			t.Errorf("%s: left %+v, failures %+v", name, r.Left, r.Failures)
		}
	}
	settled(t, before)
}

// settled waits until all native goroutines but so many have ended.
func settled(t *testing.T, want int) {
	t.Helper()
	for range 10_000 {
		if runtime.NumGoroutine() <= want {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d native goroutines, want %d", runtime.NumGoroutine(), want)
}

func TestARunThatFailsTakesEverybodyDown(t *testing.T) {
	before := runtime.NumGoroutine()
	x, deferred := heap(0), 0
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		defer func() { deferred++ }()
		Go(1, func() { Sleep(1); *W(x, 2) = 1; t.Error("went on after the end") })
		Go(1, func() { panic("the end") })
		Recv(make(chan int), 3)
		t.Error("went on after the end")
	})
	if r.Failures[0].Message != "the end" || deferred != 1 {
		t.Errorf("%+v, %d defers", r.Failures, deferred)
	}
	settled(t, before)
}

func TestAGoroutineThatDoesNotEndIsLeftToItself(t *testing.T) {
	// The first run that can sleep starts the watchdog, which stays.
	Run(Config{Strategy: &first{}, Sleep: pause}, func() {})
	before := runtime.NumGoroutine()
	native := make(chan int)
	r := Run(Config{Races: true, Strategy: &first{}, Sleep: hurry}, func() {
		Go(1, func() {
			defer func() { <-native }() // not a hook
			Block(2)
		})
	})
	if len(r.Outside) != 1 || r.Outside[0].G != 2 || r.Outside[0].Site != 2 {
		t.Errorf("%+v", r.Outside)
	}
	close(native)
	settled(t, before)
	if r := Run(Config{Races: true, Strategy: &first{}}, func() { Gosched() }); len(r.Outside) != 0 {
		t.Errorf("%+v", r.Outside)
	}
}

// hurry is a Config.Sleep for which time passes at once.
func hurry(nanoseconds int64) (worked int64, busy bool) {
	runtime.Gosched()
	return nanoseconds, false
}

func TestNothingIsLeftOfARun(t *testing.T) {
	var a, b runtime.MemStats
	strategy := &walk{}
	mu := heap(mutex{})
	f := func() {
		ch, ch2 := make(chan int), make(chan int)
		Go(1, func() { mu.Lock(); defer mu.Unlock(); Recv(ch, 2) })
		Go(1, func() { mu.Lock(); defer mu.Unlock(); Select(2, false, nil, CaseRecv(ch), CaseRecv(ch2)) })
		StartTimer(heap(0), 100, 100, make(chan int, 1), func() int { return 1 })
		Sleep(10)
		for _, p := range make([]*int, 10) {
			p = heap(1)
			*W(p, 3) = 2
		}
	}
	run := func(n int) {
		for range n {
			strategy.seed++
			if r := Run(Config{Races: true, Strategy: strategy}, f); len(r.Failures) != 1 || r.Failures[0].Kind != event.FailurePartialDeadlock {
				t.Fatalf("%+v", r)
			}
		}
		runtime.GC()
	}
	run(500)
	before := runtime.NumGoroutine()
	runtime.ReadMemStats(&a)
	run(5000)
	runtime.ReadMemStats(&b)
	if grown := int64(b.HeapAlloc) - int64(a.HeapAlloc); grown > 100_000 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	settled(t, before)
}
