// Package crowds has tests with many short goroutines, each of which meet in one place.
package crowds

import (
	"sync"
	"testing"
)

const goroutines = 65_000

func check(t *testing.T, got int) {
	if got != goroutines {
		t.Errorf("counted %d", got)
	}
}

func TestLock(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range goroutines {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			n++
		})
	}
	wg.Wait()
	check(t, n)
}

func TestOneAfterTheOther(t *testing.T) {
	n := 0
	for range goroutines {
		done := make(chan bool)
		go func() {
			n++
			close(done)
		}()
		<-done
	}
	check(t, n)
}

func TestSenders(t *testing.T) {
	ch := make(chan int)
	for range goroutines {
		go func() { ch <- 1 }()
	}
	n := 0
	for range goroutines {
		n += <-ch
	}
	check(t, n)
}

func TestSendersThatSelect(t *testing.T) {
	ch, stop := make(chan int), make(chan bool)
	for range goroutines {
		go func() {
			select {
			case ch <- 1:
			case <-stop:
			}
		}()
	}
	n := 0
	for range goroutines {
		n += <-ch
	}
	check(t, n)
}

func TestReceivers(t *testing.T) {
	ch := make(chan int)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() { <-ch })
	}
	for range goroutines {
		ch <- 1
	}
	wg.Wait()
}

func TestClose(t *testing.T) {
	start := make(chan bool)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() { <-start })
	}
	close(start)
	wg.Wait()
}

func TestReaders(t *testing.T) {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	n := 0
	for i := range goroutines {
		wg.Go(func() {
			if i%100 == 0 {
				mu.Lock()
				n += 100
				mu.Unlock()
			}
			mu.RLock()
			defer mu.RUnlock()
			_ = n
		})
	}
	wg.Wait()
	check(t, n)
}
