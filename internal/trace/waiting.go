package trace

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Waiter is a goroutine that waits for ever, or several that do so in the same way.
type Waiter struct {
	// Point is the operation that it waits to do.
	Point
	// More are the other goroutines that wait in the same calls for the same reason.
	More  []uint32        `json:"more,omitempty"`
	Shape event.WaitShape `json:"shape,omitempty"`
	// Library says that the goroutine is one of the standard library's own, in none of the
	// program's functions.
	Library bool `json:"library,omitempty"`
	// Holds are the locks that it holds, and HeldBy the holders of the one that it waits for.
	Holds  []Hold `json:"holds,omitempty"`
	HeldBy []Hold `json:"heldBy,omitempty"`
	// Length and Capacity are those of the channel that it waits for, Count is the counter
	// of a WaitGroup, and Unheard how often a Cond was signalled when no goroutine waited.
	Length   int `json:"length,omitempty"`
	Capacity int `json:"capacity,omitempty"`
	Count    int `json:"count,omitempty"`
	Unheard  int `json:"unheard,omitempty"`
}

// Goroutines is how many goroutines a waiter stands for.
func (w *Waiter) Goroutines() int { return 1 + len(w.More) }

// A Hold is a lock that a goroutine has taken and not released.
type Hold struct {
	// Point is where the lock was taken, and by which goroutine.
	Point
	// Ended says that the goroutine has ended, Returned that it has left the function that
	// took the lock.
	Ended    bool `json:"ended,omitempty"`
	Returned bool `json:"returned,omitempty"`
}

// Shape is why the goroutines of a deadlock or a leak wait: of several shapes the one that
// keeps the others. Those of the standard library wait for the program.
func (f *Failure) Shape() event.WaitShape {
	var worst event.WaitShape
	for i := range f.Waiting {
		if w := &f.Waiting[i]; !w.Library {
			worst = max(worst, w.Shape)
		}
	}
	return worst
}

// Circle returns the goroutines of a lock order in which each waits for a lock that the next
// one holds, and the last for one of the first; nil if there are none.
func (f *Failure) Circle() []*Waiter {
	byID := map[uint32]*Waiter{}
	for i := range f.Waiting {
		w := &f.Waiting[i]
		byID[w.G] = w
		for _, g := range w.More {
			byID[g] = w
		}
	}
	for i := range f.Waiting {
		var way []*Waiter
		for w := &f.Waiting[i]; w != nil; {
			if at := slices.Index(way, w); at >= 0 {
				if way = way[at:]; len(way) > 1 {
					return way
				}
				break
			}
			way = append(way, w)
			var next *Waiter
			for j := range w.HeldBy {
				if holder := byID[w.HeldBy[j].G]; holder != nil && len(holder.HeldBy) > 0 {
					next = holder
				}
			}
			w = next
		}
	}
	return nil
}

// hasWaiters reports whether goroutines wait where others did.
func (f *Failure) hasWaiters(others []Waiter) bool {
	for i := range others {
		if !slices.ContainsFunc(f.Waiting, func(w Waiter) bool { return w.sameWait(&others[i]) }) {
			return false
		}
	}
	return true
}

// sameWait reports whether two goroutines wait to do the same in the same place.
func (w *Waiter) sameWait(v *Waiter) bool {
	return w.Op == v.Op && w.samePlace(&v.Point)
}
