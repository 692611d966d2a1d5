package pairs

import (
	"sync"
	"testing"
	"time"
)

func TestBugParallelSubtests(t *testing.T) {
	n := 0
	for range 2 {
		t.Run("sub", func(t *testing.T) {
			t.Parallel()
			n++
		})
	}
}

func TestFineSubtestsInTurn(t *testing.T) {
	n := 0
	for range 2 {
		t.Run("sub", func(t *testing.T) { n++ })
	}
	if n != 2 {
		t.Error(n)
	}
}

func TestFineParallelSubtests(t *testing.T) {
	var mu sync.Mutex
	n := 0
	t.Cleanup(func() {
		if n != 2 {
			t.Error(n)
		}
	})
	for range 2 {
		t.Run("sub", func(t *testing.T) {
			t.Parallel()
			mu.Lock()
			defer mu.Unlock()
			n++
		})
	}
}

func TestBugCleanupBeforeUse(t *testing.T) {
	c := make(chan int, 1)
	var wg sync.WaitGroup
	t.Cleanup(func() { close(c) })
	wg.Go(func() { c <- 1 })
}

func TestFineCleanup(t *testing.T) {
	c := make(chan int, 1)
	var wg sync.WaitGroup
	t.Cleanup(func() { close(c) })
	t.Cleanup(wg.Wait)
	wg.Go(func() { c <- 1 })
}

func TestBugFatalLeavesOthers(t *testing.T) {
	c := make(chan int)
	go func() { c <- 1 }()
	go func() { c <- 2 }()
	if v := <-c; v != 1 {
		t.Fatal("the other came first")
	}
	<-c
}

func TestFineFailNowInHelper(t *testing.T) {
	ok := make(chan bool)
	go func() { ok <- true }()
	if !<-ok {
		t.FailNow()
	}
	t.Log("logged")
}

// The context of a test is cancelled when its function has returned, whether it was asked for
// before or is only then. This goroutine does not wait for that.
func TestBugUsesWhatTheTestUses(t *testing.T) {
	n := 0
	ctx := t.Context()
	go func() {
		n++
		<-ctx.Done()
	}()
	n++
}

func TestFineUsesItWhenTheTestIsOver(t *testing.T) {
	n := 0
	go func() {
		if ctx := t.Context(); ctx.Err() != nil {
			<-ctx.Done()
			n++
		}
	}()
	n++
}

func TestFineContextIsCancelledBeforeCleanup(t *testing.T) {
	t.Cleanup(func() {
		if t.Context().Err() == nil {
			t.Error("not cancelled")
		}
	})
}

// One goroutine meets no other, whatever it uses.
func TestFineOneGoroutine(t *testing.T) {
	var mu sync.Mutex
	var once sync.Once
	queue := make(chan int, 2)
	for i := range 2 {
		mu.Lock()
		once.Do(func() { time.Sleep(time.Millisecond) })
		queue <- i
		mu.Unlock()
	}
	close(queue)
	sum := 0
	for v := range queue {
		sum += v
	}
	if sum != 1 {
		t.Error(sum)
	}
}

// Subtests that are not parallel come one after the other, each in a goroutine of its own, and
// the test does nothing but wait for them.
func TestFineSubtestsBelowSubtests(t *testing.T) {
	n := 0
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			t.Run("below", func(t *testing.T) { n++ })
			t.Cleanup(func() { n++ })
		})
	}
	if n != 4 {
		t.Error(n)
	}
}
