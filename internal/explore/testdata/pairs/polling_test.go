package pairs

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// beforeTheOther does something in a goroutine that may be through before the test goes on.
func beforeTheOther(t *testing.T, do func()) {
	var through atomic.Bool
	go func() {
		do()
		through.Store(true)
	}()
	if through.Load() {
		t.Error("it was first")
	}
}

// What looks again and again need not be waiting: it counts, or does something else each time.

func TestBugLooksOftenAndIsFirst(t *testing.T) {
	var n atomic.Int32
	beforeTheOther(t, func() {
		for range 20 {
			n.Load()
		}
	})
}

func TestBugYieldsOftenAndIsFirst(t *testing.T) {
	beforeTheOther(t, func() {
		for range 12 {
			runtime.Gosched()
		}
	})
}

func TestBugTriesOftenAndIsFirst(t *testing.T) {
	c := make(chan int)
	beforeTheOther(t, func() {
		for range 20 {
			select {
			case <-c:
			default:
			}
		}
	})
}

func TestBugLooksUpOftenAndIsFirst(t *testing.T) {
	var m sync.Map
	for i := range 20 {
		m.Store(i, i)
	}
	beforeTheOther(t, func() {
		for i := range 20 {
			m.Load(i)
		}
	})
}

func TestBugGivesUpAfterManyLooks(t *testing.T) {
	var ready, gaveUp atomic.Bool
	go func() {
		for range 30 {
			if ready.Load() {
				return
			}
		}
		gaveUp.Store(true)
	}()
	ready.Store(true)
	if gaveUp.Load() {
		t.Error("it gave up")
	}
}

func TestFineSpins(t *testing.T) {
	var flag atomic.Bool
	n := 0
	go func() {
		n = 1
		flag.Store(true)
	}()
	for !flag.Load() {
	}
	if n != 1 {
		t.Error(n)
	}
}

// To a goroutine that tries to lock it a mutex that such a loop locks is locked, now and then and
// several times in a row.
func TestBugTriesWhatALoopLocks(t *testing.T) {
	var mu sync.Mutex
	stop := false
	go func() {
		failed := 0
		for range 2 {
			if mu.TryLock() {
				mu.Unlock()
			} else {
				failed++
			}
		}
		if failed == 2 {
			t.Error("locked twice")
		}
		mu.Lock()
		stop = true
		mu.Unlock()
	}()
	for {
		mu.Lock()
		if stop {
			mu.Unlock()
			return
		}
		mu.Unlock()
	}
}

// To let others go first takes next to no time, however often: a timer that is far away is not due.
func TestFineYieldingIsNoWaiting(t *testing.T) {
	late := time.After(time.Second)
	for range 300 {
		runtime.Gosched()
	}
	done := make(chan bool)
	var never atomic.Bool
	go func() {
		for i := 0; i < 50 && !never.Load(); i++ {
			runtime.Gosched()
		}
		close(done)
	}()
	for i := 0; i < 250 && !never.Load(); i++ {
	}
	select {
	case <-late:
		t.Error("late")
	case <-done:
	}
}

// But one who goes on with it comes to what a timer does, whether it counts or not.
func TestFineYieldingUntilATimerFires(t *testing.T) {
	var due atomic.Bool
	time.AfterFunc(time.Second, func() { due.Store(true) })
	rounds := 0
	for !due.Load() {
		rounds++
		runtime.Gosched()
	}
}
