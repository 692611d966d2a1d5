// Package ir is the form in which the engine of Speculative Lock Insertion sees a
// program: functions of blocks of instructions, over registers that are bytes.
//
// A front end makes it (internal/lift/gossa from go/ssa), Program.Check holds it to the
// rules, and the packages above execute it (exec), derive machines from it (sli) and draw
// those (draw). Nothing here is of one language: what a language calls a mutex or a
// channel is an operation of the engine's own (SyncKind), what it calls a panic is a
// failing test with a Cause, and everything else that is not code is an opaque value.
//
// # An example
//
// A method that is called on a pointer, such as Go's
//
//	func (c *counter) inc() { c.n++ }
//
// becomes
//
//	func inc(r1:8)
//	b0:
//		test "nil dereference" if BadAddr(r1)
//		r2:8 = load r1
//		r3:8 = r2 + 1
//		store r1 := r3
//		return
//
// A register is written with its size in bytes where it is defined. What can fail is a
// test of its own in front of what would fail, so that the condition of a crash is an
// expression like any other.
//
// # Terms
//
// A value is a number of bytes, known or not. An expression computes a value from
// registers, constants, symbols (addresses that the program names) and, in machines, from
// loads. An instruction makes events at its sites: numbers that the front end and the
// recorder of a run share. A context is a call with the calls that led to it, a point an
// instruction in a context, a label the point of one load.
//
// # Files
//
//	value.go    bytes that are known or not, and addresses
//	expr.go     expressions over registers and loads
//	rewrite.go  expressions with others in the place of some
//	eval.go     the values of expressions
//	part.go     what some bytes of a value are called
//	wide.go     values of more than 8 bytes, bits, choices
//	instr.go    programs, functions, blocks, instructions, causes of failures
//	sync.go     the operations of synchronisation
//	context.go  calls in progress, points, labels of loads
//	graph.go    questions about a function's control flow
//	text.go     programs and expressions as text
//	sanity.go   what a front end must hold to
//	doc.go      this comment
//
// # Invariants
//
//   - Expressions are made by this package's functions alone and never change; two with
//     the same key have the same value wherever both have one.
//   - A register is defined once, on every way to its use (static single assignment).
//   - A value that is not known is unknown, never a guess.
package ir
