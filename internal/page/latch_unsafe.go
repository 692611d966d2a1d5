//go:build linux && amd64

package page

//lint:file-ignore U1000 some of what is declared here is called by assembly, or is assembly that is jumped to

import (
	"sync/atomic"
	"unsafe"
)

// word is the part of a sync.Mutex that says whether it is held.
func (l *Latch) word() *uint32 { return (*uint32)(unsafe.Pointer(&l.Mu)) }

// Lock takes the lock and begins a section. It is inlined: a call costs as much as the fence.
func (l *Latch) Lock() {
	if raceBuild {
		Begin(l, 0, false)
		return
	}
	grip := l.grip
	Begin(l, grip, atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(&l.Mu)), 0, grip))
}

// Unlock ends the section and releases the lock. The holder goes first: a lock that is seen to be
// taken again must not be seen with the holder before.
//
// A thread of the handler that goes to sleep between the load of the key and the compare-and-swap
// is not woken; it sleeps for some microseconds at most.
func (l *Latch) Unlock() {
	if raceBuild {
		Slowly.Unlock(l)
		return
	}
	l.holder = 0
	if !atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(&l.Mu)), ^l.key, 0) {
		unlockSlowly(l)
	}
}

// Begin makes the calling goroutine the holder of the gate, if the lock was taken: if taken and
// grip are not 0. It takes the lock otherwise.
//
//go:noescape
func Begin(l *Latch, grip uint32, taken bool)

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

// unlockSlowly is Unlock where the word is not that of a lock for which no goroutine waits. If
// nothing but that is the matter, the lock knows what to do.
//
//go:noinline
func unlockSlowly(l *Latch) {
	if atomic.LoadUint32(&l.key) == ^uint32(mutexLocked) && atomic.LoadUint32(l.word())&mutexLocked != 0 {
		l.Mu.Unlock()
		return
	}
	Slowly.Unlock(l)
}

// Arm lets Lock and Unlock do by themselves what they can. In a build with the race detector they
// do nothing, because it knows a lock by the calls of its methods.
func (l *Latch) Arm(g *Gate) {
	if raceBuild || g.lock == 0 {
		return
	}
	l.gate = g
	l.open(g)
	atomic.StoreUint32(&l.grip, mutexLocked) // last: Lock looks at it first
}

// Disarm has Lock and Unlock of a lock that the caller holds do nothing by themselves.
func (l *Latch) Disarm() {
	l.gate = nil
	atomic.StoreUint32(&l.key, 0)
}

// open lets Unlock release the lock by itself, unless there is a thread to be woken: it has
// counted itself before it took the key away.
func (l *Latch) open(g *Gate) {
	atomic.StoreUint32(&l.key, ^uint32(mutexLocked))
	if atomic.LoadUint32(&g.blocked) != 0 {
		atomic.StoreUint32(&l.key, 0)
	}
}

// Leave ends the section where Unlock could not: the caller releases the lock. False: there is no
// section.
func (l *Latch) Leave(g *Gate) bool {
	if l.gate == nil {
		held := g.Locked()
		g.Leave()
		return held
	}
	if atomic.LoadUint32(l.word())&mutexLocked == 0 {
		return false
	}
	l.holder = 0
	l.open(g)
	return true
}

// EnterAt is Enter with a site that is known.
func (g *Gate) EnterAt(site [2]uintptr) bool {
	g.site = site
	if g.lock == 0 {
		atomic.StoreUintptr(&g.lenient, 0)
	}
	hold(g)
	return atomic.LoadUint32(&g.word) == 0
}
