package rt

import (
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
	"github.com/cofferdam-go/cofferdam/internal/rt/timers"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// Virtual time.
//
// It stands still while any goroutine can run, but for stalls (stall.go). It moves on to
// the next timer when no goroutine can, and when one waits by trying again and again.

// epoch is 2000-01-01 00:00:00 UTC, in nanoseconds since 1970: the instant at which bubbles start.
// Runs start on the day that the tool says (calendar.go). Those that draw from the first sequence
// of random numbers start a fraction of a second after it has begun, because a whole second is an
// instant that hardly any program comes upon, and the others within that second or shortly before a
// turn of the clock: programs make random numbers of the time.
const (
	epoch    = 946684800_000_000_000
	fraction = 123_456_789
)

// patientReads is how often the time may be asked for while it stands still. After that,
// each further time lets some of it go by: a program that loops until it is late comes to
// an end. That is twice as much after each doublingReads, so that a program which does no more
// than to ask often is not late soon, and at most perRead. It is less for a goroutine that does
// something else between two looks, and may have much to do.
const (
	patientReads  = 1000
	doublingReads = 64
	perRead       = 1_000_000
	perBusyRead   = 20_000
)

// clockAddr stands for the clock among the addresses that a goroutine looks at.
const clockAddr = 1

// perLook is by how much the time that is told goes on when a program asks for it, or a timer
// tells it: programs take for granted that some has passed since they looked last, and that
// a sleep has taken longer than it had to. Timers know nothing of it, so that those that are
// due together stay together. In a bubble time is told exactly, as package testing/synctest
// promises.
const perLook = 100

// perLongWork is by how much time goes on while 2*spinning steps are taken: about as
// much as a program would need for them that is not under control, with a thousand
// instructions between two hooks.
const perLongWork = 20_000_000

// maxLinger is how often time moves on after the root has ended: goroutines that are left
// may have a ticker, or poll, and never end. One that spins uses up one of these in every
// lingerSteps steps.
const (
	maxLinger   = 100
	lingerSteps = 1000
)

// Before the first run, while packages are initialised, time stands still too, shortly
// before the day begins: what they keep of it must make sense to the runs.
var (
	frozen      atomic.Bool
	frozenReads atomic.Int64
)

// Freeze makes time stand still until Thaw, for goroutines that are not under control.
func Freeze() { frozen.Store(true) }

// Thaw lets time go on.
func Thaw() { frozen.Store(false) }

type clock struct {
	now   int64 // nanoseconds since the start
	reads int   // since now changed
	// rounds are those in which all goroutines that could go on looked for something or let
	// others go first, since time moved on to a timer.
	rounds int
	drift  int64 // what is told beyond now
	began  int64 // the run, in nanoseconds since 1970
	// stalled is for how long goroutines were ready while time moved on.
	stalled int64
	shown   bool    // nothing is to come of a choice
	firing  *bubble // of the timer that fires
	exact   int     // bubbles
	queue   timers.Queue[*timer]
	known   map[uintptr]*timer
	spare   []*timer
	alone   struct { // what a strategy is shown when time moves on by itself
		ids []uint32
		ops []event.Op
	}
}

func (k *clock) reset() {
	for _, t := range k.queue.All() {
		if t.key == 0 {
			k.forget(t)
		}
	}
	for _, t := range k.known {
		k.forget(t)
	}
	clear(k.known)
	k.queue.Reset()
	*k = clock{queue: k.queue, known: k.known, spare: k.spare, alone: k.alone}
}

// shortly is how long before such a turn a run may begin, in nanoseconds.
const shortly = 50_000_000

// begin sets the clock for a run that draws from a sequence of random numbers. A bug that shows
// at midnight needs a run that begins shortly before it: half of the runs begin at any
// fraction of a second, and the others before a turn of the clock or of the calendar.
func (k *clock) begin(seed, sequence uint64) {
	if sequence == 0 {
		k.began = today.began + fraction
		return
	}
	drawn := spread(seed + sequence)
	part := int64(drawn >> 8 % 1_000_000_000)
	if which := drawn % (2 * uint64(len(today.turns))); which < uint64(len(today.turns)) {
		k.began = today.began + today.turns[which]*1_000_000_000 - part%shortly
		return
	}
	k.began = today.began + part
}

func (k *clock) forget(t *timer) {
	t.vector.Reset()
	*t = timer{vector: t.vector}
	k.spare = append(k.spare, t)
}

func (k *clock) make() *timer {
	if n := len(k.spare); n > 0 {
		t := k.spare[n-1]
		k.spare = k.spare[:n-1]
		return t
	}
	return &timer{}
}

// start sets t off.
func (k *clock) start(t *timer, d int64) {
	when := k.now + max(d, 0)
	if when < k.now {
		when = 1<<63 - 1
	}
	k.queue.Push(t, when)
	s.ahead = 0 // time has become something that can go next
}

// next returns the next timer that does something, nil if there is none. A ticker whose
// channel is full does nothing, ever again if no goroutine looks.
func (k *clock) next() *timer {
	if k.queue.Len() == 0 {
		return nil
	}
	if t := k.queue.First(); t.effective() {
		return t
	}
	var next *timer
	for _, t := range k.queue.All() {
		if t.effective() && (next == nil || t.Before(&next.Place)) {
			next = t
		}
	}
	return next
}

// moveTo lets time go on.
func (k *clock) moveTo(when int64) { k.now, k.reads, k.rounds = when, 0, 0 }

// workedFor lets time go on by what something outside has taken, but not to the next timer. In a
// bubble it stands still until all of it wait.
func (k *clock) workedFor(nanoseconds int64) {
	when := k.now + nanoseconds
	if next := k.next(); next != nil {
		when = min(when, next.When-1)
	}
	if when > k.now && k.exact == 0 {
		k.moveTo(when)
	}
}

// ownAddr stands for the time that is told, which changes when it is asked for.
func (k *clock) ownAddr() uintptr { return uintptr(unsafe.Pointer(&k.drift)) }

// advance moves on to the next timer that does something, and reports whether there was
// one.
func (s *scheduler) advance() bool {
	k := &s.clock
	t := k.next()
	if t == nil {
		return false
	}
	if s.rootEnded {
		if s.lingered++; s.lingered > maxLinger {
			return false
		}
	}
	if s.watches {
		s.showTime(t)
	}
	s.moves.at(s.steps)
	s.moves.idle++
	s.ahead = 0
	k.moveTo(t.When)
	return s.due()
}

// showTime shows the strategy that time moves on by itself.
func (s *scheduler) showTime(t *timer) {
	p := &s.point
	p.Step, p.Current, p.Last, p.Taken = s.steps, 0, 0, 0
	if s.last != nil {
		p.Last, p.Taken = s.last.id, s.last.taken
	}
	p.Idle, p.Stalled = s.moves.since(s.steps)
	p.Ready, p.Ops = append(s.clock.alone.ids[:0], sched.Time), append(s.clock.alone.ops[:0], s.clock.fires(t))
	s.clock.alone.ids, s.clock.alone.ops = p.Ready, p.Ops
	s.strategy.Pick(p)
}

// goOn lets time go on while there are goroutines that can run. If all of them only wait
// by trying, it is for a timer that they wait, and the next one is due. Otherwise those
// that have something to do need some time for it, and a program that gives them several
// seconds is not to run out of them.
func (s *scheduler) goOn() {
	k := &s.clock
	for _, c := range s.ready {
		if !c.polling.onlyLooks() && k.queue.Len() > 0 && k.queue.First().When > k.now+perLongWork {
			k.moveTo(k.now + perLongWork)
			return
		}
	}
	s.advance()
}

// A round of a loop that does nothing but look takes perRound, and twice as much after every
// doublingRounds if there were patientLoops of them: a loop that counts its rounds may be about
// to give up, and may as well wait for a timer. It takes at most perRound << maxDoublings.
const (
	perRound       = 1000
	patientLoops   = 4096
	doublingRounds = 1024
	maxDoublings   = 10
)

// goOnWhilePolling lets time go on if no goroutine can go on but those that wait by looking, or let
// others go first: to the next timer if each of them was in the same state after its last round as
// before, because nothing else can change that, otherwise by what a round takes. In a bubble a
// goroutine that does so does not wait.
func (s *scheduler) goOnWhilePolling() {
	k := &s.clock
	switch {
	case s.onlyPolls():
		s.advance()
	case k.exact == 0 && s.onlyYield():
		k.rounds++
		k.now += perRound << min(max(k.rounds-patientLoops, 0)/doublingRounds, maxDoublings)
		s.due()
	}
}

// due fires the timers whose time has come, and reports whether one did something.
func (s *scheduler) due() bool {
	k := &s.clock
	did := false
	for k.queue.Len() > 0 && k.queue.First().When <= k.now {
		t := k.queue.First()
		k.queue.Remove(t)
		did = s.fire(t) || did
	}
	return did
}

// Sleep is time.Sleep. It returns false if the caller is not under control.
func Sleep(nanoseconds int64) bool {
	c := enterLibrary()
	if c == nil {
		waitsEarly()
		return false
	}
	op := event.Op{Kind: event.Sleep, Yield: true, Site: c.site()}
	c.polling.changes()
	if c.step(op) {
		s.emit(c, event.Sleep, op.Site, 0, 0, uint64(nanoseconds))
		if nanoseconds > 0 {
			t := s.clock.make()
			t.sleeper = c
			c.timer = t
			s.clock.start(t, nanoseconds)
			c.wait = wait{kind: forGrant}
			s.ops[s.at(c)].Yield = false
			c.block()
		}
	}
	c.leave()
	return true
}

// Now returns the virtual time: in nanoseconds since 1970, and since the start of the
// run. ok is false if the caller is not under control.
func Now() (unix, mono int64, ok bool) {
	if !on.Load() {
		if frozen.Load() {
			now := min(frozenReads.Add(1)*perLook-perRead, 0)
			return today.began + now, now, true
		}
		return 0, 0, false
	}
	g, _, _ := here()
	if token.Load() == g|inside {
		// For a timer that fires, or something else that rt calls.
		s.clock.drift += perLook
		now := s.clock.told()
		return s.clock.unix(now, s.clock.firing), now, true
	}
	c := enterAs(g)
	if c == nil {
		return 0, 0, false
	}
	k := &s.clock
	own := c.readClock()
	c.polling.looks(clockAddr, 0)
	if k.reads++; k.reads > patientReads && !c.dying {
		if len(s.ready) == 1 || k.reads%patientReads == 0 {
			most := int64(perBusyRead)
			if c.polling.rounds > patientRounds {
				most = perRead
			}
			k.now += min(perLook<<min((k.reads-patientReads)/doublingReads, 20), most)
			s.due()
		}
		s.row, s.ahead = spinning, 0 // let others go first, if there are any
	}
	if own {
		k.drift += perLook
	}
	now := k.told()
	unix = k.unix(now, c.bubble)
	c.leave()
	return unix, now, true
}

// readClock announces that c asks for the time, and reports whether the program itself does.
// What the standard library makes of the time can differ from the first run in a process to
// the next; and unless there are timers, that it asks is no step: package testing does so
// in each run.
func (c *goroutine) readClock() (own bool) {
	if c.dying || s.clock.exact > 0 {
		return true
	}
	site := c.site()
	if pc, ok := s.frames.PC(site); ok && !frames.IsStandard(pc-1) { // it is where a call returns to
		own, s.result.Held.Clock = true, true
	}
	if own || s.clock.queue.Len() > 0 {
		c.step(event.Op{Kind: event.ReadClock, Site: site, Addr: s.clock.ownAddr(), Size: 8})
	}
	return own
}

// unix is a time since 1970, as it is in a bubble or, if b is nil, elsewhere.
func (k *clock) unix(now int64, b *bubble) int64 {
	if b != nil {
		return epoch + now - b.began
	}
	return k.began + now
}

// told returns the time as a program gets it.
func (k *clock) told() int64 {
	if k.exact > 0 {
		return k.now
	}
	return k.now + k.drift
}
