//go:build !race

package stm

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// How shared memory is read and written. Loads are atomic, which costs nothing.
// Stores happen between two locked operations on the clock, which order them, where
// stores are seen in order, for all that look at the clock before and after they read;
// each is one instruction, and an atomic one would be a fence more. Elsewhere they
// are atomic: a plain one might be seen before the clock is.
const storesAreOrdered = runtime.GOARCH == "amd64"

func loadWord(addr unsafe.Pointer) uint64 { return atomic.LoadUint64((*uint64)(addr)) }

func loadHalf(addr unsafe.Pointer) uint32 { return atomic.LoadUint32((*uint32)(addr)) }

func loadPointer(addr unsafe.Pointer) unsafe.Pointer {
	return atomic.LoadPointer((*unsafe.Pointer)(addr))
}

func storeWord(addr unsafe.Pointer, val uint64) {
	if storesAreOrdered {
		*(*uint64)(addr) = val
	} else {
		atomic.StoreUint64((*uint64)(addr), val)
	}
}

func storePointer(addr, val unsafe.Pointer) {
	if storesAreOrdered {
		*(*unsafe.Pointer)(addr) = val
	} else {
		atomic.StorePointer((*unsafe.Pointer)(addr), val)
	}
}

// storeByte has no atomic form. The words around it are ordered by a read of the
// clock: an atomic one that changes nothing is a fence.
func storeByte(addr unsafe.Pointer, val byte) {
	if !storesAreOrdered {
		clock.Add(0)
	}
	*(*byte)(addr) = val
}

// storeClock makes the clock even. A transaction that looks before it is seen finds the clock
// odd, as the operation that made it so was a locked one, and waits.
func storeClock(t uint64) {
	if storesAreOrdered {
		*(*uint64)(unsafe.Pointer(&clock.Uint64)) = t
	} else {
		clock.Store(t)
	}
}

// clockWord is the clock, for Load: a method of it is more than the compiler has room for there.
var clockWord = (*uint64)(unsafe.Pointer(&clock.Uint64))

// The race detector is not there.

const vigilant = false

func acquired() {}

func (tx *Tx) told() {}

func performed() {}

func toldCopy(unsafe.Pointer, uintptr, uint64) {}

func (tx *Tx) taken() {}

func (tx *Tx) given() {}
