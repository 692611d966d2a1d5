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
// can be done; the program goes on (leave). In between others may have run: whoever gives
// the token away waits on its own channel (park). The operation is done by the hook or,
// where that is only possible there, by the program as soon as the hook has returned,
// which makes no difference because nobody else runs before the next hook.
//
// Nothing ever waits natively inside a hook. Each pending operation has a condition
// (wait) over the state of the program's own object; a goroutine is ready exactly while
// its condition holds. What changes an object looks again at those who wait for it
// (changed). So an operation that is picked succeeds, strategies are shown only what can
// happen, and when nobody is ready the run is over or deadlocked. The objects keep their
// state themselves, so goroutines that are not under control can share them; what those
// do is found out when nobody else can go on (idle).
//
// The standard library is patched at its boundaries to call rt; the table of patches is
// internal/instrument/patches.go. That is why rt imports next to nothing: not sync, and
// nothing that imports it.
//
//	run.go takedown.go                             a run from start to end
//	sched.go token wait.go goroutine.go vigil.go   who goes next
//	outside.go coroutine.go                        what is not, or not quite, under control
//	access memory mapping operator append          memory
//	channel select lock waitgroup cond pool clock  synchronisation and time
//	race.go shadow object record.go site.go        what is remembered
//	result.go panic testing.go                     what is told
//
// # Invariants
//
//   - The fields of the scheduler belong to the holder of the token while it is inside
//     rt. The watchdog and those who come back from outside become holders first.
//   - The same decisions of the strategy, by the same program with the same seed, lead to
//     the same events, as long as Result.Outside stays empty. For that, GOMAXPROCS has
//     to be 1, whatever the program asks for (a native goroutine that has ended must be
//     gone when the next one looks for others, and hooks take the token without atomic
//     operations), and the collector off during a run (an address must not be used
//     twice).
//   - ready, ids and ops are parallel and sorted by id.
//   - A goroutine is among the waiters of an object only while its operation is pending.
//     It can be met on a channel only while it is blocked.
//   - Nothing of a run is kept after it but call frames, site numbers, and records that
//     are used again.
package rt
