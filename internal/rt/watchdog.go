package rt

import (
	"strconv"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// The watchdog looks now and then what becomes of the token. It takes the token from a
// goroutine that calls no hook, so that others can go on, and ends a run that takes too long.
//
// How long a goroutine is waited for is told by what the process has done meanwhile: a machine
// that is busy with other things makes everything late, and what is taken to be outside control
// must not depend on that. Nor must virtual time, which keeps pace with what the program waits
// for in the system, and with what it computes. When a run ends is told by real time.

// period is how often the watchdog looks, in nanoseconds. patience is for how long it has to
// see a goroutine in the same place before it takes the token: a goroutine that waits natively
// will not call a hook soon. What one does that computes is part of the run, and is the same
// in another, for as long as that can be waited for.
const (
	period           = 5_000_000
	patience         = 4 * period
	patienceWithWork = 100 * period
)

// counted returns how much of a Config.Sleep counts as waiting: all of it if nothing could go
// on in the process, otherwise what the process has done in that time.
func counted(asked, worked int64, busy bool) int64 {
	if busy || Patched.Busy != nil && Patched.Busy() {
		return worked
	}
	return asked
}

// watching says that there is a watchdog, watchdog is its g.
var (
	watching atomic.Bool
	watchdog atomic.Uintptr
)

// watch is the watchdog.
func watch(sleep func(int64) (worked int64, busy bool)) {
	g, _, _ := here()
	watchdog.Store(g)
	var seen uintptr
	waited, passed := int64(0), int64(0)
	for {
		began := realTime()
		worked, busy := sleep(period)
		t := token.Load()
		switch {
		case t == 0 || t&inside != 0:
			if t != 0 && late() {
				// Nearly all of its time a run may be in hooks, with thousands of goroutines
				// say, so that the token is never to be had.
				overdue.Store(true)
			}
			seen = 0
		case late():
			if token.CompareAndSwap(t, g|inside) {
				if late() && s.current.state == ready {
					s.expire(s.current)
				} else {
					token.Store(t) // it was the next run's
				}
			}
			seen = 0
		case t&suspect == 0:
			if token.CompareAndSwap(t, t|suspect) {
				seen, waited, passed = t|suspect, 0, 0
			}
		case t != seen:
			seen, waited, passed = t, 0, 0
		default:
			waited += counted(period, worked, busy)
			passed += counted(max(realTime()-began, period), worked, busy)
			if passed < patience {
				continue
			}
			native := waits(t &^ suspect)
			stays := waited < patience || !native && (waited < patienceWithWork || s.config.Halt != nil)
			if (native || !stays) && token.CompareAndSwap(t, g|inside) {
				if s.config.Halt == nil && s.current.state == ready && !s.current.dying {
					s.clock.workedFor(passed)
				}
				passed = 0
				if stays {
					token.Store(t)
				} else {
					s.evict(t, native)
				}
			}
		}
	}
}

// waits reports whether the goroutine of a g waits natively.
func waits(g uintptr) bool { return Patched.Waits == nil || Patched.Waits(g) }

// evict takes the token, which the watchdog holds now, from the goroutine that runs, if
// there is another goroutine to give it to, or a time to go on to. t is what the token was,
// native says that the goroutine waits natively.
func (s *scheduler) evict(t uintptr, native bool) {
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
	what := "a goroutine computed for " + strconv.Itoa(patienceWithWork/1_000_000) + " ms without an access that is seen"
	if native {
		what = "a goroutine waited for the system, or for one outside control, for " + strconv.Itoa(patience/1_000_000) + " ms"
	}
	s.result.Outside = append(s.result.Outside, Outside{What: what, G: c.id, Site: s.site, Frame: c.Frame})
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

// A timeLimit is the moment at which a run is cut off, by a clock of real time.
type timeLimit struct {
	now func() int64
	end int64
}

// deadline is that of the run; nil for none. The watchdog may look at it when the run is over, and
// so must not look for the clock in the scheduler.
var deadline atomic.Pointer[timeLimit]

// overdue says that the run has taken too long, or one before: the goroutine that runs looks
// when it is about to choose the next one.
var overdue atomic.Bool

// stopIfLate ends the run for c, which is in a hook, if the run has taken too long.
func (s *scheduler) stopIfLate(c *goroutine) {
	overdue.Store(false)
	if !late() {
		return
	}
	s.result.CutOff, s.result.TookTooLong = true, true
	s.result.Late = append(s.result.Late, Late{G: c.id, Site: s.ops[s.at(c)].Site, Frame: c.Frame})
	c.stop()
}

// late reports whether the run has taken too long.
func late() bool {
	d := deadline.Load()
	return d != nil && d.now() > d.end
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
