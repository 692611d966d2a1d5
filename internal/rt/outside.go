package rt

import (
	"runtime"
	"strconv"
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

// strays are the goroutines outside.
var strays struct {
	busy  atomic.Bool // a lock: whoever swaps it from false has it
	count atomic.Int32
	all   []*goroutine
	// returning are those of all that wait in park to be adopted.
	returning []*goroutine
	waiting   atomic.Bool // returning is not empty
	closed    bool        // the run is over
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
	if c == nil || c.hooks > 0 {
		unlockStrays()
		return nil
	}
	if c.stale.Load() || strays.closed {
		c.hooks++
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

// adopt makes goroutines ready that have come back from outside.
func (s *scheduler) adopt() bool {
	if !strays.waiting.Load() {
		return false
	}
	lockStrays()
	for i, c := range strays.returning {
		for j, d := range strays.all {
			if c == d {
				strays.all = append(strays.all[:j], strays.all[j+1:]...)
				break
			}
		}
		strays.returning[i] = nil
		s.insert(c, event.Op{Kind: event.Outside})
	}
	strays.returning = strays.returning[:0]
	strays.waiting.Store(false)
	strays.count.Store(int32(len(strays.all)))
	unlockStrays()
	return true
}

// forget drops a goroutine that outlived its run and has ended.
func forget(c *goroutine) {
	lockStrays()
	for j, d := range strays.all {
		if c == d {
			strays.all = append(strays.all[:j], strays.all[j+1:]...)
			break
		}
	}
	strays.count.Store(int32(len(strays.all)))
	unlockStrays()
}

// period is how often the watchdog looks, and patience how often in a row it has to see
// a goroutine in the same place before it takes the token: not only so much time must
// have gone by, the goroutine must also have had its chance to run.
const (
	period   = 5_000_000
	patience = 4
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
			seen, times = 0, 0
		case t&suspect == 0:
			if token.CompareAndSwap(t, t|suspect) {
				seen, times = t|suspect, 0
			}
		case t != seen:
			seen, times = t, 0
		default:
			if times++; times >= patience {
				if token.CompareAndSwap(t, g|inside) {
					s.evict(t &^ suspect)
				}
				seen, times = 0, 0
			}
		}
	}
}

// evict takes the token, which the watchdog holds now, from the goroutine that runs, if
// there is another goroutine to give it to.
func (s *scheduler) evict(g uintptr) {
	c := s.current
	s.adopt()
	if len(s.ready) == 1 && s.clock.queue.Len() == 0 && strays.count.Load() == 0 {
		token.Store(g)
		return
	}
	s.completeLast()
	site := s.site
	s.result.Outside = append(s.result.Outside, Outside{
		What: "called no hook for " + strconv.Itoa(period*patience/1_000_000) + " ms", G: c.id, Site: site, Frame: c.Frame,
	})
	s.emit(c, event.Outside, site, 0, 0, 0)
	s.remove(c)
	c.state = outside
	lockStrays()
	strays.all = append(strays.all, c)
	strays.count.Store(int32(len(strays.all)))
	unlockStrays()
	if d := s.dispatch(nil); d != nil {
		s.pass(d)
	}
}

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
	n := runtime.NumGoroutine()
	for i := 0; i < turns; i++ {
		runtime.Gosched()
		if now := runtime.NumGoroutine(); now < n {
			n, i = now, 0
		}
	}
	return n
}

// outsiders reports whether a goroutine that is not under control may let others go on. c
// is the goroutine that runs. What was there before the run is not waited for when the
// run is as good as over: only leftovers are, which have tickers perhaps.
func (s *scheduler) outsiders(c *goroutine) bool {
	return others.Load() > 0 && !s.rootEnded || s.newcomers(c)
}

// newcomers reports whether a goroutine is not under control that was not there before the
// run.
func (s *scheduler) newcomers(c *goroutine) bool {
	if strays.count.Load() > 0 {
		return true
	}
	known := s.baseline + s.natives
	if c != nil && c.state == ended {
		known++ // it is not quite gone
	}
	// Nor may others be that have ended just now.
	for range 10 {
		if runtime.NumGoroutine() <= known {
			return false
		}
		runtime.Gosched()
	}
	met = runtime.NumGoroutine() > known
	return met
}

// How long to wait for those outside, in nanoseconds: until time goes on, and until
// what is blocked is called a deadlock. Time need not wait for goroutines that were there
// before the run: they have waited for something ever since, and if they have got it by
// now, they go on as soon as they are let.
const (
	untilTime       = 20_000_000
	untilTimeForOld = 300_000
	untilDeadlock   = 200_000_000
)

// retryAfter is how often idle looks before it lets waiting goroutines try for themselves:
// that the other side of an unbuffered channel waits outside cannot be seen from here.
// sleepAfter is how often before it sleeps in between.
const (
	retryAfter       = 30
	retryAfterForOld = 10
	sleepAfter       = 20
)

// idling counts the goroutines that are in idle. One may sleep there for longer than the
// run lasts, and would take the token of the next run if that happens to be free when it
// looks: takeDown waits until none is left.
var idling atomic.Int32

// idle waits for goroutines outside, on behalf of c, which ran last. It returns true with
// the token when there is something to do, false if another goroutine has the token now
// or the run is over.
func (s *scheduler) idle(c *goroutine) bool {
	// To try in vain takes two steps: to go on, and to ask again.
	if s.steps-s.idledAt > 2*uint64(len(s.all)) {
		s.idled = 0 // a goroutine did more than try
	}
	s.idledAt = s.steps
	retry, patience := retryAfter, int64(untilTime)
	if s.clock.queue.Len() > 0 && !s.newcomers(c) {
		retry, patience = retryAfterForOld, untilTimeForOld
	}
	idling.Add(1)
	defer idling.Add(-1)
	g, _, _ := here()
	for n := 0; ; n++ {
		token.Store(0)
		if n < sleepAfter || s.config.Sleep == nil {
			runtime.Gosched()
			s.idled += 20_000
		} else {
			s.config.Sleep(200_000)
			s.idled += 200_000
		}
		if !token.CompareAndSwap(0, g|inside) {
			return false
		}
		if s.adopt() || s.poll(n >= retry) || !s.outsiders(c) {
			return true
		}
		mine := strays.count.Load() > 0
		if s.idled > patience || !mine && n > retry {
			if s.advance() {
				return true
			}
		}
		if s.idled > untilDeadlock && (!mine || s.idled > 50*untilDeadlock) {
			s.stuck()
			s.over()
			return false
		}
	}
}

// poll looks which waiting goroutines can go on because of one outside, and with
// retry lets all others try that might.
func (s *scheduler) poll(retry bool) bool {
	found := false
	for _, c := range s.all {
		if c.state != blocked || c.chose >= 0 {
			continue
		}
		switch c.wait.kind {
		case forMutex, forWriting, forReading, forGroup, forChannel:
			if c.enabled() {
				s.idled = 0
			} else if retry {
				c.wait.retry = true
			} else {
				continue
			}
			s.resume(c)
			found = true
		}
	}
	return found
}
