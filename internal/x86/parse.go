package x86

import (
	"fmt"
	"strconv"
	"strings"
)

// A spec is an operand in the notation of the opcode map: a letter for where, one for
// how wide.
type spec struct{ where, width byte }

// A form is a line of the opcode map.
type form struct {
	op    Op
	cond  Cond
	wide  bool // 64 bits without being asked
	modrm bool
	// vector: the prefixes 66, f3 and f2 are a part of the opcode, never something else.
	vector bool
	args   [3]spec
}

// A slot is what an opcode with a given prefix means: one form, or one for each value
// of the middle bits of the ModRM byte.
type slot struct {
	one   form
	group *[8]form
}

func (s *slot) empty() bool { return s.one.op == BAD && s.group == nil }

// Prefixes that are a part of the opcode, as indices.
const (
	plain = iota
	with66
	withF3
	withF2
)

// maps are the opcodes: map, opcode, prefix. stackForms are the x87 operations on
// registers, by opcode and ModRM byte.
var (
	maps       [2][256][4]slot
	stackForms [8][64]form
)

func init() {
	for _, text := range []string{integers, vectors, x87, families()} {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				parseLine(line)
			}
		}
	}
}

// families spells out the lines that differ in one number only.
func families() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for i, name := range arithmetic {
		for form, args := range []string{"Eb,Gb", "Ev,Gv", "Gb,Eb", "Gv,Ev", "Ab,Ib", "Av,Iz"} {
			line("%02x %s %s", 8*i+form, name, args)
		}
		line("80/%d %s Eb,Ib", i, name)
		line("81/%d %s Ev,Iz", i, name)
		line("83/%d %s Ev,Is", i, name)
	}
	for i, name := range shifts {
		for _, form := range []string{"c0/%d %s Eb,Ib", "c1/%d %s Ev,Ib", "d0/%d %s Eb,1b", "d1/%d %s Ev,1b", "d2/%d %s Eb,Cb", "d3/%d %s Ev,Cb"} {
			line(form, i, name)
		}
	}
	for cond := range 16 {
		line("%02x jcc Jb *", 0x70+cond)
		line("0f %02x jcc Jz *", 0x80+cond)
		line("0f %02x setcc Eb", 0x90+cond)
		line("0f %02x cmovcc Gv,Ev", 0x40+cond)
	}
	for opcode, name := range scalars {
		line("0f %02x %sps Vx,Wx", opcode, name)
		line("66 0f %02x %spd Vx,Wx", opcode, name)
		line("f3 0f %02x %sss Vd,Wd", opcode, name)
		line("f2 0f %02x %ssd Vq,Wq", opcode, name)
	}
	// Towards another register than the top, the two subtractions and the two divisions
	// have each other's opcodes.
	swapped := []int{0, 1, 2, 3, 5, 4, 7, 6}
	for i, name := range x87arithmetic {
		line("d8/%d %s Md", i, name)
		line("dc/%d %s Mq", i, name)
		line("da/%d fi%s Md", i, name[1:])
		line("de/%d fi%s Mw", i, name[1:])
		line("d8:%02x %s T0,Ti", 0xc0+8*i, name)
		if other := x87arithmetic[swapped[i]]; i < 2 || i > 3 {
			line("dc:%02x %s Ti,T0", 0xc0+8*i, other)
			line("de:%02x %sp Ti,T0", 0xc0+8*i, other)
		}
	}
	return b.String()
}

// parseLine enters a line of the map. The map is a part of the program: one that cannot
// be read is a fault of the program.
func parseLine(line string) {
	words := strings.Fields(line)
	prefix, table := plain, 0
	switch words[0] {
	case "66", "f3", "f2":
		prefix = map[string]int{"66": with66, "f3": withF3, "f2": withF2}[words[0]]
		words = words[1:]
	}
	if words[0] == "0f" {
		table = 1
		words = words[1:]
	}
	code := words[0]
	opcode, err := strconv.ParseUint(code[:2], 16, 8)
	if err != nil {
		panic(fmt.Sprintf("x86: the opcode of %q: %v", line, err))
	}
	f := parseForm(line, words[1:])
	if f.op == JCC || f.op == SETCC || f.op == CMOVCC {
		f.cond = Cond(opcode & 15)
	}
	switch rest := code[2:]; {
	case rest == "":
		enter(&maps[table][opcode][prefix], f)
	case rest == "+":
		for i := range uint64(8) {
			enter(&maps[table][opcode+i][prefix], f)
		}
	case rest[0] == '/':
		s := &maps[table][opcode][prefix]
		if s.group == nil {
			s.group = new([8]form)
		}
		f.modrm = true
		s.group[rest[1]-'0'] = f
	case rest[0] == ':', rest[0] == '=':
		first, err := strconv.ParseUint(rest[1:], 16, 8)
		if err != nil {
			panic(fmt.Sprintf("x86: the ModRM byte of %q: %v", line, err))
		}
		count := uint64(8)
		if rest[0] == '=' {
			count = 1
		}
		f.modrm = true
		for i := range count {
			stackForms[opcode-0xd8][first-0xc0+i] = f
		}
	default:
		panic(fmt.Sprintf("x86: the opcode of %q", line))
	}
}

// enter keeps what is there: nop is the first of the eight opcodes of xchg.
func enter(s *slot, f form) {
	if s.empty() {
		s.one = f
	}
}

func parseForm(line string, words []string) form {
	f := form{op: opNamed(words[0])}
	if f.op == BAD {
		panic(fmt.Sprintf("x86: no operation is named as in %q", line))
	}
	for _, w := range words[1:] {
		if w == "*" {
			f.wide = true
			continue
		}
		for i, a := range strings.Split(w, ",") {
			f.args[i] = spec{a[0], a[1]}
			f.vector = f.vector || strings.IndexByte("VWU", a[0]) >= 0 || f.op == MOVNTI
			f.modrm = f.modrm || strings.IndexByte("EGRMVWUS", a[0]) >= 0
		}
	}
	return f
}
