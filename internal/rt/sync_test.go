package rt_test

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

func TestReadersComeBeforeTheNextWriter(t *testing.T) {
	// Whoever waits for reading when a writer unlocks is let in before another writer
	// that waits.
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		rw, order := heap(rwMutex{}), heap("")
		rw.Lock()
		Go(1, func() { rw.Lock(); *order += "w"; rw.Unlock() })
		Go(1, func() { rw.RLock(); *order += "r"; rw.RUnlock() })
		Sleep(1)
		rw.Unlock()
		Sleep(1)
		if *order != "rw" {
			t.Errorf("order %q", *order)
		}
	})
	if r.Failed() {
		t.Errorf("%+v", r)
	}
}

func TestTryRLockFailsWhileAWriterWaits(t *testing.T) {
	Run(Config{Races: true, Strategy: &first{}}, func() {
		rw := heap(rwMutex{})
		rw.RLock()
		Go(1, func() { lockUnlock(rw) })
		Sleep(1)
		if rw.TryRLock() {
			t.Error("locked")
		}
		rw.RUnlock()
		Sleep(1)
		if !rw.TryRLock() {
			t.Error("not locked")
		}
		if rw.TryLock() {
			t.Error("locked for writing, too")
		}
		rw.RUnlock()
	})
}

func TestAWaitGroupThatIsUsedAgainTooEarly(t *testing.T) {
	reused := false
	for found := range every(t, func() func() string {
		wg := heap(waitGroup{})
		wg.Add(1)
		Go(1, func() { wg.Done(); wg.Add(1); wg.Done() })
		wg.Wait()
		return none()
	}) {
		reused = reused || strings.HasPrefix(found, "panic: sync: WaitGroup is reused before previous Wait has returned")
		// The first Add and a Wait must not be concurrent.
		if !strings.Contains(found, "race ") {
			t.Errorf("no race: %s", found)
		}
	}
	if !reused {
		t.Error("not noticed in any schedule")
	}
}

func TestAMutexOnTheStackIsNobodyElses(t *testing.T) {
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		for range 3 {
			useStack(10)
		}
	})
	if r.Failed() {
		t.Errorf("%+v", r)
	}
	r = Run(Config{Races: true, Strategy: &first{}}, func() {
		var mu mutex
		mu.Lock()
		mu.Lock()
	})
	if len(r.Failures) != 1 || r.Failures[0].Kind != event.FailureDeadlock {
		t.Errorf("%+v", r)
	}
}

//go:noinline
func useStack(n int) {
	var mu mutex
	mu.Lock() // and never unlocked
	if n > 0 {
		useStack(n - 1)
	}
}

func TestOverwritingAMutexIsARace(t *testing.T) {
	for _, lock := range []func(*mutex){
		func(mu *mutex) { mu.Lock() },
		func(mu *mutex) { mu.TryLock() },
		func(mu *mutex) { mu.state = 1; mu.Unlock() },
	} {
		mu := heap(mutex{})
		r := Run(Config{Races: true, Strategy: &first{}}, func() {
			Go(1, func() { *W(mu, 1) = mutex{} })
			lock(mu)
		})
		if len(r.Races) != 1 || r.Races[0].Second.Site != 1 || r.Races[0].First.Site == 0 {
			t.Errorf("%+v", r.Races)
		}
	}
}

func TestFatalErrors(t *testing.T) {
	for want, f := range map[string]func(){
		"sync: unlock of unlocked mutex":    func() { heap(mutex{}).Unlock() },
		"sync: Unlock of unlocked RWMutex":  func() { heap(rwMutex{}).Unlock() },
		"sync: RUnlock of unlocked RWMutex": func() { heap(rwMutex{}).RUnlock() },
	} {
		r := Run(Config{Races: true, Strategy: &first{}}, f)
		if len(r.Failures) != 1 || r.Failures[0].Kind != event.FailureFatal || r.Failures[0].Message != want {
			t.Errorf("%+v, want %s", r.Failures, want)
		}
	}
}

func TestManyGoroutinesShareSlots(t *testing.T) {
	x := heap(0)
	r := Run(Config{Races: true, Strategy: &walk{}}, func() {
		for range 100 {
			var all []func()
			for range 20 {
				y := heap(0)
				all = append(all, func() { *W(y, 1) = R(x, 2) })
			}
			together(all...)
			*W(x, 3) = 1
		}
		Go(1, func() { *W(x, 4) = 1 })
		*W(x, 5) = 1
	})
	if r.Goroutines != 2002 || outcomeOf(r) != "race 4 5" {
		t.Errorf("%d goroutines: %s", r.Goroutines, outcomeOf(r))
	}
}

// pull is iter.Pull as it is patched, reduced to what matters here: the function runs on
// another g while the caller waits.
func pull(seq iter.Seq[int]) (next func() (int, bool), stop func()) {
	var c Coroutine
	start, back := make(chan bool), make(chan bool)
	var v int
	var ok bool
	go func() {
		<-start
		c.Arrive()
		defer func() { c.Leave(); back <- true }()
		seq(func(n int) bool {
			v, ok = n, true
			c.Leave()
			back <- true
			more := <-start
			c.Arrive()
			return more
		})
		ok = false
	}()
	return func() (int, bool) {
			c.Leave()
			start <- true
			<-back
			c.Arrive()
			return v, ok
		}, func() {
			c.Leave()
			start <- false
			<-back
			c.Arrive()
		}
}

func TestCoroutinesGoOnForTheirCaller(t *testing.T) {
	expect(t, some(t, 50, func() func() string {
		x, mu := heap(0), heap(mutex{})
		f := func() {
			next, stop := pull(func(yield func(int) bool) {
				for i := 0; ; i++ {
					mu.Lock()
					Add(x, i, 1, 2)
					mu.Unlock()
					if !yield(i) {
						return
					}
				}
			})
			next()
			next()
			stop()
		}
		together(f, f)
		return func() string { return fmt.Sprint(*x) }
	}), "2")
}

func TestAStrategyThatNeverSwitchesIsMadeTo(t *testing.T) {
	x := heap(uint32(0))
	r := Run(Config{Races: true, Strategy: &stubborn{}}, func() {
		Go(1, func() { *A(x, event.AtomicStore, 1) = 1 })
		for *A(x, event.AtomicLoad, 2) == 0 {
		}
	})
	if r.Failed() || r.CutOff {
		t.Errorf("%+v", r)
	}
}

// TestWhoLooksAgainAndAgainLetsOthersGo passes a number to and fro between two that wait
// by looking at it, under the schedule that lets who runs run on.
func TestWhoLooksAgainAndAgainLetsOthersGo(t *testing.T) {
	const rounds = 100
	x := heap(uint32(0))
	player := func(me uint32) func() {
		return func() {
			for i := range uint32(rounds) {
				for *A(x, event.AtomicLoad, 1) != 2*i+me {
				}
				*A(x, event.AtomicUpdate, 2)++
			}
		}
	}
	r := Run(Config{Races: true, Strategy: &first{}}, func() { together(player(0), player(1)) })
	if r.Failed() || *x != 2*rounds || r.Steps > 100*rounds {
		t.Errorf("%d after %d steps: %s", *x, r.Steps, outcomeOf(r))
	}
}

// ordered is a random walk that holds points against what is promised of them.
type ordered struct {
	walk
	t    *testing.T
	most int
}

func (o *ordered) Pick(p *sched.Turn) int {
	for i, g := range p.Ready {
		if p.Ops[i].G != g || i > 0 && p.Ready[i-1] >= g {
			o.t.Fatalf("ready are %v, which will do %v", p.Ready, p.Ops)
		}
	}
	o.most = max(o.most, len(p.Ready))
	return o.walk.Pick(p)
}

func TestACrowdThatWaitsStaysInOrder(t *testing.T) {
	const goroutines = 50
	for seed := range uint64(20) {
		x, y, mu, rw, wg := heap(0), heap(0), heap(mutex{}), heap(rwMutex{}), heap(waitGroup{})
		strategy := &ordered{walk: walk{seed: seed}, t: t}
		r := Run(Config{Races: true, Strategy: strategy}, func() {
			wg.Add(goroutines)
			for i := range goroutines {
				Go(1, func() {
					mu.Lock()
					*W(x, 2) = R(x, 3) + 1
					mu.Unlock()
					if i%5 == 0 {
						rw.Lock()
						*W(y, 4) = R(y, 5) + 1
						rw.Unlock()
					} else {
						rw.RLock()
						_, _ = R(y, 6), R(y, 7)
						rw.RUnlock()
					}
					wg.Done()
					wg.Wait()
				})
			}
			wg.Wait()
		})
		if outcomeOf(r) != "" || *x != goroutines || *y != goroutines/5 || strategy.most < goroutines/2 {
			t.Errorf("seed %d: %d and %d, at most %d were ready: %s", seed, *x, *y, strategy.most, outcomeOf(r))
		}
	}
}

func TestGOMAXPROCSIsRememberedAndNotObeyed(t *testing.T) {
	native := runtime.GOMAXPROCS(0)
	for range 2 {
		r := Run(Config{Races: true, Strategy: &first{}}, func() {
			before, set, after := GOMAXPROCS(native+3), GOMAXPROCS(0), runtime.GOMAXPROCS(0)
			if before != native || set != native+3 || after != native {
				panic(fmt.Sprint(before, set, after))
			}
		})
		if r.Failed() {
			t.Error(outcomeOf(r))
		}
	}
}

// TestACrowdThatIsReady: all are ready at once, and each learns by a lock of those
// before it.
func TestACrowdThatIsReady(t *testing.T) {
	const n = 5_000
	for _, strategy := range []sched.Strategy{sched.NewReplay(sched.Schedule{}), sched.NewPCT(1, 0)} {
		mu, x := heap(mutex{}), heap(0)
		r := Run(Config{Races: true, Strategy: strategy}, func() {
			done := make(chan int, n)
			for range n {
				Go(1, func() { mu.Lock(); *W(x, 2) = R(x, 1) + 1; mu.Unlock(); To[int](done).Send(1, 3) })
			}
			for range n {
				Recv(done, 4)
			}
		})
		if r.Failed() || *x != n || r.Goroutines != n+1 {
			t.Errorf("%T: %s, %d goroutines", strategy, outcomeOf(r), r.Goroutines)
		}
	}
}
