// Package x86 is the engine's front end for x86-64 programs without source: it lifts machine
// code to the engine's instructions, and turns a run in the emulator into the engine's trace.
//
// # An example
//
// The check of examples/binary/toctou.c, compiled with gcc -O2 and stripped,
//
//	888  mov edx, [rip+0x17aa]
//	88e  mov eax, [rip+0x17a4]
//	894  cmp edx, eax
//	896  jne 8a0
//
// becomes
//
//	r32:4 = load 0x555555556038
//	r33:8 = u64(r32)
//	r34:4 = load 0x555555556038
//	r35:8 = u64(r34)
//	branch r33[0:4] != r35[0:4] b5 b4
//
// # Functions
//
// A function is what can be reached from an entry without a call: entries are what a run
// called, and what such functions call. A jump to another entry is a call in tail position.
// Tables of jumps are read where compilers put them; where else an indirect jump goes, only a
// run can tell (section 3.2.4 of the paper).
//
// A function is given every general register, the vector registers that carry arguments and
// the base of the thread's own memory, and returns rax, rdx and xmm0. What it leaves alone of
// the rest is what the calling convention says, and what its code shows: compilers rely on
// both.
//
// # Values
//
// Registers become values that are assigned once (ssa.go). What stays short is kept as it
// is, so that all addresses in a frame are the stack pointer at the function's entry and a
// number; accesses there are private. Flags are not values but conditions: "jl" after "cmp
// a, b" is a < b. An instruction that is locked is one update, vectors are their elements
// one after the other, a repeated string operation is a loop. Whatever cannot be lifted
// makes what it writes opaque, and is counted.
//
// # Libraries
//
// What is imported is known by its name, which stripped programs keep. A call of it is one
// instruction: it allocates, frees, synchronises, ends the thread or does something else, and
// what it does to memory that the program uses counts as done by the call.
//
// # Judges
//
// Package native executes random instructions of every form on the processor, in the
// emulator and, lifted, by the engine; all three must agree. The tests here follow whole
// runs: every address that the engine computes is the one that the run has.
//
//	program.go   lifting a program
//	image.go     the program's file
//	frames.go    functions by the tables for unwinding
//	function.go  the machine code of a function
//	lift.go      blocks
//	ssa.go       values assigned once
//	operand.go   operands
//	flags.go     conditions
//	control.go   jumps, returns, string operations
//	call.go      calls, and what is known by name
//	integer.go bits.go     integers
//	vector.go float.go     vectors and floating point
//	failure.go   the test at the instruction that failed
//	run.go       a run as the engine's trace
//	analysis.go  where a run failed
//	straight.go  code without calls, for judges
package x86
