package rt

import (
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// semaOffset is where the race detector's view of a WaitGroup keeps what the first Add
// reads and a Wait writes, from the state: the semaphore behind it.
const semaOffset = 8

// WaitGroupAdd adds delta to a WaitGroup's counter, in the upper half of its state. If
// it returns false, that is still to be done.
func WaitGroupAdd(state *atomic.Uint64, delta int) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	p := unsafe.Pointer(state)
	if private(p) {
		c.leave()
		return false
	}
	o := s.objects.at(p)
	o.keep(p, unsafe.Sizeof(*state))
	op := c.libraryOp(event.WaitGroupAdd, o)
	if !c.step(op) {
		done := int(int32(state.Load()>>32))+delta < 0
		c.leave()
		return done
	}
	if delta < 0 {
		c.ReleaseMerge(&o.released)
	}
	old := state.Load()
	n := int(int32(old>>32)) + delta
	if delta > 0 && n == delta {
		if op.Site == 0 {
			op.Site = c.site()
		}
		c.touch(o.addr+semaOffset, 4, event.WaitGroupAdd, op.Site)
	}
	// Where it panics, or a goroutine outside waits, the original knows what to do.
	done := n >= 0 && uint32(old) == 0 && state.CompareAndSwap(old, old+uint64(delta)<<32)
	s.emitOp(c, op, uint64(delta))
	if n == 0 {
		o.awaited = false
		for _, d := range o.waiters {
			if d.state == blocked {
				d.wait.granted = true
			}
		}
		s.changed(o)
	} else if n > 0 {
		s.changed(o)
	}
	c.leave()
	return done
}

// WaitGroupWait waits for a WaitGroup's counter to come to 0. It returns false if the
// caller is not under control.
func WaitGroupWait(state *atomic.Uint64) bool {
	c := enterLibrary()
	if c == nil {
		waitsEarly()
		return false
	}
	p := unsafe.Pointer(state)
	if private(p) {
		if int32(state.Load()>>32) != 0 {
			c.forever(event.Op{Kind: event.WaitGroupWait, Site: c.site()})
		}
		c.leave()
		return true
	}
	o := s.objects.at(p)
	o.keep(p, unsafe.Sizeof(*state))
	op := c.libraryOp(event.WaitGroupWait, o)
	if !c.dying && int32(state.Load()>>32) > 0 && !o.awaited {
		if op.Site == 0 {
			op.Site = c.site()
		}
		c.joinsGroup(o, op.Site)
	}
	for {
		c.wait = wait{kind: forGroup, on: o, group: state}
		if !c.await(op) {
			if int32(state.Load()>>32) != 0 {
				c.die()
			}
			break
		}
		if c.wait.granted && state.Load() != 0 {
			c.leave()
			panic("sync: WaitGroup is reused before previous Wait has returned")
		}
		if int32(state.Load()>>32) == 0 {
			c.acquire(&o.released)
			s.emitOp(c, op, 0)
			break
		}
	}
	c.leave()
	return true
}

// joinsGroup notes that c is one that waits for a WaitGroup, or would if it were its turn. The
// first that does must be ordered with the Add that makes it wait: an Add which only happens
// to be earlier may as well be too late. An Add may also come between the moment in which c
// has asked and its turn, so that it is called for both.
func (c *goroutine) joinsGroup(o *object, site uint32) {
	if !o.awaited {
		o.awaited = true
		c.touch(o.addr+semaOffset, 4, event.WaitGroupWait, site)
	}
}
