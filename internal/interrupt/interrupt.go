// Package interrupt ends what a goroutine computes on values that never were: it raises a
// panic in the middle of plain code, where nothing looks at a flag. It is for package stm
// alone, whose doomed transactions may count to any number.
//
// # How it works
//
// A goroutine that is to be looked at has a slot (a [Watch]): its g, what it has read, and
// two words of its transaction. A signal, SIGURG, is sent to all threads. The handler, in
// assembly, lets the runtime's own handler run first: to that SIGURG is a request for
// preemption, which may come without a reason. Then it looks whether the thread runs a
// goroutine with a slot. If so it notes the program counter, and compares what the transaction
// has read, if it runs its function, with what is there. If that differs, and the program
// counter is among those that were found to be safe before, the handler marks the transaction as interrupted and jumps to the
// runtime's handler for SIGSEGV, as if the instruction had used a nil pointer. The rest is the
// runtime's: a panic at that instruction, deferred functions, and the recover of the
// transaction, which knows by the mark that it means nothing.
//
// A goroutine that allocates without end is in the runtime nearly all the time, and ever longer
// at a time. So what is judged is also where the functions return to that it is in, which the
// handler finds by the frame pointers: the first signal that meets it outside of the runtime
// ends it. And once it is known to be doomed, signals come by the processor time of the threads
// (alarms), so that it is met whatever else the processors do.
//
// Most of that time is spent moving memory: append copies the old array into the new one. That
// is assembly with nothing to lose, called by a function of the runtime (fillers) that has
// allocated the new array, has not shown it to anybody, and holds no lock: as if that call had
// used a nil pointer, which the runtime supports there as anywhere in Go code. So the goroutine
// is ended there, too, if the first function on its stack that is not one of these may be.
// What cannot be cut short is the one allocation that it is in.
//
// Where a goroutine is met that is not safe, be it in a call of the runtime that keeps a state,
// it is stepped from there, instruction by instruction, by the trap flag of the processor: each
// instruction is followed by a SIGTRAP, whose handler looks again. That ends when the goroutine
// is safe, leaves its own stack, comes to a system call or to code that is not the program's, or
// after some thousand instructions; and a goroutine runs freely for two thirds of the time, or
// something long that it is in would never be over.
//
// Everything is read while the goroutine is stopped, by its own thread. What the handler reads
// is memory that the transaction's log keeps alive. A comparison that comes out wrong, because
// the goroutine was stopped while it made an entry in its log, ends an attempt that could have
// gone on; attempts may be given up for any reason.
//
// # Why it is safe
//
// The runtime supports panics at the instructions of Go code that use a pointer, and finds out
// from a table (unsafe points) where a goroutine can be stopped. A program counter is safe
// here, or that of the call in which memory is filled, if all of this is so:
//
//   - It is not at an unsafe point: not between the instructions of a write barrier, which
//     would leave the collector's buffer half filled, nor in a prologue.
//   - Its function is Go code on the goroutine's own stack, neither assembly, C nor the
//     runtime's, and not of a package of the
//     standard library that has locks or other state. An invariant of the program's own that
//     does not hold in the middle of a function is the transaction's business: the sandbox ends
//     functions at any Load already.
//   - Its function defers nothing. The frame of a function that panics and defers nothing is
//     dead, and its variables need not be known to the collector. One that does defer may not
//     yet have zeroed the word that says what, and a deferred function could read a variable of
//     several words of which one was written.
//
// A function that defers is ended in a call, as if what it calls had panicked, which Go supports
// in all of them: when the call returns, before anything is done with its results. When it begins
// would be too early, because a deferred function is struck off before it is called, and would be
// left out. So that is for calls of functions that are on the stack already: a recursion need not
// return. That something was called or has returned is seen by stepping. To the runtime it is then
// a call of a function that is nil: the program counter is 0, and the call's return address is on
// top of the stack.
//
// What is left to the program: a function must not assign a string, a slice or an interface in
// a loop without an access, through a pointer, to a variable that a deferred function of a
// caller reads. It could be interrupted between the words.
//
// On other platforms, and with a version of Go whose tables are not those that are known
// (which is checked, on functions of this package), nothing is interrupted: Supported says
// so.
//
//	interrupt.go              this
//	watch_linux_amd64.go      slots, and sending signals
//	alarm_unsafe.go           signals by processor time
//	handler_unsafe.go         installing the handlers
//	handler_linux_amd64.s     the handlers
//	safe_unsafe.go            which program counters are safe
//	other.go                  other platforms
package interrupt

// A View is where the handler finds what it has to know of a transaction: addresses of
// variables that stay where they are.
type View struct {
	G             uintptr // the goroutine
	Interruptible uintptr // *uint32: not 0 while the transaction runs its function and can be given up
	Interrupted   uintptr // *uint32: set to 1 by the handler
	// Slices of what was read: of pairs of an address and a value, twice, and of triples of
	// an address, a value and the bits of it that count.
	Words, Pointers, Parts uintptr
}
