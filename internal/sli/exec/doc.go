// Package exec executes the engine's instructions: a Thread is a goroutine, and its Host
// is the world it runs in. Replay is the Host that follows the trace of a run; the
// simulator of slitest is the other.
//
// # Following a trace
//
// A trace has the accesses, calls and synchronisation of a run, but neither every
// instruction nor every value. Replay executes the instructions of one goroutine and
// consumes its events where instructions make them. Of the function
//
//	r1:8 = load flag              event 7: flag held 1
//	branch r1 == 0 b1 b2          goes to b2, because r1 is known
//	b2:
//	r2:8 = load size              event 8: the value was not recorded
//	branch r2 < 4096 b3 b4        not known: event 9 is a store that only b4 has
//	b4:
//	store total := r2             event 9: what is stored is not known
//
// the steps are those on the left, with r1 known and r2 not. Where program and trace part
// for good (the program would load through nil, the trace goes on), the goroutine is put
// down at its next event, in the calls that the trace says it is in, with those registers
// unknown that may have changed meanwhile.
//
// # Terms
//
// An invented address stands for an object whose address the trace has not shown yet; as
// soon as an event shows it, Real knows the one for the other. A step that lies beyond the
// trace is one that the goroutine would have made next, had the run not ended.
//
// # Files
//
//	thread.go   execution of instructions, and what is asked of a Host
//	unwind.go   calls that are left because of a crash
//	trace.go    events, what can be asked of a trace, memory at a time
//	log.go      a trace in memory
//	failure.go  how a run went wrong
//	replay.go   what following a trace knows of all goroutines
//	follow.go   the Host of one goroutine that is followed
//	checkpoint.go  following it again, from the middle of its run
//	unrecorded.go  memory whose accesses make no events
//	memory.go   its loads, stores and allocations
//	oracle.go   its tests, branches and dynamic calls, where values do not decide
//	scout.go    which side of an unknown branch leads on
//	resync.go   putting a goroutine down again where trace and program parted
//	doc.go      this comment
//
// # Invariants
//
//   - A goroutine's events are consumed in their order, each by at most one step.
//   - A value that the trace contradicts is not used: the trace is right.
package exec
