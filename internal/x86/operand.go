package x86

// arg decodes an operand. It reports whether the operand can be what it is said to be.
func (d *decoder) arg(a *Arg, s spec, opcode byte) bool {
	in := d.in
	a.Size = d.bytes(s.width)
	reg, rm := Reg(d.modrm>>3&7|d.rex<<1&8), Reg(d.modrm&7|d.rex<<3&8)
	switch s.where {
	case 'E', 'M', 'R':
		if d.mem {
			a.Place = Memory
			return s.where != 'R'
		}
		d.general(a, rm)
		return s.where != 'M'
	case 'G':
		d.general(a, reg)
	case 'Z':
		d.general(a, Reg(opcode&7|d.rex<<3&8))
	case 'V':
		a.Place, a.Reg = Vector, reg
	case 'W', 'U':
		if d.mem {
			a.Place = Memory
			return s.where != 'U'
		}
		a.Place, a.Reg = Vector, rm
	case 'S':
		a.Place, a.Reg = Segment, reg&7
	case 'A':
		a.Place, a.Reg = General, RAX
	case 'C':
		a.Place, a.Reg = General, RCX
	case 'T':
		a.Place = Stack
		if s.width == 'i' {
			a.Reg = Reg(d.modrm & 7)
		}
		a.Size = 10
	case 'O':
		n := 8
		if d.op67 {
			n = 4
		}
		a.Place = Memory
		in.Mem = Mem{Base: NoReg, Index: NoReg, Scale: 1, Segment: d.segment, Disp: d.number(n)}
		if n == 4 {
			in.Mem.Disp = int64(uint32(in.Mem.Disp))
		}
	case '1':
		a.Place, in.Imm = Immediate, 1
	case 'I':
		d.immediate(a, s.width)
	case 'J':
		a.Place, a.Size = Relative, 8
		in.Imm = d.number(int(map[bool]uint8{true: 1, false: 4}[s.width == 'b']))
	}
	return true
}

// general makes an operand a register. Without a REX prefix, the numbers 4 to 7 of byte
// registers are the second bytes of the first four.
func (d *decoder) general(a *Arg, r Reg) {
	a.Place, a.Reg = General, r
	if a.Size == 1 && d.rex == 0 && r >= 4 {
		a.Place, a.Reg = HighByte, r-4
	}
}

func (d *decoder) immediate(a *Arg, width byte) {
	a.Place = Immediate
	value := d.number(int(a.Size))
	switch {
	case d.immediates > 0:
		d.in.Imm2 = uint8(value)
		return
	case width == 'b':
		value = int64(uint8(value))
	case width == 'w':
		value = int64(uint16(value))
	default:
		a.Size = d.in.Size
	}
	d.in.Imm = value
	d.immediates++
}

// memory decodes the operand in memory that the ModRM byte announces.
func (d *decoder) memory() {
	d.mem = true
	m := &d.in.Mem
	*m = Mem{Base: NoReg, Index: NoReg, Scale: 1, Segment: d.segment, Narrow: d.op67}
	mod, rm := d.modrm>>6, d.modrm&7
	if rm == 4 {
		sib := d.byte()
		if index := Reg(sib>>3&7 | d.rex<<2&8); index != RSP {
			m.Index, m.Scale = index, 1<<(sib>>6)
		}
		if base := sib & 7; base != 5 || mod != 0 {
			m.Base = Reg(base | d.rex<<3&8)
		} else {
			mod = 2
		}
	} else if mod == 0 && rm == 5 {
		m.Base, mod = RIP, 2
	} else {
		m.Base = Reg(rm | d.rex<<3&8)
	}
	switch mod {
	case 1:
		m.Disp = d.number(1)
	case 2:
		m.Disp = d.number(4)
	}
}
