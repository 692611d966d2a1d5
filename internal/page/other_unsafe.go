//go:build !(linux && amd64)

package page

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// Platforms without a handler: the arena is ordinary memory, a gate only knows
// whether it is held.

// Where the arena is; see the protected platforms. There is one view.
var (
	Base    unsafe.Pointer
	OwnView unsafe.Pointer
	Bytes   uintptr
	OwnBit  uintptr
)

func setup() Status {
	setupPlain()
	return Status{Backend: None, Reason: "there is no fault handler for " + runtime.GOOS + "/" + runtime.GOARCH}
}

func commit(run) error { return nil }

func decommit(r run) error {
	clear(unsafe.Slice((*byte)(unsafe.Add(Base, uintptr(r.first)*Size)), uintptr(r.pages)*Size))
	return nil
}

// Enter begins a section. False: the gate is nil or closed.
func Enter(gate *Gate) bool {
	if gate == nil || atomic.LoadUint32(&gate.word) != 0 {
		return false
	}
	atomic.StoreUintptr(gate.holder(), 1)
	return true
}

// EnterAt is Enter.
func (g *Gate) EnterAt([2]uintptr) bool { return Enter(g) }

// Lock takes the lock and begins a section.
func (l *Latch) Lock() { Slowly.Lock(l, [2]uintptr{}, false) }

// Unlock ends the section and releases the lock.
func (l *Latch) Unlock() { Slowly.Unlock(l) }

// KnowLock has no sites to keep.
func KnowLock(func()) {}

// Own returns the only view of an object.
func Own(l *Latch, p unsafe.Pointer) unsafe.Pointer { return Slowly.Own(l, p) }

// Arm has nothing to make faster.
func (l *Latch) Arm(*Gate) {}

// Rearm is the counterpart of Disarm.
func (l *Latch) Rearm(*Gate) {}

// Disarm is the counterpart of Arm.
func (l *Latch) Disarm() {}

// NoteWaiters has nothing to make faster.
func (l *Latch) NoteWaiters() {}

// Leave ends the section. False: there is none.
func (l *Latch) Leave(g *Gate) bool {
	held := g.Locked()
	g.Leave()
	return held
}

// Settle reports whether the gate can be entered at all.
func (g *Gate) Settle() bool {
	if atomic.LoadUint32(&g.word)&closed != 0 {
		return false
	}
	atomic.StoreUintptr(g.holder(), 1)
	return true
}

// StepOutside has nobody to tell.
func (g *Gate) StepOutside() {}

// StepInside is the counterpart of StepOutside.
func (g *Gate) StepInside() {}

func (g *Gate) watch(*Latch) {}

// Leave ends a section.
func (g *Gate) Leave() { atomic.StoreUintptr(g.holder(), 0) }

// LeaveAlone ends a section.
func (g *Gate) LeaveAlone() { g.Leave() }

// Held reports whether some goroutine is in a section of the gate.
func (g *Gate) Held() bool { return g.Locked() || atomic.LoadUint32(&g.readers) > 0 }

// RunsHere does not know which goroutine it is.
func RunsHere(uintptr) bool { return false }

// Relent has nobody to tell.
func (g *Gate) Relent() {}

// Resume is the counterpart of Relent: the section has not been left.
func (g *Gate) Resume() bool { return true }

// Mine cannot know, and need not: there is one view.
func (g *Gate) Mine() bool { return false }

// Locked reports whether some goroutine is in a section of the gate.
func (g *Gate) Locked() bool { return atomic.LoadUintptr(g.holder()) != 0 }

// EnterRead begins a reader's section.
func (g *Gate) EnterRead() bool {
	atomic.AddUint32(&g.readers, 1)
	if atomic.LoadUint32(&g.word) == 0 {
		return true
	}
	g.LeaveRead()
	return false
}

// Mark has nobody to tell.
func Mark(*Gate) {}

// LeaveRead ends a reader's section; false if there is none.
func (g *Gate) LeaveRead() bool { return int32(atomic.AddUint32(&g.readers, ^uint32(0))) >= 0 }

// Blocked reports that nobody waits.
func (g *Gate) Blocked() bool { return false }

// Wake has nobody to wake.
func (g *Gate) Wake() {}

// Await and Awaited have no handler to tell.
func Await(*Gate) int { return -1 }

// Awaited is the counterpart of Await.
func Awaited(int) {}

// AwaitFault reports that there will be none.
func AwaitFault() bool { return false }

// Recorded reports that there are no faults.
func Recorded() bool { return false }

// Drain has nothing to report.
func Drain(func(*Fault)) bool { return false }

func exhausted() bool { return false }

// PCs is empty: there are no faults.
func (f *Fault) PCs() []uintptr { return nil }

// SetLongestWait has no effect: nothing waits.
func SetLongestWait(time.Duration) {}

// Count returns zeros.
func Count() Counters { return Counters{} }

// Waits reports whether a goroutine waits for something, which is not known here.
func Waits(uintptr) bool { return false }

// Number returns the number of a goroutine that is named by its g, which is not known here.
func Number(uintptr) uint64 { return 0 }
