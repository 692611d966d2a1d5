#include "go_asm.h"
#include "textflag.h"

// The fault handler. It runs on the signal stack with every signal blocked, uses
// a few hundred bytes of it, calls no Go, allocates nothing, takes no lock, and
// reads only memory that is known to be mapped: the control block, the tables of
// the arena, the signal frame, and the faulting goroutine's own stack within the
// bounds that its g gives.
//
// Registers, from handler down to every function it calls:
//
//	BX   the faulting address
//	R8   g of the faulting goroutine; 0 on a thread that Go does not know
//	R9   1 for a write, 0 for a read
//	R12  the gate
//	R13  the control block
//	R14  the ucontext
//	R15  the goroutine's entry in the table of waits; 0: none
//
// AX, CX, DX, SI, DI, R10 and R11 are free in each. Results are in AX.

#define ucontext_err 192

#define SYS_write 1
#define SYS_mprotect 10
#define SYS_rt_sigreturn 15
#define SYS_ioctl 16
#define SYS_sched_yield 24

#define UFFDIO_WRITEPROTECT 0xc018aa06
#define UFFDIO_CONTINUE 0xc020aa07
#define EEXIST 17
#define EAGAIN 11
#define ENOMEM 12

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
// Entered by the kernel with the signal in DI, siginfo in SI, ucontext in DX. A
// fault that is not on an arena page of a live gate is passed on to the handler
// that was there before, with everything as the kernel left it.
TEXT handler<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	LEAQ ·ctl(SB), R13
	CMPL 8(SI), $0 // si_code: an address comes only from the kernel
	JLE  other
	MOVQ 16(SI), BX
	MOVQ control_ownBit(R13), AX
	NOTQ AX
	ANDQ BX, AX
	SUBQ control_base(R13), AX
	JCS  other
	CMPQ AX, control_size(R13)
	JAE  other
	SHRQ $12, AX
	MOVQ control_owners(R13), CX
	MOVL (CX)(AX*4), AX
	TESTL AX, AX
	JEQ  gone
	TESTQ control_ownBit(R13), BX
	JNE  other
	IMULQ $Gate__size, AX
	MOVQ control_gates(R13), R12
	ADDQ AX, R12
	PUSHQ DI
	PUSHQ SI
	PUSHQ DX
	CALL fault<>(SB)
	POPQ DX
	POPQ SI
	POPQ DI
	TESTL AX, AX
	JNE  gone
	RET
gone:
	// The memory belongs to no guard any more. The runtime will stop the program
	// with the stack; this line says why.
	PUSHQ DI
	PUSHQ SI
	PUSHQ DX
	MOVQ $2, DI
	LEAQ ·goneText(SB), SI
	MOVQ $const_goneLen, DX
	MOVQ $SYS_write, AX
	SYSCALL
	POPQ DX
	POPQ SI
	POPQ DI
other:
	MOVQ control_next(R13), AX
	JMP  AX

// fault
//
// One visit of a faulting access. AX = 0: retry the access, because it may pass
// now or because a pending signal has to be taken first. AX = 1: pass the fault
// on.
TEXT fault<>(SB), NOSPLIT, $0-0
	MOVQ DX, R14
	MOVQ (TLS), R8
	MOVQ ucontext_err(R14), R9
	SHRQ $1, R9
	ANDL $1, R9
	XORL R15, R15
	LOCK
	ADDL $const_wanter, Gate_word(R12)
	CALL pass<>(SB)
	CMPL AX, $const_passOpened
	JEQ  opened
wait:
	CMPL AX, $const_passGone
	JEQ  gone
	TESTL AX, AX
	JNE  end // let through, with this outcome
	CALL ·await(SB)
	CMPL AX, $const_awaitLeave
	JEQ  leave
	CMPL AX, $const_awaitPass
	JEQ  beside
	TESTL AX, AX
	JNE  surrender
	CALL pass<>(SB)
	CMPL AX, $const_passOpened
	JNE  wait
	MOVL $const_Delayed, AX
end:
	CALL ·record(SB)
	JMP  done
surrender:
	CALL yieldTo<>(SB)
	JMP  end
beside:
	CALL yieldTo<>(SB)
	CALL ·withdraw(SB) // the section waits, and has said that it may: this is no violation
	JMP  unnoted
opened:
	CALL ·resumed(SB)
	MOVL $const_Delayed, AX
	TESTQ R15, R15
	JNE  end
unnoted:
	LOCK
	INCQ (control_counters+Counters_Opened)(R13)
done:
	XORL AX, AX
	JMP  out
leave:
	CALL ·pause(SB)
	XORL AX, AX
	JMP  out
gone:
	MOVL $1, AX
out:
	LOCK
	SUBL $const_wanter, Gate_word(R12)
	RET

// yieldTo
//
// Lets the access into the section that it waits for. Keeps AX.
TEXT yieldTo<>(SB), NOSPLIT, $0-0
	PUSHQ AX
	LOCK
	ORL  $const_open, Gate_word(R12)
	XORL SI, SI
	CALL reveal<>(SB)
	POPQ AX
	RET

// pass
//
// Lets the access through if it may pass: AX = passOpened, or Bypassed, or
// passGone if the gate is closed or the kernel will not map the page; else 0.
TEXT pass<>(SB), NOSPLIT, $0-0
look:
	MOVL Gate_word(R12), AX
	TESTL $const_closed, AX
	JNE  gone
	TESTL $const_busy, AX
	JNE  yield
	XORL SI, SI
	TESTL $const_open, AX
	JNE  map
	TESTL R9, R9
	JNE  sealed
	TESTL $const_readable, AX
	JNE  mapread
sealed:
	CALL ·free(SB)
	JNE  held
	TESTL R9, R9
	JNE  opening
	CMPL Gate_shared(R12), $0
	JEQ  opening
	LOCK
	ORL  $const_readable, Gate_word(R12)
	JMP  look
opening:
	LOCK
	ORL  $const_open, Gate_word(R12)
	JMP  look
held:
	CALL own<>(SB)
	JNE  no
	LOCK
	ORL  $const_open, Gate_word(R12)
	CALL reveal<>(SB)
	MOVL $const_Bypassed, AX
	RET
mapread:
	MOVL $1, SI
map:
	CALL reveal<>(SB)
	RET
yield:
	// A seal is under way on another thread; it ends by itself.
	PAUSE
	MOVQ $SYS_sched_yield, AX
	SYSCALL
	JMP  look
no:
	XORL AX, AX
	RET
gone:
	MOVL $const_passGone, AX
	RET

// own
//
// Sets the zero flag if the section in the way is the faulting goroutine's own.
TEXT own<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ Gate_seat(R12), CX
	CMPQ (CX), R8
	JEQ  out
	MOVL $const_readerNames, CX
next:
	CMPQ (Gate_names-8)(R12)(CX*8), R8
	JEQ  out
	SUBL $1, CX
	JNE  next
	TESTQ R12, R12 // not 0
out:
	RET

// reveal
//
// Maps the faulting page in the shared view, only for reading if SI is 1. AX =
// passOpened; passGone if the memory is not there any more; or SurrenderedRefused, if the
// kernel has no mapping left for the page and everything had to be opened.
TEXT reveal<>(SB), NOSPLIT, $0-0
	CALL extentOf<>(SB)
	TESTQ DX, DX
	JEQ  refused
	MOVL $1, extent_opened(DX)
	CMPQ control_uffd(R13), $0
	JLT  mprotect
	CALL revealWindow<>(SB)
	JMP  check
mprotect:
	CALL revealExtent<>(SB)
	CMPQ AX, $-ENOMEM
	JNE  check
	CALL revealAll<>(SB)
	TESTQ AX, AX
	JNE  refused
	MOVL $const_SurrenderedRefused, AX
	RET
check:
	TESTQ AX, AX
	JEQ  ok
	CMPQ AX, $-EAGAIN // some of the pages, and the faulting one among them
	JEQ  ok
refused:
	MOVL $const_passGone, AX
	RET
ok:
	MOVL $const_passOpened, AX
	RET

// extentOf
//
// The gate's extent that holds the faulting page, in DX, and how many of its pages
// come before, in AX. DX = 0 if the gate is not the page's any more.
TEXT extentOf<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ BX, DI
	SUBQ control_base(R13), DI
	SHRQ $12, DI
	LEAQ Gate_extents(R12), DX
	MOVL Gate_nextents(R12), CX
next:
	SUBL $1, CX
	JCS  none
	MOVL DI, AX
	SUBL extent_first(DX), AX
	CMPL AX, extent_pages(DX)
	JCS  found
	ADDQ $extent__size, DX
	JMP  next
none:
	XORL DX, DX
found:
	RET

// revealWindow
//
// By userfaultfd: maps the faulting page and up to 63 behind it in the extent in
// DX, of whose pages AX come before. The window doubles with each fault, and a
// seal makes it smaller, so that dense use costs few faults and sparse use few
// pages. AX is the kernel's answer.
TEXT revealWindow<>(SB), NOSPLIT, $32-0
	MOVL extent_faults(DX), CX
	ADDL $1, extent_faults(DX)
	MOVL $6, R10
	CMPL CX, R10
	CMOVLHI R10, CX
	MOVL $1, R11
	SHLL CX, R11
	MOVL extent_pages(DX), CX
	SUBL AX, CX // pages from here to the end of the extent
	CMPL R11, CX
	CMOVLHI CX, R11
	SHLQ $12, R11
	MOVQ BX, AX
	ANDQ $~4095, AX
	MOVQ AX, start-32(SP)
	MOVQ R11, len-24(SP)
	MOVQ SI, R10
	ADDQ SI, SI // UFFDIO_CONTINUE_MODE_WP
	MOVQ SI, mode-16(SP)
	MOVQ $0, mapped-8(SP)
	MOVL $UFFDIO_CONTINUE, SI
	CALL uffd<>(SB)
	CMPQ AX, $-EEXIST
	JNE  out
	XORL AX, AX
	TESTL R10, R10
	JNE  out
	MOVQ $0, mode-16(SP) // it is mapped, but for reading
	MOVL $UFFDIO_WRITEPROTECT, SI
	CALL uffd<>(SB)
out:
	RET

// uffd
//
// The ioctl in SI with the argument that revealWindow has on its stack.
TEXT uffd<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ control_uffd(R13), DI
	LEAQ 8(SP), DX
	MOVQ $SYS_ioctl, AX
	SYSCALL
	RET

// revealExtent
//
// By mprotect: opens the whole extent in DX, so that it stays one mapping. AX is
// the kernel's answer.
TEXT revealExtent<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVL extent_first(DX), DI
	SHLQ $12, DI
	ADDQ control_base(R13), DI
	MOVL extent_pages(DX), CX
	MOVL $3, DX // PROT_READ|PROT_WRITE
	SUBL SI, DX
	SUBL SI, DX
	MOVL CX, SI
	SHLQ $12, SI
	MOVQ $SYS_mprotect, AX
	SYSCALL
	RET

// revealAll
//
// By mprotect: opens the whole shared view, for good. That joins mappings, where opening
// a part of it would have to split one more than the kernel allows. AX is its answer.
TEXT revealAll<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVL $1, AX
	XCHGL AX, control_exhausted(R13)
	MOVQ control_base(R13), DI
	MOVQ control_size(R13), SI
	MOVL $3, DX // PROT_READ|PROT_WRITE
	MOVQ $SYS_mprotect, AX
	SYSCALL
	RET
