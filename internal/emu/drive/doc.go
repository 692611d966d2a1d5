// Package drive explores the schedules of programs without source: it runs an emulated
// program again and again under a strategy of package sched until a run crashes, shrinks the
// schedule, and records it.
//
// # Steps
//
// A run is prepared once: the program is loaded and executed up to the point at which it
// creates its first thread. A snapshot is taken there, and every run starts from it. A
// step is a visible operation and all that follows it up to the thread's next one. Visible
// are accesses to shared memory, and the system calls by which threads meet: futex, clone,
// the end of a thread, pipes, signals, yielding.
//
// Memory is shared if two threads accessed it in one run and one of them wrote. Runs learn
// which memory that is: what one finds is visible in those after it, and a search begins
// with some runs by chance until they find no more. To make every access visible that could
// be shared would cost ten times the steps, most of them in the C library. A schedule counts
// visible steps, so what is shared belongs to it, and is kept in the trace.
//
// # Failures
//
// A run fails by a signal that kills the program (an assertion that fails is one), by a
// deadlock, and by misuse of the heap: access to freed memory, a second free, a free of what
// is no allocation. The heap is known by the names of its functions, which stripped
// programs still import. Data races are failures where they are asked for (races.go).
//
// # Many processes
//
// A search is done by package search, whose workers are here emulated processes (crew.go).
// What memory is shared is the same for all units of a wave, and what their runs find is
// added when the wave is over, in the order of its units; then all schedules begin anew. So
// a search comes to the same with any number of processes.
//
//	program.go  a program, its identity and its preparation
//	run.go      one run: points and steps
//	stall.go    time that moves on while threads are ready
//	operation.go what a thread is about to do
//	shared.go   which memory is shared
//	heap.go     allocations
//	crash.go    failures
//	races.go    data races
//	search.go   runs until one fails, and its smallest schedule
//	crew.go     the processes that make them
//	record.go   recording and replaying
//	route.go    where the threads of a run were stopped, for a processor to follow
package drive
