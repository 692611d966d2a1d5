// Package binpatch writes critical sections into machine code: a shared object that patches a
// program when it is loaded, or a patched copy of the program. No compiler and no linker is
// needed for it.
//
// # An example
//
// Two loads of a program that must not be disturbed,
//
//	888  mov ecx, [counter]
//	88e  mov esi, [counter]
//	894  cmp ecx, esi
//
// become
//
//	888  jmp enter                enter:  lower rsp by 128; call acquire; raise rsp
//	88d  (not executed)                   jmp copy
//	894  cmp ecx, esi             copy:   mov ecx, [counter]
//	                                      mov esi, [counter]
//	                                      lower rsp by 128; call release; raise rsp
//	                                      jmp 894
//
// # Copies
//
// The instructions of a section are executed from a copy (move.go): operands and jumps that
// are relative to the instruction are made relative to the copy. Every way out of the
// section releases the lock: the end, jumps, returns. Nothing in the program itself is
// changed but entries, so code that jumps into the middle of a section executes the
// original instructions, and the lock is never released without having been taken.
//
// # Entries
//
// A jump takes five bytes, most instructions fewer. The instructions after the entry that the
// jump overwrites are executed from copies too, which is right unless something jumps to
// one of them; all places that the code shows it jumps to are known (plan.go). If there is no
// room, the section begins some instructions earlier, if control comes from nowhere else.
// As the last resort the entry becomes a breakpoint, whose signal leads to the copy.
//
// # Exceptions
//
// In a program with exceptions every copied call has tables for unwinding, by which an exception
// that comes out of it releases the lock, and then lands where it would have landed:
//
//	call throws         pad:  lower rsp by 128; call release; raise rsp
//	...                       jmp handler
//	handler: ...
//
// frames.go and rules.go read the tables of the original, landing.go writes those of the copies.
//
// # Loading
//
// See load.go for how the program is recognised and patched, lock.go for the lock and its
// timeout. Memory is never writable and executable at the same time.
//
//	build.go   a patch: the code of all sections
//	plan.go    where the program is overwritten
//	move.go    copies of instructions
//	frames.go  the program's tables for unwinding
//	rules.go   where registers are at an instruction, by these tables
//	landing.go where exceptions land, and the tables of copies
//	lock.go    the lock
//	load.go    the initialiser of the shared object
//	asm.go     listings of machine code
//	file.go    the program
//	object.go  the shared object
//	copy.go    the patched copy
package binpatch
