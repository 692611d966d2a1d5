#include "go_asm.h"
#include "textflag.h"

// The handler. It runs on the signal stack with every signal blocked, calls no Go but the
// runtime's own handlers, allocates nothing, takes no lock, and reads only memory that is
// known to be mapped: the slots, the signal frame, and what the log of a stopped goroutine
// refers to.

#define ucontext_rbp 120
#define ucontext_rsp 160
#define ucontext_rip 168
#define SYS_rt_sigreturn 15
#define SYS_gettid 186
#define SIGSEGV 11

// func handlerPC() uintptr
TEXT ·handlerPC(SB), NOSPLIT, $0-8
	LEAQ handler<>(SB), AX
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
// that is noted there, wherever it is.
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
	JNE  done
	MOVQ (TLS), AX
	TESTQ AX, AX
	JZ   done
	LEAQ ·slots(SB), BX
	MOVL $const_slotCount, CX
next:
	CMPQ slot_view(BX), AX // View.G is first
	JEQ  found
	ADDQ $slot__size, BX
	DECL CX
	JNZ  next
done:
	RET
found:
	MOVQ ucontext_rsp(R13), CX // the goroutine's own stack, whose bounds its g begins with
	CMPQ CX, 0(AX)
	JLS  done
	CMPQ CX, 8(AX)
	JCC  done
	CALL callers<>(SB)
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
	JCC  done
	MOVQ (slot_view+View_Interrupted)(BX), SI
	MOVL $1, (SI)
	MOVQ $SIGSEGV, DI
	LEAQ slot_info(BX), SI
	MOVQ R13, DX
	MOVQ ·control+controlBlock_fault(SB), AX
	JMP  AX

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
