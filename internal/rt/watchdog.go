package rt

import (
	"strconv"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// The watchdog looks now and then, in real time, what becomes of the token. It takes the
// token from a goroutine that calls no hook, so that others can go on, and ends a run that
// takes too long.

// period is how often the watchdog looks, and patience how often in a row it has to see
// a goroutine in the same place before it takes the token. A goroutine that waits natively
// will not call a hook soon. One that computes may only be slow, because the machine is busy
// say: what it does is part of the run, and is the same in another, for as long as that can
// be waited for.
const (
	period           = 5_000_000
	patience         = 4
	patienceWithWork = 100
)

// watching says that there is a watchdog, watchdog is its g.
var (
	watching atomic.Bool
	watchdog atomic.Uintptr
)

// watch is the watchdog.
func watch(sleep func(int64)) {
	g, _, _ := here()
	watchdog.Store(g)
	var seen uintptr
	times := 0
	for {
		sleep(period)
		t := token.Load()
		switch {
		case t == 0 || t&inside != 0:
			if t != 0 && s.late() {
				// Nearly all of its time a run may be in hooks, with thousands of goroutines
				// say, so that the token is never to be had.
				overdue.Store(true)
			}
			seen, times = 0, 0
		case s.late():
			if token.CompareAndSwap(t, g|inside) {
				if s.late() && s.current.state == ready {
					s.expire(s.current)
				} else {
					token.Store(t) // it was the next run's
				}
			}
			seen, times = 0, 0
		case t&suspect == 0:
			if token.CompareAndSwap(t, t|suspect) {
				seen, times = t|suspect, 0
			}
		case t != seen:
			seen, times = t, 0
		default:
			if times++; times >= patience && (waits(t&^suspect) || times >= patienceWithWork) && token.CompareAndSwap(t, g|inside) {
				s.evict(t, times)
			}
		}
	}
}

// waits reports whether the goroutine of a g waits natively.
func waits(g uintptr) bool { return Patched.Waits == nil || Patched.Waits(g) }

// evict takes the token, which the watchdog holds now, from the goroutine that runs, if
// there is another goroutine to give it to, or a time to go on to. t is what the token was.
func (s *scheduler) evict(t uintptr, times int) {
	if s.current.dying || s.current.state != ready {
		token.Store(t) // the run is over, and takeDown waits for it
		return
	}
	s.adopt()
	s.poll()
	if len(s.ready) == 1 && s.clock.queue.Len() == 0 {
		token.Store(t)
		return
	}
	c := s.current
	s.leaveControl(c)
	s.result.Outside = append(s.result.Outside, Outside{
		What: "a goroutine waited for the system, or computed, for " + strconv.Itoa(period*times/1_000_000) + " ms", G: c.id, Site: s.site, Frame: c.Frame,
	})
	if d := s.dispatch(nil); d != nil {
		s.pass(d)
	}
}

// leaveControl makes c, which runs, one of those outside.
func (s *scheduler) leaveControl(c *goroutine) {
	s.completeLast()
	s.emit(c, event.Outside, s.site, 0, 0, 0)
	s.remove(c)
	c.op.Site = s.site
	c.state = outside
	addStray(c)
}

// deadline is the moment at which the run is cut off; 0 for never.
var deadline atomic.Int64

// overdue says that the run has taken too long, or one before: the goroutine that runs looks
// when it is about to choose the next one.
var overdue atomic.Bool

// stopIfLate ends the run for c, which is in a hook, if the run has taken too long.
func (s *scheduler) stopIfLate(c *goroutine) {
	overdue.Store(false)
	if !s.late() {
		return
	}
	s.result.CutOff, s.result.TookTooLong = true, true
	s.result.Late = append(s.result.Late, Late{G: c.id, Site: s.ops[s.at(c)].Site, Frame: c.Frame})
	c.stop()
}

// late reports whether the run has taken too long.
func (s *scheduler) late() bool {
	d := deadline.Load()
	return d != 0 && s.config.Now() > d
}

// expire ends the run, which has taken too long. c is the goroutine that ran, which has the
// token no more; nil if all waited for what is outside.
func (s *scheduler) expire(c *goroutine) {
	s.result.CutOff, s.result.TookTooLong = true, true
	if c != nil {
		s.leaveControl(c)
	}
	for _, d := range s.all {
		if d.state == outside && len(s.result.Late) < maxLate {
			s.result.Late = append(s.result.Late, Late{Waits: waits(d.g), G: d.id, Site: d.op.Site, Frame: d.Frame, PCs: nativeStack(d.g)})
		}
	}
	s.over()
}

// maxLate is of how many goroutines it is told where they were.
const maxLate = 4

// nativeStack returns the stack of a goroutine that does not run, by its g.
func nativeStack(g uintptr) []uintptr {
	if Patched.Stack == nil {
		return nil
	}
	pcs := make([]uintptr, 64)
	return pcs[:Patched.Stack(g, pcs)]
}
