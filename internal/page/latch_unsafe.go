//go:build linux && amd64

package page

//lint:file-ignore U1000 some of what is declared here is called by assembly, or is assembly that is jumped to

import (
	"sync/atomic"
	"unsafe"
)

// word is the part of a sync.Mutex that says whether it is held. Mu is the first thing in a latch.
func (l *Latch) word() *uint32 { return (*uint32)(unsafe.Pointer(l)) }

// Lock takes the lock and begins a section.
func (l *Latch) Lock() { Begin(l) }

// Unlock ends the section and releases the lock. It is inlined: a call costs a quarter of what the locked
// instruction does. The holder goes first: a lock that is seen to be taken again must not be seen with the
// holder before.
//
// A thread of the handler that goes to sleep between the load of the key and the compare-and-swap
// is not woken; it sleeps for some microseconds at most.
func (l *Latch) Unlock() {
	if raceBuild {
		Slowly.Unlock(l)
		return
	}
	l.holder = 0
	if !l.key || !atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(l)), mutexLocked, 0) {
		unlockSlowly(l)
	}
}

// Begin takes the lock, and makes the calling goroutine the holder of its gate.
//
//go:noescape
func Begin(l *Latch)

// Own returns the holder's view of an object: see package isolate.
//
//go:noescape
func Own(l *Latch, p unsafe.Pointer) unsafe.Pointer

func ownSlowly(l *Latch, p unsafe.Pointer) unsafe.Pointer { return Slowly.Own(l, p) }

func lockAside(l *Latch)
func settleAside(l *Latch)

func lockSlowly(l *Latch, inner, middle, outer uintptr) {
	Slowly.Lock(l, siteOf(inner, middle, outer), false)
}

func settleSlowly(l *Latch, inner, middle, outer uintptr) {
	Slowly.Lock(l, siteOf(inner, middle, outer), true)
}

// lockReturn is where Begin returns to in a Lock that was called and not inlined.
var lockReturn uintptr

// siteOf returns the first two of three return addresses that are not in Lock itself.
func siteOf(inner, middle, outer uintptr) [2]uintptr {
	if inner == lockReturn {
		return [2]uintptr{middle, outer}
	}
	return [2]uintptr{inner, middle}
}

// KnowLock finds out what a section has to leave out of its site: where a Lock returns to that was
// called and not inlined. The call is of one whose latch was never used.
func KnowLock(call func()) {
	slowly := Slowly.Lock
	Slowly.Lock = func(_ *Latch, site [2]uintptr, _ bool) { lockReturn = site[0] }
	call()
	Slowly.Lock = slowly
}

// unlockSlowly is Unlock where goroutines wait for the lock, or threads of the handler for the section, or
// there is none. What key says is known again when the lock is released, by a locked instruction: a thread that
// has counted itself by then is seen, and woken, and one that counts itself later takes the key away again.
//
//go:noinline
func unlockSlowly(l *Latch) {
	gate := l.gate
	if gate == nil || atomic.LoadUint32(l.word())&mutexLocked == 0 {
		Slowly.Unlock(l)
		return
	}
	l.key = true
	l.Mu.Unlock()
	if gate.Blocked() {
		gate.Wake()
	}
}

// Arm lets Lock and Unlock do by themselves what they can. In a build with the race detector they
// do nothing, because it knows a lock by the calls of its methods.
func (l *Latch) Arm(g *Gate) {
	if raceBuild || g.lock == 0 {
		return
	}
	l.Rearm(g)
	atomic.StoreUint32(&l.grip, mutexLocked) // last: Lock looks at it first
}

// Rearm takes Disarm back. The caller is about to release the lock, by a locked instruction, and looks then
// whether threads wait for that: see unlockSlowly.
func (l *Latch) Rearm(g *Gate) {
	if !raceBuild && g.lock != 0 {
		l.gate, l.key = g, true
	}
}

// Disarm has Lock and Unlock of a lock that the caller holds do nothing by themselves.
func (l *Latch) Disarm() { l.gate, l.key = nil, false }

// NoteWaiters has Unlock of a lock that the caller holds not try what cannot succeed, if goroutines wait.
func (l *Latch) NoteWaiters() {
	if !raceBuild && atomic.LoadUint32(l.word()) != mutexLocked {
		l.key = false
	}
}

// Leave ends the section where Unlock has nothing that it may do by itself: the caller releases the lock.
// False: there is no section.
func (l *Latch) Leave(g *Gate) bool {
	if l.gate != nil {
		return false // the lock was not held
	}
	held := g.Locked()
	g.Leave()
	return held
}

// EnterAt is Enter with a site that is known. As in Begin the store of the holder may be late, if the handler
// looks at the lock.
//
//go:norace
func (g *Gate) EnterAt(site [2]uintptr) bool {
	g.site = site
	if g.lock == 0 {
		atomic.StoreUintptr(&g.lenient, 0)
		hold(g)
	} else {
		*g.holder() = G()
	}
	return atomic.LoadUint32(&g.word) == 0
}
