package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/rt/journal"
)

// Patched is what the patched runtime offers. Its functions are nil where the runtime is
// not patched; then nothing is taken back, and less is known of what is outside control.
var Patched struct {
	// Stream makes random numbers come from another stream, given by its state, and
	// returns the state of the one before.
	Stream func(state uint64) (before uint64)
	// Force makes the next random number what it says.
	Force func(next uint64)
	// Draws counts the random numbers that package math/rand has drawn, and Draw draws
	// one in the same way.
	Draws func() uint64
	Draw  func() uint64
	// Begin notes what there is on the heap, and Old reports whether an address is in a
	// package-level variable or in what there was. Elsewhere, in memory of C say, it is not known
	// whether it is still there.
	Begin func()
	Old   func(addr uintptr) bool
	// Collections counts the garbage collections that have begun.
	Collections func() uint32
	// ResetProcs forgets what a run has set GOMAXPROCS to.
	ResetProcs func()
	// Stacks says how large the stacks of new goroutines are.
	Stacks func(size uint32)
	// Waits reports whether a goroutine, by its g, waits natively or is in a system call.
	Waits func(g uintptr) bool
	// AwaitFinalizers waits until all that a collection has found was handed over.
	AwaitFinalizers func()
	// Busy reports whether a goroutine other than the calling one could go on.
	Busy func() bool
	// PanickedAgain counts how often the value of the panic that the calling deferred function has
	// recovered had been recovered by others, which panicked with it again.
	PanickedAgain func() int
	// Newest is the number of the newest goroutine, and Number makes a number that of the
	// next one.
	Newest func() uint64
	Number func(next uint64)
	// Goroutines counts all goroutines, those that the program does not see among them.
	Goroutines func() int
	// Active counts the goroutines after a number that may go on though no other does
	// anything, of those that count by their g; how many of these wait for input or output;
	// and the timers.
	Active func(after uint64, counts func(g uintptr) bool) (goroutines, input, timers int)
	// Stack stores the stack of another goroutine, by its g, the innermost call first, and
	// returns how many calls it has.
	Stack func(g uintptr, pcs []uintptr) int
	// Now is the real time since some moment, in nanoseconds.
	Now func() int64
}

// Keep notes what *p is, for those parts of the standard library that change memory
// unseen.
func Keep[T any](p *T) {
	if c := enter(); c != nil {
		if !private(unsafe.Pointer(p)) {
			s.journal.Keep(uintptr(unsafe.Pointer(p)), unsafe.Sizeof(*p))
		}
		c.leave()
	}
}

// keepMap notes what is in m, which the run is about to write to for the first time.
func keepMap[M ~map[K]V, K comparable, V any](m M) {
	journal.KeepMap(&s.journal, m)
	s.objects.at(*(*unsafe.Pointer)(unsafe.Pointer(&m))).kept = true
}
