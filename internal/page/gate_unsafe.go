//go:build linux && amd64

package page

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

//go:noescape
func copyG(words *[gWords]uint64)

//go:noescape
func copyWanted(words *[gWords]uint64, looks int) bool

func monotonic() int64

func relax()

// Enter makes the calling goroutine the gate's holder. True: the section may
// begin. False: call Settle first. The caller must not be inlined: the return
// address above it is the section's site.
//
//go:noescape
func Enter(gate *Gate) bool

// Mark notes where a reader's section begins, like Enter.
//
//go:noescape
func Mark(gate *Gate)

//go:noescape
func hold(gate *Gate)

//go:noescape
func seal(gate *Gate) int32

// Settle completes an Enter that returned false: it lets the accesses pass that
// came first, and seals the gate. False: the gate is closed, and the caller is
// not its holder.
func (g *Gate) Settle() bool {
	called := false
	for {
		word := atomic.LoadUint32(&g.word)
		switch {
		case word&closed != 0:
			g.Leave()
			return false
		case word&starved != 0 && !called:
			called = true // once: other accesses may come and go all the time
			g.letPass(g.callBack)
		case word >= busy:
			g.letPass(func() {})
		case seal(g) >= 0:
			return true
		}
	}
}

// patientLooks is how often a section looks, each time for a microsecond or two, whether the
// accesses in its way have passed. They run on other processors and need a few microseconds;
// a goroutine that yields has its next turn after all that are ready.
const patientLooks = 50

// letPass takes the holder out of its section until no access wants to pass.
func (g *Gate) letPass(first func()) {
	g.Leave()
	atomic.StoreUintptr(&g.outside, G()) // with a fence before the look whether threads are asleep
	first()
	if g.Blocked() {
		g.Wake()
	}
	for i := 0; atomic.LoadUint32(&g.word) >= busy; i++ {
		if i < patientLooks {
			relax()
		} else {
			runtime.Gosched()
		}
	}
	g.StepInside()
	hold(g) // with a fence before the next look at word
}

// callBack gives accesses whose goroutines gave up their processors time to come back. They
// are ready to run, so they have their turn before this goroutine has its next but one. That
// cannot be waited for: one may have passed long ago.
func (g *Gate) callBack() {
	atomic.AndUint32(&g.word, ^uint32(starved))
	runtime.Gosched()
	runtime.Gosched()
}

// Relent says that the holder, which is the calling goroutine, runs code that may wait for
// what another goroutine does, which may need an access first. So an access may pass while
// the holder waits, and after twenty milliseconds in any case. Resume ends that.
func (g *Gate) Relent() {
	if ctl.status == 0 {
		g.LeaveAlone()
		return
	}
	atomic.StoreUintptr(&g.lenient, G())
}

// Resume ends what Relent began. True: the section goes on, and accesses that wait for it go on
// waiting. False: the calling goroutine has to Enter anew, because an access has passed or is
// about to, or another section has run: what was called may have released the lock and taken it
// again.
func (g *Gate) Resume() bool {
	me := G()
	if g.inSection() != me {
		return false // the mark is not this goroutine's any more
	}
	if atomic.SwapUintptr(&g.lenient, 0) != me {
		return false // an access has taken it
	}
	return atomic.LoadUint32(&g.word)&(wanter-1)&^starved == 0
}

// StepOutside says that the calling goroutine holds the lock without a section. It is a plain store: an access that
// does not see it yet waits a moment longer.
func (g *Gate) StepOutside() { g.outside = G() }

// StepInside takes that back. It may be seen late, but not after the lock was released, which takes a locked
// instruction: as long as the lock is held, and its holder outside, accesses pass.
func (g *Gate) StepInside() { g.outside = 0 }

// What the first word of a sync.Mutex says: that it is held, and that it is handed from one
// goroutine to the next, and must not be taken although it is not held.
const (
	mutexLocked   = 1
	mutexStarving = 4
)

// mutexIsKnown checks that a sync.Mutex is what the handler and Begin take it for. If a
// newer Go changes it, gates go without it, at the cost of a fence per section.
var mutexIsKnown = sync.OnceValue(func() bool {
	var mu sync.Mutex
	word := (*atomic.Uint32)(unsafe.Pointer(&mu))
	free := word.Load()
	mu.Lock()
	held := word.Load()
	mu.Unlock()
	if free != 0 || held != mutexLocked || word.Load() != 0 {
		return false
	}
	for before := range uint32(64) {
		word.Store(before)
		if taken := mu.TryLock(); taken != (before&(mutexLocked|mutexStarving) == 0) || taken && word.Load() != before|mutexLocked {
			return false
		}
	}
	return true
})

// watch lets the handler look at the lock around the gate's sections. The lock
// must stay where it is, as everything on the Go heap does, and be kept alive.
func (g *Gate) watch(l *Latch) {
	if mutexIsKnown() {
		g.lock = uintptr(unsafe.Pointer(&l.Mu))
	}
}

// Leave ends a section. The store may not move up into the section, nor behind
// the release of the lock that follows: stores are ordered on amd64.
//
//go:norace
func (g *Gate) Leave() { *g.holder() = 0 }

// LeaveAlone is Leave where no release of a lock follows: what the caller loads next is
// behind the end of the section.
func (g *Gate) LeaveAlone() {
	if raceBuild {
		g.Leave()
		atomic.AndUint32(&g.word, ^uint32(0)) // a fence, in memory that the race detector does not know
		return
	}
	atomic.StoreUintptr(g.holder(), 0)
}

// Held reports whether the running goroutine is in a section of the gate, or any
// goroutine in a reader's.
func (g *Gate) Held() bool {
	if holder := g.inSection(); holder != 0 {
		return RunsHere(holder)
	}
	return g.read()
}

// RunsHere reports whether a g is that of the running goroutine. It knows a goroutine by
// its stack, whose bounds are the first words of its g; those of another may be
// changing, which does not matter.
//
//go:nocheckptr
func RunsHere(g uintptr) bool {
	var here byte
	stack := (*[2]uintptr)(unsafe.Add(unsafe.Pointer(nil), g))
	return uintptr(unsafe.Pointer(&here))-stack[0] < stack[1]-stack[0]
}

// Mine reports whether the running goroutine is in a section of the gate that is not a
// reader's.
func (g *Gate) Mine() bool {
	holder := g.inSection()
	return holder != 0 && holder == G()
}

// Locked reports whether any goroutine is in a section of the gate, apart from
// readers.
func (g *Gate) Locked() bool { return g.inSection() != 0 }

// EnterRead begins a reader's section, with the effect of Enter and Settle. The
// pages may be readable.
func (g *Gate) EnterRead() bool {
	called := false
	for {
		g.addReader()
		word := atomic.LoadUint32(&g.word)
		switch {
		case word&^readable == 0:
			return true
		case word&closed != 0:
			g.LeaveRead()
			return false
		case word&starved != 0 && !called:
			called = true
			g.LeaveRead()
			g.callBack()
			continue
		case word < busy && seal(g) >= 0:
			return true
		}
		g.LeaveRead()
		runtime.Gosched()
	}
}

// addReader adds the running goroutine to the readers, by name if there is a place: a cycle
// of waiting goroutines is found by names.
func (g *Gate) addReader() {
	me := G()
	for i := range g.names {
		if n := &g.names[(uintptr(i)+me/readerSpread)%readerNames]; atomic.LoadUintptr(n) == 0 && atomic.CompareAndSwapUintptr(n, 0, me) {
			return
		}
	}
	atomic.AddUint32(&g.readers, 1)
}

// readerSpread is about the size of a g, so that goroutines begin at different names.
const readerSpread = 512

// LeaveRead ends a reader's section; false if there is none. A section may be ended by
// another goroutine than the one that began it.
func (g *Gate) LeaveRead() bool {
	me := G()
	for i := range g.names {
		if n := &g.names[(uintptr(i)+me/readerSpread)%readerNames]; atomic.LoadUintptr(n) == me {
			atomic.StoreUintptr(n, 0)
			return true
		}
	}
	for {
		if n := atomic.LoadUint32(&g.readers); n != 0 {
			if atomic.CompareAndSwapUint32(&g.readers, n, n-1) {
				return true
			}
			continue
		}
		if !g.read() {
			return false
		}
		for i := range g.names {
			if name := atomic.LoadUintptr(&g.names[i]); name != 0 && atomic.CompareAndSwapUintptr(&g.names[i], name, 0) {
				return true
			}
		}
	}
}

// read reports whether any goroutine is in a reader's section.
func (g *Gate) read() bool {
	for i := range g.names {
		if atomic.LoadUintptr(&g.names[i]) != 0 {
			return true
		}
	}
	return atomic.LoadUint32(&g.readers) != 0
}

// Blocked reports whether accesses wait for the section that has just ended: the
// caller has released the lock, whose locked instruction puts this load behind
// the end of the section.
func (g *Gate) Blocked() bool { return g.blocked != 0 }

// Wake lets the accesses that wait look again.
func (g *Gate) Wake() {
	atomic.AddUint32(&g.turn, 1)
	const futexWakePrivate = 1 | 128
	syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&g.turn)), futexWakePrivate, 1<<30, 0, 0, 0)
}

// waits is the table of the goroutines that wait for gates.
var waits []wait

// Await notes that the calling goroutine is about to wait for the lock of the
// gate, so that an access which waits for this goroutine can see a cycle. The
// result is for Awaited; a full table loses only the quick detection.
func Await(gate *Gate) int {
	me := G()
	first := int(uint64(me) * waitHash >> (64 - waitBits))
	for _, free := range []uintptr{me, 0} { // the entry of an earlier wait, if any
		for i := first; i < first+waitProbes; i++ {
			// Most entries are others': to look first takes no locked instruction.
			if atomic.LoadUintptr(&waits[i].g) == free && atomic.CompareAndSwapUintptr(&waits[i].g, free, me) {
				waits[i].address, waits[i].away = 0, 0
				waits[i].gate = uintptr(unsafe.Pointer(gate)) // seen when the lock is asked for, by a locked instruction
				return i
			}
		}
	}
	return -1
}

// Awaited takes back the note of Await. These are plain stores, because the goroutine has the lock by now,
// and others wait for what it is about to do. They are seen before the lock is released: a goroutine that is
// in a section of the gate later does not find a note of one that had the lock before.
func Awaited(i int) {
	if i >= 0 {
		waits[i].gate = 0
		waits[i].g = 0
	}
}
