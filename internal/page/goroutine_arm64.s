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

// func Prefetch(first, last uintptr)
//
// No access in the sense of the memory model: nothing is read, and nothing faults.
TEXT ·Prefetch(SB), NOSPLIT|NOFRAME, $0-16
	MOVD first+0(FP), R0
	MOVD last+8(FP), R1
	AND  $~63, R0
line:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	CMP  R1, R0
	BLS  line
	RET
