package rt

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// Stalls.
//
// How long the code between two hooks takes is not known: on a machine that is busy, or
// stops for a while, it may take longer than until the next timer. So time may move on to
// the next timer at any point, although goroutines are ready, if the strategy says so.
//
// But not by any amount. A test that gives up after ten seconds does so in order that it
// does not hang, and is not at fault if it fails on a machine that stands still for ten
// seconds. So a run has a limit, Config.Stall, for all its stalls together: a timer can
// overtake what is ready only if the machine would have to stall for no longer than that.
// The time that the program spends waiting is not counted: when a goroutine wakes after
// 190 ms of sleep, a timer of 200 ms is 10 ms away.
//
// In a bubble of package testing/synctest there are no stalls: its time moves when all of
// its goroutines wait, and only then.

// moves is how time has moved since the last step of a goroutine.
type moves struct {
	step    uint64 // how many steps there were
	idle    uint32 // by itself
	stalled uint32 // though goroutines were ready
}

// since returns how often time has moved since the last step, of so many.
func (m *moves) since(step uint64) (idle, stalled uint32) {
	if m.step != step {
		return 0, 0
	}
	return m.idle, m.stalled
}

// at prepares for counting a move after so many steps.
func (m *moves) at(step uint64) {
	if m.step != step {
		*m = moves{step: step}
	}
}

// mayStall reports whether time may move on now, with goroutines that are ready.
func (s *scheduler) mayStall() bool {
	return s.clock.queue.Len() > 0 && s.config.Stall > 0 && s.mayStallFor()
}

// mayStallFor is mayStall where there are timers.
func (s *scheduler) mayStallFor() bool {
	k := &s.clock
	if k.exact > 0 || k.shown {
		return false
	}
	t := k.next()
	if t == nil {
		return false
	}
	if t.When-k.now > s.config.Stall-k.stalled {
		s.result.Held.Stall, s.result.Held.StallLimit = true, s.config.Stall
		return false
	}
	return true
}

// offerTime adds to what can go next that time moves on.
func (s *scheduler) offerTime(p *sched.Turn) {
	n := len(s.ids)
	s.ids, s.ops = append(s.ids, sched.Time)[:n], append(s.ops, s.clock.fires(s.clock.next()))[:n]
	p.Ready, p.Ops = s.ids[:n+1], s.ops[:n+1]
}

// stall moves time on to the next timer, though goroutines are ready.
func (s *scheduler) stall() {
	k := &s.clock
	t := k.next()
	s.moves.at(s.steps)
	s.moves.stalled++
	k.stalled += t.When - k.now
	s.emit(nil, event.Stall, 0, 0, 0, uint64(t.When-k.now))
	k.moveTo(t.When)
	s.ahead = 0
	s.due()
}

// fires is what it means to others that time moves on to t: the timers that are due then
// send on a channel, on several (Addr is 0), or on none (Addr is nothing that others use).
func (k *clock) fires(t *timer) event.Op {
	op := event.Op{Kind: event.TimerFire, Addr: k.ownAddr(), Size: 1}
	if k.queue.Len() > manyTimers {
		op.Addr = 0
		return op
	}
	channels := 0
	for _, u := range k.queue.All() {
		switch {
		case u.When > t.When:
		case u.on != nil:
			op.Addr = u.on.addr
			channels++
		case u.alarm != nil:
			channels = 2 // which media it changes is not known here
		}
	}
	if channels > 1 {
		op.Addr = 0
	}
	return op
}

// manyTimers is how many timers are looked at one by one.
const manyTimers = 32

// overtakesOutside moves time on before what is outside control comes back, if the strategy
// says so: otherwise a process outside, for which some real time is waited, would always be
// faster than a timer. c is the goroutine that ran last.
func (s *scheduler) overtakesOutside(c *goroutine) bool {
	if s.rootEnded || s.last == nil || !s.mayStall() || !s.newcomers(c) {
		return false
	}
	if s.strategy.Branch(sched.Choice{G: s.last.id, N: 2, Kind: event.Outside}) == 0 {
		return false
	}
	k := &s.clock
	ahead := k.next().When - k.now
	k.stalled += ahead
	s.emit(nil, event.Stall, 0, 0, 0, uint64(ahead))
	return s.advance()
}
