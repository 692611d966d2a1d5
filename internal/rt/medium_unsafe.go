package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Medium is something that goroutines wait at and change of which this package knows no
// more than that: one direction of a connection in memory, say. Its owner (package
// loopback) keeps the state, and looks at it and changes it only in the functions that Use
// calls, while no other goroutine under control runs.
//
// A medium is known by its address. It is a word, so that two beside each other are two
// things to a strategy.
type Medium struct{ _ uint64 }

// A Use is one step of a goroutine at a medium.
type Use struct {
	Kind event.Kind
	// Through is the last of the media that the step depends on, if they are more than one:
	// all that are in memory from the medium up to it.
	Through *Medium
	// Ready reports whether the step can be taken; nil means always. It depends on nothing
	// but the states of media that call Changed when they change.
	Ready func() bool
	// Act takes the step, and returns the event's Arg.
	Act func() uint64
}

// Use takes a step as soon as it can be taken. It returns false, having done nothing, if
// the caller is not under control.
func (m *Medium) Use(u Use) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	o := s.objects.at(unsafe.Pointer(m))
	op := c.libraryOp(u.Kind, o)
	if u.Through != nil {
		op.Size = uintptr(unsafe.Pointer(u.Through)) - o.addr + unsafe.Sizeof(*m)
	}
	if c.wait = (wait{on: o}); u.Ready != nil {
		c.wait = wait{kind: forMedium, on: o, ready: u.Ready}
	}
	alive := c.await(op)
	if !alive && u.Ready != nil && !u.Ready() {
		c.die()
	}
	arg := u.Act()
	if alive {
		s.emitOp(c, op, arg)
		m.Changed()
	}
	c.leave()
	return true
}

// Changed has the goroutines looked at that wait at the medium. Only Act, and what an Alarm
// rings, may call it, for media other than that of the step itself.
func (m *Medium) Changed() {
	if !s.current.dying {
		s.changed(s.objects.at(unsafe.Pointer(m)))
	}
}

// Publish makes what the goroutine that acts has done so far part of what Observe gives to
// others.
func (m *Medium) Publish() {
	if c := s.current; !c.dying {
		c.ReleaseMerge(&s.objects.at(unsafe.Pointer(m)).released)
	}
}

// Observe makes what was published at the medium part of the past of the goroutine that
// acts.
func (m *Medium) Observe() {
	if c := s.current; !c.dying {
		c.acquire(&s.objects.at(unsafe.Pointer(m)).released)
	}
}

// Touch is an access to p that the goroutine that acts makes by the medium: it loads what
// it writes to a connection.
func Touch(p []byte, kind event.Kind) {
	if c := s.current; !c.dying {
		c.touchBuffer(p, kind)
		if kind == event.Store && len(p) > 0 {
			s.journal.Keep(uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		}
	}
}

// An Alarm calls a function at a moment of virtual time. Its zero value is not set.
type Alarm struct {
	timer *timer
	ring  func()
}

// Set has ring called after d nanoseconds, by the scheduler and not by a goroutine. Only Act
// may call it.
func (a *Alarm) Set(d int64, ring func()) {
	a.Stop()
	if s.current.dying {
		return
	}
	t := s.clock.make()
	t.alarm = a
	a.timer, a.ring = t, ring
	s.clock.start(t, d)
}

// Stop unsets the alarm. Only Act may call it, in the run in which the alarm was set.
func (a *Alarm) Stop() {
	if t := a.timer; t != nil {
		a.timer = nil
		s.clock.queue.Remove(t)
		s.clock.forget(t)
	}
}
