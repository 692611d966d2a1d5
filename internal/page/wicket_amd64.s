#include "go_asm.h"
#include "funcdata.h"
#include "textflag.h"

// func StepIn(w *Wicket, bits uint64)
//
// Sets bits of a word none of whose WicketInUse is set, by a locked instruction. The load of
// the wanters comes after it: an access that is not seen here sees the bits. Of a wicket that trusts, and that no
// access wants, it sets the bits by a plain store. Then it looks whether trust still holds, and compares the wanters with what they
// were: an access that is not seen here has a fence on all processors before it looks at the word, or comes after one that was
// made when trust ended. The return address is
// the site, unless it is in a function that the caller is inlined from elsewhere: then it is the one
// above, in the caller's frame.
TEXT ·StepIn(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ w+0(FP), DI
	MOVQ bits+8(FP), DX
	MOVQ Wicket_Word(DI), AX
	TESTL $const_WicketInUse, AX
	JNE  no
	ORQ  AX, DX
	MOVL Wicket_Wanters(DI), BX
	CMPL BX, $const_WicketTrusting
	JNE  fenced
	MOVQ DX, Wicket_Word(DI)
	CMPL ·WicketTrust(SB), $const_WicketTrustHolds
	JNE  no
begun:
	MOVQ (TLS), AX
	MOVQ 0(SP), CX
	CMPQ CX, ·stepReturns+0(SB)
	JEQ  called
note:
	MOVQ AX, Wicket_Holder(DI)
	MOVL CX, Wicket_Site(DI)
	CMPL Wicket_Wanters(DI), BX
	JNE  no
	RET
called:
	MOVQ 8(BP), CX
	JMP  note
fenced:
	TESTL BX, BX
	JNE  no
	LOCK
	CMPXCHGQ DX, Wicket_Word(DI)
	JNE  no
	SHRQ $const_WicketTurnShift, AX
	NOTL AX
	CMPL AX, $~const_WicketYoung
	JAE  young
	TESTL $(const_wicketTurn-1), AX
	JNE  begun
no:
	JMP  ·stepAside(SB)
young:
	TESTL $(const_wicketYoungTurn-1), AX
	JEQ  no
	JMP  begun

// func StepInToRead(w *Wicket, bits uint64)
//
// Sets bits of a word none of whose WicketClosed is set, and adds a WicketReader to it. If there are
// wanters the reader is taken back; its bits are left until the last reader goes.
TEXT ·StepInToRead(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ w+0(FP), DI
	MOVQ bits+8(FP), DX
	MOVQ Wicket_Word(DI), AX
	TESTL $const_WicketClosed, AX
	JNE  out
	ORQ  AX, DX
	ADDQ $const_WicketReader, DX
	LOCK
	CMPXCHGQ DX, Wicket_Word(DI)
	JNE  out
	MOVQ 0(SP), CX
	CMPQ CX, ·stepReturns+8(SB)
	JEQ  called
note:
	MOVL CX, Wicket_Site(DI)
	TESTL $~const_WicketTrusting, Wicket_Wanters(DI)
	JNE  wanted
	RET
called:
	MOVQ 8(BP), CX
	JMP  note
wanted:
	LOCK
	SUBQ $const_WicketReader, Wicket_Word(DI)
out:
	JMP  ·stepAsideToRead(SB)

// func stepAside(w *Wicket, bits uint64)
//
// StepIn in Go, where there is a section or an access in the way, with the two return addresses of
// which one is the site. It comes from there by a jump.
TEXT ·stepAside(SB), 0, $32-16
	NO_LOCAL_POINTERS
	MOVQ w+0(FP), AX
	MOVQ AX, 0(SP)
	MOVQ bits+8(FP), AX
	MOVQ AX, 8(SP)
	MOVQ 8(BP), AX
	MOVQ AX, 16(SP)
	MOVQ 0(BP), AX
	MOVQ 8(AX), AX
	MOVQ AX, 24(SP)
	CALL ·stepSlowly(SB)
	RET

// func stepAsideToRead(w *Wicket, bits uint64)
//
// stepAside for StepInToRead.
TEXT ·stepAsideToRead(SB), 0, $32-16
	NO_LOCAL_POINTERS
	MOVQ w+0(FP), AX
	MOVQ AX, 0(SP)
	MOVQ bits+8(FP), AX
	MOVQ AX, 8(SP)
	MOVQ 8(BP), AX
	MOVQ AX, 16(SP)
	MOVQ 0(BP), AX
	MOVQ 8(AX), AX
	MOVQ AX, 24(SP)
	CALL ·stepSlowlyToRead(SB)
	RET

// func Here() (me, site uintptr)
//
// The running goroutine's g, and the return address of the caller, which must not be inlined: BP is its
// frame.
TEXT ·Here(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ (TLS), CX
	MOVQ CX, me+0(FP)
	MOVQ 8(BP), CX
	MOVQ CX, site+8(FP)
	RET
