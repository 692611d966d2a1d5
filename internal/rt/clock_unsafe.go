package rt

import (
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
	"github.com/cofferdam-go/cofferdam/internal/rt/timers"
)

// Virtual time.
//
// It starts at the same instant in every run and stands still while any goroutine can
// run. It moves on to the next timer when no goroutine can, and when one waits by trying
// again and again.

// epoch is the instant at which every run starts: 2000-01-01 00:00:00 UTC, in
// nanoseconds since 1970.
const epoch = 946684800_000_000_000

// patientReads is how often the time may be asked for while it stands still. After that,
// each further time lets some of it go by: a program that loops until it is late comes to
// an end. It is less for a goroutine that does something else between two looks, and may
// have much to do.
const (
	patientReads = 1000
	perRead      = 1_000_000
	perBusyRead  = 20_000
)

// clockAddr stands for the clock among the addresses that a goroutine looks at.
const clockAddr = 1

// perLook is by how much the time that is told goes on when it is asked for again while
// it stands still: programs take for granted that some has passed. Timers know nothing of
// it, so that those that are due together stay together. In a bubble time is told
// exactly, as package testing/synctest promises.
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
// before epoch: what they keep of it must make sense to the runs.
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
	asked bool  // since now changed
	drift int64 // what is told beyond now
	exact int   // bubbles
	queue timers.Queue[*timer]
	known map[uintptr]*timer
	spare []*timer
}

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

	drain func() bool // takes what is in the channel
	// The goroutine that started it last, and where.
	parent uint32
	frame  uint32
	bubble *bubble
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
	*k = clock{queue: k.queue, known: k.known, spare: k.spare}
}

func (k *clock) forget(t *timer) {
	*t = timer{vector: t.vector[:0]}
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
}

// advance moves on to the next timer that does something, and reports whether there was
// one.
func (s *scheduler) advance() bool {
	k := &s.clock
	if k.queue.Len() == 0 {
		return false
	}
	if s.rootEnded {
		if s.lingered++; s.lingered > maxLinger {
			return false
		}
	}
	for tries := k.queue.Len(); k.queue.Len() > 0; {
		if t := k.queue.First(); t.When > k.now {
			k.now, k.reads, k.asked = t.When, 0, false
		}
		if s.due() {
			return true
		}
		// A ticker whose channel is full does nothing, ever again if no goroutine looks.
		if tries--; tries < 0 {
			return false
		}
	}
	return false
}

// goOn lets time go on while there are goroutines that can run. If all of them only wait
// by trying, it is for a timer that they wait, and the next one is due. Otherwise those
// who have something to do need some time for it, and a program that gives them several
// seconds is not to run out of them.
func (s *scheduler) goOn() {
	k := &s.clock
	for _, c := range s.ready {
		if !c.polling.onlyLooks() && k.queue.Len() > 0 && k.queue.First().When > k.now+perLongWork {
			k.now, k.reads, k.asked = k.now+perLongWork, 0, false
			return
		}
	}
	s.advance()
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
	case t.f != nil:
		d := s.spawn(t.f)
		d.parent, d.Frame, d.born = t.parent, t.frame, t.frame
		t.bubble.join(d)
		d.Vector.Set(t.vector)
		s.races.TakeSlot(&d.Thread, d.id)
		s.emit(nil, event.Go, 0, t.key, 0, uint64(d.id))
		return true
	}
	if t.period > 0 {
		k.queue.Push(t, max(t.When+t.period, k.now))
	}
	if !t.send() {
		return false
	}
	n := t.on.capacity()
	t.on.slots[(t.on.receive+t.on.length()-1+n)%n].Join(t.vector)
	s.changed(t.on)
	return true
}

// Sleep is time.Sleep. It returns false if the caller is not under control.
func Sleep(nanoseconds int64) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	op := event.Op{Kind: event.Sleep, Yield: true, Site: c.site()}
	c.polling.rounds = 0
	if c.step(op) {
		s.emit(c, event.Sleep, op.Site, 0, 0, uint64(nanoseconds))
		if nanoseconds > 0 {
			t := s.clock.make()
			t.sleeper = c
			c.timer = t
			s.clock.start(t, nanoseconds)
			c.wait = wait{kind: forGrant}
			s.ops[c.index].Yield = false
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
			return epoch + now, now, true
		}
		return 0, 0, false
	}
	g, _, _ := here()
	if token.Load() == g|inside {
		// For a timer that fires, or something else that rt calls.
		now := s.clock.told()
		return epoch + now, now, true
	}
	c := enterAs(g)
	if c == nil {
		return 0, 0, false
	}
	k := &s.clock
	c.polling.looks(clockAddr, 0)
	if k.reads++; k.reads > patientReads && !c.dying {
		if len(s.ready) == 1 || k.reads%patientReads == 0 {
			if c.polling.onlyLooks() {
				k.now += perRead
			} else {
				k.now += perBusyRead
			}
			s.due()
		}
		s.row, s.ahead = spinning, 0 // let others go first, if there are any
	}
	if k.asked {
		k.drift += perLook
	}
	k.asked = true
	now := k.told()
	c.leave()
	return epoch + now, now, true
}

// told returns the time as a program gets it.
func (k *clock) told() int64 {
	if k.exact > 0 {
		return k.now
	}
	return k.now + k.drift
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
	s.completeLast()
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
