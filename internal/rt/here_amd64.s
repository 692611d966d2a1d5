#include "textflag.h"

// func here() (who, lo, hi uintptr)
//
// The address of the running goroutine's g, and the bounds of its stack, which are the
// first two words of the g.
TEXT ·here(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ (TLS), AX
	MOVQ AX, who+0(FP)
	MOVQ 0(AX), CX
	MOVQ CX, lo+8(FP)
	MOVQ 8(AX), CX
	MOVQ CX, hi+16(FP)
	RET
