package trace

import "sort"

// A cache keeps the last few of what was read, by number of block.
type cache[T any] struct {
	most  int
	tick  uint64
	items map[int]*cached[T]
}

type cached[T any] struct {
	value T
	used  uint64
}

func (c *cache[T]) get(i int) (v T, ok bool) {
	item, ok := c.items[i]
	if !ok {
		return v, false
	}
	c.tick++
	item.used = c.tick
	return item.value, true
}

func (c *cache[T]) put(i int, v T) {
	if c.items == nil {
		c.items = make(map[int]*cached[T], c.most)
	}
	if len(c.items) >= c.most {
		c.evict()
	}
	c.tick++
	c.items[i] = &cached[T]{v, c.tick}
}

// evict drops the older half, which is less work in all than to look for the oldest
// each time.
func (c *cache[T]) evict() {
	ages := make([]uint64, 0, len(c.items))
	for _, item := range c.items {
		ages = append(ages, item.used)
	}
	sort.Slice(ages, func(i, j int) bool { return ages[i] < ages[j] })
	middle := ages[len(ages)/2]
	for i, item := range c.items {
		if item.used < middle {
			delete(c.items, i)
		}
	}
}
