#include "go_asm.h"
#include "textflag.h"

// Waiting in the handler. Registers are those of handler_linux_amd64.s.

#define ucontext_rsp 160

#define g_stack_lo 0
#define g_stack_hi 8
#define g_stackguard0 16
#define g_m 48
#define m_g0 0
#define stackPreempt 0xfffffffffffffade

#define SIGURG 23

#define SYS_getpid 39
#define SYS_gettid 186
#define SYS_futex 202
#define SYS_tgkill 234
#define SYS_clock_gettime 228

// func await()
//
// Waits for the end of the section, for some microseconds. AX = 0: look again. AX =
// awaitLeave: return to the access, where the scheduler takes the goroutine off its
// processor, and try again when it is its turn. Otherwise the surrender's outcome.
TEXT ·await(SB), NOSPLIT, $0-0
	TESTQ R15, R15
	JNE  enlisted
	CALL ·enlist(SB)
	TESTQ R15, R15
	JEQ  timeout // no room to keep count of this wait
enlisted:
	MOVL $400, DX
spin:
	PAUSE
	CALL ·free(SB)
	JEQ  again
	SUBL $1, DX
	JNE  spin
	CALL ·cycle(SB)
	ADDQ AX, wait_cycles(R15)
	CMPQ wait_cycles(R15), $2
	JCC  deadlock
	CALL ·now(SB)
	MOVQ AX, CX
	SUBQ wait_since(R15), CX
	CMPQ CX, control_longest(R13)
	JGT  timeout
	CALL lenient<>(SB)
	TESTL CX, CX
	JNE  passes
	CALL onProcessor<>(SB)
	JEQ  sleep
	CALL answered<>(SB)
	MOVQ $stackPreempt, CX
	CMPQ g_stackguard0(R8), CX
	JEQ  wish
	MOVQ $0, wait_stop(R15)
	CALL yield<>(SB)
	RET
wish:
	CALL stop<>(SB)
	RET
sleep:
	MOVQ $250000, AX
	CALL doze<>(SB)
again:
	XORL AX, AX
	RET
passes:
	MOVL CX, AX
	RET
deadlock:
	MOVL $const_SurrenderedCycle, AX
	RET
timeout:
	MOVL $const_SurrenderedTimeout, AX
	RET

// lenient
//
// What becomes of an access that has waited for the nanoseconds in CX if the section said that
// it may wait: CX = awaitPass if it does, SurrenderedLenient if that was too long anyway, else
// 0. A goroutine also waits in the runtime for some microseconds now and then, for the
// collector for example, and is said to when the collector stops it; so it has to be seen
// waiting all the time. An access that passes has taken away what the section said: the section
// sees by it, in Resume, that it is not alone. Keeps AX.
TEXT lenient<>(SB), NOSPLIT, $0-0
	MOVQ Gate_lenient(R12), DX
	TESTQ DX, DX
	JEQ  runs
	MOVQ Gate_seat(R12), R10
	CMPQ DX, (R10)
	JNE  runs
	MOVQ control_status(R13), R10
	MOVL (DX)(R10*1), R10
	CMPL R10, $const_statusWaiting
	JEQ  waits
	MOVQ $0, wait_idle(R15)
	CMPQ CX, $const_longestLenience
	JLE  no
	MOVL $const_SurrenderedLenient, CX
	JMP  take
waits:
	CMPQ wait_idle(R15), $0
	JNE  still
	MOVQ CX, wait_idle(R15)
	JMP  no
still:
	SUBQ wait_idle(R15), CX
	CMPQ CX, $const_shortestLenience
	JLE  no
	MOVL $const_awaitPass, CX
take:
	PUSHQ AX
	MOVQ DX, AX
	XORL DX, DX
	LOCK
	CMPXCHGQ DX, Gate_lenient(R12)
	POPQ AX
	JNE  no
	RET
runs:
	MOVQ $0, wait_idle(R15)
no:
	XORL CX, CX
	RET

// onProcessor
//
// Sets the zero flag if the thread has no processor of the scheduler to give up: it is
// not Go's, or runs C, or the runtime itself, on the stack of the thread, whose g is the
// first word of its m.
TEXT onProcessor<>(SB), NOSPLIT|NOFRAME, $0-0
	TESTQ R8, R8
	JEQ  out
	MOVQ g_m(R8), CX
	CMPQ m_g0(CX), R8
out:
	RET

// answered
//
// Notes what came of it that the goroutine was urged, if it was. It was preempted if the
// word below its stack's top is not 0 any more: see urge.
TEXT answered<>(SB), NOSPLIT, $0-0
	CMPL wait_urged(R15), $0
	JEQ  out
	MOVL $0, wait_urged(R15)
	CALL below<>(SB)
	JEQ  refused
	CMPQ (CX), $0
	JEQ  refused
	MOVL $0, wait_refusals(R15)
	MOVQ $0, wait_stop(R15) // a wish that stands now is another one
	RET
refused:
	ADDL $1, wait_refusals(R15)
out:
	RET

// yield
//
// Has the scheduler take the goroutine off its processor, as if it had run for too long:
// await's result is awaitLeave. Where the goroutine cannot be preempted it keeps the
// processor and sleeps; if all processors are kept in this way no section can go on, and
// the result is SurrenderedStuck.
TEXT yield<>(SB), NOSPLIT, $0-0
	MOVQ control_preempt(R13), CX
	TESTQ CX, CX
	JEQ  stuck
	CMPL wait_refusals(R15), $const_refusals
	JCC  stuck
	ADDL $1, wait_yields(R15)
	CMPL wait_yields(R15), $const_eagerYields
	JCS  leave
	MOVQ $const_shortDoze, AX
	CALL doze<>(SB)
	CALL ·free(SB)
	JEQ  again
leave:
	LOCK
	INCQ (control_counters+Counters_Yields)(R13)
	MOVQ control_preempt(R13), CX
	MOVB $1, (R8)(CX*1)
	CALL urge<>(SB)
	MOVL $const_awaitLeave, AX
	RET
stuck:
	MOVQ $1, AX
	LOCK
	XADDQ AX, control_stuck(R13)
	ADDQ $1, AX
	CMPQ AX, control_processors(R13)
	JCC  nobody
	MOVQ $250000, AX
	CALL doze<>(SB)
	LOCK
	DECQ control_stuck(R13)
again:
	XORL AX, AX
	RET
nobody:
	LOCK
	DECQ control_stuck(R13)
	MOVL $const_SurrenderedStuck, AX
	RET

// stop
//
// The runtime wants to stop the goroutine at the time in AX: await's result is
// awaitLeave, or SurrenderedStop if it cannot be stopped where it is.
TEXT stop<>(SB), NOSPLIT, $0-0
	CMPQ wait_stop(R15), $0
	JNE  asked
	MOVQ AX, wait_stop(R15)
asked:
	CMPL wait_refusals(R15), $const_refusals
	JCS  leave
	SUBQ wait_stop(R15), AX
	CMPQ AX, control_patience(R13)
	JLE  leave
	MOVL $const_SurrenderedStop, AX
	RET
leave:
	CALL urge<>(SB)
	MOVL $const_awaitLeave, AX
	RET

// urge
//
// Sends this thread the signal by which the runtime preempts, to be taken as soon
// as the handler returns. The runtime sends one, too, but at some time after its
// wish can be seen; an access that comes back after this one could not be stopped
// where it is. The word below the stack's top tells: it is made 0 here, and holds
// an address of code after a preemption.
TEXT urge<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVL $1, wait_urged(R15)
	CALL below<>(SB)
	JEQ  send
	MOVQ $0, (CX)
send:
	MOVQ $SYS_gettid, AX
	SYSCALL
	MOVQ AX, SI
	MOVQ $SYS_getpid, AX
	SYSCALL
	MOVQ AX, DI
	MOVL $SIGURG, DX
	MOVQ $SYS_tgkill, AX
	SYSCALL
	RET

// below
//
// The address in CX of the word below the top of the faulting goroutine's stack,
// where the runtime, to preempt it, pushes the place to come back to. The word is
// nobody's, it moves with the stack, and keeps its value until the next call. The
// zero flag is set if the word is not within the stack.
TEXT below<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ ucontext_rsp(R14), CX
	SUBQ $8, CX
	CMPQ CX, g_stack_lo(R8)
	JCS  outside
	CMPQ CX, g_stack_hi(R8)
	JCC  outside
	TESTQ CX, CX // not 0
	RET
outside:
	XORL CX, CX
	RET

// func free()
//
// Sets the zero flag if no section stands in the way of the access. The lock is
// looked at before outside, which was made zero before the lock was released.
TEXT ·free(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ Gate_lock(R12), CX
	TESTQ CX, CX
	JEQ  unknown
	TESTL $const_mutexLocked, (CX)
	JEQ  out
	CMPQ Gate_outside(R12), $1
	SBBL CX, CX // -1 if nobody is outside, else 0
	TESTL CX, CX
	RET
unknown:
	MOVQ Gate_seat(R12), CX
	CMPQ (CX), $0
	JNE  out
	TESTL R9, R9
	JEQ  out
	CMPL Gate_readers(R12), $0
	JNE  out
	MOVQ Gate_names(R12), CX
	ORQ  Gate_names+8(R12), CX
	ORQ  Gate_names+16(R12), CX
	ORQ  Gate_names+24(R12), CX
	ORQ  Gate_names+32(R12), CX
	ORQ  Gate_names+40(R12), CX
out:
	RET

// doze
//
// Sleeps on the gate's turn for the nanoseconds in AX at most. Joining blocked before looking
// at the section, which ends before it looks at blocked, makes sure that the wake-up is not
// missed. A thread that sleeps is no wanter, which a section would have to wait for: on a busy
// machine it is long after its time is up that it runs again.
TEXT doze<>(SB), NOSPLIT, $16-0
	MOVQ AX, nsec-8(SP)
	MOVL Gate_turn(R12), DX
	LOCK
	ADDL $1, Gate_blocked(R12)
	MOVQ Gate_lock(R12), CX
	TESTQ CX, CX
	JEQ  look
	XORL AX, AX
	XCHGB AX, (Latch_key-Latch_Mu)(CX) // so that Unlock looks at blocked
look:
	CALL ·free(SB)
	JEQ  out
	LOCK
	SUBL $const_wanter, Gate_word(R12)
	LEAQ Gate_turn(R12), DI
	MOVL $128, SI // FUTEX_WAIT|FUTEX_PRIVATE_FLAG
	MOVQ $0, sec-16(SP)
	LEAQ sec-16(SP), R10
	MOVQ $SYS_futex, AX
	SYSCALL
	LOCK
	ADDL $const_wanter, Gate_word(R12)
out:
	LOCK
	SUBL $1, Gate_blocked(R12)
	RET

// func now()
//
// The monotonic clock in nanoseconds. Only accesses that wait pay for it.
TEXT ·now(SB), NOSPLIT, $16-0
	MOVL $1, DI
	LEAQ sec-16(SP), SI
	MOVQ $SYS_clock_gettime, AX
	SYSCALL
	IMUL3Q $1000000000, sec-16(SP), AX
	ADDQ nsec-8(SP), AX
	RET

// func monotonic() int64
//
// The clock that waits are measured by.
TEXT ·monotonic(SB), NOSPLIT, $0-8
	CALL ·now(SB)
	MOVQ AX, ret+0(FP)
	RET
