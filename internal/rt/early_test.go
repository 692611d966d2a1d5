package rt

import (
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// beforeRuns has a test do what a driven program does before its first run.
func beforeRuns(t *testing.T) {
	Freeze()
	t.Cleanup(func() {
		releaseEarly()
		Thaw()
		early.native.Store(false)
		early.looks.Store(0)
	})
}

func TestEarlyGoroutinesBeginInEachRun(t *testing.T) {
	beforeRuns(t)
	var begun atomic.Int32
	Go(1, func() { begun.Add(1) })
	if heldBack() != true || begun.Load() != 0 {
		t.Fatal("the goroutine is not held back")
	}
	for n := range int32(3) {
		r := Run(Config{Strategy: sched.NewReplay(sched.Schedule{})}, StartEarly)
		if r.Goroutines != 2 || begun.Load() != n+1 {
			t.Errorf("run %d: %d goroutines, begun %d times", n, r.Goroutines, begun.Load())
		}
	}
}

// TestEarlyGoroutinesBeginWhenTheyAreWaitedFor: whatever waits for one before the first run, or
// is made there, goes on in real time, and so do the goroutines.
func TestEarlyGoroutinesBeginWhenTheyAreWaitedFor(t *testing.T) {
	for name, wait := range map[string]func(ch chan int, done *atomic.Bool){
		"receive": func(ch chan int, _ *atomic.Bool) { Recv(ch, 1) },
		"select":  func(ch chan int, _ *atomic.Bool) { Select(1, false, func() int { <-ch; return 0 }) },
		"looking": func(_ chan int, done *atomic.Bool) {
			for !done.Load() {
				looksEarly()
				Gosched()
			}
		},
		"a timer": func(ch chan int, _ *atomic.Bool) { Makes(); <-ch },
	} {
		t.Run(name, func(t *testing.T) {
			beforeRuns(t)
			ch, done := make(chan int, 1), new(atomic.Bool)
			Go(1, func() { ch <- 1; done.Store(true) })
			wait(ch, done)
			if heldBack() || holdBack(1, func() {}) {
				t.Error("goroutines are still held back")
			}
		})
	}
}

func TestAReceiveThatNeedNotWaitHoldsEarlyGoroutinesBack(t *testing.T) {
	beforeRuns(t)
	ch := make(chan int, 1)
	Go(1, func() {})
	To(ch).Send(1, 1)
	if Recv(ch, 1) != 1 || !heldBack() {
		t.Error("the goroutine has begun")
	}
}
