// Package binfix fixes programs without source: it finds a schedule under which a program
// crashes, derives critical sections from the run, writes them as a patch of the machine
// code, and proves the patch.
//
// # Rounds
//
// The engine proposes fixes, the cheapest first. Each becomes a patch (package binpatch) and
// is tried: in the emulator, with the patch loaded by the real dynamic linker, by the
// schedule that failed, then by all schedules with at most two preemptions or, if these are
// too many, by 10,000 by PCT; then, on the processor, a number of times. The first that
// stands all of it is the fix. A thread that waits a second for the lock, which ends with a
// line on standard error in a real run, is a failure here: the patch would deadlock.
//
// Machines are derived without going through earlier rounds of loops at first. That is
// faster, and enough unless a loop computes what is read; if nothing is proven, it is done
// again with them.
//
// If no fix of the engine's stands, all that touches the data of the failure becomes one
// section in each function, then in their callers, and theirs.
//
// The schedule that fails in the emulator is followed on the processor, too, where ptrace is
// allowed: threads are stopped and started in the same order (package native).
//
// # Refusals
//
// What cannot be fixed by a lock is refused, with the reason: deadlocks, orders that nothing
// in the program's own code reads, sections that would wait for another thread, failures in
// the code of libraries.
//
//	fix.go       finding, analysing, and the rounds
//	places.go    where a failure is looked at, and the program lifted for that
//	observe.go   runs as the engine sees them
//	confirm.go   the failing schedule on the processor
//	enclose.go   the fix of last resort
//	sections.go  the engine's sections as machine code
//	proof.go     the proof of a patch
//	explain.go   the report for a person
package binfix
