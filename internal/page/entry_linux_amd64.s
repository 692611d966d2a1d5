#include "go_asm.h"
#include "textflag.h"

// The table of waits. Registers are those of handler_linux_amd64.s.

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
// Leaves the wait in R15, to be resumed. If it has lasted for long, a mark in the gate has
// the next section give it a chance to come back before it begins.
TEXT ·pause(SB), NOSPLIT, $0-0
	CALL ·draft(SB)
	MOVL Gate_seals(R12), AX
	MOVL AX, wait_seals(R15)
	MOVL $1, wait_away(R15)
	CALL ·now(SB)
	SUBQ wait_since(R15), AX
	CMPQ AX, control_starving(R13)
	JLE  young
	LOCK
	ORL  $const_starved, Gate_word(R12)
young:
	CMPQ wait_slot(R15), $0
	JNE  out
	LOCK
	DECQ (control_counters+Counters_Waiting)(R13) // it cannot be followed
out:
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
	CMPQ wait_slot(R15), $0
	JNE  out
	LOCK
	INCQ (control_counters+Counters_Waiting)(R13)
out:
	RET

// func enlist()
//
// Finds or makes the goroutine's entry: in R15, or 0 if there is no place. It
// goes on with the wait that was left, or begins one, and then notes who is in
// the section.
TEXT ·enlist(SB), NOSPLIT, $0-0
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
	CALL occupy<>(SB)
	TESTQ R15, R15
	JEQ  out
begin:
	CALL ·now(SB)
	MOVQ AX, wait_since(R15)
	MOVQ $0, wait_stop(R15)
	MOVQ $0, wait_idle(R15)
	MOVQ $0, wait_cycles(R15)
	MOVQ $0, wait_slot(R15)
	MOVL $0, wait_urged(R15)
	MOVL $0, wait_refusals(R15)
	MOVL $0, wait_yields(R15)
	MOVQ BX, wait_address(R15)
	CALL holder<>(SB)
	MOVQ AX, wait_holder(R15)
	MOVUPS Gate_site(R12), X0
	MOVUPS X0, wait_site(R15)
	LOCK
	INCQ (control_counters+Counters_Waiting)(R13)
listed:
	MOVL $0, wait_away(R15)
	MOVQ R12, wait_gate(R15)
out:
	RET

// occupy
//
// An entry for the g in AX, in R15: a free one or, if there is none, one that was left by
// a goroutine which has not come back. 0 if there is neither.
TEXT occupy<>(SB), NOSPLIT, $0-0
	MOVQ AX, DX
	XORL R10, R10
pass:
	MOVQ DX, AX
	CALL place<>(SB)
try:
	MOVQ wait_g(DI), AX
	TESTQ AX, AX
	JEQ  take
	TESTL R10, wait_away(DI)
	JEQ  next
take:
	LOCK
	CMPXCHGQ DX, wait_g(DI)
	JEQ  taken
next:
	ADDQ $wait__size, DI
	SUBL $1, CX
	JNE  try
	ADDL $1, R10
	CMPL R10, $1
	JEQ  pass
	XORL R15, R15
	RET
taken:
	MOVQ DI, R15
	RET

// holder
//
// The number of the goroutine in the section, 0 if unknown. A g is never freed.
TEXT holder<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ Gate_seat(R12), AX
	MOVQ (AX), AX
	TESTQ AX, AX
	JNE  known
	MOVQ Gate_outside(R12), AX // it holds the lock, and lets accesses pass first
known:
	JMP  ·goid(SB)

// func goid()
//
// The number of the goroutine whose g is in AX, 0 if unknown.
TEXT ·goid(SB), NOSPLIT|NOFRAME, $0-0
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

// func cycle()
//
// AX = 1 if a goroutine in a section of the gate waits, directly or through others, for a
// gate in whose section the faulting goroutine is. What is seen may change meanwhile, so
// one sighting proves nothing: await asks for two. The gates on the way are in a queue.
TEXT ·cycle(SB), NOSPLIT, $128-0
	MOVQ R12, queue-128(SP)
	XORL R10, R10 // the gate that is looked at
	MOVL $1, R11  // the end of the queue
gate:
	MOVQ queue-128(SP)(R10*8), DX
	XORL SI, SI
next:
	CALL sectionOf<>(SB)
	TESTQ AX, AX
	JEQ  skip
	CALL waitsFor<>(SB)
	TESTQ DI, DI
	JEQ  skip
	CALL holds<>(SB)
	JEQ  yes
	CMPL R11, $16
	JCC  skip
	MOVQ DI, queue-128(SP)(R11*8)
	ADDL $1, R11
skip:
	ADDL $1, SI
	CMPL SI, $(1+const_readerNames)
	JCS  next
	ADDL $1, R10
	CMPL R10, R11
	JCS  gate
	XORL AX, AX
	RET
yes:
	MOVL $1, AX
	RET

// sectionOf
//
// The goroutine in a section of the gate in DX with the number in SI: the holder, which
// may be outside, or a reader. AX = 0: none.
TEXT sectionOf<>(SB), NOSPLIT|NOFRAME, $0-0
	TESTL SI, SI
	JNE  reader
	MOVQ Gate_seat(DX), AX
	MOVQ (AX), AX
	ORQ  Gate_outside(DX), AX // one of them is 0
	RET
reader:
	MOVQ (Gate_names-8)(DX)(SI*8), AX
	RET

// holds
//
// Sets the zero flag if the faulting goroutine is in a section of the gate in DI.
TEXT holds<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ Gate_seat(DI), AX
	MOVQ (AX), AX
	ORQ  Gate_outside(DI), AX
	CMPQ AX, R8
	JEQ  out
	MOVL $const_readerNames, CX
next:
	CMPQ (Gate_names-8)(DI)(CX*8), R8
	JEQ  out
	SUBL $1, CX
	JNE  next
	TESTQ R12, R12 // not 0
out:
	RET

// waitsFor
//
// The gate that the goroutine whose g is in AX waits for: in DI, or 0. An access that was
// left to be preempted still waits if the gate was sealed all the time.
TEXT waitsFor<>(SB), NOSPLIT, $0-0
	CALL find<>(SB)
	TESTQ DI, DI
	JEQ  out
	MOVQ DI, AX
	MOVQ wait_gate(AX), DI
	TESTQ DI, DI
	JEQ  out
	CMPL wait_away(AX), $0
	JEQ  out
	TESTL $(const_open|const_readable|const_closed), Gate_word(DI)
	JNE  passed
	MOVL wait_seals(AX), CX
	CMPL Gate_seals(DI), CX
	JEQ  out
passed:
	XORL DI, DI
out:
	RET
