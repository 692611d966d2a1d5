package rt

import (
	"runtime"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// What is not under control.
//
// A goroutine under control may do something that takes real time without a hook: a
// system call, a computation, a wait in code that was not rewritten. The watchdog then
// takes the token from it, and it is outside until it calls a hook and the token is
// given to it again. Goroutines that were never under control do as they like; what
// they do to channels and locks is noticed when no other can go on.
//
// The hand-over, between goroutines under control, those outside and the watchdog, is
// modelled in handover_model_test.go, where all interleavings of small programs are
// enumerated. What it must not lose:
//
//   - A goroutine is among the strays before any other can have the token, so that it
//     waits in park at its next hook instead of doing the plain operation.
//   - A goroutine that waits natively for one that is parked can be seen, in the channel or
//     the lock itself (poll). The watchdog looks for it when the goroutine that has the
//     token waits natively: it may be for the one that is parked, or for another outside
//     that is.
//   - No goroutine is taken for the holder of the token after it was taken from it.

// strays are the goroutines outside.
var strays struct {
	busy  atomic.Bool // a lock, of the goroutine that swaps it from false
	count atomic.Int32
	all   []*goroutine
	own   atomic.Int32 // of all, those of this run
	// returning are those of all that wait in park to be adopted.
	returning []*goroutine
	// signals are those of conditions that come from outside.
	signals []nativeSignal
	waiting atomic.Bool // returning or signals is not empty
	closed  bool        // the run is over
}

func lockStrays() {
	for !strays.busy.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

func unlockStrays() { strays.busy.Store(false) }

// foreign says that instrumented code ran in this run that is not under control.
var foreign atomic.Bool

// returned is what enter does for a goroutine that does not hold the token: if it is one
// under control that comes back from outside, it waits for the token.
func returned(g uintptr) *goroutine {
	if strays.count.Load() == 0 {
		return nil
	}
	lockStrays()
	var c *goroutine
	for _, d := range strays.all {
		if d.g == g {
			c = d
		}
	}
	if c == nil {
		unlockStrays()
		return nil
	}
	if c.stale.Load() || strays.closed {
		// Its further hooks, in what it deferred, are plain operations.
		c.stale.Store(true)
		removeStray(c)
		unlockStrays()
		runtime.Goexit()
	}
	strays.returning = append(strays.returning, c)
	strays.waiting.Store(true)
	unlockStrays()
	if token.CompareAndSwap(0, g|inside) {
		// All were waiting for goroutines outside.
		s.adopt()
		s.current = c
		return c
	}
	c.park()
	return c
}

// adopt makes goroutines ready that have come back from outside, or were signalled from
// there, and reports whether any is ready then.
func (s *scheduler) adopt() bool {
	if !strays.waiting.Load() {
		return false
	}
	lockStrays()
	for i, c := range strays.returning {
		removeStray(c)
		strays.returning[i] = nil
		s.insert(c, event.Op{Kind: event.Outside})
	}
	strays.returning = strays.returning[:0]
	s.deliverSignals()
	strays.waiting.Store(false)
	unlockStrays()
	return len(s.ready) > 0
}

// addStray makes c one of the strays, from which the token has been taken.
func addStray(c *goroutine) {
	lockStrays()
	strays.all = append(strays.all, c)
	countStrays()
	unlockStrays()
}

// removeStray takes c from the strays, if it is among them. The caller has locked them.
func removeStray(c *goroutine) {
	for i, d := range strays.all {
		if c == d {
			strays.all = append(strays.all[:i], strays.all[i+1:]...)
			break
		}
	}
	countStrays()
}

func countStrays() {
	own := int32(0)
	for _, c := range strays.all {
		if !c.stale.Load() {
			own++
		}
	}
	strays.own.Store(own)
	strays.count.Store(int32(len(strays.all)))
}

// forget drops a goroutine that outlived its run and has ended.
func forget(c *goroutine) {
	lockStrays()
	removeStray(c)
	unlockStrays()
	staleEnded.Add(1)
}

// staleEnded counts the goroutines of earlier runs that have ended in this one.
var staleEnded atomic.Int32

// met says that there were goroutines in the last run that are not under control.
var met bool

// native counts the goroutines that are there before a run. Some may be about to end, of
// those above all that an earlier run met: if they were counted, as many others would not
// be seen.
func native() int {
	turns := 2
	if met {
		turns = 100
	}
	met = false
	n := nativeCount()
	for i := 0; i < turns; i++ {
		runtime.Gosched()
		if now := nativeCount(); now < n {
			n, i = now, 0
		}
	}
	return n
}

// outsiders reports whether a goroutine that is not under control may let others go on. c
// is the goroutine that runs. What was there before the run is not waited for when the
// run is as good as over: only leftovers are, which have tickers perhaps.
func (s *scheduler) outsiders(c *goroutine) bool {
	return (others.Load() > 0 || s.signalMayCome()) && !s.rootEnded || s.newcomers(c)
}

// newcomers reports whether a goroutine is not under control that was not there before the
// run.
func (s *scheduler) newcomers(c *goroutine) bool {
	if strays.own.Load() > 0 {
		return true
	}
	known := s.baseline + s.natives - int(staleEnded.Load())
	if c != nil && c.state == ended {
		known++ // it is not quite gone
	}
	// Nor may others be that have ended just now.
	for range 10 {
		if nativeCount() <= known {
			return false
		}
		runtime.Gosched()
	}
	met = nativeCount() > known
	return met
}

// How long to wait for those outside, in nanoseconds: until time goes on, and until
// what is blocked is called a deadlock. Time need not wait for goroutines that were there
// before the run: they have waited for something ever since, and if they have got it by
// now, they go on as soon as they are let.
//
// What goes on outside by itself does so in real time, and virtual time keeps pace with it: a
// program that takes a second is not late for a timer of two. Otherwise time moves on to the
// next timer. So it does if all outside wait for input, and have done so for longer than
// untilInput in the run: it may be the run's own goroutines that it has to come from.
const (
	untilTime       = 20_000_000
	untilTimeForOld = 300_000
	untilInput      = 1_000_000_000
	untilDeadlock   = 200_000_000
)

// perSleep is for how long idle means to sleep, in nanoseconds, and atMostSlept what it is taken
// to have slept at most.
const (
	perSleep    = 200_000
	atMostSlept = 5_000_000
)

// patientLooks is how often idle looks before time goes on if none of the run's own goroutines
// is outside, and sleepAfter how often before it sleeps in between.
const (
	patientLooks       = 30
	patientLooksForOld = 10
	sleepAfter         = 20
)

// idling counts the goroutines that are in idle. One may sleep there for longer than the
// run lasts, and would take the token of the next run if that happens to be free when it
// looks: takeDown waits until none is left.
var idling atomic.Int32

// idle waits for goroutines outside, on behalf of c, which ran last. It returns true with
// the token when there is something to do, false if another goroutine has the token now
// or the run is over.
func (s *scheduler) idle(c *goroutine) bool {
	if s.steps > s.idledAt {
		s.idled = 0
		s.idledAt = s.steps
		if s.overtakesOutside(c) {
			return true
		}
	}
	looks, patience := patientLooks, int64(untilTime)
	if s.clock.queue.Len() > 0 && !s.newcomers(c) {
		looks, patience = patientLooksForOld, untilTimeForOld
	}
	idling.Add(1)
	defer idling.Add(-1)
	g, _, _ := here()
	paced := int64(0)
	for n := 0; ; n++ {
		token.Store(0)
		slept := int64(0)
		if n < sleepAfter || s.config.Sleep == nil {
			runtime.Gosched()
			s.idled += 20_000
		} else {
			slept = s.sleep()
		}
		if !token.CompareAndSwap(0, g|inside) {
			return false
		}
		if s.adopt() || s.poll() || !s.outsiders(c) {
			return true
		}
		mine := strays.own.Load() > 0
		active := s.active(g, mine)
		if s.keepsPace(active) {
			if paced += slept; paced > untilTime && s.goBy(slept, active) {
				return true
			}
		} else if s.idled > patience || !mine && n > looks {
			if s.advance() {
				return true
			}
		}
		switch {
		case s.idled > untilDeadlock && active == idleOutside:
			s.stuck()
			s.over()
			return false
		case late():
			s.expire(nil)
			return false
		}
	}
}

// activity is what goes on outside.
type activity uint8

const (
	idleOutside    activity = iota
	listensOutside          // input is waited for, nothing else
	worksOutside            // a process is waited for, a goroutine computes or sleeps
)

// sleep sleeps in idle, and returns for how long, as far as that is not up to the machine.
func (s *scheduler) sleep() int64 {
	began := realTime()
	worked, busy := s.config.Sleep(perSleep)
	s.idled += counted(perSleep, worked, busy)
	return counted(min(max(realTime()-began, perSleep), atMostSlept), worked, busy)
}

// realTime is what Patched.Now tells.
func realTime() int64 {
	if Patched.Now == nil {
		return 0
	}
	return Patched.Now()
}

// active returns what may go on outside by itself that was not there before the run. g is the
// caller's. What cannot be seen, without the patched runtime, is taken to listen for a while if
// it is a goroutine of the run.
func (s *scheduler) active(g uintptr, mine bool) activity {
	if Patched.Active == nil {
		if mine && s.idled <= 50*untilDeadlock {
			return listensOutside
		}
		return idleOutside
	}
	lockStrays()
	goroutines, input, timers := Patched.Active(s.newest, func(other uintptr) bool {
		for _, c := range strays.all {
			if c.g == other && c.stale.Load() {
				return false
			}
		}
		return other != g && other != watchdog.Load()
	})
	unlockStrays()
	// Those that are idle sleep, too.
	switch {
	case goroutines > input, timers > s.timers+int(idling.Load()), s.signalMayCome():
		return worksOutside
	case goroutines > 0:
		return listensOutside
	}
	return idleOutside
}

// keepsPace reports whether virtual time goes no faster than real time, because of what goes on
// outside. What is left when the root has ended does not wait for that.
func (s *scheduler) keepsPace(outside activity) bool {
	return !s.rootEnded && (outside == worksOutside || outside == listensOutside && s.listened < untilInput)
}

// goBy lets as much time go by as was slept while those outside were waited for, but not beyond the
// next timer, and reports whether that did something.
func (s *scheduler) goBy(slept int64, outside activity) bool {
	if outside == listensOutside {
		s.listened += slept
	}
	k := &s.clock
	if next := k.next(); next != nil && next.When <= k.now+slept && k.exact == 0 {
		return s.advance()
	}
	k.workedFor(slept)
	return false
}

// poll looks which waiting goroutines can go on because of one outside.
func (s *scheduler) poll() bool {
	found := false
	for _, c := range s.all {
		if c.state != blocked || c.chose >= 0 {
			continue
		}
		switch c.wait.kind {
		case forMutex, forWriting, forReading, forGroup, forChannel:
			if c.enabled() {
				s.resume(c)
				found = true
			}
		}
	}
	return found
}
