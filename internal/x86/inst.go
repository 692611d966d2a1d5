package x86

// A Reg is a general register by its number in the encoding, or one of the two below.
type Reg uint8

const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	// RIP is a base only: the address of the next instruction.
	RIP
	NoReg
)

// A Place is where an operand is.
type Place uint8

const (
	NoArg     Place = iota
	General         // a general register, Arg.Size bytes of it from the lowest
	HighByte        // bits 8 to 15 of one of the first four general registers
	Vector          // an xmm register
	Segment         // a segment register
	Stack           // an x87 register, counted from the top
	Memory          // what Inst.Mem describes
	Immediate       // Inst.Imm
	Relative        // a place in the code, Inst.Imm bytes after this instruction
)

// An Arg is an operand.
type Arg struct {
	Place Place
	Reg   Reg   // its number, for all kinds of registers
	Size  uint8 // in bytes; 0 where the operation has a size of its own
}

// A Segment register that adds to addresses.
const (
	FS = 4
	GS = 5
)

// A Mem is an operand in memory: Base + Index*Scale + Disp, and the segment's base.
type Mem struct {
	Base, Index Reg
	Scale       uint8 // 1, 2, 4, 8
	Segment     uint8 // FS, GS or 0
	// Narrow: the address is computed with 32 bits.
	Narrow bool
	Disp   int64
}

// A Repeat is a prefix of string operations.
type Repeat uint8

const (
	Once     Repeat = iota
	Rep             // also: while equal
	RepUntil        // while not equal
)

// A Cond is a condition on the flags, as the low four bits of an opcode have it.
type Cond uint8

const (
	Overflow Cond = iota
	NotOverflow
	Below
	AboveEqual
	Equal
	NotEqual
	BelowEqual
	Above
	Sign
	NotSign
	Parity
	NotParity
	Less
	GreaterEqual
	LessEqual
	Greater
)

// An Inst is an instruction.
type Inst struct {
	Op Op
	// Cond belongs to Jcc, Setcc and Cmovcc.
	Cond Cond
	// Size is the operand size in bytes: 1, 2, 4 or 8. Vector operations have theirs in
	// the operands.
	Size   uint8
	Len    uint8
	Lock   bool
	Repeat Repeat
	Args   [3]Arg
	Mem    Mem
	// Imm is the immediate operand, sign extended where the instruction does so. The second
	// one, which only enter has, is Imm2.
	Imm  int64
	Imm2 uint8
}

// Target returns where a direct jump or call at pc goes to.
func (in *Inst) Target(pc uint64) uint64 { return pc + uint64(in.Len) + uint64(in.Imm) }

// HasMemory reports whether one of the operands is in memory, and which.
func (in *Inst) HasMemory() (arg int, ok bool) {
	for i, a := range in.Args {
		if a.Place == Memory {
			return i, true
		}
	}
	return 0, false
}

// Notable reports whether something can be told about an execution of the instruction: that
// it accesses memory, calls, returns or asks the kernel, or that it traps.
func (in *Inst) Notable() bool {
	switch in.Op {
	case LEA, NOP, PREFETCH:
		return false
	case PUSH, POP, PUSHF, POPF, CALL, RET, LEAVE, ENTER, SYSCALL, INT, INT3, INT1, UD0, UD1, UD2, HLT, DIV, IDIV, XLAT, MASKMOVDQU:
		return true
	}
	_, memory := in.HasMemory()
	return memory || in.Op.IsString()
}

// EndsBlock reports whether the instruction that follows in memory need not be the next.
func (in *Inst) EndsBlock() bool {
	switch in.Op {
	case JMP, JCC, CALL, RET, LOOP, LOOPE, LOOPNE, JRCXZ, SYSCALL, INT, INT3, INT1, UD0, UD1, UD2, HLT:
		return true
	}
	return false
}
