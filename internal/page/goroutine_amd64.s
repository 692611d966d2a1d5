#include "textflag.h"

// func G() uintptr
//
// The address of the running goroutine's g.
TEXT ·G(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

// func StackDepth() uintptr
//
// The second word of a g is the upper end of its stack.
TEXT ·StackDepth(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ (TLS), AX
	MOVQ 8(AX), AX
	SUBQ SP, AX
	MOVQ AX, ret+0(FP)
	RET
