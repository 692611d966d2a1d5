package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
	"github.com/cofferdam-go/cofferdam/internal/rt/timers"
)

// A timer does something at its time.
type timer struct {
	timers.Place
	key    uintptr // the address of the time.Timer; 0 for a Sleep
	period int64
	vector race.Vector

	// One of these:
	sleeper *goroutine
	f       func()
	on      *object // a channel
	send    func() bool
	alarm   *Alarm

	drain func() bool // takes what is in the channel
	// The goroutine that started it last, and where.
	parent uint32
	frame  uint32
	bubble *bubble
}

// effective reports whether the timer will do something.
func (t *timer) effective() bool { return t.on == nil || t.on.length() < t.on.capacity() }

// fire does what t is for, and reports whether that was anything.
func (s *scheduler) fire(t *timer) bool {
	k := &s.clock
	s.emit(nil, event.TimerFire, 0, t.key, 1, uint64(k.now))
	switch {
	case t.sleeper != nil:
		c := t.sleeper
		c.wait.granted = true
		c.timer = nil
		k.forget(t)
		s.resume(c)
		return true
	case t.alarm != nil:
		a := t.alarm
		a.timer = nil
		k.forget(t)
		a.ring()
		return true
	case t.f != nil:
		d := s.spawn(t.f)
		d.parent, d.Frame, d.born = t.parent, t.frame, t.frame
		t.bubble.join(d)
		d.Vector.Set(&t.vector)
		s.races.TakeSlot(&d.Thread, d.id)
		s.emit(nil, event.Go, 0, t.key, 0, uint64(d.id))
		return true
	}
	if t.period > 0 {
		k.queue.Push(t, max(t.When+t.period, k.now))
	}
	k.firing = t.bubble
	sent := t.send()
	if k.firing = nil; !sent {
		return false
	}
	n := t.on.capacity()
	t.on.slot((t.on.receive + t.on.length() - 1 + n) % n).Join(&t.vector)
	s.changed(t.on)
	return true
}

// StartTimer starts the timer t, which is new: after d, and then in every period if
// that is not 0, it sends now() to ch. The caller is under control.
func StartTimer[T, C any](t *T, d, period int64, ch chan C, now func() C) {
	c := enterLibrary()
	if c == nil {
		return
	}
	if !c.dying {
		n := s.clock.make()
		n.period = period
		n.on = s.channelAt(*(*unsafe.Pointer)(unsafe.Pointer(&ch)))
		n.send = func() bool { return trySend(ch, now()) }
		n.drain = func() bool { _, _, done := tryRecv(ch); return done }
		s.startTimer(c, n, unsafe.Pointer(t), d)
	}
	c.leave()
}

// StartFunc starts the timer t, which is new: after d it starts a goroutine that calls
// f. The caller is under control.
func StartFunc[T any](t *T, d int64, f func()) {
	c := enterLibrary()
	if c == nil {
		return
	}
	if !c.dying {
		n := s.clock.make()
		n.f = f
		s.startTimer(c, n, unsafe.Pointer(t), d)
	}
	c.leave()
}

func (s *scheduler) startTimer(c *goroutine, n *timer, key unsafe.Pointer, d int64) {
	if !c.step(event.Op{Kind: event.TimerStart, Site: c.site(), Addr: uintptr(key), Size: 1}) {
		s.clock.forget(n)
		return
	}
	n.key = uintptr(key)
	if s.clock.known == nil {
		s.clock.known = map[uintptr]*timer{}
	}
	s.clock.known[n.key] = n
	s.setOff(c, n, d)
}

// setOff starts n on behalf of c. One whose time has come at once fires at once: it
// does not wait for all goroutines to stop.
func (s *scheduler) setOff(c *goroutine, n *timer, d int64) {
	n.parent, n.frame, n.bubble = c.id, c.Frame, c.bubble
	c.Release(&n.vector)
	if s.recorder.On {
		s.emit(c, event.TimerStart, c.site(), n.key, 1, uint64(d))
	}
	s.clock.start(n, d)
	if d <= 0 {
		s.due()
	}
}

// StopTimer stops t. active says that it had something to do yet. ok is false if t is
// not a timer of this run or the caller is not under control.
func StopTimer[T any](t *T) (active, ok bool) {
	return s.changeTimer(unsafe.Pointer(t), event.TimerStop, 0, 0)
}

// ResetTimer lets t start again. See StopTimer.
func ResetTimer[T any](t *T, d, period int64) (active, ok bool) {
	return s.changeTimer(unsafe.Pointer(t), event.TimerStart, d, period)
}

func (s *scheduler) changeTimer(t unsafe.Pointer, kind event.Kind, d, period int64) (active, ok bool) {
	c := enterLibrary()
	if c == nil {
		return false, false
	}
	n := s.clock.known[uintptr(t)]
	if n == nil || !c.step(event.Op{Kind: kind, Site: c.site(), Addr: uintptr(t), Size: 1}) {
		c.leave()
		return false, n != nil
	}
	if n.Queued() {
		active = true
		s.clock.queue.Remove(n)
	}
	if n.drain != nil && n.drain() {
		// As since Go 1.23: nothing of before is received from now on.
		active = true
		n.on.receive = (n.on.receive + 1) % n.on.capacity()
		s.changed(n.on)
	}
	if kind == event.TimerStart {
		n.period = period
		s.setOff(c, n, d)
	} else if s.recorder.On {
		s.emit(c, event.TimerStop, c.site(), n.key, 1, bit(active))
	}
	c.leave()
	return active, true
}
