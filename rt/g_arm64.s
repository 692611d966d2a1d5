#include "textflag.h"

// func here() (who, lo, hi uintptr)
//
// The address of the running goroutine's g, and the bounds of its stack, which are the
// first two words of the g.
TEXT ·here(SB), NOSPLIT|NOFRAME, $0-24
	MOVD g, who+0(FP)
	MOVD 0(g), R0
	MOVD R0, lo+8(FP)
	MOVD 8(g), R0
	MOVD R0, hi+16(FP)
	RET

// func returns(pcs *[8]uintptr) int
//
// Walks the frame pointers and stores where the calls return to, the innermost first:
// pcs[0] is in the function that called returns. Returns how many there are. A frame
// pointer points to the caller's, and above that is the return address. The walk ends
// where a frame pointer is not within the stack.
TEXT ·returns(SB), NOSPLIT|NOFRAME, $0-16
	MOVD 0(g), R3
	MOVD 8(g), R4
	MOVD pcs+0(FP), R0
	MOVD R29, R1
	MOVD $0, R2
walk:
	CMP  $8, R2
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
	MOVD R2, ret+8(FP)
	RET
