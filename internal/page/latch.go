package page

import "sync"

// A Latch is how a lock meets its gate: what a section touches of both, side by side. It is in the
// object that has the lock, where an undisturbed section finds it without another load.
//
// Lock and Unlock of a Mutex are inlined into the code that calls them. What they do by themselves
// is one compare-and-swap of Mu, whose word is known (see mutexIsKnown), and for a section Begin.
// Whatever else there is to do is in Go, in [Slowly].
type Latch struct {
	Mu     sync.Mutex // around the sections, if they are a Mutex's
	gate   *Gate      // nil: Lock and Unlock do nothing by themselves
	holder uintptr    // the g in a section that is no reader's; 0: none

	// grip is what Lock makes of the word of a free Mu: mutexLocked. It is 0 until the first use,
	// and for good where Mu is not known; then the compare-and-swap changes nothing.
	grip uint32

	// key is the complement of the word of a Mu that Unlock may release: of mutexLocked, and 0, of
	// which no word is the complement, if Unlock has more to do. The handler makes it 0 when a
	// thread goes to sleep that has to be woken.
	key uint32
}

// Holder is the g in a section that is no reader's, 0 if there is none.
//
//go:norace
func (l *Latch) Holder() uintptr { return l.holder }

// Slowly is what Lock and Unlock come to where a few instructions do not do. Package isolate sets
// it, which knows the guard of a latch.
var Slowly struct {
	// Lock begins a section of which the site is known. The lock may have been taken already.
	Lock func(l *Latch, site [2]uintptr, taken bool)
	// Unlock ends a section, with the lock that is around it.
	Unlock func(l *Latch)
}
