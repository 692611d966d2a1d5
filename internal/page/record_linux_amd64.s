#include "go_asm.h"
#include "textflag.h"

// The record of what came of a fault. Registers are those of handler_linux_amd64.s.

#define ucontext_rbp 120
#define ucontext_rsp 160
#define ucontext_rip 168

#define g_stack_lo 0
#define g_stack_hi 8

#define SYS_write 1

// func draft()
//
// Writes the fault of the wait in R15 into the ring, if that has not been done: the access
// may pass unseen when it comes back, if another one has opened the page by then. What
// becomes of a draft is decided by record, or by Drain, which see by its state that it is
// still the same one.
TEXT ·draft(SB), NOSPLIT, $0-0
	CMPQ wait_slot(R15), $0
	JNE  out
	CALL claim<>(SB)
	TESTQ DI, DI
	JEQ  out
	MOVL $const_Delayed, Fault_Outcome(DI)
	MOVL Gate_seals(R12), AX
	MOVL AX, Fault_seals(DI)
	MOVQ wait_since(R15), AX
	MOVQ AX, Fault_since(DI)
	CALL fill<>(SB)
	CALL walk<>(SB)
	MOVQ DI, wait_slot(R15)
	MOVL Fault_ticket(DI), AX
	SHLL $2, AX
	ORL  $const_slotDraft, AX
	MOVL AX, wait_draft(R15)
	XCHGL AX, Fault_state(DI)
	CALL ring<>(SB)
out:
	RET

// claim
//
// A slot of the ring for a fault: in DI, or 0 if there is none.
TEXT claim<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVL $1, DX
	LOCK
	XADDQ DX, control_head(R13)
	MOVQ DX, DI
	ANDQ $(const_ringSlots-1), DI
	IMULQ $Fault__size, DI
	ADDQ control_ring(R13), DI
	XORL AX, AX
	MOVL $const_slotTaken, CX
	LOCK
	CMPXCHGL CX, Fault_state(DI)
	JNE  full
	MOVL DX, Fault_ticket(DI)
	RET
full:
	XORL DI, DI
	RET

// func record()
//
// Writes the fault with the outcome in AX into the ring, gives up the entry, and
// wakes the reporter.
TEXT ·record(SB), NOSPLIT, $16-0
	MOVL AX, outcome-16(SP)
	TESTQ R15, R15
	JNE  waited
	CALL ·enlist(SB) // a bypass did not wait: note the holder
	TESTQ R15, R15
	JEQ  lost
waited:
	MOVQ wait_slot(R15), DI
	TESTQ DI, DI
	JEQ  fresh
	MOVL wait_draft(R15), AX
	MOVL $const_slotTaken, CX
	LOCK
	CMPXCHGL CX, Fault_state(DI)
	JEQ  write
	// Drain has taken it for one that has passed, and waits no more.
	LOCK
	INCQ (control_counters+Counters_Waiting)(R13)
	CMPL outcome-16(SP), $const_Delayed
	JEQ  delist
fresh:
	CALL claim<>(SB)
	TESTQ DI, DI
	JEQ  full
	CALL fill<>(SB)
	CALL walk<>(SB)
write:
	MOVL outcome-16(SP), AX
	MOVL AX, Fault_Outcome(DI)
	MOVQ DI, slot-8(SP)
	CALL ·now(SB)
	SUBQ wait_since(R15), AX
	MOVQ slot-8(SP), DI
	MOVQ AX, Fault_Waited(DI)
	MOVL $const_slotFull, AX
	XCHGL AX, Fault_state(DI)
	CALL ring<>(SB)
	JMP  counted
full:
	LOCK
	INCQ (control_counters+Counters_Lost)(R13)
counted:
	MOVL outcome-16(SP), AX
	CALL count<>(SB)
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
	MOVL outcome-16(SP), AX
	CALL count<>(SB)
	RET

// func withdraw()
//
// Gives up the entry in R15, and its draft, which Drain may have completed already.
TEXT ·withdraw(SB), NOSPLIT, $0-0
	MOVQ wait_slot(R15), DI
	TESTQ DI, DI
	JEQ  waiting
	MOVL wait_draft(R15), AX
	XORL CX, CX
	LOCK
	CMPXCHGL CX, Fault_state(DI)
	JNE  delist
waiting:
	LOCK
	DECQ (control_counters+Counters_Waiting)(R13)
delist:
	MOVQ $0, wait_address(R15)
	MOVQ $0, wait_gate(R15)
	MOVQ $0, wait_g(R15)
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
	CALL ·goid(SB)
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
