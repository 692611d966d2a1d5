// Package atomics writes the repairs that make accesses to a variable atomic: where all that goroutines
// need of each other is one word, a lock would be more than is missing.
//
// A repair is given for a whole variable or for none: if one access to it cannot be a single step, or
// depends on another access that it would have to be one step with, a lock is what is missing.
//
//	atomic.AddInt64(&s.n, 1)     atomic.AddInt64(&s.n, 1)
//	return s.n                   return atomic.LoadInt64(&s.n)
//
//	n int                        n atomic.Int64
//	s.n++                        s.n.Add(1)
//
//	if !done.Load() {            if done.CompareAndSwap(false, true) {
//		done.Store(true)         	finish()
//		finish()                 }
//	}
//
//	atomic.AddInt32(&refs, -1)             if atomic.AddInt32(&refs, -1) == 0 {
//	if atomic.LoadInt32(&refs) == 0 {      	free()
//		free()                             }
//	}
//
//	atomics.go     the repairs, the best first
//	onestep.go     one operation for an update in several: straight.go one that is always made,
//	               checked.go one after a check, syncmap.go one of a sync.Map
//	result.go      what Add returns, for a load after it
//	everywhere.go  plain accesses to what functions of sync/atomic access too
//	words.go       counters and flags that are only added to, set and read
package atomics

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
)

// A finder looks for variables that are to be atomic. Each repair is a method of it.
type finder struct{ *change.Run }

// Changes returns the repairs that make accesses to variables atomic, the best first.
func Changes(r *change.Run) []*change.Change {
	f := &finder{r}
	return slices.Concat(f.oneStep(), f.takeResults(), f.atomicEverywhere(), f.atomicWords())
}
