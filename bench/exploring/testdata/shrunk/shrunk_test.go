// Package shrunk has a test that fails after three preemptions, at places that are hard to
// shrink to: all schedules with two have to be tried, of which there are thousands.
package shrunk

import (
	"sync"
	"testing"
)

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) get() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *counter) set(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = n
}

func TestEachCounterLosesACount(t *testing.T) {
	var all [10]counter
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range all {
				all[i].set(all[i].get() + 1)
			}
		})
	}
	wg.Wait()
	lost := 0
	for i := range all {
		lost += 2 - all[i].get()
	}
	if lost >= 3 {
		t.Error("three counters have lost a count")
	}
}
