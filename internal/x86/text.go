package x86

import (
	"fmt"
	"strconv"
	"strings"
)

var condNames = [16]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

func (c Cond) String() string { return condNames[c&15] }

var (
	names64 = [...]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"}
	names16 = [...]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}
	names8  = [...]string{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"}
	nameSeg = [...]string{"es", "cs", "ss", "ds", "fs", "gs", "?", "?"}
)

// Name returns the name of size bytes of a register.
func (r Reg) Name(size uint8) string {
	switch {
	case r == RIP:
		return "rip"
	case r >= NoReg:
		return ""
	case r >= R8:
		return "r" + strconv.Itoa(int(r)) + map[uint8]string{1: "b", 2: "w", 4: "d", 8: ""}[size]
	}
	switch size {
	case 1:
		return names8[r]
	case 2:
		return names16[r]
	case 4:
		return "e" + names16[r]
	}
	return names64[r]
}

func (r Reg) String() string { return r.Name(8) }

// mnemonic returns the operation's name with what its size and condition add.
func (in *Inst) mnemonic() string {
	switch in.Op {
	case JCC:
		return "j" + in.Cond.String()
	case SETCC:
		return "set" + in.Cond.String()
	case CMOVCC:
		return "cmov" + in.Cond.String()
	case CWDE:
		return map[uint8]string{2: "cbw", 4: "cwde", 8: "cdqe"}[in.Size]
	case CDQ:
		return map[uint8]string{2: "cwd", 4: "cdq", 8: "cqo"}[in.Size]
	case MOVS, CMPS, STOS, LODS, SCAS:
		return in.Op.String() + map[uint8]string{2: "w", 4: "d", 8: "q"}[in.Size]
	case MOVD:
		if in.Args[0].Size == 8 || in.Args[1].Size == 8 {
			return "movq"
		}
	case PUSHF, POPF:
		return in.Op.String() + "q"
	case RDSSP:
		return "rdssp" + map[uint8]string{4: "d", 8: "q"}[in.Size]
	case FXSAVE, FXRSTOR:
		if in.Size == 8 {
			return in.Op.String() + "64"
		}
	}
	return in.Op.String()
}

var sizeNames = map[uint8]string{1: "byte ptr ", 2: "word ptr ", 4: "dword ptr ", 8: "qword ptr ", 10: "tbyte ptr ", 16: "xmmword ptr "}

// Text returns the instruction at pc in the manufacturer's notation. name gives a place
// in the program a name, or "" where there is none; it may be nil.
func (in *Inst) Text(pc uint64, name func(uint64) string) string {
	var b strings.Builder
	if in.Lock {
		b.WriteString("lock ")
	}
	switch in.Repeat {
	case Rep:
		if in.Op == CMPS || in.Op == CMPSB || in.Op == SCAS || in.Op == SCASB {
			b.WriteString("repe ")
		} else {
			b.WriteString("rep ")
		}
	case RepUntil:
		b.WriteString("repne ")
	}
	b.WriteString(in.mnemonic())
	for i, a := range in.Args {
		if a.Place == NoArg {
			break
		}
		b.WriteString(map[bool]string{true: " ", false: ", "}[i == 0])
		in.argText(&b, i, a, pc, name)
	}
	return b.String()
}

func (in *Inst) argText(b *strings.Builder, i int, a Arg, pc uint64, name func(uint64) string) {
	place := func(addr uint64) {
		if name != nil {
			if n := name(addr); n != "" {
				b.WriteString(n)
				return
			}
		}
		fmt.Fprintf(b, "%#x", addr)
	}
	switch a.Place {
	case General:
		b.WriteString(a.Reg.Name(a.Size))
	case HighByte:
		b.WriteString(names16[a.Reg][:1] + "h")
	case Vector:
		b.WriteString("xmm" + strconv.Itoa(int(a.Reg)))
	case Segment:
		b.WriteString(nameSeg[a.Reg&7])
	case Stack:
		fmt.Fprintf(b, "st(%d)", a.Reg)
	case Immediate:
		if in.Op == ENTER && i == 1 {
			fmt.Fprintf(b, "%d", in.Imm2)
		} else if in.Imm < 0 {
			fmt.Fprintf(b, "-%#x", -uint64(in.Imm))
		} else {
			fmt.Fprintf(b, "%#x", in.Imm)
		}
	case Relative:
		place(in.Target(pc))
	case Memory:
		b.WriteString(sizeNames[a.Size])
		if in.Mem.Segment != 0 {
			b.WriteString(nameSeg[in.Mem.Segment] + ":")
		}
		b.WriteByte('[')
		if in.Mem.Base == RIP {
			place(pc + uint64(in.Len) + uint64(in.Mem.Disp))
		} else {
			in.Mem.text(b)
		}
		b.WriteByte(']')
	}
}

func (m *Mem) text(b *strings.Builder) {
	size := uint8(8)
	if m.Narrow {
		size = 4
	}
	start := b.Len()
	if m.Base != NoReg {
		b.WriteString(m.Base.Name(size))
	}
	if m.Index != NoReg {
		if b.Len() > start {
			b.WriteByte('+')
		}
		b.WriteString(m.Index.Name(size))
		if m.Scale != 1 {
			fmt.Fprintf(b, "*%d", m.Scale)
		}
	}
	switch {
	case b.Len() == start:
		fmt.Fprintf(b, "%#x", uint64(m.Disp))
	case m.Disp < 0:
		fmt.Fprintf(b, "-%#x", -uint64(m.Disp))
	case m.Disp > 0:
		fmt.Fprintf(b, "+%#x", m.Disp)
	}
}
