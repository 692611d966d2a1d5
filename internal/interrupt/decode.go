//go:build linux && amd64

package interrupt

// An instruction is what has to be known of one of a loop's.
type instruction struct {
	length int
	// stores is how many words it may write to memory. What is not known to read only is taken to
	// write, and many is for several words, or nobody knows how many.
	stores int
	// jumps: control may go on target bytes behind it.
	jumps  bool
	target int
	// leaves: it calls, returns, changes the stack, fails, or goes on nobody knows where.
	leaves bool
}

const many = 2

// A reader reads the bytes of an instruction. Past the end it reads 0, and done is beyond it.
type reader struct {
	code []byte
	done int
}

func (r *reader) next() byte {
	r.done++
	if r.done > len(r.code) {
		return 0
	}
	return r.code[r.done-1]
}

// number reads a number of 1 or 4 bytes.
func (r *reader) number(bytes int) int {
	if bytes == 1 {
		return int(int8(r.next()))
	}
	return int(int32(uint32(r.next()) | uint32(r.next())<<8 | uint32(r.next())<<16 | uint32(r.next())<<24))
}

// operand reads what describes an operand: the ModRM byte, whose middle bits it returns, and what
// follows from it.
func (r *reader) operand() (middle byte, inMemory bool) {
	b := r.next()
	mode, middle, low := b>>6, b>>3&7, b&7
	if mode == 3 {
		return middle, false
	}
	if low == 4 {
		low = r.next() & 7
	} else if low == 5 && mode == 0 {
		mode = 2 // an address relative to the next instruction
	}
	switch {
	case mode == 1:
		r.done++
	case mode == 2, low == 5 && mode == 0:
		r.done += 4
	}
	return middle, true
}

// decode decodes the instruction at the beginning of code, if it is one of those that Go's compiler
// makes.
func decode(code []byte) (in instruction, ok bool) {
	r := &reader{code: code}
	wide, short := false, false // operands of 8 and of 2 bytes
	b := r.next()
	for ; b == 0x66 || b == 0xf0 || b == 0xf2 || b == 0xf3; b = r.next() {
		short = short || b == 0x66
	}
	if b>>4 == 4 {
		wide = b&8 != 0
		b = r.next()
	}
	switch b {
	case 0x0f:
		ok = r.escaped(&in, code[0] == 0xf3)
	case 0xc4, 0xc5:
		ok = r.vector(&in, b)
	default:
		ok = r.plain(&in, b, wide, short)
	}
	in.length = r.done
	return in, ok && r.done <= len(code)
}

// plain goes on after a first byte that is the operation.
func (r *reader) plain(in *instruction, b byte, wide, short bool) bool {
	immediate := 4
	if short {
		immediate = 2
	}
	store := func(inMemory bool) {
		if inMemory {
			in.stores = 1
		}
	}
	switch {
	case b < 0x40 && b&7 < 4: // arithmetic, of which 0x38 to 0x3b compares
		_, inMemory := r.operand()
		store(inMemory && b&7 < 2 && b < 0x38)
	case b < 0x40 && b&7 == 4, b == 0xa8, b>>3 == 0xb0>>3: // with a constant byte
		r.done++
	case b < 0x40 && b&7 == 5, b == 0xa9:
		r.done += immediate
	case b == 0x63, b == 0x84, b == 0x85, b == 0x8a, b == 0x8b, b == 0x8d: // loads, tests, and addresses
		r.operand()
	case b == 0x69:
		r.operand()
		r.done += immediate
	case b == 0x6b:
		r.operand()
		r.done++
	case b>>4 == 7, b == 0xeb:
		in.jumps, in.target = true, r.number(1)
	case b == 0xe9:
		in.jumps, in.target = true, r.number(4)
	case b == 0x80, b == 0x81, b == 0x83: // arithmetic with a constant
		middle, inMemory := r.operand()
		store(inMemory && middle != 7)
		if b != 0x81 {
			immediate = 1
		}
		r.done += immediate
	case b>>1 == 0x86>>1, b>>1 == 0x88>>1, b>>2 == 0xd0>>2: // exchanges, stores and shifts
		_, inMemory := r.operand()
		store(inMemory)
	case b == 0xc0, b == 0xc1, b == 0xc6, b == 0xc7:
		_, inMemory := r.operand()
		store(inMemory)
		if b != 0xc7 {
			immediate = 1
		}
		r.done += immediate
	case b == 0x90, b == 0x98, b == 0x99:
	case b>>4 == 5, b == 0xc3, b == 0xcc, b == 0xa4, b == 0xa5, b == 0xaa, b == 0xab: // also what repeats itself
		in.leaves = true
	case b == 0xe8:
		in.leaves = true
		r.done += 4
	case b>>3 == 0xb8>>3:
		if wide {
			immediate = 8
		}
		r.done += immediate
	case b == 0xf6, b == 0xf7:
		middle, inMemory := r.operand()
		store(inMemory && middle>>1 == 1)
		if middle < 2 && b == 0xf6 {
			immediate = 1
		}
		if middle < 2 {
			r.done += immediate
		}
	case b == 0xfe, b == 0xff:
		middle, inMemory := r.operand()
		store(inMemory && middle < 2)
		in.leaves = middle >= 2
	default:
		return false
	}
	return true
}

// escaped goes on after the byte 0x0f.
func (r *reader) escaped(in *instruction, f3 bool) bool {
	b := r.next()
	switch {
	case b>>4 == 8:
		in.jumps, in.target = true, r.number(4)
		return true
	case b == 0x0b:
		in.leaves = true
		return true
	case b == 0x38:
		b = r.next()
		if _, inMemory := r.operand(); inMemory && b >= 0xf0 {
			in.stores = many
		}
		return true
	case b == 0x3a:
		r.done++
		if _, inMemory := r.operand(); inMemory {
			in.stores = many
		}
		r.done++
		return true
	case b>>3 == 0xc8>>3: // of a register
		return true
	case b < 0x10 || b >= 0x20 && b < 0x28 || b >= 0x30 && b < 0x40 || b == 0x77 || b>>3 == 0xa0>>3 && b != 0xa3 && b != 0xa4 && b != 0xa5 || b == 0xae || b == 0xff:
		return false
	}
	if _, inMemory := r.operand(); inMemory && b>>4 == 9 {
		in.stores = 1 // a flag as a byte
	} else if inMemory && !readsOnly(b, f3) {
		in.stores = many
	}
	switch b {
	case 0x70, 0x71, 0x72, 0x73, 0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6: // with a constant byte
		r.done++
	}
	return true
}

// readsOnly reports whether an operation after 0x0f only reads an operand in memory.
func readsOnly(b byte, f3 bool) bool {
	switch b {
	case 0x10, 0x12, 0x14, 0x15, 0x16, 0x1f, 0x28, 0x2a, 0x2c, 0x2d, 0x2e, 0x2f, 0xa3, 0xaf, 0xb6, 0xb7, 0xb8, 0xbc, 0xbd, 0xbe, 0xbf, 0xc2, 0xc6:
		return true
	case 0x7e:
		return f3
	}
	return b>>4 == 4 || b >= 0x50 && b < 0x77
}

// vector goes on after the first byte of a VEX prefix.
func (r *reader) vector(in *instruction, b byte) bool {
	operations := byte(1)
	if b == 0xc4 {
		operations = r.next() & 0x1f
	}
	r.done++
	if r.next() == 0x77 && operations == 1 {
		return true // it clears registers, and has no operand
	}
	if _, inMemory := r.operand(); inMemory {
		in.stores = many
	}
	if operations == 3 {
		r.done++
	}
	return operations == 2 || operations == 3
}
