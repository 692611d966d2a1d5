package x86

import (
	"encoding/binary"
	"errors"
)

// What Decode cannot make an instruction of.
var (
	ErrTruncated = errors.New("the code ends in the middle of an instruction")
	ErrUnknown   = errors.New("not an instruction that is known here")
	ErrAVX       = errors.New("an AVX instruction, which is not emulated; CPUID offers none, so the program was built to use it without asking: build it without -mavx, -march=native and the like")
)

// MaxLen is the length of the longest instruction.
const MaxLen = 15

// A decoder is the state of decoding one instruction.
type decoder struct {
	code []byte
	pos  int
	in   *Inst

	rex                byte
	op66, op67         bool
	repeat             byte // 0xf2, 0xf3 or 0
	modrm              byte
	haveModRM, mem     bool
	immediates         int
	mandatory, segment uint8
}

// Decode decodes the instruction at the beginning of code into in.
func Decode(code []byte, in *Inst) error {
	d := decoder{code: code, in: in}
	if len(code) > MaxLen {
		d.code = code[:MaxLen]
	}
	*in = Inst{}
	err := d.decode()
	if d.pos > len(d.code) {
		err = ErrTruncated
	}
	in.Len = uint8(min(d.pos, len(d.code)))
	return err
}

// byte returns the next byte. Past the end it returns 0, and Decode finds the position
// out of range when all is done.
func (d *decoder) byte() byte {
	d.pos++
	if d.pos > len(d.code) {
		return 0
	}
	return d.code[d.pos-1]
}

// number reads a little-endian number of n bytes, sign extended.
func (d *decoder) number(n int) int64 {
	d.pos += n
	if d.pos > len(d.code) {
		return 0
	}
	at := d.code[d.pos-n:]
	switch n {
	case 1:
		return int64(int8(at[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(at)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(at)))
	default:
		return int64(binary.LittleEndian.Uint64(at))
	}
}

func (d *decoder) decode() error {
	opcode := d.prefixes()
	if opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62 {
		return ErrAVX
	}
	table := 0
	if opcode == 0x0f {
		table = 1
		opcode = d.byte()
	}
	if table == 0 && opcode >= 0xd8 && opcode <= 0xdf {
		return d.x87(opcode)
	}
	if table == 1 && opcode == 0x01 {
		return d.systemGroup()
	}
	if table == 1 && opcode == 0xae && d.repeat == 0 && !d.op66 && d.fence() {
		return nil
	}
	f, err := d.lookup(table, opcode)
	if err != nil {
		return err
	}
	return d.apply(f, opcode)
}

// prefixes reads the prefixes and returns the byte after them. A REX prefix counts only
// if the opcode follows at once.
func (d *decoder) prefixes() byte {
	for {
		b := d.byte()
		switch b {
		case 0x66:
			d.op66 = true
		case 0x67:
			d.op67 = true
		case 0xf2, 0xf3:
			d.repeat = b
		case 0xf0:
			d.in.Lock = true
		case 0x64:
			d.segment = FS
		case 0x65:
			d.segment = GS
		case 0x2e, 0x36, 0x3e, 0x26:
		default:
			if b&0xf0 != 0x40 {
				return b
			}
			d.rex = b
			if next := d.byte(); !isPrefix(next) {
				return next
			}
			d.rex = 0
			d.pos--
		}
		if d.pos >= len(d.code) {
			return 0
		}
	}
}

func isPrefix(b byte) bool {
	switch b {
	case 0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x64, 0x65, 0x2e, 0x36, 0x3e, 0x26:
		return true
	}
	return b&0xf0 == 0x40
}

// lookup finds the form of an opcode: the one for the last of f2 and f3, if there is one,
// else that for 66, else the plain one.
func (d *decoder) lookup(table int, opcode byte) (*form, error) {
	slots := &maps[table][opcode]
	choice := plain
	switch {
	case d.repeat == 0xf3 && !slots[withF3].empty():
		choice = withF3
	case d.repeat == 0xf2 && !slots[withF2].empty():
		choice = withF2
	case d.op66 && !slots[with66].empty():
		choice = with66
	}
	if table == 0 && opcode == 0x90 && d.rex&1 != 0 {
		// With a high register it is no nop. With f3 as well AMD's processors exchange and
		// Intel's pause, so that nobody can have meant it.
		if d.repeat == 0xf3 {
			return nil, ErrUnknown
		}
		opcode, choice = 0x91, plain
		slots = &maps[0][opcode]
	}
	s := &slots[choice]
	d.mandatory = uint8(choice)
	f := &s.one
	if s.group != nil {
		d.readModRM()
		f = &s.group[d.modrm>>3&7]
	}
	if f.op == BAD || f.vector && d.mispreceded(choice) {
		return nil, ErrUnknown
	}
	return f, nil
}

// mispreceded reports whether a vector instruction has a prefix that would make it another
// one, which there is not.
func (d *decoder) mispreceded(choice int) bool {
	return d.repeat != 0 && choice != withF3 && choice != withF2 || choice == plain && d.op66
}

func (d *decoder) readModRM() {
	if !d.haveModRM {
		d.haveModRM = true
		d.modrm = d.byte()
	}
}

func (d *decoder) wide() bool { return d.rex&8 != 0 }

// apply fills in what the form says.
func (d *decoder) apply(f *form, opcode byte) error {
	in := d.in
	in.Op, in.Cond = f.op, f.cond
	in.Size = d.operandSize(f)
	switch d.repeat {
	case 0xf3:
		in.Repeat = Rep
	case 0xf2:
		in.Repeat = RepUntil
	}
	if d.mandatory != plain || !in.Op.IsString() {
		in.Repeat = Once
	}
	if f.modrm {
		d.readModRM()
		if d.modrm < 0xc0 {
			d.memory()
		}
	}
	for i, s := range f.args {
		if s.where != 0 && !d.arg(&in.Args[i], s, opcode) {
			return ErrUnknown
		}
	}
	return d.exceptions()
}

// operandSize is the meaning of the width v.
func (d *decoder) operandSize(f *form) uint8 {
	if f.op.IsByteString() {
		return 1
	}
	if f.args[0].width == 'b' && f.op != JCC && f.op != JMP {
		return 1
	}
	switch {
	case d.wide():
		return 8
	case d.op66 && d.mandatory != with66 && f.args[0].where != 'J':
		return 2
	case f.wide:
		return 8
	}
	return 4
}

// bytes returns how many bytes a width is.
func (d *decoder) bytes(width byte) uint8 {
	switch width {
	case 'b', 's':
		return 1
	case 'w':
		return 2
	case 'd':
		return 4
	case 'q':
		return 8
	case 't':
		return 10
	case 'x':
		return 16
	case 'y':
		if d.wide() {
			return 8
		}
		return 4
	case 'z':
		return min(d.in.Size, 4)
	case 'v':
		return d.in.Size
	}
	return 0
}

// exceptions are the opcodes that mean something else for some ModRM bytes.
func (d *decoder) exceptions() error {
	in := d.in
	switch in.Op {
	case ENDBR64:
		d.readModRM()
		d.hint()
	case MOVLPS, MOVHPS:
		if in.Args[0].Place == Vector && in.Args[1].Place == Vector {
			in.Op = map[Op]Op{MOVLPS: MOVHLPS, MOVHPS: MOVLHPS}[in.Op]
		}
	case CMPXCHG8B:
		in.Args[0].Size = 8
		if d.wide() {
			in.Op, in.Args[0].Size = CMPXCHG16B, 16
		}
	case LOOP, LOOPE, LOOPNE, JRCXZ:
		if d.op67 {
			in.Size = 4
		}
	}
	return nil
}

// hint decodes the instructions of control-flow enforcement, which do nothing on a
// processor that does not enforce.
func (d *decoder) hint() {
	in := d.in
	in.Args = [3]Arg{}
	switch {
	case d.modrm == 0xfa:
	case d.modrm >= 0xc0 && d.modrm>>3&7 == 1:
		in.Op = RDSSP
		d.in.Size = d.bytes('y')
		in.Args[0] = Arg{Place: General, Reg: Reg(d.modrm&7 | d.rex<<3&8), Size: d.bytes('y')}
	default:
		in.Op = NOP
		if d.modrm < 0xc0 {
			d.memory()
		}
	}
}

// systemGroup decodes the group 0f 01, of which programs may use two.
func (d *decoder) systemGroup() error {
	d.in.Size = 4
	switch d.byte() {
	case 0xd0:
		d.in.Op = XGETBV
	case 0xf9:
		d.in.Op = RDTSCP
	default:
		return ErrUnknown
	}
	return nil
}

// fence decodes those of the group 0f ae that order memory accesses. It reports whether
// the instruction is one.
func (d *decoder) fence() bool {
	d.readModRM()
	op, ok := map[byte]Op{5: LFENCE, 6: MFENCE, 7: SFENCE}[d.modrm>>3&7]
	if d.modrm < 0xc0 || !ok {
		return false
	}
	d.in.Op, d.in.Size = op, 4
	return true
}

// x87 decodes the opcodes d8 to df.
func (d *decoder) x87(opcode byte) error {
	d.readModRM()
	f := &form{}
	if d.modrm >= 0xc0 {
		f = &stackForms[opcode-0xd8][d.modrm-0xc0]
	} else if g := maps[0][opcode][plain].group; g != nil {
		f = &g[d.modrm>>3&7]
	}
	if f.op == BAD {
		return ErrUnknown
	}
	return d.apply(f, opcode)
}
