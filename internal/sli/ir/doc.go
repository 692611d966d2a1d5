// Package ir is the form in which the engine of Speculative Lock Insertion sees a
// program: functions of blocks of instructions, over registers that are bytes.
//
// A front end (internal/lift/gossa) makes it, Program.Check holds it to the rules, and
// the packages above execute it (exec), derive machines from it (sli) and draw those
// (draw).
//
// # Files
//
//	value.go      bytes that are known or not
//	expr.go       expressions over registers and loads
//	eval.go       the values of expressions
//	instr.go      programs, functions, blocks, instructions
//	context.go    calls in progress, points, labels of loads
//	graph.go      questions about a function's control flow
//	text.go       programs as text
//	sanity.go     what a front end must hold to
//
// # Invariants
//
//   - Expressions are made by this package's functions alone and never change.
//   - A value that is not known is unknown, never a guess.
package ir
