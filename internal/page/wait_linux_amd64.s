#include "go_asm.h"
#include "textflag.h"

// Waiting in the handler, and the record of what came of it. Registers are those
// of handler_linux_amd64.s.

#define ucontext_rbp 120
#define ucontext_rsp 160
#define ucontext_rip 168

#define g_stack_lo 0
#define g_stack_hi 8
#define g_stackguard0 16
#define stackPreempt 0xfffffffffffffade

#define SIGURG 23

#define SYS_write 1
#define SYS_getpid 39
#define SYS_gettid 186
#define SYS_futex 202
#define SYS_tgkill 234
#define SYS_clock_gettime 228

// func await()
//
// Waits for the end of the section, up to a quarter of a millisecond. AX = 0:
// look again. AX = awaitLeave: the runtime wants to stop the goroutine, so return
// to the access, where it can. Otherwise the surrender's outcome.
TEXT ·await(SB), NOSPLIT, $0-0
	TESTQ R15, R15
	JNE  enlisted
	CALL enlist<>(SB)
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
	CALL cycle<>(SB)
	ADDQ AX, wait_cycles(R15)
	CMPQ wait_cycles(R15), $2
	JCC  deadlock
	CALL now<>(SB)
	MOVQ AX, CX
	SUBQ wait_since(R15), CX
	CMPQ CX, control_longest(R13)
	JGT  timeout
	TESTQ R8, R8
	JEQ  sleep
	MOVQ $stackPreempt, CX
	CMPQ g_stackguard0(R8), CX
	JNE  calm
	CALL stop<>(SB)
	RET
calm:
	MOVQ $0, wait_stop(R15)
sleep:
	CALL doze<>(SB)
again:
	XORL AX, AX
	RET
deadlock:
	MOVL $const_SurrenderedCycle, AX
	RET
timeout:
	MOVL $const_SurrenderedTimeout, AX
	RET

// stop
//
// The runtime wants to stop the goroutine at the time in AX: await's result is
// awaitLeave, or SurrenderedStop if it cannot be stopped where it is.
TEXT stop<>(SB), NOSPLIT, $0-0
	CMPQ wait_stop(R15), $0
	JEQ  first
	CALL below<>(SB)
	JEQ  asked
	CMPQ (CX), $0
	JEQ  asked
first:
	// Stopped since it was urged, if it was: this is another wish.
	MOVQ AX, wait_stop(R15)
	MOVL $0, wait_refusals(R15)
	JMP  urge
asked:
	// It was urged before, and is here again: it cannot be stopped here.
	ADDL $1, wait_refusals(R15)
	CMPL wait_refusals(R15), $3
	JCS  urge
	SUBQ wait_stop(R15), AX
	CMPQ AX, control_patience(R13)
	JLE  urge
	MOVL $const_SurrenderedStop, AX
	RET
urge:
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
	CMPQ Gate_holder(R12), $0
	JNE  out
	TESTL R9, R9
	JEQ  out
	CMPL Gate_readers(R12), $0
out:
	RET

// doze
//
// Sleeps on the gate's turn for a quarter of a millisecond at most. Joining
// blocked before looking at the section, which ends before it looks at blocked,
// makes sure that the wake-up is not missed.
TEXT doze<>(SB), NOSPLIT, $16-0
	MOVL Gate_turn(R12), DX
	LOCK
	ADDL $1, Gate_blocked(R12)
	CALL ·free(SB)
	JEQ  out
	LEAQ Gate_turn(R12), DI
	MOVL $128, SI // FUTEX_WAIT|FUTEX_PRIVATE_FLAG
	MOVQ $0, sec-16(SP)
	MOVQ $250000, nsec-8(SP)
	LEAQ sec-16(SP), R10
	MOVQ $SYS_futex, AX
	SYSCALL
out:
	LOCK
	SUBL $1, Gate_blocked(R12)
	RET

// now
//
// The monotonic clock in nanoseconds. Only accesses that wait pay for it.
TEXT now<>(SB), NOSPLIT, $16-0
	MOVL $1, DI
	LEAQ sec-16(SP), SI
	MOVQ $SYS_clock_gettime, AX
	SYSCALL
	IMUL3Q $1000000000, sec-16(SP), AX
	ADDQ nsec-8(SP), AX
	RET

// find
//
// The entry of the goroutine whose g is in AX: in DI, or 0. The table is hashed,
// and an entry is at most waitProbes places from where it belongs.
TEXT find<>(SB), NOSPLIT|NOFRAME, $0-0
	CALL place<>(SB)
probe:
	CMPQ wait_g(DI), AX
	JEQ  found
	ADDQ $wait__size, DI
	SUBL $1, CX
	JNE  probe
	XORL DI, DI
found:
	RET

// place
//
// The first place for the g in AX: in DI, with the number of probes in CX.
TEXT place<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ $const_waitHash, DI
	IMULQ AX, DI
	SHRQ $(64-const_waitBits), DI
	IMULQ $wait__size, DI
	ADDQ control_waits(R13), DI
	MOVL $const_waitProbes, CX
	RET

// func pause()
//
// Leaves the wait in R15, to be resumed.
TEXT ·pause(SB), NOSPLIT|NOFRAME, $0-0
	MOVL Gate_seals(R12), AX
	MOVL AX, wait_seals(R15)
	MOVQ $0, wait_gate(R15)
	LOCK
	DECQ (control_counters+Counters_Waiting)(R13)
	RET

// func resumed()
//
// The entry, in R15, of the wait for this address that the goroutine left to be
// preempted; 0 if there is none. While it was away the page may have been opened
// by another access, and this one passed unseen: then the gate was sealed again
// since, or there would be no fault now.
TEXT ·resumed(SB), NOSPLIT, $0-0
	XORL R15, R15
	MOVQ R8, AX
	CALL find<>(SB)
	TESTQ DI, DI
	JEQ  out
	CMPQ wait_address(DI), BX
	JNE  out
	MOVL Gate_seals(R12), AX
	CMPL AX, wait_seals(DI)
	JNE  out
	MOVQ DI, R15
	LOCK
	INCQ (control_counters+Counters_Waiting)(R13)
out:
	RET

// enlist
//
// Finds or makes the goroutine's entry: in R15, or 0 if there is no place. It
// goes on with the wait that was left, or begins one, and then notes who is in
// the section.
TEXT enlist<>(SB), NOSPLIT, $0-0
	CALL ·resumed(SB)
	TESTQ R15, R15
	JNE  listed
	MOVQ R8, AX
	TESTQ AX, AX
	JNE  known
	MOVQ SP, AX // a thread without g: any number that no g has
known:
	CALL find<>(SB)
	MOVQ DI, R15
	TESTQ DI, DI
	JNE  begin
	CALL place<>(SB)
	MOVQ AX, DX
try:
	// Free, or left by a goroutine that has not come back.
	MOVQ wait_g(DI), AX
	TESTQ AX, AX
	JEQ  take
	CMPQ wait_gate(DI), $0
	JNE  next
take:
	LOCK
	CMPXCHGQ DX, wait_g(DI)
	JEQ  taken
next:
	ADDQ $wait__size, DI
	SUBL $1, CX
	JNE  try
	XORL R15, R15
	RET
taken:
	MOVQ DI, R15
begin:
	CALL now<>(SB)
	MOVQ AX, wait_since(R15)
	MOVQ $0, wait_stop(R15)
	MOVQ $0, wait_cycles(R15)
	MOVQ BX, wait_address(R15)
	CALL holder<>(SB)
	MOVQ AX, wait_holder(R15)
	MOVUPS Gate_site(R12), X0
	MOVUPS X0, wait_site(R15)
	LOCK
	INCQ (control_counters+Counters_Waiting)(R13)
listed:
	MOVQ R12, wait_gate(R15)
	RET

// holder
//
// The number of the goroutine in the section, 0 if unknown. A g is never freed.
TEXT holder<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ Gate_holder(R12), AX
	TESTQ AX, AX
	JNE  known
	MOVQ Gate_outside(R12), AX // it holds the lock, and lets accesses pass first
known:
	JMP  goid<>(SB)

// goid
//
// The number of the goroutine whose g is in AX, 0 if unknown.
TEXT goid<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ control_goid(R13), CX
	TESTQ CX, CX
	JEQ  unknown
	TESTQ AX, AX
	JEQ  unknown
	MOVQ (AX)(CX*1), AX
	RET
unknown:
	XORL AX, AX
	RET

// cycle
//
// AX = 1 if the holder waits, directly or through others, for a gate that the
// faulting goroutine holds. The chain is read while it may change, so one
// sighting proves nothing: await asks for two.
TEXT cycle<>(SB), NOSPLIT, $0-0
	MOVQ Gate_holder(R12), AX
	MOVL $16, R10
hop:
	TESTQ AX, AX
	JEQ  no
	CALL find<>(SB)
	TESTQ DI, DI
	JEQ  no
	MOVQ wait_gate(DI), DI
	TESTQ DI, DI
	JEQ  no
	MOVQ Gate_holder(DI), AX
	ORQ  Gate_outside(DI), AX // one of them is 0
	CMPQ AX, R8
	JEQ  yes
	SUBL $1, R10
	JNE  hop
no:
	XORL AX, AX
	RET
yes:
	MOVL $1, AX
	RET

// func record()
//
// Writes the fault with the outcome in AX into the ring, gives up the entry, and
// wakes the reporter.
TEXT ·record(SB), NOSPLIT, $16-0
	MOVL AX, outcome-16(SP)
	CALL count<>(SB)
	TESTQ R15, R15
	JNE  waited
	CALL enlist<>(SB) // a bypass did not wait: note the holder
	TESTQ R15, R15
	JEQ  lost
waited:
	MOVL $1, DI
	LOCK
	XADDQ DI, control_head(R13)
	ANDQ $(const_ringSlots-1), DI
	IMULQ $Fault__size, DI
	ADDQ control_ring(R13), DI
	XORL AX, AX
	MOVL $const_slotTaken, CX
	LOCK
	CMPXCHGL CX, Fault_state(DI)
	JNE  full
	MOVL outcome-16(SP), AX
	MOVL AX, Fault_Outcome(DI)
	MOVQ DI, slot-8(SP)
	CALL now<>(SB)
	SUBQ wait_since(R15), AX
	MOVQ slot-8(SP), DI
	MOVQ AX, Fault_Waited(DI)
	CALL fill<>(SB)
	CALL walk<>(SB)
	MOVL $const_slotFull, AX
	XCHGL AX, Fault_state(DI)
	CALL ring<>(SB)
	JMP  delist
full:
	LOCK
	INCQ (control_counters+Counters_Lost)(R13)
delist:
	LOCK
	DECQ (control_counters+Counters_Waiting)(R13)
	MOVQ $0, wait_address(R15)
	MOVQ $0, wait_gate(R15)
	MOVQ $0, wait_g(R15)
	RET
lost:
	LOCK
	INCQ (control_counters+Counters_Lost)(R13)
	RET

// count
//
// Counts the outcome in AX.
TEXT count<>(SB), NOSPLIT|NOFRAME, $0-0
	LEAQ (control_counters+Counters_Delayed)(R13), CX
	CMPL AX, $const_Delayed
	JEQ  add
	LEAQ (control_counters+Counters_Bypassed)(R13), CX
	CMPL AX, $const_Bypassed
	JEQ  add
	LEAQ (control_counters+Counters_Surrendered)(R13), CX
add:
	LOCK
	INCQ (CX)
	RET

// fill
//
// Fills the slot in DI with who and where, but for the stack.
TEXT fill<>(SB), NOSPLIT, $0-0
	MOVL Gate_index(R12), AX
	MOVL AX, Fault_Gate(DI)
	MOVL R9, Fault_Write(DI)
	MOVQ BX, Fault_Address(DI)
	MOVQ ucontext_rip(R14), AX
	MOVQ AX, Fault_PC(DI)
	MOVQ wait_holder(R15), AX
	MOVQ AX, Fault_Holder(DI)
	MOVUPS wait_site(R15), X0
	MOVUPS X0, Fault_Site(DI)
	MOVQ R8, AX
	CALL goid<>(SB)
	MOVQ AX, Fault_Goroutine(DI)
	RET

// walk
//
// Walks the faulting goroutine's frame pointers into the slot in DI. Every
// address is checked against the bounds of its stack before it is read.
TEXT walk<>(SB), NOSPLIT, $0-0
	XORL CX, CX
	MOVQ $0, Fault_SP0(DI)
	TESTQ R8, R8
	JEQ  done
	MOVQ g_stack_lo(R8), R10
	MOVQ g_stack_hi(R8), R11
	SUBQ $16, R11
	MOVQ ucontext_rsp(R14), AX
	CMPQ AX, R10
	JCS  done
	CMPQ AX, R11
	JHI  done
	MOVQ (AX), DX
	MOVQ DX, Fault_SP0(DI)
	MOVQ ucontext_rbp(R14), AX
frame:
	CMPQ AX, R10
	JCS  done
	CMPQ AX, R11
	JHI  done
	TESTL $7, AX
	JNE  done
	MOVQ 8(AX), DX
	MOVQ DX, Fault_stack(DI)(CX*8)
	ADDL $1, CX
	CMPL CX, $const_MaxStack
	JEQ  done
	LEAQ 1(AX), R10 // the next frame is further up
	MOVQ 0(AX), AX
	JMP  frame
done:
	MOVQ CX, Fault_depth(DI)
	RET

// ring
//
// Tells the reporter that the ring is not empty.
TEXT ring<>(SB), NOSPLIT, $8-0
	MOVQ $1, one-8(SP)
	MOVQ control_event(R13), DI
	LEAQ one-8(SP), SI
	MOVL $8, DX
	MOVQ $SYS_write, AX
	SYSCALL
	RET
