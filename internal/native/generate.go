package native

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Where code, data and the stack of the comparison are. The stack is a part of the data.
const (
	codeAt   = 0x10000000
	codeSize = 0x4000
	dataAt   = 0x10010000
	dataSize = 0x4000
	stackAt  = dataAt + 0x3000
)

// Registers that no generated instruction changes, so that addresses stay within the data:
// two bases and an index.
const (
	baseA = x86.R14
	baseB = x86.R15
	index = x86.R13

	baseAValue = dataAt + 0x800
	baseBValue = dataAt + 0x1000
	indexValue = 0x28
)

// A generator makes batches of random instructions.
type generator struct {
	rng *rand.Rand
	// without are operations that this processor lacks.
	without map[x86.Op]bool
	code    []byte
	// starts are the offsets at which the instructions to be compared begin. What lies
	// between is preparation, and the clearing of undefined flags.
	starts []int
	insts  []x86.Inst
}

// batch makes about n instructions.
func (g *generator) batch(n int) {
	g.code, g.starts, g.insts = g.code[:0], g.starts[:0], g.insts[:0]
	for len(g.insts) < n && len(g.code) < codeSize-64 {
		if g.rng.IntN(30) == 0 {
			g.x87()
			continue
		}
		raw := g.candidate()
		var in x86.Inst
		if x86.Decode(raw, &in) != nil || !g.suits(&in) {
			continue
		}
		g.prepare(&in)
		if in.Op == 0 {
			continue
		}
		at := len(g.code)
		g.code = append(g.code, raw[:in.Len]...)
		if in.Mem.Base == x86.RIP && !g.relocate(at, &in) {
			g.code = g.code[:at]
			continue
		}
		g.starts = append(g.starts, at)
		g.insts = append(g.insts, in)
		if undefined := undefinedFlags(&in); undefined != 0 {
			g.clearFlags(undefined)
		}
	}
	g.code = append(g.code, 0xcc)
}

// candidate makes random bytes that are likely to be an instruction.
func (g *generator) candidate() []byte {
	r := g.rng
	var b []byte
	switch r.IntN(8) {
	case 0, 1:
		b = append(b, 0x66)
	case 2:
		b = append(b, 0xf3)
	case 3:
		b = append(b, 0xf2)
	}
	if r.IntN(40) == 0 {
		b = append(b, 0xf0)
	}
	rex, modrm := byte(0), []byte{0xc0 | byte(r.IntN(64))}
	if r.IntN(2) == 0 {
		rex = 0x40 | byte(r.IntN(16))
	}
	if r.IntN(2) == 0 {
		rex, modrm = g.address()
	}
	if rex != 0 {
		b = append(b, rex)
	}
	if r.IntN(3) > 0 {
		b = append(b, 0x0f)
	}
	b = append(b, byte(r.IntN(256)))
	b = append(b, modrm...)
	for range 8 {
		b = append(b, byte(r.IntN(256)))
	}
	if r.IntN(2) == 0 {
		// A small immediate, for shifts and the like.
		b[len(b)-8] &= 0x1f
	}
	return b
}

// address makes the bytes of an operand within the data, and the REX prefix that they
// need.
func (g *generator) address() (rex byte, modrm []byte) {
	r := g.rng
	reg := byte(r.IntN(8)) << 3
	rex = 0x41 | byte(r.IntN(4))<<2&0xc
	base := byte([]x86.Reg{baseA, baseB}[r.IntN(2)] & 7)
	disp := uint32(r.IntN(512) - 256)
	if r.IntN(2) == 0 {
		disp &^= 15
	}
	switch r.IntN(4) {
	case 0: // base + disp8
		return rex, []byte{0x40 | reg | base, byte(disp)}
	case 1: // base + index*scale + disp32
		rex |= 2
		modrm = []byte{0x84 | reg, byte(r.IntN(4))<<6 | byte(index&7)<<3 | base}
	case 2: // base + disp32
		modrm = []byte{0x80 | reg | base}
	default: // relative to the instruction
		rex &^= 1
		if r.IntN(2) == 0 {
			rex = 0
		}
		modrm = []byte{0x05 | reg}
	}
	return rex, binary.LittleEndian.AppendUint32(modrm, disp)
}

// x87 operations by their bytes. Loads and stores are of memory at r14 and a displacement.
var (
	// fld m64, m32; fild m32, m64, m16
	x87loads = [][]byte{{0x41, 0xdd, 0x86}, {0x41, 0xd9, 0x86}, {0x41, 0xdb, 0x86}, {0x41, 0xdf, 0xae}, {0x41, 0xdf, 0x86}}
	// fstp m64, m32, m80; fistp m16, m32, m64; fisttp m64
	x87stores = [][]byte{{0x41, 0xdd, 0x9e}, {0x41, 0xd9, 0x9e}, {0x41, 0xdb, 0xbe}, {0x41, 0xdf, 0x9e}, {0x41, 0xdb, 0x9e}, {0x41, 0xdf, 0xbe}, {0x41, 0xdd, 0x8e}}
	// faddp, fmulp, fsubrp, fsubp, fdivrp, fdivp; fcomi, fucomi and a pop; fxch and fsubp
	x87binary = [][]byte{{0xde, 0xc1}, {0xde, 0xc9}, {0xde, 0xe1}, {0xde, 0xe9}, {0xde, 0xf1}, {0xde, 0xf9}, {0xdb, 0xf1, 0xdd, 0xd8}, {0xdb, 0xe9, 0xdd, 0xd8}, {0xd9, 0xc9, 0xde, 0xe9}}
	// nothing; fchs, fabs, fsqrt, frndint; fldz and faddp, fld1 and fmulp
	x87unary = [][]byte{{}, {}, {0xd9, 0xe0}, {0xd9, 0xe1}, {0xd9, 0xfa}, {0xd9, 0xfc}, {0xd9, 0xee, 0xde, 0xc1}, {0xd9, 0xe8, 0xde, 0xc9}}
)

// x87 emits a sequence that loads two numbers, computes, and stores one. It counts as one
// instruction, since the registers in between are not compared.
func (g *generator) x87() {
	r := g.rng
	at := len(g.code)
	memory := func(op []byte) {
		g.code = append(g.code, op...)
		g.code = binary.LittleEndian.AppendUint32(g.code, uint32(r.IntN(64)*8))
	}
	pick := func(list [][]byte) []byte { return list[r.IntN(len(list))] }
	memory(pick(x87loads))
	memory(pick(x87loads))
	g.code = append(g.code, pick(x87binary)...)
	g.code = append(g.code, pick(x87unary)...)
	memory(pick(x87stores))
	var in x86.Inst
	if err := x86.Decode(g.code[at:], &in); err != nil {
		panic("native: an x87 instruction that cannot be decoded")
	}
	g.starts, g.insts = append(g.starts, at), append(g.insts, in)
}

// relocate makes the RIP-relative operand of the last instruction one within the data. It
// reports whether it could.
func (g *generator) relocate(at int, in *x86.Inst) bool {
	end := at + int(in.Len)
	target := dataAt + 0x400 + 16*g.rng.IntN(64)
	// The displacement is the last but for an immediate, whose length is found by trying.
	for _, n := range []int{0, 1, 2, 4} {
		if end-n-4 <= at {
			break
		}
		field := g.code[end-n-4 : end-n]
		if old := binary.LittleEndian.Uint32(field); int32(old) == int32(in.Mem.Disp) {
			binary.LittleEndian.PutUint32(field, uint32(target-(codeAt+end)))
			if x86.Decode(g.code[at:], in) == nil && in.Mem.Base == x86.RIP && codeAt+end+int(in.Mem.Disp) == target {
				return true
			}
			binary.LittleEndian.PutUint32(field, old)
		}
	}
	return false
}

// suits reports whether an instruction can be a part of a batch: it is executed by both,
// goes on to the next, and accesses the data only.
func (g *generator) suits(in *x86.Inst) bool {
	if in.EndsBlock() || g.without[in.Op] || excluded[in.Op] || in.Repeat != x86.Once && !isString(in.Op) {
		return false
	}
	if in.Op.String()[0] == 'f' && in.Op != x86.FXSAVE {
		return false
	}
	m := &in.Mem
	if _, ok := in.HasMemory(); ok {
		if m.Segment != 0 || m.Narrow || m.Base != baseA && m.Base != baseB && m.Base != x86.RIP {
			return false
		}
		if m.Index != x86.NoReg && m.Index != index || m.Base != x86.RIP && (m.Disp < -256 || m.Disp > 255) {
			return false
		}
		if in.Args[0].Place == x86.Memory && in.Args[1].Place == x86.General && in.Op.String()[:2] == "bt" {
			// The bit may be anywhere.
			return false
		}
	} else if in.Lock {
		return false
	}
	if in.Lock && (in.Args[0].Place != x86.Memory || !lockable[in.Op]) {
		return false
	}
	if (in.Op == x86.SHLD || in.Op == x86.SHRD) && in.Size == 2 && (in.Args[2].Place != x86.Immediate || in.Imm&31 > 16) {
		// Beyond 16 bits the result is undefined.
		return false
	}
	if in.Op == x86.BSWAP && in.Size == 2 {
		return false
	}
	for i, a := range in.Args {
		if a.Place == x86.Segment {
			return false
		}
		if a.Place == x86.General && (i == 0 || in.Op == x86.XCHG || in.Op == x86.XADD) {
			switch a.Reg {
			case x86.RSP, baseA, baseB, index:
				return false
			}
		}
	}
	return true
}

func isString(op x86.Op) bool {
	switch op {
	case x86.MOVS, x86.MOVSB, x86.STOS, x86.STOSB, x86.LODS, x86.LODSB, x86.SCAS, x86.SCASB, x86.CMPS, x86.CMPSB:
		return true
	}
	return false
}

// excluded are operations that need privilege, depend on the processor, or leave the
// batch. Jumps and calls are compared by the starts of programs, the x87 by sequences.
var excluded = map[x86.Op]bool{
	x86.POPF: true, x86.LEAVE: true, x86.ENTER: true, x86.CPUID: true, x86.RDTSC: true, x86.RDTSCP: true, x86.XGETBV: true, x86.RDRAND: true, x86.RDSEED: true,
	x86.CLI: true, x86.STI: true, x86.XSAVE: true, x86.XRSTOR: true, x86.XSAVEOPT: true, x86.FXSAVE: true, x86.FXRSTOR: true, x86.LDMXCSR: true, x86.STMXCSR: true,
	x86.RDFSBASE: true, x86.RDGSBASE: true, x86.WRFSBASE: true, x86.WRGSBASE: true, x86.CLFLUSH: true, x86.PREFETCH: true, x86.RDSSP: true, x86.XLAT: true,
	x86.RCPPS: true, x86.RCPSS: true, x86.RSQRTPS: true, x86.RSQRTSS: true, x86.MASKMOVDQU: true, x86.PUSHF: true,
}

var lockable = map[x86.Op]bool{
	x86.ADD: true, x86.ADC: true, x86.AND: true, x86.BTC: true, x86.BTR: true, x86.BTS: true, x86.CMPXCHG: true, x86.CMPXCHG8B: true, x86.CMPXCHG16B: true,
	x86.DEC: true, x86.INC: true, x86.NEG: true, x86.NOT: true, x86.OR: true, x86.SBB: true, x86.SUB: true, x86.XOR: true, x86.XADD: true, x86.XCHG: true,
}

// prepare emits what an instruction needs before it: pointers within the data for string
// operations, a dividend that is not too large most of the time.
func (g *generator) prepare(in *x86.Inst) {
	switch {
	case isString(in.Op):
		g.code = append(g.code, 0xbe) // mov esi, imm32
		g.code = binary.LittleEndian.AppendUint32(g.code, uint32(dataAt+0x1800+g.rng.IntN(64)))
		g.code = append(g.code, 0xbf) // mov edi, imm32
		g.code = binary.LittleEndian.AppendUint32(g.code, uint32(dataAt+0x1c00+g.rng.IntN(64)))
		g.code = append(g.code, 0xb9, byte(g.rng.IntN(20)), 0, 0, 0) // mov ecx, imm32
	case in.Op == x86.DIV || in.Op == x86.IDIV:
		g.code = append(g.code, 0x31, 0xd2)       // xor edx, edx
		g.code = append(g.code, 0x0f, 0xb6, 0xc0) // movzx eax, al
		if a := in.Args[0]; a.Place == x86.General && (a.Reg == x86.RAX || a.Reg == x86.RDX) || a.Place == x86.HighByte {
			in.Op = 0
			return
		}
		if a := in.Args[0]; a.Place == x86.General && a.Reg < 8 && a.Size >= 4 {
			g.code = append(g.code, 0x83, 0xc8|byte(a.Reg), 0x41) // or reg, 0x41
		} else if a.Place == x86.General {
			g.code = append(g.code, 0x48|byte(a.Reg>>3), 0x83, 0xc8|byte(a.Reg&7), 0x41)
		} else if in.Mem.Base == baseA && in.Mem.Index == x86.NoReg {
			g.code = append(g.code, 0x41, 0x80, 0x8e) // or byte ptr [r14+disp32], 0x41
			g.code = binary.LittleEndian.AppendUint32(g.code, uint32(in.Mem.Disp))
			g.code = append(g.code, 0x41)
		} else {
			in.Op = 0
		}
	case in.Op == x86.CMPXCHG16B || isAligned(in):
		// An address that is not aligned would end the batch.
		if in.Mem.Base == x86.NoReg || in.Args[0].Place != x86.Memory && in.Args[1].Place != x86.Memory {
			return
		}
		if in.Mem.Base != x86.RIP && in.Mem.Disp&15 != 0 || in.Mem.Index != x86.NoReg && in.Mem.Scale&1 != 0 {
			in.Op = 0
		}
	}
}

// isAligned reports whether an instruction has an operand of 16 bytes that must be
// aligned.
func isAligned(in *x86.Inst) bool {
	i, ok := in.HasMemory()
	if !ok || in.Args[i].Size != 16 {
		return false
	}
	switch in.Op {
	case x86.MOVUPS, x86.MOVUPD, x86.MOVDQU:
		return false
	}
	return true
}

// clearFlags emits pushfq; and dword ptr [rsp], ^flags; popfq.
func (g *generator) clearFlags(flags uint32) {
	g.code = append(g.code, 0x9c, 0x81, 0x24, 0x24)
	g.code = binary.LittleEndian.AppendUint32(g.code, ^flags)
	g.code = append(g.code, 0x9d)
}

// undefinedFlags are the flags that the manual leaves undefined.
func undefinedFlags(in *x86.Inst) uint32 {
	const c, p, a, z, s, o = cpu.CF, cpu.PF, cpu.AF, cpu.ZF, cpu.SF, cpu.OF
	byOne := in.Args[1].Place == x86.Immediate && in.Imm == 1
	switch in.Op {
	case x86.MUL, x86.IMUL:
		return s | z | a | p
	case x86.DIV, x86.IDIV:
		return c | p | a | z | s | o
	case x86.SHL, x86.SHR, x86.SAR:
		if byOne {
			return a
		}
		if in.Size < 4 {
			return a | o | c
		}
		return a | o
	case x86.SHLD, x86.SHRD:
		return a | o
	case x86.ROL, x86.ROR, x86.RCL, x86.RCR:
		if byOne {
			return 0
		}
		return o
	case x86.AND, x86.OR, x86.XOR, x86.TEST:
		return a
	case x86.BT, x86.BTS, x86.BTR, x86.BTC:
		return o | s | a | p
	case x86.BSF, x86.BSR:
		return c | o | s | a | p
	case x86.TZCNT, x86.LZCNT:
		return o | s | a | p
	}
	return 0
}
