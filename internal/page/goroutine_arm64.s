#include "textflag.h"

// func G() uintptr
//
// The address of the running goroutine's g.
TEXT ·G(SB), NOSPLIT|NOFRAME, $0-8
	MOVD g, ret+0(FP)
	RET

// func StackDepth() uintptr
//
// The second word of a g is the upper end of its stack.
TEXT ·StackDepth(SB), NOSPLIT|NOFRAME, $0-8
	MOVD 8(g), R0
	MOVD RSP, R1
	SUB  R1, R0, R0
	MOVD R0, ret+0(FP)
	RET
