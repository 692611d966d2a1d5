package again

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// awaited waits in a loop for a flag, and looks at what was stored before it.
func awaited(t *testing.T, wait func(*atomic.Bool)) {
	var flag atomic.Bool
	n := 0
	go func() {
		n = 1
		flag.Store(true)
	}()
	wait(&flag)
	if n != 1 {
		t.Error(n)
	}
}

func TestSpins(t *testing.T) {
	awaited(t, func(flag *atomic.Bool) {
		for !flag.Load() {
		}
	})
}

func TestSpinsAndYields(t *testing.T) {
	awaited(t, func(flag *atomic.Bool) {
		for !flag.Load() {
			runtime.Gosched()
		}
	})
}

// A loop that counts its rounds may go on for longer than is tried.
func TestSpinsAndCounts(t *testing.T) {
	rounds := 0
	awaited(t, func(flag *atomic.Bool) {
		for !flag.Load() {
			rounds++
		}
	})
	if rounds < 0 {
		t.Error(rounds)
	}
}

// A loop that looks at what a mutex guards is a loop that waits.
func TestLooksUnderAMutex(t *testing.T) {
	var mu sync.Mutex
	ready := false
	go func() {
		mu.Lock()
		ready = true
		mu.Unlock()
	}()
	for {
		mu.Lock()
		if ready {
			mu.Unlock()
			return
		}
		mu.Unlock()
	}
}
