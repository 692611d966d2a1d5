// Package sli is the engine of Speculative Lock Insertion: from the trace of a run
// that failed it derives critical sections that would have prevented the failure.
//
// It knows nothing of Go. A front end (internal/lift/gossa) turns a program into the
// engine's instructions and a recorded run into a Trace; positions and the words for
// data are the front end's, and handed back as they came.
//
// # Terms
//
// An instruction in a context (the calls in progress) is a point. A machine is a small
// program that predicts, at a point, whether the goroutine will crash if nobody
// disturbs it; what it loads from memory is the read operation. A machine with
// constants for its registers is a specialisation: the operation on one structure. A
// region is a part of the trace in which a specialisation crashes, run alone. A fix is
// a set of sections, each a fragment of a function's control flow, for one lock.
//
// # Steps, and where the paper has them
//
//  1. The trace is followed through the program (package exec), which finds the test that
//     failed, the proximal cause (3.1, cause in analyse.go and race.go), and the path
//     of instructions that led there.
//  2. The machine of the cause is moved back along the path, over arithmetic, loads,
//     stores and branches (3.2, derive.go). The sides of branches that were not taken
//     are filled in from the code (static.go), with calls inlined, dynamic ones as the
//     trace had them, and loops broken.
//  3. Each machine is specialised at all similar points of the trace (4, specialise.go),
//     and for each specialisation the stores to what it loads are found, and the
//     regions in which it crashes (5, conflict.go).
//  4. What the program's own synchronisation rules out is dropped (order.go): order by
//     goroutine starts, channels, waiting and atomic operations, and locks that are
//     held over both sides. The paper has nothing like it.
//  5. Loads, regions and remaining stores become fragments (6.1, fragment.go, solve.go)
//     and those a fix, with its cost (6.3, fix.go).
//
// # Beyond the paper
//
// A data race is a failure even if nothing crashes; race.go says what is taken for the
// read operation then. If what was read had gone wrong before, the stores it came from
// are searched for one that depends on something that had changed in the meantime: a
// lost update, or a check that no longer held. There and in races a store stays in one
// section with the loads of the same memory that it depends on.
//
// A trace ends where the program crashed, often in the middle of somebody's update.
// Goroutines are therefore followed beyond it, each alone, as far as that can be told.
//
// # Files
//
//	machine.go verdict.go           machines, and what they predict
//	analyse.go race.go              where to begin
//	derive.go static.go             earlier machines
//	specialise.go conflict.go order.go  structures, stores and regions, order
//	solve.go fragment.go fix.go     sections, fixes, their cost
//
// Below it are ir (programs), exec (their execution, and following a trace); above it
// draw (machines for people). slitest is for tests.
//
// # Invariants
//
//   - States are never changed once made.
//   - What is not known is unknown, never a guess: a value, a branch's side, the
//     verdict of a machine. Unknown leads to fewer regions, not to wrong ones.
//   - Nothing grows with the trace, except the index that the Trace itself keeps: of
//     paths, instances, stores and memory beside the trace a bounded number is kept,
//     those nearest to the failure first.
package sli
