package wicket

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// trust has sections of the guard begin without a locked instruction from now on, if no access wants it. The calling
// goroutine is in a section that began by one.
func (g *Guard) trust() {
	if atomic.LoadUint32(&g.w.Wanters) == 0 && barriers.canBeMade() && barriers.grant() {
		// An access that has counted itself meanwhile does not look for trust any more.
		atomic.CompareAndSwapUint32(&g.w.Wanters, 0, trusting)
	}
}

// distrust comes before a store looks at the word of a guard that trusted when the store was counted. The trust
// is taken away last: a store that does not find it may rely on the barrier of another one.
func (g *Guard) distrust() {
	if !makeBarrier() {
		barriers.replace()
	}
	atomic.AndUint32(&g.w.Wanters, ^uint32(trusting))
}

// makeBarrier is not constant for tests.
var makeBarrier = page.Barrier

// barriers are what stores make on all processors that find a guard trusting.
var barriers ration

// A ration is how often trust may be given.
type ration struct {
	once  sync.Once
	state atomic.Int32 // whether barriers can be made
	next  atomic.Int64 // when the next grant is due, in nanoseconds since the start
}

// Whether barriers can be made.
const (
	notKnown int32 = iota
	canBeMade
	cannotBeMade
)

// rationOf is the time between two grants, and saved is for how long they add up. They are not constant for tests.
var (
	rationOf = time.Millisecond
	saved    = time.Second
)

var start = time.Now()

// canBeMade reports whether barriers can be made, as soon as that is known. The kernel may take some milliseconds to
// prepare them, for which no section waits.
func (r *ration) canBeMade() bool {
	r.once.Do(func() {
		go func() {
			if page.PrepareBarrier() {
				r.state.CompareAndSwap(notKnown, canBeMade)
			}
		}()
	})
	return r.state.Load() == canBeMade
}

// grant reports whether trust may be given once more.
func (r *ration) grant() bool {
	now := int64(time.Since(start))
	next := r.next.Load()
	due := max(next, now-int64(saved)) + int64(rationOf)
	return due <= now && r.next.CompareAndSwap(next, due)
}

// replace makes a barrier where the kernel refuses one that it had prepared, as it does if the program has given up the right to
// ask. When the world is stopped every processor has made a fence. No guard trusts after that which does not already.
func (r *ration) replace() {
	r.state.Store(cannotBeMade)
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
}
