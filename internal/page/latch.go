package page

import (
	"sync"
	"sync/atomic"
)

// A Latch is how a lock meets its gate: what a section touches of both, side by side. It is in the
// object that has the lock, where an undisturbed section finds it without another load.
//
// Unlock of a Mutex is inlined into the code that calls it, and Lock is one call, of [Begin]. What they do
// by themselves is one compare-and-swap of Mu, whose word is known (see mutexIsKnown), and what begins and
// ends a section. Whatever else there is to do is in Go, in [Slowly].
type Latch struct {
	Mu     sync.Mutex // around the sections, if they are a Mutex's
	gate   *Gate      // nil: Lock and Unlock do nothing by themselves
	holder uintptr    // the g in a section that is no reader's; 0: none

	// The run of the gate's memory, in the own view, that the first section has asked Own for. Others
	// mostly begin with the same object.
	first, bytes uintptr

	// grip is what Lock makes of the word of a free Mu: mutexLocked. It is 0 until the first use,
	// and for good where Mu is not known; then the compare-and-swap changes nothing.
	grip uint32

	// key says that Unlock may release Mu by itself. The handler takes it away when a thread goes to
	// sleep that has to be woken. So does a section that finds, when it begins, that goroutines wait
	// for Mu: to try the compare-and-swap would cost as much as to release the lock.
	key bool
}

// Holder is the g in a section that is no reader's, 0 if there is none.
//
//go:norace
func (l *Latch) Holder() uintptr { return l.holder }

// Remember has Own know the run of the gate's memory that has an offset into the arena, if it knows none, or
// that one when it was shorter: objects in two places would take turns. The caller is in the section.
func (l *Latch) Remember(g *Gate, offset uintptr) {
	first, bytes := g.Around(offset)
	if known := atomic.LoadUintptr(&l.bytes); known == 0 || first == atomic.LoadUintptr(&l.first) {
		atomic.StoreUintptr(&l.first, first)
		atomic.StoreUintptr(&l.bytes, bytes)
	}
}

// Forget has Own know none.
func (l *Latch) Forget() { atomic.StoreUintptr(&l.bytes, 0) }
