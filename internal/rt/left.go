package rt

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
	"github.com/cofferdam-go/cofferdam/internal/rt/waiting"
)

// What is left at the end of a run.
//
// When the root has ended the others go on, until all have ended or wait, or until they
// have shown that they do not come to an end (maxLinger). Then the goroutines that wait are
// judged (package waiting). A run that a panic, an exit or a fatal error has ended is not
// judged: its goroutines were in the middle of something.

// stuck is called when no goroutine can ever go on.
func (s *scheduler) stuck() {
	if s.rootEnded || len(s.result.Failures) > 0 {
		return
	}
	f := Failure{Kind: event.FailureDeadlock, Message: "all goroutines are asleep - deadlock!", G: 1, Step: s.steps}
	f.Site, f.Frame = s.all[0].op.Site, s.all[0].Frame
	s.result.Failures = append(s.result.Failures, f)
}

// LeakMessage is the message of a leak.
const LeakMessage = "goroutines are left waiting when the test is over"

// judgeLeft lists the goroutines that wait, and makes a failure of those that do so for
// ever.
func (s *scheduler) judgeLeft() {
	r := s.result
	if r.Left = s.left(); len(r.Left) == 0 {
		return
	}
	if len(r.Failures) > 0 {
		if f := &r.Failures[0]; f.Kind == event.FailureDeadlock {
			f.Blocked = s.withoutIdleEarly(r.Left)
		}
		return
	}
	var locked, leaked []Blocked
	for i := range r.Left {
		b := &r.Left[i]
		switch {
		case b.Locked:
			locked = append(locked, *b)
		case !s.rootEnded || b.Library || b.Timer || s.isEarly(b):
		case b.Stuck:
			b.Leaked = true
			leaked = append(leaked, *b)
		default:
			b.Undecided, r.Undecided = true, true
		}
	}
	if len(locked) > 0 {
		s.addLeft(event.FailurePartialDeadlock, "goroutines wait for a lock that is never released", locked)
	}
	if len(leaked) > 0 && s.config.Leaks {
		s.addLeft(event.FailureLeak, LeakMessage, leaked)
	}
}

// withoutIdleEarly leaves out the goroutines that wait for something to do since before the
// first run: they are no part of a deadlock, unless it is about a lock.
func (s *scheduler) withoutIdleEarly(all []Blocked) []Blocked {
	var some []Blocked
	for i := range all {
		if b := &all[i]; b.Locked || !s.isEarly(b) {
			some = append(some, *b)
		}
	}
	return some
}

func (s *scheduler) isEarly(b *Blocked) bool { return s.all[b.G-1].early }

func (s *scheduler) addLeft(kind event.FailureKind, message string, all []Blocked) {
	s.result.Failures = append(s.result.Failures, Failure{
		Kind: kind, Message: message, G: all[0].G, Site: all[0].Op.Site, Frame: all[0].Frame, Step: s.steps, Blocked: all,
	})
}

// left lists the goroutines that wait.
func (s *scheduler) left() []Blocked {
	n := 0
	for _, c := range s.all {
		if c.state == blocked {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	nodes := make([]waiting.Goroutine, len(s.all))
	for i, c := range s.all {
		nodes[i] = s.node(c)
	}
	all := make([]Blocked, 0, n)
	for i, v := range waiting.Judge(nodes, s.othersMayWake()) {
		c := s.all[i]
		if c.state != blocked {
			continue
		}
		b := Blocked{G: c.id, Op: c.op, Frame: c.Frame, Stuck: v.Stuck, Locked: v.Locked, Shape: v.Shape, Library: s.inLibrary(c), Timer: s.timerToCome(c)}
		s.addFacts(&b, c)
		all = append(all, b)
	}
	s.addHolds(all)
	for i := range all {
		b := &all[i]
		if b.Shape == event.GroupNeverDone && s.heldUp(b, all) {
			b.Shape = event.GroupHeldUp
		}
		b.Locked = b.Locked || b.Stuck && b.Shape.OfLock()
		if b.Shape == event.DoubleLock && leftFunction(b) {
			b.Shape = event.MissingUnlock
		}
	}
	return all
}

// node is a goroutine as package waiting sees it.
func (s *scheduler) node(c *goroutine) waiting.Goroutine {
	switch c.state {
	case ended:
		return waiting.Goroutine{State: waiting.Ended}
	case ready, outside:
		return waiting.Goroutine{State: waiting.GoesOn}
	case blocked:
	}
	if s.timerToCome(c) {
		return waiting.Goroutine{State: waiting.GoesOn}
	}
	n := waiting.Goroutine{State: waiting.Waits}
	switch w := &c.wait; w.kind {
	case forEver:
		n.Need = waiting.Nothing
	case forMutex, forWriting, forReading:
		n.Need = waiting.Release
		s.addBlockers(&n, c, w.on)
	}
	return n
}

// addBlockers says which goroutines have to let go of o before c gets it.
func (s *scheduler) addBlockers(n *waiting.Goroutine, c *goroutine, o *object) {
	add := func(d *goroutine) {
		n.Blockers = append(n.Blockers, int(d.id)-1)
		n.Again = n.Again || d == c
	}
	// What ran outside control may have released the lock and taken it.
	n.Unknown = o.handed || foreign.Load()
	if o.holder.by != nil {
		add(o.holder.by)
	}
	switch c.wait.kind {
	case forWriting:
		for _, h := range o.reading {
			add(h.by)
		}
		n.Unknown = n.Unknown || o.granted > 0
	case forReading:
		for _, h := range o.reading {
			n.Again = n.Again || h.by == c
		}
		if o.holder.by == nil {
			for _, d := range o.waiters {
				if d.wait.kind == forWriting && d.state == blocked {
					add(d)
				}
			}
		}
	}
	n.Untaken = !o.taken && !n.Unknown && len(n.Blockers) == 0
	n.Unknown = n.Unknown || len(n.Blockers) == 0
}

// timerToCome reports whether a timer is going to wake c.
func (s *scheduler) timerToCome(c *goroutine) bool {
	if c.timer != nil {
		return true
	}
	for _, t := range s.clock.queue.All() {
		for i := range c.comms {
			if t.on != nil && t.on == c.comms[i].on {
				return true
			}
		}
	}
	return false
}

// othersMayWake reports whether something else than the run's goroutines may go on: a
// function that a timer is going to call, a deadline, or what is not under control. Of the latter
// those count, too, that were there before the run, started by an init function or for
// package os/signal.
func (s *scheduler) othersMayWake() bool {
	for _, t := range s.clock.queue.All() {
		if t.f != nil || t.alarm != nil {
			return true
		}
	}
	bystanders := s.config.Bystanders
	if watching.Load() {
		bystanders++
	}
	return others.Load() > 0 || foreign.Load() || s.config.Bystanders > 0 && s.baseline > bystanders || s.newcomers(nil)
}

// inLibrary reports whether c is a goroutine that the standard library has started, and
// has called nothing of the program.
func (s *scheduler) inLibrary(c *goroutine) bool {
	own := s.config.OwnSites
	isOwn := func(site uint32) bool { return site >= own && site < event.CallSites }
	if own == 0 || isOwn(c.started) || isOwn(c.op.Site) {
		return false
	}
	if pc, ok := s.frames.PC(c.op.Site); ok && !frames.IsStandard(pc-1) {
		return false
	}
	return !s.frames.Passes(c.Frame, c.born, own)
}

// addFacts adds why c waits, if it is not for a lock, and what is known of that.
func (s *scheduler) addFacts(b *Blocked, c *goroutine) {
	var shape event.WaitShape
	switch w := &c.wait; w.kind {
	case forEver:
		shape = shapeForEver(c.op.Kind)
	case forChannel:
		shape = event.AbandonedChannel
		if len(c.comms) == 1 {
			b.Length, b.Capacity = c.comms[0].on.length(), c.comms[0].on.capacity()
		}
	case forGroup:
		shape = event.GroupNeverDone
		b.Count = int(int32(w.group.Load() >> 32))
	case forBubble:
		shape = event.GroupNeverDone
		b.Count = w.bubble.members
	case forGrant:
		if w.on != nil {
			shape, b.Unheard = event.NoSignal, w.on.unheard
			if b.Unheard > 0 {
				shape = event.MissedSignal
			}
		}
	}
	if b.Stuck && b.Shape == event.UnknownShape {
		b.Shape = shape
	}
}

// shapeForEver is why an operation can never be done.
func shapeForEver(kind event.Kind) event.WaitShape {
	switch kind {
	case event.Send, event.Recv:
		return event.NilChannel
	case event.Select:
		return event.EmptySelect
	case event.WaitGroupWait:
		return event.GroupNeverDone
	case event.Lock, event.RLock:
		return event.DoubleLock // of a lock that no other goroutine can reach
	}
	return event.UnknownShape
}

// addHolds adds to goroutines the locks that they hold, and the holders of those that they wait
// for.
func (s *scheduler) addHolds(all []Blocked) {
	byID := map[uint32]*Blocked{}
	waited := map[uintptr][]*Blocked{}
	for i := range all {
		b := &all[i]
		byID[b.G] = b
		switch b.Op.Kind {
		case event.Lock, event.RLock:
			waited[b.Op.Addr] = append(waited[b.Op.Addr], b)
		}
	}
	for _, o := range s.objects.all[:s.objects.used] {
		add := func(h hold, kind event.Kind) {
			held := Held{
				Addr: o.addr, Kind: kind, G: h.by.id, Site: h.site, Frame: h.frame,
				Ended: h.by.state == ended, Returned: h.by.state == ended || !s.frames.Within(h.by.Frame, h.frame),
			}
			if b := byID[h.by.id]; b != nil {
				b.Holds = append(b.Holds, held)
			}
			for _, b := range waited[o.addr] {
				if kind == event.Lock || b.Op.Kind == event.Lock || b.G == h.by.id {
					b.HeldBy = append(b.HeldBy, held)
				}
			}
		}
		if o.holder.by != nil {
			add(o.holder, event.Lock)
		}
		for _, h := range o.reading {
			add(h, event.RLock)
		}
	}
}

// heldUp reports whether a goroutine that waits for a WaitGroup may do so because of others
// that wait for ever. Those that it comes from are not what it waits for.
func (s *scheduler) heldUp(b *Blocked, all []Blocked) bool {
	for i := range all {
		if d := &all[i]; d.Stuck && !d.Library && !s.isEarly(d) && d.Op.Kind != event.WaitGroupWait && !s.descends(b.G, d.G) {
			return true
		}
	}
	return false
}

// descends reports whether a goroutine was started by another, or by one that was.
func (s *scheduler) descends(g, from uint32) bool {
	for g != 0 && g != from {
		g = s.all[g-1].parent
	}
	return g == from
}

// leftFunction reports whether a goroutine that holds the lock it waits for has left the
// function that took it: that is a path without an unlock, not a call too many.
func leftFunction(b *Blocked) bool {
	for _, h := range b.HeldBy {
		if h.G == b.G {
			return h.Returned
		}
	}
	return false
}
