#include "go_asm.h"
#include "textflag.h"

// The handlers. They run on the signal stack with every signal blocked, call no Go but the
// runtime's own handlers, allocate nothing, take no lock, and read only memory that is
// known to be mapped: the slots, the signal frame, the program's code, and what the log of a
// stopped goroutine refers to.

#define ucontext_rbp 120
#define ucontext_rsp 160
#define ucontext_rip 168
#define ucontext_eflags 176
#define siginfo_code 8
#define trapFlag 0x100 // in the flags: a SIGTRAP follows the next instruction
#define trapTrace 2 // in the siginfo of a SIGTRAP: it followed an instruction
#define syscallCode 0x050F // a SYSCALL, as two bytes
#define longestCall 8
#define SYS_rt_sigreturn 15
#define SYS_gettid 186
#define SIGSEGV 11

// func handlerPC() uintptr
TEXT ·handlerPC(SB), NOSPLIT, $0-8
	LEAQ handler<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func steppedPC() uintptr
TEXT ·steppedPC(SB), NOSPLIT, $0-8
	LEAQ stepped<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func restorerPC() uintptr
TEXT ·restorerPC(SB), NOSPLIT, $0-8
	LEAQ restorer<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// restorer
//
// Where the kernel returns to from a handler. Debuggers know it by its bytes.
TEXT restorer<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ $SYS_rt_sigreturn, AX
	SYSCALL
	INT  $3

// handler
//
// Entered by the kernel with the signal in DI, siginfo in SI, ucontext in DX. The runtime's
// handler gets them first. If that has not redirected the goroutine, whose program counter is
// then what it was, the slot of the goroutine is looked for, and if the goroutine is doomed
// that is noted there, wherever it is. If it is not somewhere safe, it is stepped, but for no
// more than a third of the time: it may be in the middle of something long.
//
// Registers: BX the slot, R13 the ucontext, R14 the program counter.
TEXT handler<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVQ DX, R13
	MOVQ ucontext_rip(DX), R14
	SUBQ $8, SP // the stack is aligned at calls
	MOVQ ·control+controlBlock_preempt(SB), AX
	CALL AX
	ADDQ $8, SP
	CMPQ ucontext_rip(R13), R14
	JNE  redirected
	CALL slotOf<>(SB)
	JCC  done
	MOVQ $SYS_gettid, AX
	SYSCALL
	MOVQ AX, slot_thread(BX)
	MOVQ R14, slot_pc(BX)
	MOVQ (slot_view+View_Interruptible)(BX), SI
	CMPL (SI), $0
	JEQ  done
	MOVQ (slot_view+View_Words)(BX), SI
	CALL pairs<>(SB)
	JNE  doomed
	MOVQ (slot_view+View_Pointers)(BX), SI
	CALL pairs<>(SB)
	JNE  doomed
	MOVQ (slot_view+View_Parts)(BX), SI
	CALL triples<>(SB)
	JEQ  done
doomed:
	MOVQ $1, slot_doomed(BX)
	CALL isSafe<>(SB)
	JCS  safe
	TESTQ $trapFlag, ucontext_eflags(R13) // it is being stepped
	JNZ  done
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ slot_stepped(BX), CX
	MOVQ AX, SI
	SUBQ CX, SI // since it was stepped last
	SUBQ slot_began(BX), CX
	SHLQ $1, CX
	CMPQ SI, CX
	JCS  done
	MOVQ AX, slot_began(BX)
	MOVQ $const_stepCount, slot_steps(BX)
	JMP  step<>(SB)
safe:
	JMP  fault<>(SB)
redirected: // what the runtime does now is not the goroutine's
	ANDQ $~trapFlag, ucontext_eflags(R13)
done:
	RET

// stepped
//
// Entered by the kernel, as handler, after an instruction of a goroutine that is stepped. A trap
// that nobody has asked for any more is the last one, and one of another kind is the runtime's.
TEXT stepped<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	CMPL siginfo_code(SI), $trapTrace
	JNE  others
	MOVQ DX, R13
	MOVQ ucontext_rip(DX), R14
	ANDQ $~trapFlag, ucontext_eflags(R13)
	CALL slotOf<>(SB)
	JCC  done
	CMPQ slot_steps(BX), $0
	JEQ  done
	MOVQ (slot_view+View_Interruptible)(BX), SI
	CMPL (SI), $0
	JEQ  done
	CALL isSafe<>(SB)
	JCS  safe
	CALL isCalled<>(SB)
	JCS  called
	JMP  step<>(SB)
called:
	MOVQ $0, ucontext_rip(R13) // to the runtime, a call of a function that is nil
safe:
	JMP  fault<>(SB)
others:
	MOVQ ·control+controlBlock_trap(SB), AX
	JMP  AX
done:
	RET

// step
//
// The end of a handler that has a goroutine stopped after its next instruction, unless that would
// be one too many, outside of the program's code, where there may be nothing to read, or a system
// call: one that blocks signals would have the kernel end the process at the trap.
TEXT step<>(SB), NOSPLIT|NOFRAME, $0
	DECQ slot_steps(BX)
	JEQ  out
	CMPQ R14, ·control+controlBlock_textFrom(SB)
	JCS  out
	CMPQ R14, ·control+controlBlock_textTo(SB)
	JCC  out
	CMPW (R14), $syscallCode
	JEQ  out
	MOVQ R14, slot_from(BX)
	MOVQ ucontext_rsp(R13), AX
	MOVQ AX, slot_fromSP(BX)
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, slot_stepped(BX)
	ORQ  $trapFlag, ucontext_eflags(R13)
out:
	RET

// fault
//
// The end of a handler that has the goroutine panic where it is.
TEXT fault<>(SB), NOSPLIT|NOFRAME, $0
	ANDQ $~trapFlag, ucontext_eflags(R13)
	MOVQ $0, slot_steps(BX)
	MOVQ (slot_view+View_Interrupted)(BX), SI
	MOVL $1, (SI)
	MOVQ $SIGSEGV, DI
	LEAQ slot_info(BX), SI
	MOVQ R13, DX
	MOVQ ·control+controlBlock_fault(SB), AX
	JMP  AX

// slotOf
//
// CF is set if the thread runs a goroutine with a slot, BX, on the goroutine's own stack. Its
// callers are noted. Uses AX, CX, SI, DI, R8 and R9.
TEXT slotOf<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ (TLS), AX
	TESTQ AX, AX
	JZ   none
	LEAQ ·slots(SB), BX
	MOVL $const_slotCount, CX
next:
	CMPQ slot_view(BX), AX // View.G is first
	JEQ  found
	ADDQ $slot__size, BX
	DECL CX
	JNZ  next
none:
	CLC
	RET
found:
	MOVQ ucontext_rsp(R13), CX // the goroutine's own stack, whose bounds its g begins with
	CMPQ CX, 0(AX)
	JLS  none
	CMPQ CX, 8(AX)
	JCC  none
	CALL callers<>(SB)
	STC
	RET

// callers
//
// Notes where the functions on the goroutine's stack return to, innermost first and 0 behind
// them: what is on top of the stack, which is where a function without a frame returns to, and
// then by the frame pointers. AX is the g and CX the stack pointer. Frames are above that, one
// above the other, and below the stack's end, so that whatever is read is memory of the stack;
// where a function has used the register for something else, what is noted leads nowhere.
// Uses CX, SI, DI, R8 and R9.
TEXT callers<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ ucontext_rbp(R13), SI
	LEAQ slot_callers(BX), DI
	MOVL $const_callerCount, R8
	MOVQ 0(CX), R9
	MOVQ R9, 0(DI)
	ADDQ $8, DI
	MOVQ 8(AX), R9
	SUBQ $16, R9 // the highest address that a frame can have
next:
	CMPQ SI, CX
	JCS  out
	CMPQ SI, R9
	JHI  out
	MOVQ 8(SI), CX
	MOVQ CX, 0(DI)
	ADDQ $8, DI
	LEAQ 8(SI), CX
	MOVQ 0(SI), SI
	DECL R8
	JNZ  next
out:
	MOVQ $0, 0(DI)
	RET

// within
//
// CF is set if the program counter in AX is in the range in CX, from and above it to. Uses AX,
// CX and SI.
TEXT within<>(SB), NOSPLIT|NOFRAME, $0
	SUBQ ·control+controlBlock_base(SB), AX
	MOVL CX, SI
	SHRQ $32, CX
	SUBQ SI, AX // an offset below from becomes a large one
	SUBQ SI, CX
	CMPQ AX, CX
	RET

// among
//
// CF is set if the program counter in R9 is in one of the R8 ranges at DI. Uses AX, CX, SI, DI
// and R8.
TEXT among<>(SB), NOSPLIT|NOFRAME, $0
next:
	MOVQ R9, AX
	MOVQ 0(DI), CX
	CALL within<>(SB)
	JCS  out
	ADDQ $8, DI
	DECL R8 // leaves CF, which is clear
	JNZ  next
out:
	RET

// isSafe
//
// CF is set if the program counter is in the slot's range, or in one of the functions that move
// and clear memory, called by functions that fill what they have just allocated, or by none,
// from somewhere in the slot's range. Where each of these returns to is known for certain: the
// first has no frame, and the others have set theirs up. Uses AX, CX, SI, DI, R8, R9 and R10.
TEXT isSafe<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ R14, AX
	MOVQ slot_safe(BX), CX
	CALL within<>(SB)
	JCS  out
	MOVQ R14, R9
	LEAQ ·control+controlBlock_movers(SB), DI
	MOVL $const_moverCount, R8
	CALL among<>(SB)
	JCC  out
	LEAQ slot_callers(BX), R10
next:
	MOVQ 0(R10), R9
	ADDQ $8, R10
	TESTQ R9, R9 // clears CF
	JZ   out
	MOVQ R9, AX
	MOVQ slot_safe(BX), CX
	CALL within<>(SB)
	JCS  out
	LEAQ ·control+controlBlock_fillers(SB), DI
	MOVL $const_fillerCount, R8
	CALL among<>(SB)
	JCS  next
out:
	RET

// isCalled
//
// CF is set if the instruction that was stepped is the return of a call in the slot's range of
// calls, or such a call of one of the slot's functions. The stack pointer is then what it is in the
// called function, at its beginning and its end: what it leads to is where the call returns to. A
// signal that came in between, and had the runtime push something, is none: what it pushes is the
// program counter of before, and not one right behind it. Uses AX, CX, SI, DI and R8.
TEXT isCalled<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ ucontext_rsp(R13), SI
	LEAQ 8(SI), CX
	CMPQ CX, slot_fromSP(BX)
	JEQ  called
	SUBQ $8, SI
	CMPQ SI, slot_fromSP(BX)
	JNE  no
	CMPQ R14, 0(SI)
	JNE  no
	MOVQ R14, AX
	MOVQ slot_calls(BX), CX
	CALL within<>(SB)
	JCC  no
	SUBQ $8, ucontext_rsp(R13)
	STC
	RET
called:
	LEAQ slot_entries(BX), DI
	MOVL $const_entryCount, R8
next:
	CMPQ R14, 0(DI)
	JEQ  known
	ADDQ $8, DI
	DECL R8
	JNZ  next
no:
	CLC
	RET
known:
	MOVQ 0(SI), AX
	MOVQ AX, CX
	SUBQ slot_from(BX), CX
	DECQ CX
	CMPQ CX, $longestCall
	JCC  no
	MOVQ slot_calls(BX), CX
	JMP  within<>(SB)

// pairs
//
// Compares what a slice of pairs at SI says with what is there. ZF is set if it is the same.
// Uses AX, CX, DI and R8.
TEXT pairs<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ 0(SI), DI
	MOVQ 8(SI), CX
	INCQ CX
next:
	DECQ CX
	JZ   out
	MOVQ 0(DI), AX
	MOVQ 8(DI), R8
	ADDQ $16, DI
	TESTQ AX, AX // an entry that is being made
	JZ   next
	CMPQ R8, 0(AX)
	JEQ  next
out:
	RET

// triples
//
// The same for a slice of triples.
TEXT triples<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ 0(SI), DI
	MOVQ 8(SI), CX
	INCQ CX
next:
	DECQ CX
	JZ   out
	MOVQ 0(DI), AX
	ADDQ $24, DI
	TESTQ AX, AX
	JZ   next
	MOVQ 0(AX), R8
	ANDQ -8(DI), R8
	CMPQ R8, -16(DI)
	JEQ  next
out:
	RET
