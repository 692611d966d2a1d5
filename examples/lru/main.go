// Command lru is a cache that many goroutines share and that forgets what was not used for
// longest. It is written as one would for a single goroutine: a map and a list, in
// transactions. Built by go build, the transactions run one at a time; built by cofferdam
// build -stm, they run beside each other.
package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/cofferdam-go/cofferdam/stm"
)

// A cache has its entries in a map, and in a ring by the time of their last use.
type cache struct {
	limit  int
	byKey  map[int]*entry
	ring   entry // its next is the entry that was used last, its previous the one to forget
	hits   int
	misses int
}

type entry struct {
	key, value     int
	next, previous *entry
}

func newCache(limit int) *cache {
	c := &cache{limit: limit, byKey: make(map[int]*entry)}
	c.ring.next, c.ring.previous = &c.ring, &c.ring
	return c
}

// get returns the value of a key, made by the function if it is not there.
func (c *cache) get(key int, compute func(int) int) (value int) {
	stm.Atomic(func() {
		e, ok := c.byKey[key]
		if ok {
			c.hits++
			e.unlink()
		} else {
			c.misses++
			e = &entry{key: key, value: compute(key)}
			c.byKey[key] = e
		}
		c.use(e)
		if len(c.byKey) > c.limit {
			oldest := c.ring.previous
			oldest.unlink()
			delete(c.byKey, oldest.key)
		}
		value = e.value
	})
	return value
}

func (e *entry) unlink() {
	e.previous.next, e.next.previous = e.next, e.previous
}

// use puts an entry where those are that were used last.
func (c *cache) use(e *entry) {
	e.previous, e.next = &c.ring, c.ring.next
	e.previous.next, e.next.previous = e, e
}

// check returns what is wrong with the cache, "" if nothing is.
func (c *cache) check() (wrong string) {
	stm.Atomic(func() {
		n := 0
		for e := c.ring.next; e != &c.ring; e = e.next {
			if c.byKey[e.key] != e || e.next.previous != e {
				wrong = fmt.Sprintf("entry %d is lost", e.key)
			}
			n++
		}
		if n != len(c.byKey) || n > c.limit {
			wrong = fmt.Sprintf("%d entries in the ring, %d in the map", n, len(c.byKey))
		}
	})
	return wrong
}

func square(n int) int { return n * n }

func main() {
	const goroutines, turns = 8, 500
	c := newCache(32)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range turns {
				key := (g*7 + i*i) % 50
				if v := c.get(key, square); v != key*key {
					fmt.Printf("%d squared is not %d\n", key, v)
					os.Exit(1)
				}
			}
		})
	}
	all.Wait()
	if wrong := c.check(); wrong != "" {
		fmt.Println(wrong)
		os.Exit(1)
	}
	fmt.Println(c.hits+c.misses, "lookups, at most", c.limit, "entries, nothing lost")
}
