package rt

import "runtime"

// The end of a run leaves goroutines that wait for something, or that are in the middle
// of it because the run failed. One after the other they are woken and made to end by
// runtime.Goexit, so that what they deferred is done. Hooks of such a goroutine do the
// plain operation, and where that would have to wait, it ends again.

// maxHooks is how many hooks a goroutine may call while it is taken down, before it is
// made to end again: it may be in a loop that waits for another.
const maxHooks = 10_000

// die makes c end. It does not return.
func (c *goroutine) die() {
	c.leave()
	runtime.Goexit()
}

// dead counts what c does while it is taken down.
func (c *goroutine) dead() {
	if c.hooks++; c.hooks > maxHooks {
		c.hooks = 0
		c.die()
	}
}

// takeDown ends the goroutines of the run that have not ended.
func (s *scheduler) takeDown() {
	s.busy = true
	for idling.Load() > 0 { // the token is taken, so that each leaves when it looks
		if runtime.Gosched(); s.config.Sleep != nil {
			s.config.Sleep(10_000)
		}
	}
	lockStrays()
	strays.closed = true
	for i, c := range strays.returning {
		c.state = blocked
		removeStray(c)
		strays.returning[i] = nil
	}
	strays.returning = strays.returning[:0]
	clear(strays.signals)
	strays.signals = strays.signals[:0]
	strays.waiting.Store(false)
	unlockStrays()

	patience := int64(deathbed)
	for i := 0; i < len(s.all); i++ {
		c := s.all[i]
		switch c.state {
		case ready, blocked:
			c.dying = true
			s.current = c
			token.Store(inside)
			c.wake <- struct{}{}
			if s.gone(c, &patience) {
				c.state = ended
			} else {
				s.abandon(c)
			}
		case outside:
			c.stale.Store(true)
		case ended:
		}
	}
	lockStrays()
	countStrays()
	unlockStrays()
	token.Store(0)
}

// leftOutside reports whether a goroutine of the run is outside still: it may be in the middle
// of something.
func (s *scheduler) leftOutside() bool {
	for _, c := range s.all {
		if c.state == outside {
			return true
		}
	}
	return false
}

// deathbed is how long the goroutines of a run may take to end, all together, in nanoseconds.
const deathbed = 2_000_000_000

// gone waits until c, which has been told to end, has. It returns false if c does not, and
// nothing is left of the patience: it waits natively for something, in what it deferred.
func (s *scheduler) gone(c *goroutine, patience *int64) bool {
	if s.config.Sleep == nil {
		<-c.gone
		return true
	}
	for n := 0; n <= 100 || *patience > 0; n++ {
		select {
		case <-c.gone:
			return true
		default:
		}
		if n < 100 {
			runtime.Gosched()
		} else {
			worked, busy := s.config.Sleep(1_000_000)
			*patience -= counted(1_000_000, worked, busy)
		}
	}
	return false
}

// abandon leaves c, which does not end, to itself.
func (s *scheduler) abandon(c *goroutine) {
	c.state = outside
	c.stale.Store(true)
	addStray(c)
	s.result.Outside = append(s.result.Outside, Outside{
		What: "a goroutine did not end when the run did", G: c.id, Site: c.op.Site, Frame: c.Frame,
	})
}

// forgetDeparted drops what was to be called for objects of the run.
func forgetDeparted() {
	lockDeparted()
	departed.all = nil
	departed.busy.Store(false)
}

// clean gets everything ready for the next run, and lets go of what belongs to the
// program.
func (s *scheduler) clean() {
	for i, c := range s.all {
		s.races.Ended(&c.Thread)
		if c.state == ended {
			c.recycle()
			s.spare = append(s.spare, c)
		}
		s.all[i] = nil
	}
	s.all = s.all[:0]
	clear(s.ready)
	s.ready, s.ids, s.ops = s.ready[:0], s.ids[:0], s.ops[:0]
	s.current, s.last = nil, nil
	s.races.End()
	s.objects.reset()
	s.clock.reset()
	s.compare = compare{}
	forgetDeparted()
	*s = scheduler{
		all: s.all, spare: s.spare, ready: s.ready, ids: s.ids, ops: s.ops, coming: s.coming,
		done: s.done, frames: s.frames, races: s.races, objects: s.objects,
		scratch: s.scratch, clock: s.clock, journal: s.journal, started: s.started, beforeAll: s.beforeAll,
	}
}
