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

// func Prefetch(first, last uintptr)
//
// No access in the sense of the memory model: nothing is read, and nothing faults.
TEXT ·Prefetch(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ first+0(FP), AX
	MOVQ last+8(FP), CX
	ANDQ $~63, AX
line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, CX
	JLS  line
	RET
