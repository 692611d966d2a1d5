package pairs

import (
	"sync"
	"testing"
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
