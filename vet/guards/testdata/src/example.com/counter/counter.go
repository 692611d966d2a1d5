package counter

import "sync"

type Counter struct {
	mu sync.RWMutex
	N  int // want N:"guarded by mu"
	m  map[string]int
}

func (c *Counter) Add(k string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.N++
	c.m[k]++
}

func (c *Counter) Sub(k string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.N--
	c.m[k]--
}

func (c *Counter) Get() int {
	return c.N // want `read of Counter.N: does not hold Counter.mu, which 3 of 4 lines that access it do`
}

func (c *Counter) Set(k string, n int) {
	c.m[k] = n // want `write of Counter.m: does not hold Counter.mu`
}

// Print calls something, so that nothing is said about how to mend it.
func (c *Counter) Print() {
	println(c.name(), c.m["a"]) // want `read of Counter.m: does not hold Counter.mu`
}

func (c *Counter) name() string { return "counter" }

// Meant is meant to be so.
func (c *Counter) Meant() int {
	return len(c.m) //cofferdam:ignore called before anything else runs
}

// Held has the lock.
func (c *Counter) Held() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.N + c.m["a"]
}
