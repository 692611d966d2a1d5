package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
	"github.com/cofferdam-go/cofferdam/internal/rt/peek"
)

// stackSum is a sum over the stack of the goroutine that runs, from the frame on that has called a
// hook: what hooks have on the stack is another thing each time. Pointers into the stack count by
// their distance from its end, so that the sum is the same after the stack was moved, as it may be
// when a function is called: nothing is called between here and the end of the sum that is not
// inlined. What is made anew for each call of the hook counts by its number.
func stackSum(made []uintptr) uint64 {
	below := callOfHook()
	_, lo, hi := here()
	sum := uint64(offsetBasis)
	for at := hi - below; at+wordSize <= hi; at += wordSize {
		w := peek.Word(at)
		if w-lo < hi-lo {
			w = hi - w
		}
		for i := range made {
			if w == made[i] {
				w = uintptr(i)
			}
		}
		sum = (sum ^ uint64(w)) * sumPrime
		sum ^= sum >> 29
	}
	return sum
}

// These are those of the FNV-1a hash.
const (
	offsetBasis = 14695981039346656037
	sumPrime    = 1099511628211
)

// callOfHook returns how far below the end of the stack the return address is of the hook that was
// called.
func callOfHook() uintptr {
	fp := framePointer()
	_, _, hi := here()
	for below := hi - fp; ; {
		_, lo, hi := here()
		at := hi - below
		if at < lo || at+2*wordSize > hi {
			return below
		}
		next, pc := peek.Word(at), peek.Word(at+wordSize)
		if next <= at || !frames.IsHook(pc) {
			return below - wordSize
		}
		below = hi - next
	}
}

// entryOf returns where the code of a function begins; 0 for nil.
func entryOf(f func()) uintptr {
	if f == nil {
		return 0
	}
	return **(**uintptr)(unsafe.Pointer(&f))
}
