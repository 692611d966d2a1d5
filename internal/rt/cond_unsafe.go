package rt

import (
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// CondAdd enters the caller with the goroutines that wait for cond, and returns false if
// it is not under control. From here on it can be signalled, even before it waits. So this
// is a step of its own, though no event: a signal that comes before it is lost, and one
// that comes after is not.
func CondAdd[T any](cond *T) bool {
	c := enterLibrary()
	if c == nil {
		waitsEarly()
		return false
	}
	o := s.objects.at(unsafe.Pointer(cond))
	if !c.step(c.libraryOp(event.CondWait, o)) {
		c.die()
	}
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
	c.acquire(&o.released)
	s.emitOp(c, op, 0)
	c.leave()
}

// Signal wakes the goroutine under control that waits longest for cond. It returns
// false if that is still to be done: there is none, or the caller is not under control and
// one outside waits, which is so if the counts of those that came and were woken differ.
func Signal[T any](cond *T, came, woken *uint32) bool {
	return signal(unsafe.Pointer(cond), event.Signal) || signalFromOutside(unsafe.Pointer(cond), event.Signal, came, woken)
}

// Broadcast wakes all goroutines under control that wait for cond. It returns false:
// others may wait, too.
func Broadcast[T any](cond *T) bool {
	if !signal(unsafe.Pointer(cond), event.Broadcast) {
		signalFromOutside(unsafe.Pointer(cond), event.Broadcast, nil, nil)
	}
	return false
}

// signal wakes goroutines on behalf of the caller. It returns false if there is none.
func signal(cond unsafe.Pointer, kind event.Kind) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	o := s.objects.at(cond)
	op := c.libraryOp(kind, o)
	woken := 0
	if c.step(op) {
		if len(o.tickets) > 0 {
			c.ReleaseMerge(&o.released)
		} else {
			o.unheard++
		}
		woken = s.signal(o, kind)
		s.emitOp(c, op, uint64(woken))
	}
	c.leave()
	return woken > 0
}

// signal wakes the goroutines that are to be by a Signal or a Broadcast.
func (s *scheduler) signal(o *object, kind event.Kind) int {
	n := len(o.tickets)
	if kind == event.Signal {
		n = min(n, 1)
	}
	for _, d := range o.tickets[:n] {
		d.signalled = true
		if d.wait.kind == forGrant && d.wait.on == o {
			d.wait.granted = true
		}
	}
	o.tickets = append(o.tickets[:0], o.tickets[n:]...)
	s.changed(o)
	return n
}

// A nativeSignal is a Signal or Broadcast by a goroutine that is not under control. It must
// not touch the scheduler's state; a goroutine that has the token does it (adopt).
type nativeSignal struct {
	cond unsafe.Pointer
	kind event.Kind
}

// maxNativeSignals is how many are kept. Of a condition that is signalled so often all waiters
// are woken.
const maxNativeSignals = 1 << 10

// signalFromOutside keeps a signal for goroutines under control, and reports whether it is
// for them. One that wakes a single goroutine is not, if one waits natively.
func signalFromOutside(cond unsafe.Pointer, kind event.Kind, came, woken *uint32) bool {
	if !on.Load() || Controlled() {
		return false
	}
	if kind == event.Signal && atomic.LoadUint32(came) != atomic.LoadUint32(woken) {
		return false
	}
	lockStrays()
	defer unlockStrays()
	if strays.closed {
		return false
	}
	if len(strays.signals) == maxNativeSignals {
		for i := range strays.signals {
			if strays.signals[i].cond == cond {
				strays.signals[i].kind = event.Broadcast
				return true
			}
		}
	}
	strays.signals = append(strays.signals, nativeSignal{cond, kind})
	strays.waiting.Store(true)
	return true
}

// deliverSignals delivers what signals of goroutines outside are for goroutines under
// control. The strays are locked.
func (s *scheduler) deliverSignals() {
	for i, n := range strays.signals {
		if o := s.objects.at(n.cond); len(o.tickets) > 0 {
			s.signal(o, n.kind)
		}
		strays.signals[i] = nativeSignal{}
	}
	strays.signals = strays.signals[:0]
}
