package rt

import "github.com/cofferdam-go/cofferdam/internal/event"

// A polling is what is known of a goroutine that may be waiting by looking at something
// again and again: an atomic variable, a channel in a select with a default, what a lock
// guards.
//
// A loop that polls an atomic variable keeps the goroutine out that it waits for, if the
// strategy lets the current goroutine run on; and it has no call in it that says so, as a
// loop with runtime.Gosched has. So a goroutine is taken to ask for others to go first that
// comes back to one atomic at one site, or to a select with a default, has changed nothing
// meanwhile, and is in the same state as the last time: then it has gone round a loop, and a run
// without that round comes to the same end (event.IdleRound).
//
// What it is about to do follows from its stack: at a call nothing is kept in registers. So its
// state is a sum over its stack. A loop that counts its rounds is in another state each time, and
// may be one that looks at a hundred things and waits for nothing. It is let go on, until it has
// gone round so often that it may go on for ever; what it would do then is not tried
// (event.LongRound).
//
// A round of a loop that locks a mutex, looks, and unlocks it is such a round, too, unless a
// goroutine tries to lock the mutex: to that it makes a difference whether it is locked.
//
// All that depends on nothing but what the goroutine does, so that it is the same in every run of
// a schedule. A goroutine that looks at something else is only not taken to have anything else to
// do; see goOn.
type polling struct {
	site   uint32
	addr   uintptr
	rounds int // how often it came back to the place, having changed nothing
	since  int // looks elsewhere since it was there
	state  uint64
	rest   rest
	idle   idleRounds
}

// idleRounds are the rounds of a loop that a goroutine is in the same state after: those since
// the step from, if there are any. The last look was at the step last.
type idleRounds struct {
	any        bool
	from, last uint64
}

// look takes note of a look, after a round that was idle or not.
func (i *idleRounds) look(idle bool) {
	if !idle {
		i.any = false
	} else if !i.any {
		i.any, i.from = true, i.last
	}
	i.last = s.steps
}

// A rest is the last call of runtime.Gosched by a goroutine.
type rest struct {
	site  uint32 // 0 if something was changed since
	state uint64
	count int // how many there were in all
}

// changes takes note that the goroutine has done something that others may see.
func (p *polling) changes() {
	p.rounds, p.rest.site, p.idle.any = 0, 0, false
	s.changedAt = s.steps
}

// patientRounds is after how many looks a goroutine is taken to have nothing else to do when time
// moves on. It is more than loops do that repeat what they do for another reason, such as a
// compare and swap that has failed.
const patientRounds = 8

// longRounds is how often a goroutine may go round a loop, in another state each time, before it
// has to let others go.
const longRounds = 200

// maxRound is how many looks a round may have: if it has more, the place was before the
// loop and not in it, and another one is chosen.
const maxRound = 16

// looks takes note of a look.
func (p *polling) looks(addr uintptr, site uint32) {
	if p.comesBack(addr, site) {
		p.rounds++
		p.since = 0
	} else if p.rounds > 0 && p.since < maxRound {
		p.since++
	} else {
		*p = polling{site: site, addr: addr, rounds: 1, rest: p.rest, idle: idleRounds{last: s.steps}}
	}
}

// comesBack reports whether a place is where the goroutine has looked before.
func (p *polling) comesBack(addr uintptr, site uint32) bool {
	return p.rounds > 0 && p.site == site && p.addr == addr
}

// polls takes note of a look that the operation is, and has it yield if it is one of many.
func (c *goroutine) polls(op *event.Op) {
	p, site := &c.polling, op.Site
	again := p.comesBack(op.Addr, site)
	p.looks(op.Addr, site)
	if !again {
		return
	}
	before := p.state
	p.state = stackSum(c.madeForHook)
	for i := range c.comms {
		p.state = (p.state ^ uint64(c.comms[i].on.addr)) * sumPrime
	}
	p.idle.look(p.state == before)
	switch {
	case p.state == before:
		op.Yield, op.Round = true, event.IdleRound
	case p.rounds > longRounds:
		op.Yield, op.Round = true, event.LongRound
	}
}

// rests takes note of a call of runtime.Gosched, and returns what is known of the round since the
// last one.
func (c *goroutine) rests(site uint32) event.Round {
	c.polling.looks(0, site)
	before := &c.polling.rest
	now := rest{site: site, state: stackSum(nil), count: before.count + 1}
	round := event.NewRound
	switch {
	case before.site == site && site != 0 && before.state == now.state:
		round = event.IdleRound
	case now.count > longRounds:
		round = event.LongRound
	}
	*before = now
	c.polling.idle.look(round == event.IdleRound)
	return round
}

// onlyYield reports whether every goroutine that can go on is about to let others go first.
func (s *scheduler) onlyYield() bool {
	for i := range s.ops {
		if !s.ops[i].Yield {
			return false
		}
	}
	return true
}

// livelocked reports whether nothing can change any more though goroutines go on: each of them has
// gone round a loop since the last change, and was in the same state after it.
func (s *scheduler) livelocked() bool {
	if len(s.ready) == 0 || s.clock.queue.Len() > 0 || s.quiet > 0 || foreign.Load() || others.Load() > 0 || strays.count.Load() > 0 {
		return false
	}
	for _, c := range s.ready {
		if i := &c.polling.idle; !i.any || i.from < s.changedAt {
			return false
		}
	}
	return !s.newcomers(nil)
}

// endIfLivelocked ends the run for c if nothing can change any more.
func (s *scheduler) endIfLivelocked(c *goroutine) {
	if !s.livelocked() {
		return
	}
	s.result.CutOff, s.result.Livelocked, s.result.Spinning = true, true, s.goingOn()
	c.stop()
}

// goingOn are the goroutines that can go on.
func (s *scheduler) goingOn() []Late {
	var all []Late
	for _, d := range s.ready {
		all = append(all, Late{G: d.id, Site: s.ops[s.at(d)].Site, Frame: d.Frame})
	}
	return all
}

// onlyLooks reports whether the goroutine does nothing but look, and comes back to the same state.
func (p *polling) onlyLooks() bool { return p.rounds > patientRounds && p.idle.any }

// onlyPolls reports whether every goroutine that can go on waits by looking again and
// again.
func (s *scheduler) onlyPolls() bool {
	for _, c := range s.ready {
		if !c.polling.onlyLooks() {
			return false
		}
	}
	return true
}
