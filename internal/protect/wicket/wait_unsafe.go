package wicket

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

func guardOf(w *page.Wicket) *Guard { return (*Guard)(unsafe.Pointer(w)) }

// How long accesses wait. They are not constant for tests.
var (
	longestWait  = time.Second            // for a section
	relentedWait = 20 * time.Millisecond  // for one that relents
	sleepersWait = 200 * time.Microsecond // for one that relents and waits: the runtime says for a moment of a goroutine that it stops for the collector that it waits
)

// looks is how often an access looks again before it gives up its processor for longer: most sections are short.
const looks = 20

// A wait is an access that a section is in the way of.
type wait struct {
	guard    *Guard
	names    Names
	blockers uint64 // bits of the word
	write    bool
	made     int // direct or byMethod

	since   time.Time
	outcome outcome
	stack   []uintptr
	site    uintptr // of the section
	holder  uint64  // the number of its goroutine; 0 if it only reads
}

// An outcome is how a wait ended.
type outcome int

const (
	noWait outcome = iota
	delayed
	permitted // the section was waiting itself, maybe for the access: that is no violation
	surrenderedLenient
	surrenderedTimeout
)

// wait waits until no section is in the way, and returns the word. It may be called again. The access is none
// that is under way.
func (w *wait) wait() uint64 {
	atomic.AddUint32(&w.guard.w.Wanters, waiter)
	defer atomic.AddUint32(&w.guard.w.Wanters, ^uint32(waiter-1))
	for i := 0; ; i++ {
		word := atomic.LoadUint64(&w.guard.w.Word)
		if word&w.blockers == 0 {
			return word
		}
		if w.since.IsZero() {
			w.since = time.Now()
			w.site, w.holder = w.guard.w.SiteOf(), page.Number(w.guard.holder())
			w.stack = callers()
		}
		if w.outcome == noWait {
			w.outcome = delayed
		}
		if w.passes(word) {
			return atomic.LoadUint64(&w.guard.w.Word)
		}
		if i < looks {
			runtime.Gosched()
			continue
		}
		waiting.sleep(w.guard, w.blockers, w.pause())
	}
}

// passes reports whether the access passes although a section is in the way.
func (w *wait) passes(word uint64) bool {
	waited := time.Since(w.since)
	next := noWait
	switch {
	case waited > sleepersWait && w.guard.isHeldBySleeper(word):
		next = permitted
	case waited > relentedWait && word&state == relents:
		next = surrenderedLenient
	case waited > longestWait:
		w.outcome = surrenderedTimeout
		return true
	default:
		return false
	}
	// The section that goes on takes its mark back in the same way: one of the two gets it.
	if !atomic.CompareAndSwapUint64(&w.guard.w.Word, word, opened(word)) {
		return false
	}
	w.outcome = next
	return true
}

// surrenders reports whether an access is made whatever sections do.
func (w *wait) surrenders() bool { return w.outcome == surrenderedTimeout }

// pause is how long an access sleeps at most before it looks again.
func (w *wait) pause() time.Duration {
	return min(max(time.Since(w.since), sleepersWait), relentedWait)
}

// waiting has the accesses that sleep, by their guards.
var waiting dormitory

// A dormitory has a channel for each guard that accesses sleep for. It is in parts, so that guards do not wait
// for each other's.
type dormitory [64]struct {
	mu   sync.Mutex // guards the rest
	wake map[*Guard]chan struct{}
}

func (d *dormitory) part(g *Guard) int {
	return int(uintptr(unsafe.Pointer(g))/unsafe.Sizeof(Guard{})) % len(d)
}

// sleep waits for wake, or for some time, unless no section is in the way by now.
func (d *dormitory) sleep(g *Guard, blockers uint64, most time.Duration) {
	p := &d[d.part(g)]
	p.mu.Lock()
	if p.wake == nil {
		p.wake = make(map[*Guard]chan struct{})
	}
	woken := p.wake[g]
	if woken == nil {
		woken = make(chan struct{})
		p.wake[g] = woken
	}
	p.mu.Unlock()
	// A section that ends from here on finds the channel, because there is a waiter.
	if atomic.LoadUint64(&g.w.Word)&blockers == 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	beginsToSleep()
	select {
	case <-woken:
	case <-timer.C:
	}
}

// beginsToSleep is called when an access does. Tests wait for that.
var beginsToSleep = func() {}

// wake wakes the accesses that sleep.
func (d *dormitory) wake(g *Guard) {
	p := &d[d.part(g)]
	p.mu.Lock()
	woken := p.wake[g]
	delete(p.wake, g)
	p.mu.Unlock()
	if woken != nil {
		close(woken)
	}
}

// giveWay lets accesses pass that wait for sections, of which the calling one is interrupted. They are woken, and need
// some microseconds if they have a processor. It is for fairness alone, so it has an end.
func (g *Guard) giveWay() {
	for end := time.Now().Add(longestWay); atomic.LoadUint32(&g.w.Wanters) >= waiter && time.Now().Before(end); {
		waiting.wake(g)
		runtime.Gosched()
	}
}

// longestWay is how long a section lets accesses pass before it begins.
const longestWay = 200 * time.Microsecond

// awaitStores waits until no store is under way. None can begin any more. It waits as long as it takes: a store that
// is under way needs nothing but a processor.
func (g *Guard) awaitStores() {
	for i := 0; atomic.LoadUint32(&g.w.Wanters)%waiter != 0; i++ {
		if i < manyLooks {
			runtime.Gosched()
		} else { // its thread may have lost its processor to another process
			time.Sleep(shortPause)
		}
	}
}

const (
	manyLooks  = 1000
	shortPause = 20 * time.Microsecond
)
