// Package sli is the engine of Speculative Lock Insertion: from the trace of a run
// that failed it derives critical sections that would have prevented the failure.
//
// It knows nothing of Go. A front end (internal/lift/gossa) turns a program into the
// engine's instructions (package ir) and a recorded run into a trace (package exec);
// positions and the names of data are the front end's, and handed back as they came.
//
// # An example
//
// One goroutine reads a variable twice, another writes it once:
//
//	func steady() {
//		first := count
//		if first != count {
//			panic("count changed")
//		}
//	}
//
//	func tick() {
//		count = 7
//	}
//
// The trace of a run that panicked has the loads of steady with the values they gave and,
// between them, the store of tick. The test that failed is the panic; moved back over the
// branch and both loads it becomes a machine that says, from memory alone, whether steady
// is going to panic if nothing disturbs it:
//
//	at example.steady:b0.0: s0
//	s0: if load(example.count@b0.0) != load(example.count@b0.1) then crash else no-crash
//
// In no memory does the machine crash, run alone: two loads of the same address differ
// only if a store comes between. So the loads must stay together, and the store of tick,
// which nothing orders with them, must keep out:
//
//	reads together in example.steady: r1:8 = load example.count, r2:8 = load example.count
//	other access in example.tick: store example.count := 7
//
// The cost is 23: two sections at 10, three accesses in them.
//
// # Terms
//
// A point is an instruction in a context (the calls in progress). A machine predicts, at a
// point, whether the goroutine will crash if no other goroutine acts; what the machine
// loads from memory is the read operation. A passage is one time that a goroutine came by
// a machine's point. A specialisation is a machine with constants for its registers: the
// read operation on one structure. A crash region is a part of the trace in which a
// specialisation crashes, run alone. A section is a fragment of a function's control flow,
// and a fix is a set of sections for one lock.
//
// # Steps, and where the paper has them
//
//  1. The trace is followed through the program (package exec), which finds the test that
//     failed, the proximal cause (3.1, analyse.go and race.go), and the path of
//     instructions that led there.
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
// A trace ends where the program crashed, often in the middle of an update by another
// goroutine. Goroutines are therefore followed beyond it, each alone, as far as that can
// be told.
//
// # Files
//
//	machine.go verdict.go           machines, and what they predict
//	analyse.go race.go              where to begin
//	derive.go static.go             earlier machines
//	specialise.go conflict.go order.go  structures, stores and regions, order
//	solve.go fragment.go reading.go fix.go  sections, fixes, their cost
//	doc.go                          this comment
//
// # Invariants
//
//   - States of machines are never changed once made.
//   - What is not known is unknown, never a guess: a value, a branch's side, the
//     verdict of a machine. Unknown leads to fewer regions, not to wrong ones.
//   - Nothing grows with the trace, except the index that the trace itself keeps: of
//     paths, passages, stores, checkpoints and memory beside the trace a bounded number is
//     kept, those nearest to the failure first.
//   - The whole trace is followed once, which is what an analysis costs; after that
//     goroutines are followed from checkpoints, around what matters.
package sli
