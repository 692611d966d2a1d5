//go:build race

package stm

import (
	"runtime"
	"sync"
	"unsafe"
)

// To the race detector a transaction is a critical section of one global lock.
// What it reads and writes on the way is hidden from it, because a doomed
// transaction may read what is no longer shared; what a committed one has read and
// written is told at its commit. So plain accesses that race with a transaction
// are reported, and doomed transactions are not.

// vigilant is whether every access looks at what is seen only now and then otherwise:
// whose goroutine it is in. A build with -race is for finding out, not for saving time.
const vigilant = true

// acquired says that everything before the last commits is visible.
func acquired() { runtime.RaceAcquire(unsafe.Pointer(&clock)) }

// taken says that a goroutine goes on with the Tx of one that has ended and had the
// same g; given is what that one said last.
func (tx *Tx) taken() { runtime.RaceAcquire(unsafe.Pointer(tx)) }

func (tx *Tx) given() { runtime.RaceRelease(unsafe.Pointer(tx)) }

// telling makes what told does one step: a transaction that only read commits
// without holding the clock.
var telling sync.Mutex

// told tells what a transaction did, at its commit. If another has committed since
// the reads of one that only read were valid, they happened before that; what
// belongs to nobody but the other now is not told to be read.
func (tx *Tx) told() {
	telling.Lock()
	defer telling.Unlock()
	acquired()
	if tx.held || clock.Load() == tx.snapshot {
		for i := range tx.reads.words {
			runtime.RaceReadRange(tx.reads.words[i].addr, 8)
		}
		for i := range tx.reads.pointers {
			runtime.RaceReadRange(tx.reads.pointers[i].addr, 8)
		}
		for i := range tx.reads.parts {
			eachRun(tx.reads.parts[i].addr, tx.reads.parts[i].mask, runtime.RaceReadRange)
		}
	}
	for i := range tx.writes.all {
		w := &tx.writes.all[i]
		if w.mask == 0 {
			runtime.RaceWriteRange(w.addr, 8)
		} else {
			eachRun(w.addr, w.mask, runtime.RaceWriteRange)
		}
	}
	runtime.RaceReleaseMerge(unsafe.Pointer(&clock))
}

// performed says that a transaction works in place from here on, with the clock held:
// everything that was told before is visible.
func performed() {
	telling.Lock()
	defer telling.Unlock()
	acquired()
}

// toldCopy tells what a copy has read, that was there at a time.
func toldCopy(src unsafe.Pointer, words uintptr, t uint64) {
	telling.Lock()
	defer telling.Unlock()
	acquired()
	if clock.Load() == t {
		runtime.RaceReadRange(src, int(8*words))
	}
	runtime.RaceReleaseMerge(unsafe.Pointer(&clock))
}

// eachRun calls f with each run of bytes of a word that mask selects: the detector
// remembers few accesses to a word, so that it is told of few.
func eachRun(addr unsafe.Pointer, mask uint64, f func(p unsafe.Pointer, n int)) {
	for i := 0; i < 8; {
		n := 0
		for i+n < 8 && mask>>laneOf(i+n)&0xff != 0 {
			n++
		}
		if n > 0 {
			f(unsafe.Add(addr, i), n)
		}
		i += max(n, 1)
	}
}

func storeClock(t uint64) { clock.Store(t) }

//go:norace
func loadWord(addr unsafe.Pointer) uint64 { return *(*uint64)(addr) }

//go:norace
func loadHalf(addr unsafe.Pointer) uint32 { return *(*uint32)(addr) }

//go:norace
func loadPointer(addr unsafe.Pointer) unsafe.Pointer { return *(*unsafe.Pointer)(addr) }

//go:norace
func storeWord(addr unsafe.Pointer, val uint64) { *(*uint64)(addr) = val }

//go:norace
func storePointer(addr, val unsafe.Pointer) { *(*unsafe.Pointer)(addr) = val }

//go:norace
func storeByte(addr unsafe.Pointer, val byte) { *(*byte)(addr) = val }
