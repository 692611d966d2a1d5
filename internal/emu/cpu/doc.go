// Package cpu executes x86-64 instructions as a user's program sees them.
//
// A [CPU] is the registers of one thread. All threads of a process share a [mem.Space]
// and a [Code], which keeps the instructions that were decoded as blocks: runs without a
// jump in the middle. An instruction in a block is an op: the function that executes it,
// and its operands worked out as far as they can be beforehand.
//
// The processor is one of a known maker with the instructions that every one has: up to
// SSE2, with cmpxchg16b. That is what CPUID says, so programs and the C library pick code
// that is here. Floating point is IEEE with the usual rounding, and anything else is
// refused by name; so is every instruction that is missing.
//
// # Executing
//
// [CPU.Run] executes whole blocks, for runs of which only the end matters. [CPU.Advance] stops before
// each instruction that accesses memory a caller is interested in, and tells which: these
// are the steps that a schedule decides about. With [CPU.Record] every access, call and
// return is written down while Advance executes.
//
// Whatever a processor would interrupt a program for ends all three with a [Trap]. The
// instruction then has changed nothing, except that string operations are resumed in the
// middle. Handlers therefore load before they store, and store before they set registers
// and flags; those that read and write memory make sure first that they can write.
//
// # Speed
//
// The handlers in fastalu.go and fastmove.go are for the operands that make up nearly
// all of a program. The general ones ask where each operand is. Flags are not computed but
// kept as what they follow from (flags.go). Nothing is allocated once code is decoded.
//
//	cpu.go       registers, traps, and running
//	code.go      decoded blocks
//	choose.go    which function executes an instruction
//	operand.go   loading and storing operands
//	refs.go      what an instruction is about to access, and recording
//	flags.go     flags
//	fastalu.go, fastmove.go       the most frequent instructions
//	arith.go, bits.go, control.go all the other integer instructions
//	vecmove.go, vecint.go, vecfloat.go, convert.go  SSE
//	x87.go       the old floating point unit
//	system.go    CPUID, time, and saved state
package cpu
