package x86

import (
	"slices"
	"strings"
)

// An Op is an operation. Those that differ in a condition only are one, and so are those
// that differ in the operand size.
type Op uint16

// The operations, in the order of their names.
const (
	BAD Op = iota
	ADC
	ADD
	ADDPD
	ADDPS
	ADDSD
	ADDSS
	AND
	ANDNPD
	ANDNPS
	ANDPD
	ANDPS
	BSF
	BSR
	BSWAP
	BT
	BTC
	BTR
	BTS
	CALL
	CDQ
	CLC
	CLD
	CLFLUSH
	CLI
	CMC
	CMOVCC
	CMP
	CMPPD
	CMPPS
	CMPS
	CMPSB
	CMPSD
	CMPSS
	CMPXCHG
	CMPXCHG16B
	CMPXCHG8B
	COMISD
	COMISS
	CPUID
	CVTDQ2PD
	CVTDQ2PS
	CVTPD2DQ
	CVTPD2PS
	CVTPS2DQ
	CVTPS2PD
	CVTSD2SI
	CVTSD2SS
	CVTSI2SD
	CVTSI2SS
	CVTSS2SD
	CVTSS2SI
	CVTTPD2DQ
	CVTTPS2DQ
	CVTTSD2SI
	CVTTSS2SI
	CWDE
	DEC
	DIV
	DIVPD
	DIVPS
	DIVSD
	DIVSS
	ENDBR64
	ENTER
	F2XM1
	FABS
	FADD
	FADDP
	FCHS
	FCMOVB
	FCMOVBE
	FCMOVE
	FCMOVNB
	FCMOVNBE
	FCMOVNE
	FCMOVNU
	FCMOVU
	FCOM
	FCOMI
	FCOMIP
	FCOMP
	FCOMPP
	FCOS
	FDECSTP
	FDIV
	FDIVP
	FDIVR
	FDIVRP
	FFREE
	FIADD
	FICOM
	FICOMP
	FIDIV
	FIDIVR
	FILD
	FIMUL
	FINCSTP
	FIST
	FISTP
	FISTTP
	FISUB
	FISUBR
	FLD
	FLD1
	FLDCW
	FLDENV
	FLDL2E
	FLDL2T
	FLDLG2
	FLDLN2
	FLDPI
	FLDZ
	FMUL
	FMULP
	FNCLEX
	FNINIT
	FNOP
	FNSAVE
	FNSTCW
	FNSTENV
	FNSTSW
	FPATAN
	FPREM
	FPREM1
	FPTAN
	FRNDINT
	FRSTOR
	FSCALE
	FSIN
	FSINCOS
	FSQRT
	FST
	FSTP
	FSUB
	FSUBP
	FSUBR
	FSUBRP
	FTST
	FUCOM
	FUCOMI
	FUCOMIP
	FUCOMP
	FUCOMPP
	FWAIT
	FXAM
	FXCH
	FXRSTOR
	FXSAVE
	FXTRACT
	FYL2X
	FYL2XP1
	HLT
	IDIV
	IMUL
	INC
	INT
	INT1
	INT3
	JCC
	JMP
	JRCXZ
	LAHF
	LDMXCSR
	LEA
	LEAVE
	LFENCE
	LODS
	LODSB
	LOOP
	LOOPE
	LOOPNE
	LZCNT
	MASKMOVDQU
	MAXPD
	MAXPS
	MAXSD
	MAXSS
	MFENCE
	MINPD
	MINPS
	MINSD
	MINSS
	MOV
	MOVAPD
	MOVAPS
	MOVD
	MOVDDUP
	MOVDQA
	MOVDQU
	MOVHLPS
	MOVHPD
	MOVHPS
	MOVLHPS
	MOVLPD
	MOVLPS
	MOVMSKPD
	MOVMSKPS
	MOVNTDQ
	MOVNTI
	MOVNTPD
	MOVNTPS
	MOVQ
	MOVS
	MOVSB
	MOVSD
	MOVSHDUP
	MOVSLDUP
	MOVSS
	MOVSX
	MOVSXD
	MOVUPD
	MOVUPS
	MOVZX
	MUL
	MULPD
	MULPS
	MULSD
	MULSS
	NEG
	NOP
	NOT
	OR
	ORPD
	ORPS
	PACKSSDW
	PACKSSWB
	PACKUSWB
	PADDB
	PADDD
	PADDQ
	PADDSB
	PADDSW
	PADDUSB
	PADDUSW
	PADDW
	PAND
	PANDN
	PAUSE
	PAVGB
	PAVGW
	PCMPEQB
	PCMPEQD
	PCMPEQW
	PCMPGTB
	PCMPGTD
	PCMPGTW
	PEXTRW
	PINSRW
	PMADDWD
	PMAXSW
	PMAXUB
	PMINSW
	PMINUB
	PMOVMSKB
	PMULHUW
	PMULHW
	PMULLW
	PMULUDQ
	POP
	POPCNT
	POPF
	POR
	PREFETCH
	PSADBW
	PSHUFD
	PSHUFHW
	PSHUFLW
	PSLLD
	PSLLDQ
	PSLLQ
	PSLLW
	PSRAD
	PSRAW
	PSRLD
	PSRLDQ
	PSRLQ
	PSRLW
	PSUBB
	PSUBD
	PSUBQ
	PSUBSB
	PSUBSW
	PSUBUSB
	PSUBUSW
	PSUBW
	PUNPCKHBW
	PUNPCKHDQ
	PUNPCKHQDQ
	PUNPCKHWD
	PUNPCKLBW
	PUNPCKLDQ
	PUNPCKLQDQ
	PUNPCKLWD
	PUSH
	PUSHF
	PXOR
	RCL
	RCPPS
	RCPSS
	RCR
	RDFSBASE
	RDGSBASE
	RDRAND
	RDSEED
	RDSSP
	RDTSC
	RDTSCP
	RET
	ROL
	ROR
	RSQRTPS
	RSQRTSS
	SAHF
	SAR
	SBB
	SCAS
	SCASB
	SETCC
	SFENCE
	SHL
	SHLD
	SHR
	SHRD
	SHUFPD
	SHUFPS
	SQRTPD
	SQRTPS
	SQRTSD
	SQRTSS
	STC
	STD
	STI
	STMXCSR
	STOS
	STOSB
	SUB
	SUBPD
	SUBPS
	SUBSD
	SUBSS
	SYSCALL
	TEST
	TZCNT
	UCOMISD
	UCOMISS
	UD0
	UD1
	UD2
	UNPCKHPD
	UNPCKHPS
	UNPCKLPD
	UNPCKLPS
	WRFSBASE
	WRGSBASE
	XADD
	XCHG
	XGETBV
	XLAT
	XOR
	XORPD
	XORPS
	XRSTOR
	XSAVE
	XSAVEOPT

	// Ops is how many there are.
	Ops
)

// opNames are the names in the order of the numbers above; a test holds the two together.
var opNames = strings.Fields(`
bad
adc add addpd addps addsd addss and andnpd andnps andpd andps bsf bsr bswap bt btc btr bts call cdq clc cld
clflush cli cmc cmovcc cmp cmppd cmpps cmps cmpsb cmpsd cmpss cmpxchg cmpxchg16b cmpxchg8b comisd comiss cpuid
cvtdq2pd cvtdq2ps cvtpd2dq cvtpd2ps cvtps2dq cvtps2pd cvtsd2si cvtsd2ss cvtsi2sd cvtsi2ss cvtss2sd cvtss2si
cvttpd2dq cvttps2dq cvttsd2si cvttss2si cwde dec div divpd divps divsd divss endbr64 enter f2xm1 fabs fadd
faddp fchs fcmovb fcmovbe fcmove fcmovnb fcmovnbe fcmovne fcmovnu fcmovu fcom fcomi fcomip fcomp fcompp fcos
fdecstp fdiv fdivp fdivr fdivrp ffree fiadd ficom ficomp fidiv fidivr fild fimul fincstp fist fistp fisttp
fisub fisubr fld fld1 fldcw fldenv fldl2e fldl2t fldlg2 fldln2 fldpi fldz fmul fmulp fnclex fninit fnop fnsave
fnstcw fnstenv fnstsw fpatan fprem fprem1 fptan frndint frstor fscale fsin fsincos fsqrt fst fstp fsub fsubp
fsubr fsubrp ftst fucom fucomi fucomip fucomp fucompp fwait fxam fxch fxrstor fxsave fxtract fyl2x fyl2xp1 hlt
idiv imul inc int int1 int3 jcc jmp jrcxz lahf ldmxcsr lea leave lfence lods lodsb loop loope loopne lzcnt
maskmovdqu maxpd maxps maxsd maxss mfence minpd minps minsd minss mov movapd movaps movd movddup movdqa movdqu
movhlps movhpd movhps movlhps movlpd movlps movmskpd movmskps movntdq movnti movntpd movntps movq movs movsb
movsd movshdup movsldup movss movsx movsxd movupd movups movzx mul mulpd mulps mulsd mulss neg nop not or orpd
orps packssdw packsswb packuswb paddb paddd paddq paddsb paddsw paddusb paddusw paddw pand pandn pause pavgb
pavgw pcmpeqb pcmpeqd pcmpeqw pcmpgtb pcmpgtd pcmpgtw pextrw pinsrw pmaddwd pmaxsw pmaxub pminsw pminub
pmovmskb pmulhuw pmulhw pmullw pmuludq pop popcnt popf por prefetch psadbw pshufd pshufhw pshuflw pslld pslldq
psllq psllw psrad psraw psrld psrldq psrlq psrlw psubb psubd psubq psubsb psubsw psubusb psubusw psubw
punpckhbw punpckhdq punpckhqdq punpckhwd punpcklbw punpckldq punpcklqdq punpcklwd push pushf pxor rcl rcpps
rcpss rcr rdfsbase rdgsbase rdrand rdseed rdssp rdtsc rdtscp ret rol ror rsqrtps rsqrtss sahf sar sbb scas
scasb setcc sfence shl shld shr shrd shufpd shufps sqrtpd sqrtps sqrtsd sqrtss stc std sti stmxcsr stos stosb
sub subpd subps subsd subss syscall test tzcnt ucomisd ucomiss ud0 ud1 ud2 unpckhpd unpckhps unpcklpd unpcklps
wrfsbase wrgsbase xadd xchg xgetbv xlat xor xorpd xorps xrstor xsave xsaveopt
`)

func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return "unknown operation"
}

// opNamed returns the operation of a name, BAD if there is none.
func opNamed(name string) Op {
	i, ok := slices.BinarySearch(opNames[1:], name)
	if !ok {
		return BAD
	}
	return Op(i + 1)
}

// IsString reports whether a rep prefix means that the operation is repeated.
func (o Op) IsString() bool {
	switch o {
	case MOVS, CMPS, STOS, LODS, SCAS:
		return true
	}
	return o.IsByteString()
}

// IsByteString reports whether the elements of a string operation are bytes.
func (o Op) IsByteString() bool {
	switch o {
	case MOVSB, CMPSB, STOSB, LODSB, SCASB:
		return true
	}
	return false
}
