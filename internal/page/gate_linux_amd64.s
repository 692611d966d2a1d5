#include "go_asm.h"
#include "funcdata.h"
#include "textflag.h"

#define ENOMEM 12
#define g_stackguard0 16
#define stackPreempt 0xfffffffffffffade

// What a lock does with its gate. These are ordinary calls from Go; they are
// assembly because they need g, the caller's frame, or not to be preempted.

// func copyG(words *[gWords]uint64)
//
// The first words of the running goroutine's g.
TEXT ·copyG(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ words+0(FP), DI
	MOVQ (TLS), SI
	MOVL $const_gWords, CX
	REP
	MOVSQ
	RET

// func copyWanted(words *[gWords]uint64, looks int) bool
//
// copyG, as soon as the runtime wishes to preempt the running goroutine, for which it is
// looked so often at most. False: there was no such wish.
TEXT ·copyWanted(SB), NOSPLIT|NOFRAME, $0-17
	MOVQ (TLS), SI
	MOVQ looks+8(FP), CX
	MOVQ $stackPreempt, AX
look:
	CMPQ g_stackguard0(SI), AX
	JEQ  wanted
	PAUSE
	SUBQ $1, CX
	JNE  look
	MOVB $0, ret+16(FP)
	RET
wanted:
	MOVQ words+0(FP), DI
	MOVL $const_gWords, CX
	REP
	MOVSQ
	MOVB $1, ret+16(FP)
	RET

// func relax()
//
// Does nothing for a microsecond or two.
TEXT ·relax(SB), NOSPLIT|NOFRAME, $0-0
	MOVL $64, CX
again:
	PAUSE
	SUBL $1, CX
	JNE  again
	RET

// func Enter(gate *Gate) bool
//
// Makes the calling goroutine the gate's holder, with the two innermost return
// addresses above the function that calls Enter as its site. True if the gate is
// sealed and nobody wants it: the section may begin. False otherwise, and for a
// nil gate: see Gate.Settle. The load of the word comes after a fence: the one in
// the lock that the handler looks at, or the exchange.
//
// BP is the frame of the caller (Lock, which must not be inlined), whose return
// address is the site; or of a wrapper that the compiler has put between, which
// is why there are two. The outermost frame of a goroutine has a nil BP.
TEXT ·Enter(SB), NOSPLIT|NOFRAME, $0-9
	MOVQ gate+0(FP), AX
	TESTQ AX, AX
	JZ   no
	MOVQ 8(BP), CX
	MOVQ CX, Gate_site(AX)
	XORL CX, CX
	MOVQ 0(BP), DX
	TESTQ DX, DX
	JZ   site
	MOVQ 8(DX), CX
site:
	MOVQ CX, Gate_site+8(AX)
	MOVQ (TLS), CX
	CMPQ Gate_lock(AX), $0
	JEQ  fence
	MOVQ Gate_seat(AX), DX
	MOVQ CX, (DX)
look:
	CMPL Gate_word(AX), $0
	JNE  no
	MOVB $1, ret+8(FP)
	RET
fence:
	MOVQ $0, Gate_lenient(AX)
	MOVQ Gate_seat(AX), DX
	XCHGQ CX, (DX)
	JMP  look
no:
	MOVB $0, ret+8(FP)
	RET

// func Begin(l *Latch)
//
// Takes the lock, as Lock of a sync.Mutex that is free, and does what Enter does. With goroutines
// that wait and have not been woken yet its word is not 0 although it is free: with more
// goroutines than processors most sections find it so. Then it is taken here, as TryLock
// does, and Unlock is told. If it is held, if what its word means is not known (grip is 0), and if
// the gate is not sealed or there is none, the rest is left to Go.
//
// The site is the return address, in the function that Lock is inlined into, and
// the one above it. If Lock was called, as a method of an interface, the return
// address is the one in Lock itself, and the site begins above it.
TEXT ·Begin(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ l+0(FP), DI
	MOVL Latch_grip(DI), DX
	XORL AX, AX
	LOCK
	CMPXCHGL DX, Latch_Mu(DI)
	JNE  try
	TESTL DX, DX
	JEQ  aside
begin:
	MOVQ Latch_gate(DI), SI
	TESTQ SI, SI
	JEQ  settle
	MOVQ (TLS), AX
	MOVQ 0(SP), CX
	MOVQ 8(BP), DX
	CMPQ CX, ·lockReturn(SB)
	JEQ  called
note:
	MOVQ AX, Latch_holder(DI)
	MOVQ CX, Gate_site(SI)
	MOVQ DX, Gate_site+8(SI)
	CMPL Gate_word(SI), $0
	JNE  settle
	RET
called:
	MOVQ DX, CX
	XORL DX, DX
	MOVQ 0(BP), R8
	TESTQ R8, R8
	JEQ  note
	MOVQ 8(R8), DX
	JMP  note
try:
	TESTL $(const_mutexLocked|const_mutexStarving), AX
	JNE  aside
	ORL  AX, DX
	CMPL AX, DX
	JEQ  aside
	LOCK
	CMPXCHGL DX, Latch_Mu(DI)
	JNE  aside
	MOVB $0, Latch_key(DI)
	JMP  begin
aside:
	JMP  ·lockAside(SB)
settle:
	JMP  ·settleAside(SB)

// func Own(l *Latch, p unsafe.Pointer) unsafe.Pointer
//
// The own view of an object in the memory that the latch knows, if the calling goroutine
// is the holder. The rest is left to Go.
TEXT ·Own(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ l+0(FP), DI
	MOVQ p+8(FP), AX
	ORQ  ·OwnBit(SB), AX
	MOVQ AX, CX
	SUBQ Latch_first(DI), CX
	CMPQ CX, Latch_bytes(DI)
	JCC  elsewhere
	MOVQ (TLS), CX
	CMPQ CX, Latch_holder(DI)
	JNE  elsewhere
	MOVQ AX, ret+16(FP)
	RET
elsewhere:
	JMP  ·ownSlowly(SB)

// func lockAside(l *Latch)
//
// Lock in Go, with the three return addresses of which Begin would have noted two.
// It comes from there by a jump.
TEXT ·lockAside(SB), 0, $32-8
	NO_LOCAL_POINTERS
	MOVQ l+0(FP), AX
	MOVQ AX, 0(SP)
	CALL addresses<>(SB)
	CALL ·lockSlowly(SB)
	RET

// func settleAside(l *Latch)
//
// lockAside for a lock that was taken.
TEXT ·settleAside(SB), 0, $32-8
	NO_LOCAL_POINTERS
	MOVQ l+0(FP), AX
	MOVQ AX, 0(SP)
	CALL addresses<>(SB)
	CALL ·settleSlowly(SB)
	RET

// addresses
//
// Stores the three innermost return addresses above the caller, whose frame is BP,
// behind the first word of its frame.
TEXT addresses<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ 8(BP), AX
	MOVQ AX, 16(SP)
	MOVQ 0(BP), CX
	MOVQ 8(CX), AX
	MOVQ AX, 24(SP)
	XORL AX, AX
	MOVQ 0(CX), CX
	TESTQ CX, CX
	JEQ  out
	MOVQ 8(CX), AX
out:
	MOVQ AX, 32(SP)
	RET

// func Mark(gate *Gate)
//
// Notes the caller of the calling function as the site of a reader's section, as
// Enter does for a writer's. Of several readers the last is known.
TEXT ·Mark(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ gate+0(FP), AX
	MOVQ 8(BP), CX
	MOVQ CX, Gate_site(AX)
	MOVQ 0(BP), DX
	TESTQ DX, DX
	JZ   out
	MOVQ 8(DX), CX
	MOVQ CX, Gate_site+8(AX)
out:
	RET

// func hold(gate *Gate)
//
// Makes the calling goroutine the holder and keeps the site: the second half of
// Enter, after stepping back.
TEXT ·hold(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ gate+0(FP), AX
	MOVQ (TLS), CX
	MOVQ Gate_seat(AX), DX
	XCHGQ CX, (DX)
	RET

// func seal(gate *Gate) int32
//
// Protects every extent that was opened and marks the gate sealed. The caller is
// the holder, or a reader. Returns 0; -1 if somebody wants the gate or another
// seal is under way, and nothing was done; or the kernel's errno, and the gate
// stays open.
//
// It must not be suspended half-way: the handler spins on the busy bit, possibly
// where the collector waits for it. Assembly is never preempted.
TEXT ·seal(SB), NOSPLIT, $0-12
	MOVQ gate+0(FP), R12
	LEAQ ·ctl(SB), R13
	MOVL Gate_word(R12), AX
	CMPL AX, $const_busy // busy, or any wanter
	JAE  taken
	MOVL AX, CX
	ORL  $const_busy, CX
	LOCK
	CMPXCHGL CX, Gate_word(R12)
	JNE  taken
	ADDL $1, Gate_seals(R12)
	XORL R9, R9
	LEAQ Gate_extents(R12), BX
	MOVL Gate_nextents(R12), R8
next:
	SUBL $1, R8
	JCS  sealed
	CMPL extent_opened(BX), $0
	JEQ  skip
	MOVL $0, extent_opened(BX)
	SHRL $1, extent_faults(BX) // use is as dense as it was, or less
	MOVL extent_first(BX), DI
	SHLQ $12, DI
	ADDQ control_base(R13), DI
	MOVL extent_pages(BX), SI
	SHLQ $12, SI
	MOVL $-ENOMEM, AX
	CMPL control_exhausted(R13), $0
	JNE  refused
	MOVQ control_sealCall(R13), AX // madvise, or mprotect
	MOVQ control_sealArg(R13), DX  // MADV_DONTNEED, or PROT_NONE
	SYSCALL
	TESTQ AX, AX
	JEQ  skip
refused:
	MOVL $1, extent_opened(BX)
	MOVL AX, R9
	NEGL R9
skip:
	ADDQ $extent__size, BX
	JMP  next
sealed:
	LOCK
	INCQ (control_counters+Counters_Seals)(R13)
	MOVL $~(const_busy|const_open|const_readable), AX
	TESTL R9, R9
	JEQ  settle
	LOCK
	INCQ (control_counters+Counters_SealErrors)(R13)
	MOVL $~const_busy, AX
settle:
	LOCK
	ANDL AX, Gate_word(R12)
	MOVL R9, ret+8(FP)
	RET
taken:
	MOVL $-1, ret+8(FP)
	RET
