package pairs

import (
	"sync"
	"testing"
)

func TestBugWriteUnderReadLock(t *testing.T) {
	var mu sync.RWMutex
	n := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.RLock()
			n++
			mu.RUnlock()
		})
	}
	wg.Wait()
	if n != 2 {
		t.Error(n)
	}
}

func TestFineRWMutex(t *testing.T) {
	var mu sync.RWMutex
	n := 0
	var wg sync.WaitGroup
	wg.Go(func() {
		mu.Lock()
		n++
		n++
		mu.Unlock()
	})
	for range 2 {
		wg.Go(func() {
			mu.RLock()
			defer mu.RUnlock()
			if n == 1 {
				t.Error("half")
			}
		})
	}
	wg.Wait()
}

// A writer that waits holds back new readers, so reading twice can block for ever.
func TestBugRecursiveReadLock(t *testing.T) {
	var mu sync.RWMutex
	done := make(chan bool)
	go func() {
		mu.Lock()
		mu.Unlock()
		done <- true
	}()
	mu.RLock()
	mu.RLock()
	mu.RUnlock()
	mu.RUnlock()
	<-done
}

func TestFineTwoReaders(t *testing.T) {
	var mu sync.RWMutex
	meet := make(chan bool)
	go func() {
		mu.RLock()
		meet <- true
		mu.RUnlock()
	}()
	mu.RLock()
	<-meet
	mu.RUnlock()
}

func TestBugRLocker(t *testing.T) {
	var mu sync.RWMutex
	l := mu.RLocker()
	n := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			l.Lock()
			n++
			l.Unlock()
		})
	}
	wg.Wait()
}

func TestFineTryRLock(t *testing.T) {
	var mu sync.RWMutex
	n := 0
	var wg sync.WaitGroup
	wg.Go(func() {
		if mu.TryRLock() {
			_ = n
			mu.RUnlock()
		}
	})
	wg.Go(func() {
		if mu.TryLock() {
			n++
			mu.Unlock()
		}
	})
	wg.Wait()
}
