package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// Package testing/synctest isolates the goroutines of a test in a bubble, in which time
// is virtual and begins at [epoch]. Under control it is virtual everywhere, so that a bubble is no
// more than the goroutines that belong to it, those that were started by one of them, and the time
// at which it began.

type bubble struct {
	members int // that have not ended
	on      *object
	began   int64 // by the clock
}

func (b *bubble) join(c *goroutine) {
	if b != nil {
		b.members++
		c.bubble = b
	}
}

// leaveBubble is called when c has ended.
func (c *goroutine) leaveBubble() {
	if b := c.bubble; b != nil {
		c.ReleaseMerge(&b.on.released)
		if b.members--; b.members == 0 {
			s.changed(b.on)
		}
	}
}

// Bubble runs f in a bubble, and returns when all goroutines of it have ended. The
// caller is under control.
func Bubble(f func()) {
	c := enterLibrary()
	if c == nil {
		f()
		return
	}
	if c.dying {
		c.die()
	}
	s.clock.exact++
	b := &bubble{began: s.clock.now}
	b.on = s.objects.at(unsafe.Pointer(b))
	site := c.site()
	c.spawn(site, f, b)
	op := event.Op{Kind: event.WaitGroupWait, Site: site, Addr: b.on.addr, Size: 1}
	c.wait = wait{kind: forBubble, on: b.on, bubble: b}
	if !c.await(op) {
		c.die()
	}
	c.acquire(&b.on.released)
	s.clock.exact--
	s.emitOp(c, op, 0)
	c.leave()
}

// BubbleWait is synctest.Wait: it returns when no other goroutine of the bubble can go
// on, before time does, and comes after all that they did. It returns false if the caller
// is not under control or in no bubble.
func BubbleWait() bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	if c.bubble == nil {
		c.leave()
		return false
	}
	op := event.Op{Kind: event.Gosched, Yield: true, Site: c.site()}
	c.wait = wait{kind: forQuiet}
	s.quiet++
	if !c.await(op) {
		c.die()
	}
	s.quiet--
	for _, d := range s.all {
		if d != c && d.bubble == c.bubble {
			c.learn(d)
			if d.state == blocked {
				d.Tick()
			}
		}
	}
	s.emit(c, event.Gosched, op.Site, 0, 0, 0)
	c.leave()
	return true
}

// wakeQuiet lets goroutines go on that wait for all others to wait, and reports whether
// there are any.
func (s *scheduler) wakeQuiet() bool {
	if s.quiet == 0 {
		return false
	}
	woken := false
	for _, c := range s.all {
		if c.state == blocked && c.wait.kind == forQuiet {
			c.wait.granted = true
			s.resume(c)
			woken = true
		}
	}
	return woken
}
