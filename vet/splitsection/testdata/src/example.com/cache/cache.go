package cache

import "sync"

type Cache struct {
	mu sync.Mutex
	m  map[string]int
	n  int
}

func compute(k string) int { return len(k) }

func (c *Cache) Get(k string) int {
	c.mu.Lock()
	v, ok := c.m[k]
	c.mu.Unlock()
	if !ok {
		v = compute(k)
		c.mu.Lock()
		c.m[k] = v // want `write of Cache.m by what an earlier section of Cache.mu has read`
		c.mu.Unlock()
	}
	return v
}

// GetAgain looks again.
func (c *Cache) GetAgain(k string) int {
	c.mu.Lock()
	v, ok := c.m[k]
	c.mu.Unlock()
	if !ok {
		v = compute(k)
		c.mu.Lock()
		if old, ok := c.m[k]; ok {
			v = old
		} else {
			c.m[k] = v
		}
		c.mu.Unlock()
	}
	return v
}

// GetOnce has one section.
func (c *Cache) GetOnce(k string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.m[k]
	if !ok {
		v = compute(k)
		c.m[k] = v
	}
	return v
}

func (c *Cache) Add(n int) {
	c.mu.Lock()
	old := c.n
	c.mu.Unlock()
	c.mu.Lock()
	c.n = old + n // want `write of Cache.n by what an earlier section of Cache.mu has read`
	c.mu.Unlock()
}

// Meant is meant to be so.
func (c *Cache) Meant(n int) {
	c.mu.Lock()
	old := c.n
	c.mu.Unlock()
	c.mu.Lock()
	//cofferdam:ignore the last one wins
	c.n = old + n
	c.mu.Unlock()
}
