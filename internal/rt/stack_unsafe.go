package rt

import "github.com/cofferdam-go/cofferdam/internal/rt/peek"

// stackSum is a sum over the stack of the goroutine that runs, from the frame of its caller, or
// the caller's caller, on. Pointers into the stack count by their distance from its end, so that
// the sum is the same after the stack was moved. Nothing is called between here and the end of the
// sum that is not inlined, or it might be moved in between.
func stackSum() uint64 {
	at := framePointer()
	_, lo, hi := here()
	sum := uint64(offsetBasis)
	for ; at+wordSize <= hi; at += wordSize {
		w := peek.Word(at)
		if w-lo < hi-lo {
			w = hi - w
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
