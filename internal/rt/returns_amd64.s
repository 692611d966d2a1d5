#include "textflag.h"

// func returns(pcs *[8]uintptr, most int) int
//
// Walks the frame pointers and stores where the calls return to, the innermost first:
// pcs[0] is in the function that called returns. Returns how many there are, of which no
// more than most are looked for, and that is at most 8. A frame
// pointer points to the caller's, and above that is the return address. The walk ends
// where a frame pointer is not within the stack.
TEXT ·returns(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ (TLS), AX
	MOVQ 0(AX), R8
	MOVQ 8(AX), R9
	MOVQ pcs+0(FP), DI
	MOVQ most+8(FP), SI
	MOVQ BP, AX
	XORQ CX, CX
walk:
	CMPQ CX, SI
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
	MOVQ CX, ret+16(FP)
	RET

// func framePointer() uintptr
//
// The frame pointer that the frame on top of the stack has saved: that of the caller's
// caller or, where a frame that belongs to the assembler's calling convention is on top, of
// the caller. The frame it points to outlives this call either way.
TEXT ·framePointer(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ 0(BP), AX
	MOVQ AX, ret+0(FP)
	RET
