package wicket

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// trust has sections of the guard begin without a locked instruction from now on, if no access wants it. The calling
// goroutine is in a section that began by one.
func (g *Guard) trust() {
	switch wanters := atomic.LoadUint32(&g.w.Wanters); {
	case !fences.trustHolds():
		if wanters == trusting { // or each section would come here
			atomic.CompareAndSwapUint32(&g.w.Wanters, trusting, 0)
		}
	case wanters == 0 && (g.isYoung() || fences.grants.take()):
		// An access that has counted itself meanwhile does not look for trust any more.
		atomic.CompareAndSwapUint32(&g.w.Wanters, 0, trusting)
	}
}

// isYoung reports whether the guard has had no more sections than those in which its object was set up. It is trusted then without
// having earned it. The running section is counted already, because it was completed by settle.
func (g *Guard) isYoung() bool {
	return atomic.LoadUint64(&g.w.Word)>>page.WicketTurnShift <= page.WicketYoung+1
}

// distrust comes before a store looks at the word of a guard that trusted when the store was counted. The trust
// is taken away last: a store that does not find it may rely on the barrier of another one.
func (g *Guard) distrust() {
	fences.make()
	atomic.AndUint32(&g.w.Wanters, ^uint32(trusting))
}

// What [page.WicketTrust] says of all guards.
const (
	holds   = page.WicketTrustHolds
	ending  = 1 // sections see that it ends, as soon as a barrier has been made
	hasGone = 2 // the barrier has been made: stores need none
)

// makeBarrier is not constant for tests.
var makeBarrier = page.Barrier

// fences are what stores have made on all processors that find a guard trusting.
var fences = supply{
	grants:   ration{each: time.Millisecond, saved: time.Second},
	barriers: ration{each: time.Millisecond / 2, saved: time.Second},
	pause:    time.Second,
}

// A supply is how many barriers may be made, and so for how many guards trust may be a mistake.
type supply struct {
	state atomic.Int32 // whether barriers can be made

	grants   ration        // of trust to guards that have had it, or that were wanted when they were young
	barriers ration        // that are made. It is larger: one such guard does not end the trust of all
	pause    time.Duration // for how long there is no trust when barriers have run out
	again    atomic.Int64  // when that is over, in nanoseconds since the start
}

// Whether barriers can be made.
const (
	notKnown int32 = iota
	canBeMade
	cannotBeMade
)

var start = time.Now()

// prepare has the kernel prepare barriers, which may take some milliseconds. No section waits for that.
func (s *supply) prepare() {
	if page.PrepareBarrier() {
		s.state.CompareAndSwap(notKnown, canBeMade)
	}
}

func init() {
	if !raceBuild {
		go fences.prepare()
	}
}

// trustHolds reports whether guards may trust.
func (s *supply) trustHolds() bool {
	if s.state.Load() != canBeMade {
		return false
	}
	if page.WicketTrust.Load() == hasGone && int64(time.Since(start)) >= s.again.Load() {
		page.WicketTrust.CompareAndSwap(hasGone, holds)
	}
	return page.WicketTrust.Load() == holds
}

// make has all processors make a fence, unless no guard has trusted since they made one.
func (s *supply) make() {
	switch {
	case page.WicketTrust.Load() == hasGone:
	case s.barriers.take() && makeBarrier():
	default:
		s.endTrust()
	}
}

// endTrust takes the trust of all guards away, by a single barrier, because too many of them would need one each: a loop
// without locks over a million objects, or because the kernel refuses one that it had prepared, as it does if the program has given
// up the right to ask. When the world is stopped every processor has made a fence.
func (s *supply) endTrust() {
	first := page.WicketTrust.CompareAndSwap(holds, ending)
	if !makeBarrier() {
		s.state.Store(cannotBeMade)
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
	}
	if first {
		s.again.Store(int64(time.Since(start) + s.pause))
		page.WicketTrust.Store(hasGone)
	}
}

// A ration is of what may be had once in each span of time. What is not taken adds up.
type ration struct {
	each  time.Duration
	saved time.Duration // for how long
	next  atomic.Int64  // when the next one is due, in nanoseconds since the start
}

// take reports whether one can be had.
func (r *ration) take() bool {
	now := int64(time.Since(start))
	for {
		next := r.next.Load()
		due := max(next, now-int64(r.saved)) + int64(r.each)
		if due > now {
			return false
		}
		if r.next.CompareAndSwap(next, due) {
			return true
		}
	}
}
