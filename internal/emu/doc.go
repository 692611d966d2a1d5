// Package emu runs x86-64 Linux programs without their source, in an emulator of its own,
// and records what they do as traces.
//
// The parts are below: package mem is memory, cpu executes instructions, linux is the
// kernel and loads the program. This package joins them with the rest of Cofferdam: a
// [Recorder] turns accesses, calls and threads into the events of package event and writes
// them to a trace, whose sites are instructions; [Symbols] gives addresses names.
//
// Why an emulator: stepping through a program with ptrace takes 21 us an instruction, sees
// only what it steps through, and depends on the machine. Emulated, a program executes a
// hundred million instructions a second of processor time, every access of every thread is
// seen, those of the C library too, and a run can be repeated exactly and started from a
// snapshot in the middle. What it is held against is the processor itself: see package
// native.
//
//	record.go   accesses to traces
//	symbols.go  names of places
//	lines.go    lines of source, of programs with debug information
package emu
