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

// func returns(pcs *[8]uintptr) int
//
// Walks the frame pointers and stores where the calls return to, the innermost first:
// pcs[0] is in the function that called returns. Returns how many there are. A frame
// pointer points to the caller's, and above that is the return address. The walk ends
// where a frame pointer is not within the stack.
TEXT ·returns(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ (TLS), AX
	MOVQ 0(AX), R8
	MOVQ 8(AX), R9
	MOVQ pcs+0(FP), DI
	MOVQ BP, AX
	XORQ CX, CX
walk:
	CMPQ CX, $8
	JGE  done
	CMPQ AX, R8
	JB   done
	LEAQ 16(AX), DX
	CMPQ DX, R9
	JA   done
	MOVQ 8(AX), DX
	MOVQ DX, (DI)(CX*8)
	MOVQ 0(AX), AX
	INCQ CX
	JMP  walk
done:
	MOVQ CX, ret+8(FP)
	RET
