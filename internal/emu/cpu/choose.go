package cpu

import "github.com/cofferdam-go/cofferdam/internal/x86"

// general are the handlers that take any operands, by operation.
var general = func() (t [x86.Ops]handler) {
	for op, h := range integerHandlers {
		t[op] = h
	}
	for op, h := range vectorHandlers {
		t[op] = h
	}
	for op, f := range halves {
		t[op] = packed(f)
	}
	for op, shift := range shiftsBy {
		t[op] = shiftVector(shift)
	}
	for ops, f := range doubles {
		t[ops[0]], t[ops[1]] = packed(f), scalar64(f)
	}
	for ops, f := range singles {
		t[ops[0]], t[ops[1]] = packed(dwords2(f)), scalar32(f)
	}
	for op, h := range conversions {
		t[op] = h
	}
	for op, h := range x87handlers {
		t[op] = h
	}
	return t
}()

var integerHandlers = map[x86.Op]handler{
	x86.ADD: twoOperands(add), x86.SUB: twoOperands(sub), x86.AND: twoOperands(and), x86.OR: twoOperands(or), x86.XOR: twoOperands(xor),
	x86.ADC: twoOperands(adc), x86.SBB: twoOperands(sbb), x86.CMP: comparison(sub), x86.TEST: comparison(and),
	x86.INC: inc, x86.DEC: dec, x86.NEG: neg, x86.NOT: not, x86.MUL: mul1, x86.DIV: div, x86.IDIV: idiv, x86.IMUL: imul2,
	x86.MOV: mov, x86.XCHG: xchg, x86.XADD: xadd, x86.CMPXCHG: cmpxchg, x86.CMPXCHG8B: cmpxchg8b, x86.CMPXCHG16B: cmpxchg16b,
	x86.MOVZX: extendZero, x86.MOVSX: extendSigned, x86.MOVSXD: extendSigned, x86.CWDE: cwde, x86.CDQ: cdq, x86.BSWAP: bswap, x86.MOVNTI: movnti,
	x86.SHL: shl, x86.SHR: shr, x86.SAR: sar, x86.ROL: rol, x86.ROR: ror, x86.RCL: rcl, x86.RCR: rcr, x86.SHLD: shld, x86.SHRD: shrd,
	x86.BT: bitTest(nil), x86.BTS: bitTest(func(v, b uint64) uint64 { return v | b }),
	x86.BTR: bitTest(func(v, b uint64) uint64 { return v &^ b }), x86.BTC: bitTest(func(v, b uint64) uint64 { return v ^ b }),
	x86.BSF: bsf, x86.BSR: bsr, x86.TZCNT: tzcnt, x86.LZCNT: lzcnt, x86.POPCNT: popcnt,
	x86.LEA:  func(c *CPU, o *op) { c.put(o, 0, c.addr(o)) },
	x86.PUSH: push, x86.POP: pop, x86.PUSHF: pushf, x86.POPF: popf, x86.LEAVE: leave, x86.ENTER: enter,
	x86.JMP: jmp, x86.CALL: call, x86.RET: ret, x86.JCC: jccTo, x86.SETCC: setcc, x86.CMOVCC: cmov, x86.JRCXZ: jrcxz,
	x86.LOOP: loops(func(*lazy) bool { return true }), x86.LOOPE: loops((*lazy).zf), x86.LOOPNE: loops(func(l *lazy) bool { return !l.zf() }),
	x86.MOVS: repeated(movs), x86.MOVSB: repeated(movs), x86.STOS: repeated(stos), x86.STOSB: repeated(stos), x86.LODS: repeated(lods), x86.LODSB: repeated(lods),
	x86.SCAS: repeated(scas), x86.SCASB: repeated(scas), x86.CMPS: repeated(cmps), x86.CMPSB: repeated(cmps), x86.XLAT: xlat,
	x86.CLC: flag(func(f uint64) uint64 { return f &^ CF }), x86.STC: flag(func(f uint64) uint64 { return f | CF }), x86.CMC: flag(func(f uint64) uint64 { return f ^ CF }),
	x86.CLD: func(c *CPU, _ *op) { c.Backwards = false }, x86.STD: func(c *CPU, _ *op) { c.Backwards = true }, x86.LAHF: lahf, x86.SAHF: sahf,
	x86.NOP: nop, x86.ENDBR64: nop, x86.RDSSP: nop, x86.PAUSE: nop, x86.PREFETCH: nop, x86.CLFLUSH: nop, x86.LFENCE: nop, x86.MFENCE: nop, x86.SFENCE: nop,
	x86.SYSCALL: trapAfter(Syscall), x86.INT3: trapAfter(Breakpoint), x86.INT1: trapAfter(Breakpoint), x86.INT: trapAt(Protection, "a software interrupt"),
	x86.UD0: trapAt(Invalid, ""), x86.UD1: trapAt(Invalid, ""), x86.UD2: trapAt(Invalid, ""), x86.HLT: trapAt(Protection, "hlt"),
	x86.CLI: trapAt(Protection, "cli"), x86.STI: trapAt(Protection, "sti"),
	x86.CPUID: cpuid, x86.RDTSC: rdtsc, x86.RDTSCP: rdtsc, x86.LDMXCSR: ldmxcsr, x86.STMXCSR: stmxcsr, x86.FXSAVE: fxsave, x86.FXRSTOR: fxrstor,
	x86.RDFSBASE: readBase(fsBase), x86.RDGSBASE: readBase(gsBase), x86.WRFSBASE: writeBase(fsBase), x86.WRGSBASE: writeBase(gsBase),
}

var vectorHandlers = map[x86.Op]handler{
	x86.MOVUPS: movVec, x86.MOVUPD: movVec, x86.MOVAPS: movVec, x86.MOVAPD: movVec, x86.MOVDQA: movVec, x86.MOVDQU: movVec,
	x86.MOVNTPS: movVec, x86.MOVNTPD: movVec, x86.MOVNTDQ: movVec, x86.MOVSS: movScalar, x86.MOVSD: movScalar, x86.MOVQ: movq, x86.MOVD: movd,
	x86.MOVLPS: movHalf(0), x86.MOVLPD: movHalf(0), x86.MOVHPS: movHalf(1), x86.MOVHPD: movHalf(1), x86.MOVHLPS: movhlps, x86.MOVLHPS: movlhps,
	x86.MOVDDUP: movddup, x86.MOVSLDUP: movsldup, x86.MOVSHDUP: movshdup,
	x86.PMOVMSKB: pmovmskb, x86.MOVMSKPS: movmskps, x86.MOVMSKPD: movmskpd, x86.PINSRW: pinsrw, x86.PEXTRW: pextrw, x86.MASKMOVDQU: maskmovdqu,
	x86.PSHUFD: pshufd, x86.PSHUFLW: pshuflw, x86.PSHUFHW: pshufhw, x86.SHUFPS: shufps, x86.SHUFPD: shufpd, x86.PSRLDQ: psrldq, x86.PSLLDQ: pslldq,
	x86.PUNPCKLBW: unpack(8, 0), x86.PUNPCKLWD: unpack(16, 0), x86.PUNPCKLDQ: unpack(32, 0), x86.PUNPCKLQDQ: unpack(64, 0), x86.UNPCKLPS: unpack(32, 0), x86.UNPCKLPD: unpack(64, 0),
	x86.PUNPCKHBW: unpack(8, 1), x86.PUNPCKHWD: unpack(16, 1), x86.PUNPCKHDQ: unpack(32, 1), x86.PUNPCKHQDQ: unpack(64, 1), x86.UNPCKHPS: unpack(32, 1), x86.UNPCKHPD: unpack(64, 1),
	x86.PACKSSWB: packsswb, x86.PACKUSWB: packuswb, x86.PACKSSDW: packssdw,
	x86.ANDPS: packed(halves[x86.PAND]), x86.ANDPD: packed(halves[x86.PAND]), x86.ANDNPS: packed(halves[x86.PANDN]), x86.ANDNPD: packed(halves[x86.PANDN]),
	x86.ORPS: packed(halves[x86.POR]), x86.ORPD: packed(halves[x86.POR]), x86.XORPS: packed(halves[x86.PXOR]), x86.XORPD: packed(halves[x86.PXOR]),
	x86.UCOMISD: ucomisd, x86.COMISD: ucomisd, x86.UCOMISS: ucomiss, x86.COMISS: ucomiss,
}

// choose returns the handler of an instruction: one for just these operands, or the
// general one.
func choose(in *x86.Inst, o *op) handler {
	if !in.Mem.Narrow {
		if h := special(in, o); h != nil {
			return h
		}
	}
	switch in.Op {
	case x86.IMUL:
		if in.Args[1].Place == x86.NoArg {
			return imul1
		}
	case x86.MOV:
		if in.Args[0].Place == x86.Segment || in.Args[1].Place == x86.Segment {
			return movSegment
		}
	case x86.CMPPS, x86.CMPPD, x86.CMPSS, x86.CMPSD:
		return compareVec(o)
	}
	if h := general[in.Op]; h != nil {
		return h
	}
	return func(_ *CPU, o *op) {
		panic(missing(o.inst, o.next-uint64(o.len), "is not executed here; a program uses it only if it does not ask CPUID, or was built for newer processors"))
	}
}

// shape is the first two operands in the notation of fastalu.go, "" for others.
func shape(in *x86.Inst) string {
	letters := map[x86.Place]string{x86.General: "R", x86.Memory: "M", x86.Immediate: "I", x86.Vector: "V", x86.NoArg: "", x86.Relative: "J"}
	a, ok := letters[in.Args[0].Place]
	b, fine := letters[in.Args[1].Place]
	if !ok || !fine || in.Args[2].Place != x86.NoArg {
		return "?"
	}
	return a + b
}

// wordForms are the handlers of fastalu.go.
var wordForms = map[x86.Op]map[string]handler{
	x86.ADD:  {"RR": addRR, "RI": addRI, "RM": addRM, "MR": addMR, "MI": addMI},
	x86.SUB:  {"RR": subRR, "RI": subRI, "RM": subRM, "MR": subMR, "MI": subMI},
	x86.AND:  {"RR": andRR, "RI": andRI, "RM": andRM, "MR": andMR, "MI": andMI},
	x86.OR:   {"RR": orRR, "RI": orRI, "RM": orRM, "MR": orMR, "MI": orMI},
	x86.XOR:  {"RR": xorRR, "RI": xorRI, "RM": xorRM, "MR": xorMR, "MI": xorMI},
	x86.CMP:  {"RR": cmpRR, "RI": cmpRI, "RM": cmpRM, "MR": cmpMR, "MI": cmpMI},
	x86.TEST: {"RR": testRR, "RI": testRI, "MR": testMR, "MI": testMI},
}

// movForms are the moves by operands and size.
var movForms = map[string]map[uint8]handler{
	"RR": {8: movRR64, 4: movRR32}, "RM": {8: movRM64, 4: movRM32}, "RI": {8: movRI, 4: movRI},
	"MR": {8: movMR64, 4: movMR32, 2: movMR16, 1: movMR8}, "MI": {8: movMI64, 4: movMI32, 1: movMI8},
}

// special returns the handler for just these operands, if there is one.
func special(in *x86.Inst, o *op) handler {
	s := shape(in)
	word := in.Size >= 4
	switch in.Op {
	case x86.MOV:
		if s == "RI" {
			o.imm &= mask(in.Size)
		}
		return movForms[s][in.Size]
	case x86.ADD, x86.SUB, x86.AND, x86.OR, x86.XOR, x86.CMP, x86.TEST:
		if word {
			return wordForms[in.Op][s]
		}
	case x86.LEA:
		return map[uint8]handler{8: lea64, 4: lea32}[in.Size]
	case x86.MOVZX:
		if word {
			return map[string]map[uint8]handler{"RM": {1: movzxM8, 2: movzxM16}, "RR": {1: movzxR8, 2: movzxR16}}[s][in.Args[1].Size]
		}
	case x86.MOVSXD:
		if in.Size == 8 {
			return map[string]handler{"RM": movsxdM64, "RR": movsxdR64}[s]
		}
	case x86.PUSH:
		if s == "R" && in.Size == 8 {
			return pushR
		}
	case x86.POP:
		if s == "R" && in.Size == 8 {
			return popR
		}
	case x86.JMP:
		if s == "J" {
			return jmpTo
		}
	case x86.CALL:
		if s == "J" {
			return callTo
		}
	case x86.RET:
		if s == "" {
			return retNear
		}
	case x86.JCC:
		return map[x86.Cond]handler{x86.Equal: jeTo, x86.NotEqual: jneTo}[in.Cond]
	case x86.SHL, x86.SHR, x86.SAR:
		if n := uint64(in.Imm); word && s == "RI" && n > 0 && n < 8*uint64(in.Size) {
			return map[x86.Op]handler{x86.SHL: shlRI, x86.SHR: shrRI, x86.SAR: sarRI}[in.Op]
		}
	case x86.MOVUPS, x86.MOVUPD, x86.MOVDQU:
		return map[string]handler{"VV": movVV, "VM": movVMu, "MV": movMVu}[s]
	case x86.MOVAPS, x86.MOVAPD, x86.MOVDQA:
		if s == "VV" {
			return movVV
		}
	}
	return nil
}
