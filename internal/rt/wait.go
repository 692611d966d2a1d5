package rt

import (
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A wait is the condition under which a goroutine's pending operation can be done.
type wait struct {
	kind waitKind
	on   *object
	// What the condition is about: one of these, in the program's own object.
	mutex  *int32
	count  *atomic.Int32
	group  *atomic.Uint64
	bubble *bubble
	ready  func() bool
	// registered says that the goroutine is among the waiters of what it depends on.
	registered bool
	// granted says that the condition held once, and that that counts.
	granted bool
	// retry says that the goroutine is to try, whatever is known here.
	retry bool
}

type waitKind uint8

const (
	forNothing waitKind = iota
	forMutex            // to be unlocked
	forWriting          // an RWMutex to be unlocked by all
	forReading          // an RWMutex to be unlocked by a writer, and no writer to wait
	forGroup            // a WaitGroup to come to 0
	forGrant            // a Cond to be signalled, a time to come
	forChannel          // one of comms to be possible
	forBubble           // all of a bubble's goroutines to end
	forQuiet            // all others to wait
	forMedium           // what Use was told
	forEver
)

// enabled reports whether c's pending operation can be done now.
func (c *goroutine) enabled() bool {
	w := &c.wait
	if w.granted || w.retry {
		return true
	}
	switch w.kind {
	case forNothing:
		return true
	case forMutex:
		return atomic.LoadInt32(w.mutex)&(mutexLocked|mutexStarving) == 0
	case forWriting:
		return w.count.Load() == 0 && w.on.granted == 0
	case forReading:
		return w.count.Load() >= 0 && !w.on.writerWaits()
	case forGroup:
		return int32(w.group.Load()>>32) == 0
	case forChannel:
		for i := range c.comms {
			if c.possible(i) {
				return true
			}
		}
		return false
	case forMedium:
		return w.ready()
	case forBubble:
		return w.bubble.members == 0
	case forGrant, forQuiet, forEver:
		return false
	}
	panic("rt: unknown wait")
}

// await announces what c is about to do once the condition that c.wait describes holds,
// and returns when it is c's turn and it does, as far as is known here. If another goroutine
// did it for c, c.chose says so. It returns false if c is being taken down.
func (c *goroutine) await(op event.Op) bool {
	alive, waits := c.awaitTurn(op)
	if waits {
		c.awaitDone(op)
	}
	return alive
}

// awaitTurn is the first part of await: it returns when it is c's turn, and whether c has to wait
// then.
func (c *goroutine) awaitTurn(op event.Op) (alive, waits bool) {
	if c.dying {
		c.dead()
		return false, false
	}
	s.completeLast()
	switch c.wait.kind {
	case forMutex, forReading, forWriting:
		// It may change something while it has the lock, and may not.
		if c.wait.on.tried {
			c.polling.looks(op.Addr, 0)
		} else {
			c.polls(&op)
		}
	case forNothing:
		// A select with a default.
		c.polls(&op)
	default:
		c.polling.changes()
	}
	op.G = c.id
	s.ops[s.at(c)] = op
	s.adopt()
	if s.steps >= s.pause {
		s.look(c)
	}
	if overdue.Load() {
		s.stopIfLate(c)
	}
	onlyWaits := c.onlyWaits
	c.onlyWaits = false
	// To ask is a step, even if the answer is to wait: the strategy has to see it. It
	// does not count if c is alone, whether the run is watched or not, so that steps have
	// the same numbers in both cases.
	switch {
	case onlyWaits && !c.enabled():
	case len(s.ready) > 1, c.enabled() && s.mayStall():
		if d := s.choose(c); d != c {
			s.pass(d)
			c.park()
		}
	case c.enabled() && !s.watches:
		s.took(c)
	case c.enabled():
		s.choose(c)
	case s.watches:
		s.show(c)
	}
	return true, !c.enabled()
}

// awaitDone is the second part of await: it returns when the condition holds.
func (c *goroutine) awaitDone(op event.Op) {
	if op.Site == 0 {
		s.ops[s.at(c)].Site = c.site()
	}
	if c.wait.kind == forGroup {
		c.joinsGroup(c.wait.on, s.ops[s.at(c)].Site)
	}
	c.block()
	c.wait.retry = false
}

// block waits until the condition holds.
func (c *goroutine) block() {
	c.register()
	s.suspend(c)
	c.rest()
	c.unregister()
}

// forever never returns.
func (c *goroutine) forever(op event.Op) {
	c.wait = wait{kind: forEver}
	if c.await(op) {
		panic("rt: somebody went on who waits for nothing")
	}
	c.die()
}

// register enters c with what its condition depends on.
func (c *goroutine) register() {
	if c.wait.registered {
		return
	}
	c.wait.registered = true
	if c.wait.on != nil {
		c.wait.on.waiters = append(c.wait.on.waiters, c)
	}
	for i := range c.comms {
		o := c.comms[i].on
		o.waiters = append(o.waiters, c)
		*o.offered(c.comms[i].send)++
	}
}

func (c *goroutine) unregister() {
	if !c.wait.registered {
		return
	}
	c.wait.registered = false
	if c.wait.on != nil {
		c.wait.on.removeWaiter(c)
	}
	for i := range c.comms {
		c.comms[i].on.removeWaiter(c)
		*c.comms[i].on.offered(c.comms[i].send)--
	}
}

func (o *object) removeWaiter(c *goroutine) {
	for i, d := range o.waiters {
		if d != c {
			continue
		}
		if i < len(o.waiters)/2 {
			// Mostly it is the first of them that goes.
			copy(o.waiters[1:i+1], o.waiters[:i])
			o.waiters[0] = nil
			o.waiters = o.waiters[1:]
			return
		}
		n := copy(o.waiters[i:], o.waiters[i+1:])
		o.waiters[i+n] = nil
		o.waiters = o.waiters[:i+n]
		return
	}
}

// changed looks again which goroutines that wait for o can go on, and which cannot any more.
func (s *scheduler) changed(o *object) {
	if len(o.waiters) > 0 && o.channel.header != nil {
		o.serve()
	}
	if len(o.waiters) >= crowd {
		if !o.idle() {
			s.changedForMany(o)
		}
		return
	}
	for i := 0; i < len(o.waiters); i++ {
		s.reconsider(o.waiters[i])
	}
}

// crowd is how many waiters are better moved all at once: one by one each of them costs
// a walk over the ready ones.
const crowd = 16

// changedForMany is changed for a crowd. Those whose going on or not matters to others
// are left for last, and done one by one.
func (s *scheduler) changedForMany(o *object) {
	moved := false
	o.seenClosed = o.channel.header != nil && o.closed()
	for _, c := range o.waiters {
		if c == s.current && c.state == ready || c.chose >= 0 || !c.lone(o) {
			continue
		}
		switch enabled := c.enabled(); {
		case enabled && c.state == blocked:
			c.state = ready
			s.coming = append(s.coming, c)
			moved = true
		case !enabled && c.state == ready:
			c.op = s.ops[s.at(c)]
			c.index = -1
			c.state = blocked
			s.emit(c, event.Blocked, c.op.Site, c.op.Addr, 0, uint64(c.op.Kind))
			moved = true
		}
	}
	if moved {
		s.regroup()
	}
	for i := 0; i < len(o.waiters); i++ {
		if c := o.waiters[i]; !c.lone(o) {
			s.reconsider(c)
		}
	}
	o.someReady = false
	for _, c := range o.waiters {
		o.someReady = o.someReady || c.state == ready && c.chose < 0
	}
}

// lone reports whether no other can go on, or has to wait, because of c, which waits for o, or
// does not any more.
func (c *goroutine) lone(o *object) bool {
	switch c.wait.kind {
	case forMutex, forReading, forGroup:
		return true
	case forChannel:
		return o.seenClosed && len(c.comms) == 1
	}
	return false
}

// regroup takes goroutines from the ready ones that have lost their index, and puts those
// that are coming among them.
func (s *scheduler) regroup() {
	s.ahead = 0
	s.arrivals += 2 // none that could be named
	kept := 0
	for i, c := range s.ready {
		if c.index >= 0 {
			s.place(c, kept, s.ops[i])
			kept++
		}
	}
	clear(s.ready[kept:])
	s.ready, s.ids, s.ops = s.ready[:kept], s.ids[:kept], s.ops[:kept]
	sortByID(s.coming)
	for _, c := range s.coming {
		s.ready = append(s.ready, c)
		s.ids = append(s.ids, c.id)
		s.ops = append(s.ops, c.op)
	}
	// From the back, so that none is overwritten that has not been moved yet.
	for at := len(s.ready) - 1; len(s.coming) > 0; at-- {
		n := len(s.coming) - 1
		if kept > 0 && s.ids[kept-1] > s.coming[n].id {
			kept--
			s.place(s.ready[kept], at, s.ops[kept])
			continue
		}
		s.place(s.coming[n], at, s.coming[n].op)
		s.coming[n] = nil
		s.coming = s.coming[:n]
	}
}

// sortByID sorts in the manner of Shell: package sort is not to be had here.
func sortByID(list []*goroutine) {
	for gap := len(list) / 2; gap > 0; gap /= 2 {
		for i := gap; i < len(list); i++ {
			for j := i; j >= gap && list[j].id < list[j-gap].id; j -= gap {
				list[j], list[j-gap] = list[j-gap], list[j]
			}
		}
	}
}

// reconsider looks again whether c can go on. The one that runs is not looked at, unless
// it is just about to rest: time may move on to what it waits for before anybody else is
// picked.
func (s *scheduler) reconsider(c *goroutine) {
	if c == s.current && c.state == ready || c.chose >= 0 {
		return
	}
	switch enabled := c.enabled(); {
	case enabled && c.state == blocked:
		s.resume(c)
	case !enabled && c.state == ready:
		s.suspend(c)
	}
}

// suspend takes c from the ready ones.
func (s *scheduler) suspend(c *goroutine) {
	s.remove(c)
	c.state = blocked
	s.emit(c, event.Blocked, c.op.Site, c.op.Addr, 0, uint64(c.op.Kind))
	if c.wait.kind == forWriting {
		s.changed(c.wait.on) // a writer that waits holds readers back
	}
}

// resume puts c among the ready ones.
func (s *scheduler) resume(c *goroutine) {
	s.insert(c, c.op)
	if c.wait.kind == forWriting {
		s.changed(c.wait.on)
	}
	// One that is ready has no offers on channels open any more, so others may have to
	// wait now that could have met it.
	for i := range c.comms {
		o := c.comms[i].on
		o.someReady = o.someReady || c.chose < 0
		if len(o.waiters) > 1 && o.unbuffered() {
			s.changed(o)
		}
	}
}

// show shows the strategy what c, which is alone, asks for.
func (s *scheduler) show(c *goroutine) {
	steps, points, row, last, taken := s.steps, s.points, s.row, s.last, c.taken
	// That time moves on before it waits makes no difference: it does so afterwards.
	s.clock.shown = true
	s.choose(c)
	s.clock.shown = false
	s.steps, s.points, s.row, s.last, c.taken = steps, points, row, last, taken
	s.ahead = 0
}
