package early

import (
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	go flush()
	m.Run()
}

func TestFineJob(t *testing.T) {
	done := make(chan int)
	n := 0
	jobs <- func() { n++; done <- n }
	if got := <-done; got != 1 {
		t.Error(got)
	}
}

// The job may come after the sleep.
func TestBugSleep(t *testing.T) {
	var lock sync.Mutex
	n := 0
	jobs <- func() { lock.Lock(); n++; lock.Unlock() }
	time.Sleep(time.Millisecond)
	lock.Lock()
	defer lock.Unlock()
	if n != 1 {
		t.Error(n)
	}
}

// What init has a goroutine do may not be done yet.
func TestBugLoaded(t *testing.T) {
	if loaded != 1 {
		t.Error("not loaded")
	}
}

func TestFineLoaded(t *testing.T) {
	if ready.Load() && loaded != 1 {
		t.Error("not loaded")
	}
}

func TestBugFlushed(t *testing.T) {
	mu.Lock()
	served++
	mu.Unlock()
	time.Sleep(time.Second)
	mu.Lock()
	defer mu.Unlock()
	if served != 1 {
		t.Error(served)
	}
}

func TestBugDeadlock(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(2)
	jobs <- wg.Done
	wg.Wait()
}

// No goroutine of the test is left to receive; those from before it do not count.
func TestBugLeft(t *testing.T) {
	go func() { warm <- true }()
}
