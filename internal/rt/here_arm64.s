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
