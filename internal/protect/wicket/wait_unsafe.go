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
	names Names
	write bool
	made  int // direct or byMethod

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

// A guardWait is the wait for a section of a guard.
type guardWait struct {
	wait
	guard    *Guard
	blockers uint64 // bits of the word
}

// await waits until no section is in the way, and returns the word. It may be called again. The access is none
// that is under way.
func (w *guardWait) await() uint64 {
	atomic.AddUint32(&w.guard.w.Wanters, waiter)
	defer atomic.AddUint32(&w.guard.w.Wanters, ^uint32(waiter-1))
	for i := 0; ; i++ {
		word := atomic.LoadUint64(&w.guard.w.Word)
		if word&w.blockers == 0 {
			return word
		}
		w.begin(w.guard.w.SiteOf(), w.guard.holder())
		if w.passes(word) {
			return atomic.LoadUint64(&w.guard.w.Word)
		}
		if i < looks {
			runtime.Gosched()
			continue
		}
		waiting.sleep(&w.guard.w.Wanters, w.isBlocked, w.pause())
	}
}

func (w *guardWait) isBlocked() bool { return atomic.LoadUint64(&w.guard.w.Word)&w.blockers != 0 }

// begin notes when the access began to wait, and for which section.
func (w *wait) begin(site, holder uintptr) {
	if w.since.IsZero() {
		w.since = time.Now()
		w.site, w.holder = site, page.Number(holder)
		w.stack = callers()
	}
	if w.outcome == noWait {
		w.outcome = delayed
	}
}

// passes reports whether the access passes although a section is in the way.
func (w *guardWait) passes(word uint64) bool {
	return w.passesBy(&w.guard.w.Word, word, opened(word), w.guard.holder())
}

// passesBy reports whether an access passes that a section is in the way of, whose word it has seen. If the section relents
// the access leaves another word.
func (w *wait) passesBy(at *uint64, word, next uint64, holder uintptr) bool {
	waited := time.Since(w.since)
	passed := noWait
	switch {
	case waited > sleepersWait && isHeldBySleeper(word, holder):
		passed = permitted
	case waited > relentedWait && word&state == relents:
		passed = surrenderedLenient
	case waited > longestWait:
		w.outcome = surrenderedTimeout
		return true
	default:
		return false
	}
	// The section that goes on takes its mark back in the same way: one of the two gets it.
	if !atomic.CompareAndSwapUint64(at, word, next) {
		return false
	}
	w.outcome = passed
	return true
}

// surrenders reports whether an access is made whatever sections do.
func (w *wait) surrenders() bool { return w.outcome == surrenderedTimeout }

// pause is how long an access sleeps at most before it looks again.
func (w *wait) pause() time.Duration {
	return min(max(time.Since(w.since), sleepersWait), relentedWait)
}

// waiting has the accesses that sleep, by where they are counted.
var waiting dormitory

// A dormitory has a channel for each guard or slot that accesses sleep for. It is in parts, so that guards do not wait
// for each other's.
type dormitory [64]struct {
	mu   sync.Mutex // guards the rest
	wake map[*uint32]chan struct{}
}

func (d *dormitory) part(wanters *uint32) int {
	return int(uintptr(unsafe.Pointer(wanters))/unsafe.Sizeof(Guard{})) % len(d)
}

// sleep waits for wake, or for some time, unless no section is in the way by now.
func (d *dormitory) sleep(wanters *uint32, isBlocked func() bool, most time.Duration) {
	p := &d[d.part(wanters)]
	p.mu.Lock()
	if p.wake == nil {
		p.wake = make(map[*uint32]chan struct{})
	}
	woken := p.wake[wanters]
	if woken == nil {
		woken = make(chan struct{})
		p.wake[wanters] = woken
	}
	p.mu.Unlock()
	// A section that ends from here on finds the channel, because there is a waiter.
	if !isBlocked() {
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
func (d *dormitory) wake(wanters *uint32) {
	p := &d[d.part(wanters)]
	p.mu.Lock()
	woken := p.wake[wanters]
	delete(p.wake, wanters)
	p.mu.Unlock()
	if woken != nil {
		close(woken)
	}
}

// giveWay lets accesses pass that wait for sections, of which the calling one is interrupted. They are woken, and need
// some microseconds if they have a processor. It is for fairness alone, so it has an end.
func (g *Guard) giveWay() {
	for end := time.Now().Add(longestWay); atomic.LoadUint32(&g.w.Wanters) >= waiter && time.Now().Before(end); {
		waiting.wake(&g.w.Wanters)
		runtime.Gosched()
	}
}

// longestWay is how long a section lets accesses pass before it begins.
const longestWay = 200 * time.Microsecond

// awaitStores waits until no store is under way. None can begin any more. It waits as long as it takes: a store that
// is under way needs nothing but a processor.
func (g *Guard) awaitStores() {
	for i := 0; atomic.LoadUint32(&g.w.Wanters)%waiter >= passing; i++ {
		pauseForStore(i)
	}
}

// pauseForStore lets a store go on that is under way, after some looks.
func pauseForStore(looks int) {
	if looks < manyLooks {
		runtime.Gosched()
	} else { // its thread may have lost its processor to another process
		time.Sleep(shortPause)
	}
}

const (
	manyLooks  = 1000
	shortPause = 20 * time.Microsecond
)
