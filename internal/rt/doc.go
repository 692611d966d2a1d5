// Package rt is what instrumented programs call. It runs a program under control: one
// goroutine at a time, in an order that a strategy decides, with every access to shared
// memory and every synchronisation seen.
//
// # Terms
//
//	hook       a function that rewritten code calls around or instead of an operation.
//	           Called by a goroutine that is not under control it does the plain operation
//	site       a place in the source, by the number that a hook is given; from 1<<31 a
//	           call of a patched function of the standard library (Frames.PC)
//	run        one execution of a function, and of all goroutines it starts, under
//	           control (Run). The first goroutine is the root
//	step       what a goroutine does from one hook to the next: first the operation it
//	           announced, then whatever comes until it announces another
//	token      the right to run. One goroutine has it
//	ready      able to take a step if picked; otherwise a goroutine is blocked, outside,
//	           or has ended
//	object     what is known of one lock, channel, WaitGroup, ... in this run
//	outside    not under control: system calls, code that was not rewritten, goroutines
//	           that such code starts
//
// # How it works
//
// A hook takes its goroutine inside rt (enter), announces the operation (step, or await
// if it may have to wait), and returns when it is the goroutine's turn and the operation
// can be done; the program goes on (leave). In between others may have run: a goroutine
// that gives the token away waits on its own channel (park). The operation is done by the
// hook or, where that is only possible there, by the program as soon as the hook has
// returned, which makes no difference because no other goroutine runs before the next
// hook.
//
// Nothing ever waits natively inside a hook. Each pending operation has a condition
// (wait) over the state of the program's own object; a goroutine is ready exactly while
// its condition holds. What changes an object looks again at the goroutines that wait for
// it (changed). So an operation that is picked succeeds, strategies are shown only what can
// happen, and when none is ready the run is over or deadlocked. The objects keep their
// state themselves, so goroutines that are not under control can share them; what those
// do is found out when no other can go on (idle).
//
// The standard library is patched at its boundaries to call rt; the table of patches is
// internal/instrument/patches.go. That is why rt imports next to nothing: not sync, and
// nothing that imports it.
//
//	run.go            a run from start to end
//	takedown.go       its goroutines, when it is over
//	result.go         what a run is told and tells
//	left.go           goroutines that wait at its end, and which of them for ever
//
//	sched.go          the scheduler: which goroutine takes the next step
//	ready.go          the goroutines that can take one
//	token.go          the token (token_unsafe.go, and token_atomic.go for the race detector)
//	wait.go           conditions of pending operations
//	goroutine.go      goroutines, their calls, their panics
//	polling.go        goroutines that wait by looking again and again; stack_unsafe.go in
//	                  which state they are
//	stacks.go         what a program that asks for all stacks gets to see
//	outside.go        what is not under control
//	programs.go       other programs, and signals of the system
//	watchdog.go       what takes real time
//	coroutine.go      iter.Pull, which is not quite
//	finalizer.go      what is called when an object is not reachable any more
//	early.go          goroutines that are started before the first run
//	g.go, g_other.go  the calling goroutine, in assembly
//
//	access.go         loads, stores and atomics as steps
//	memory.go         hooks of loads, stores and allocations
//	mapping.go        hooks of maps
//	operator.go       hooks of x op= y
//	mapoperator.go    hooks of m[k] op= v
//	append.go         hooks of append
//	atomic.go         hooks of package sync/atomic
//	quiet.go          accesses of the standard library
//	library.go        accesses of its patched functions
//	io.go             files and pipes
//	names.go          files that other processes have as well
//
//	object.go         what is known of one lock, channel, ...
//	channel.go        channels
//	queue.go          what is done for goroutines that wait for a channel
//	select.go         select
//	lock.go           Mutex and RWMutex
//	hold.go           what has locked them
//	waitgroup.go      WaitGroup
//	cond.go           Cond
//	pool.go           Pool
//	medium.go         what goroutines meet at that rt knows nothing of: networks in memory
//	clock.go          time
//	calendar.go       the day on which runs start, and when days, months and years are over
//	timer.go          timers and tickers
//	stall.go          time that moves on while goroutines are ready
//	chance.go         random numbers, and the order of maps
//	bubble.go         testing/synctest
//	testing.go        package testing
//
//	past.go           what a goroutine acquires, for package race
//	emit.go           events, for package record
//	keep.go           what is taken back, for package journal
//	site.go           where patched functions were called, for package frames
//	mark.go           marks a binary as instrumented
//
// What needs no scheduler is in packages below: race (vector clocks and the accesses that
// nothing orders), record (events on their way), journal (memory as it was before a run),
// frames (the tree of calls), waiting (which goroutines wait for ever), timers (a queue by time), panictext (values of panics), stacktext (what a program sees of stacks) and
// peek (memory by address). The rest is one package because every hook works on the
// scheduler's state while its goroutine holds the token; to divide it would export that
// state.
//
// # Invariants
//
//   - The fields of the scheduler belong to the holder of the token while it is inside
//     rt. The watchdog and goroutines that come back from outside become holders first.
//   - The same decisions of the strategy, by the same program with the same seed on the same day, lead to
//     the same events, as long as Result.Outside stays empty. For that, GOMAXPROCS has
//     to be 1, whatever the program asks for (a native goroutine that has ended must be
//     gone when the next one looks for others, and hooks take the token without atomic
//     operations), and the collector off during a run (an address must not be used
//     twice).
//   - ready, ids and ops are parallel and sorted by id.
//   - A goroutine is among the waiters of an object only while its operation is pending.
//     It can be met on a channel only while it is blocked.
//   - While a goroutine waits to send to a buffered channel, its buffer is full, and while one
//     waits to receive, empty; but for what goroutines outside have done since.
//   - Nothing of a run is kept after it but call frames, site numbers, and records that
//     are used again.
package rt
