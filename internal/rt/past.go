package rt

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
)

// acquire makes v part of c's past.
func (c *goroutine) acquire(v *race.Vector) {
	c.Vector.Join(v)
	if foreign.Load() {
		c.acquireAll()
	}
}

// learn makes all that d has done part of c's past.
func (c *goroutine) learn(d *goroutine) {
	c.Learn(&d.Thread)
	if foreign.Load() {
		c.acquireAll()
	}
}

// acquireAll makes all that was done so far c's past. Where goroutines take part that are
// not under control, it cannot be seen what they order: what one goroutine has handed to
// them, another may have got. A race that is missed then is better than one that is none.
func (c *goroutine) acquireAll() {
	for _, d := range s.all {
		if d == c {
			continue
		}
		c.Learn(&d.Thread)
		if d.state != ended {
			d.Tick()
		}
	}
}

// exchange makes v c's past, and what v was part of c's past.
func (c *goroutine) exchange(v *race.Vector) {
	s.scratch.Set(v)
	c.Past(v)
	c.acquire(&s.scratch)
	c.Tick()
}

// touch has an access of c held against those before it.
func (c *goroutine) touch(addr, size uintptr, kind event.Kind, site uint32) {
	if s.config.Races && size != 0 {
		s.races.Touch(&c.Thread, addr, size, kind, site)
	}
}
