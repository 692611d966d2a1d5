#include "go_asm.h"
#include "textflag.h"

// func StepIn(w *Wicket, bits uint64) bool
//
// Sets bits of a word none of whose WicketInUse is set, by a locked instruction. The load of
// the wanters comes after it: an access that is not seen here sees the bits. BP is the frame of the
// caller, which must not be inlined; its return address is the site.
TEXT ·StepIn(SB), NOSPLIT|NOFRAME, $0-17
	MOVQ w+0(FP), DI
	MOVQ bits+8(FP), DX
	MOVQ Wicket_Word(DI), AX
	TESTL $const_WicketInUse, AX
	JNE  no
	ORQ  AX, DX
	LOCK
	CMPXCHGQ DX, Wicket_Word(DI)
	JNE  no
	MOVQ (TLS), CX
	MOVQ CX, Wicket_Holder(DI)
	MOVQ 8(BP), CX
	MOVL CX, Wicket_Site(DI)
	CMPL Wicket_Wanters(DI), $0
	JNE  no
	MOVB $1, ret+16(FP)
	RET
no:
	MOVB $0, ret+16(FP)
	RET

// func StepInToRead(w *Wicket, bits uint64) bool
//
// Sets bits of a word none of whose WicketClosed is set, and adds a WicketReader to it. If there are
// wanters the reader is taken back; its bits are left until the last reader goes.
TEXT ·StepInToRead(SB), NOSPLIT|NOFRAME, $0-17
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
	MOVQ 8(BP), CX
	MOVL CX, Wicket_Site(DI)
	CMPL Wicket_Wanters(DI), $0
	JNE  wanted
	MOVB $1, ret+16(FP)
	RET
wanted:
	LOCK
	SUBQ $const_WicketReader, Wicket_Word(DI)
out:
	MOVB $0, ret+16(FP)
	RET
