// Package x86 decodes the instructions of 64-bit x86 programs.
//
// An [Inst] is one instruction: its operation, up to three operands, and at most one
// operand in memory that the ModRM byte describes. What an operation touches besides
// (the stack, the strings of rep movs, the flags) follows from the operation and is
// told by the packages that execute or lift it.
//
// # The opcode map
//
// The encoding is a text in the notation of the manufacturers' own opcode maps, one
// line for each form:
//
//	01 add Ev,Gv            an opcode, the operation, its operands
//	0f af imul Gv,Ev        the second map
//	f3 0f 10 movss Vd,Wd    a prefix that is a part of the opcode
//	f7/4 mul Ev             a group: the middle bits of the ModRM byte decide
//	ff/6 push Ev *          64 bits without being asked (or 16, never 32)
//	50+ push Zq *           eight opcodes, the low bits of which are a register
//	d8:c0 fadd T0,Ti        x87: eight ModRM bytes from c0 on
//
// An operand is a letter for where it is and one for how wide it is:
//
//	E  register or memory, by ModRM      b w d q   1, 2, 4, 8 bytes
//	G  register, by ModRM                v         2, 4 or 8, by prefixes
//	R  like E, never memory              y         4 or 8
//	M  like E, always memory             z         an immediate of 2 or 4 bytes, sign extended
//	Z  register in the opcode            s         an immediate byte, sign extended
//	V  vector register, by ModRM         x         16 bytes
//	W  vector register or memory         t         10 bytes, of the x87
//	U  like W, never memory              0         none: an address, or a size of its own
//	I  immediate, J jump target, O memory by its address, A the accumulator
//	S  segment register, T x87 register, C the register cl, 1 the number
//
// A table of Go values would say the same at five times the length, and could not be
// held against the manual by reading. The text is parsed once, when the package is
// initialised.
//
// golang.org/x/arch/x86/x86asm is not what decodes here: some of its displacements are
// not sign extended, endbr64 and rdsspq decode to nothing, rep movs has no memory size,
// and its operands are interfaces, which costs an allocation for each. It is the judge of
// the tests instead: every instruction of real programs is decoded by both.
//
//	inst.go     instructions, operands and registers
//	op.go       the operations and their names
//	map1.go     the opcode map: integers
//	map2.go     the opcode map: vectors and x87
//	parse.go    the opcode map as tables
//	decode.go   bytes to instructions
//	operand.go  their operands
//	text.go     instructions to text
package x86
