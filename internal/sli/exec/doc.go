// Package exec executes the engine's instructions: a Thread is a goroutine, and its Host
// is the world it runs in. Replay is the Host that follows the trace of a run; the
// simulator of slitest is another.
//
// # Files
//
//	thread.go   execution of instructions, and what is asked of a Host
//	trace.go    events, what can be asked of a trace, memory at a time
//	failure.go  how a run went wrong
//	replay.go   what following a trace knows of all goroutines
//	follow.go   the Host of one goroutine that is followed
//	memory.go   its loads, stores and allocations
//	oracle.go   its tests, branches and dynamic calls, where values do not decide
//	resync.go   putting a goroutine down again where trace and program parted
package exec
