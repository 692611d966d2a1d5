// Package native runs code on the processor, under ptrace, and compares what it does with
// what the emulator does.
//
// There are three comparisons. [Forms] runs batches of random instructions of every form
// the decoder knows, from random registers and memory, and compares all registers, flags,
// vector registers and memory after each batch. Flags that the manual leaves undefined are
// cleared by instructions that are a part of the batch. A batch with a difference is cut
// down to the first instruction that makes one. [Start] runs a program from its first
// instruction, on both sides one instruction at a time, and compares registers after each;
// system calls happen natively, and their effects are copied. [Lifted] runs random
// instructions in the emulator and, lifted, by the engine, and compares the same.
//
// [Follow] has the threads of a program do on the processor what they did in the emulator: one
// at a time, each up to the instruction at which it was stopped there, until the program fails
// in the same way.
//
// ptrace is for one thread of the tracer: all that a [Tracee] does happens on the thread
// that started it, which its methods expect to be called on. Where ptrace is refused
// ([ErrRefused]), as in some containers, nothing can be compared, and callers say so.
//
//	result.go    what a comparison came to
//	tracee.go    a process under ptrace; ptrace_unsafe.go what package syscall lacks of it
//	follow.go    threads that follow the route of another run, follow_linux_amd64.go how,
//	             stops_linux_amd64.go why threads stop meanwhile
//	generate.go  random instructions
//	emulate.go   states, and batches in the emulator
//	forms.go     the comparison of batches
//	lifted.go    the comparison of lifted code with the emulator
//	vector.go    batches with what the processor made of them, to be kept
//	start.go     the comparison of programs
//	native_other.go  other platforms, on which nothing can be compared
package native
