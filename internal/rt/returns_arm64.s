#include "textflag.h"

// func returns(pcs *[8]uintptr, most int) int
//
// Walks the frame pointers and stores where the calls return to, the innermost first:
// pcs[0] is in the function that called returns. Returns how many there are, of which no
// more than most are looked for, and that is at most 8. A frame
// pointer points to the caller's, and above that is the return address. The walk ends
// where a frame pointer is not within the stack.
TEXT ·returns(SB), NOSPLIT|NOFRAME, $0-24
	MOVD 0(g), R3
	MOVD 8(g), R4
	MOVD pcs+0(FP), R0
	MOVD most+8(FP), R6
	MOVD R29, R1
	MOVD $0, R2
walk:
	CMP  R6, R2
	BGE  done
	CMP  R3, R1
	BLO  done
	ADD  $16, R1, R5
	CMP  R4, R5
	BHI  done
	MOVD 8(R1), R5
	MOVD R5, (R0)(R2<<3)
	MOVD 0(R1), R1
	ADD  $1, R2
	B    walk
done:
	MOVD R2, ret+16(FP)
	RET

// func framePointer() uintptr
//
// The frame pointer that the frame on top of the stack has saved: that of the caller's
// caller or, where a frame that belongs to the assembler's calling convention is on top, of
// the caller. The frame it points to outlives this call either way.
TEXT ·framePointer(SB), NOSPLIT|NOFRAME, $0-8
	MOVD 0(R29), R0
	MOVD R0, ret+0(FP)
	RET
