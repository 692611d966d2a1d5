package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// CondAdd enters the caller with the goroutines that wait for cond, and returns false if
// it is not under control. From here on it can be signalled, even before it waits.
func CondAdd[T any](cond *T) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	if c.dying {
		c.die()
	}
	s.completeLast()
	o := s.objects.at(unsafe.Pointer(cond))
	o.tickets = append(o.tickets, c)
	c.signalled = false
	c.leave()
	return true
}

// CondWait waits to be signalled.
func CondWait[T any](cond *T) {
	c := enterLibrary()
	if c == nil {
		return
	}
	o := s.objects.at(unsafe.Pointer(cond))
	op := event.Op{Kind: event.CondWait, Addr: o.addr, Size: 1, Site: c.site()}
	c.wait = wait{kind: forGrant, on: o, granted: c.signalled}
	if !c.await(op) {
		c.die()
	}
	c.acquire(o.released)
	s.emitOp(c, op, 0)
	c.leave()
}

// Signal wakes the goroutine under control that waits longest for cond. It returns
// false if there is none, or the caller is not under control.
func Signal[T any](cond *T) bool { return signal(unsafe.Pointer(cond), event.Signal) }

// Broadcast wakes all goroutines under control that wait for cond. It returns false:
// others may wait, too.
func Broadcast[T any](cond *T) bool {
	signal(unsafe.Pointer(cond), event.Broadcast)
	return false
}

func signal(cond unsafe.Pointer, kind event.Kind) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	o := s.objects.at(cond)
	op := c.libraryOp(kind, o)
	found := false
	if c.step(op) {
		n := len(o.tickets)
		if kind == event.Signal {
			n = min(n, 1)
		}
		found = n > 0
		if found {
			c.ReleaseMerge(&o.released)
		} else {
			o.unheard++
		}
		for _, d := range o.tickets[:n] {
			d.signalled = true
			if d.wait.kind == forGrant && d.wait.on == o {
				d.wait.granted = true
			}
		}
		o.tickets = append(o.tickets[:0], o.tickets[n:]...)
		s.emitOp(c, op, uint64(n))
		s.changed(o)
	}
	c.leave()
	return found
}
