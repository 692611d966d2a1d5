package binpatch

import (
	"debug/elf"
	"encoding/binary"
	"errors"
)

// The tables by which exceptions unwind the program: .eh_frame has, for every instruction,
// where the caller's registers are, and the table of exceptions of a function where an
// exception lands that comes out of a call.

// errFrames says that a table is not one that is understood.
var errFrames = errors.New("the program's tables for exceptions are not understood")

// How pointers are encoded: a format, to what they are relative, and whether they point to the
// pointer.
const (
	encodedAbsolute = 0x00
	encodedULEB     = 0x01
	encodedUint2    = 0x02
	encodedUint4    = 0x03
	encodedUint8    = 0x04
	encodedSLEB     = 0x09
	encodedInt2     = 0x0a
	encodedInt4     = 0x0b
	encodedInt8     = 0x0c
	encodedFormat   = 0x0f
	encodedRelative = 0x10 // to the pointer itself
	encodedBase     = 0x70
	encodedIndirect = 0x80
	encodedNone     = 0xff
)

// A tableReader reads a table of the program. What goes wrong panics with errFrames.
type tableReader struct {
	file *file
	at   uint64 // the address of what is read next
}

// bytes is the program's file from an address on.
func (f *file) bytes(addr uint64) []byte {
	for _, ph := range f.elf.Progs {
		if ph.Type == elf.PT_LOAD && addr >= ph.Vaddr && addr < ph.Vaddr+ph.Filesz {
			return f.data[ph.Off+addr-ph.Vaddr : ph.Off+ph.Filesz]
		}
	}
	return nil
}

func (r *tableReader) take(n uint64) []byte {
	b := r.file.bytes(r.at)
	if uint64(len(b)) < n {
		panic(errFrames)
	}
	r.at += n
	return b[:n]
}

func (r *tableReader) byte() byte     { return r.take(1)[0] }
func (r *tableReader) uint16() uint64 { return uint64(binary.LittleEndian.Uint16(r.take(2))) }
func (r *tableReader) uint32() uint64 { return uint64(binary.LittleEndian.Uint32(r.take(4))) }
func (r *tableReader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

func (r *tableReader) uleb() uint64 {
	v := uint64(0)
	for shift := 0; ; shift += 7 {
		b := r.byte()
		if v |= uint64(b&0x7f) << shift; b&0x80 == 0 {
			return v
		}
	}
}

func (r *tableReader) sleb() int64 {
	v, shift := int64(0), 0
	for {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if shift += 7; b&0x80 == 0 {
			return v << (64 - min(shift, 64)) >> (64 - min(shift, 64))
		}
	}
}

// pointer reads a pointer. One that is indirect is where the pointer is.
func (r *tableReader) pointer(encoding byte) uint64 {
	start, v := r.at, uint64(0)
	switch encoding & encodedFormat {
	case encodedAbsolute, encodedUint8, encodedInt8:
		v = r.uint64()
	case encodedULEB:
		v = r.uleb()
	case encodedSLEB:
		v = uint64(r.sleb())
	case encodedUint2:
		v = r.uint16()
	case encodedInt2:
		v = uint64(int16(r.uint16()))
	case encodedUint4:
		v = r.uint32()
	case encodedInt4:
		v = uint64(int32(r.uint32()))
	default:
		panic(errFrames)
	}
	switch encoding & encodedBase {
	case 0:
	case encodedRelative:
		if v != 0 {
			v += start
		}
	default:
		panic(errFrames)
	}
	return v
}

// A frame is what is known about the stack at an instruction, and about exceptions there.
type frame struct {
	start uint64 // of the function
	// rules say where the caller's registers are, as instructions of a table whose factors
	// are codeFactor and dataFactor.
	rules []byte
	// personality decides what to do about an exception, by the table at exceptions. Its
	// encoding says whether it is where the function's address is. 0: there is none.
	personality         uint64
	personalityEncoding byte
	exceptions          uint64
}

const (
	codeFactor    = 1
	dataFactor    = -8
	returnAddress = 16 // the number of its register
)

// frameAt is the frame at an instruction of the program, nil if there is none.
func (f *file) frameAt(pc uint64) (found *frame, err error) {
	defer catch(&err)
	for _, ph := range f.elf.Progs {
		if ph.Type != elf.PT_GNU_EH_FRAME {
			continue
		}
		r := &tableReader{file: f, at: ph.Vaddr}
		r.take(1)
		encoding := r.byte()
		r.take(2)
		r.at = r.pointer(encoding)
		return r.search(pc), nil
	}
	return nil, nil
}

func catch(err *error) {
	if p := recover(); p != nil {
		if p != errFrames {
			panic(p)
		}
		*err = errFrames
	}
}

// search goes through all entries for the one of an instruction.
func (r *tableReader) search(pc uint64) *frame {
	for {
		size := r.uint32()
		if size == 0 {
			return nil
		}
		start := r.at
		if back := r.uint32(); back != 0 {
			if found := r.entry(start-back, pc, start+size); found != nil {
				return found
			}
		}
		r.at = start + size
	}
}

// A common is what the entries of many functions share.
type common struct {
	personality, exceptions, pointers byte // encodings
	augmented                         bool
	personalityAt                     uint64
	start, end                        uint64 // the first instructions
}

func (r *tableReader) common(at uint64) (c common) {
	c.personality, c.exceptions, c.pointers = encodedNone, encodedNone, encodedAbsolute
	r.at = at
	c.end = r.uint32()
	c.end += r.at
	r.take(4)
	version, letters := r.byte(), ""
	for b := r.byte(); b != 0; b = r.byte() {
		letters += string(b)
	}
	code, data := r.uleb(), r.sleb()
	register := uint64(0)
	if version == 1 {
		register = uint64(r.byte())
	} else {
		register = r.uleb()
	}
	if code != codeFactor || data != dataFactor || register != returnAddress {
		panic(errFrames)
	}
	for _, letter := range letters {
		switch letter {
		case 'z':
			c.augmented = true
			r.uleb()
		case 'P':
			c.personality = r.byte()
			c.personalityAt = r.pointer(c.personality)
		case 'L':
			c.exceptions = r.byte()
		case 'R':
			c.pointers = r.byte()
		case 'S':
		default:
			panic(errFrames)
		}
	}
	c.start = r.at
	return c
}

// entry reads the entry of a function, if it is the one of an instruction.
func (r *tableReader) entry(commonAt, pc, end uint64) *frame {
	here := r.at
	c := r.common(commonAt)
	r.at = here
	f := &frame{start: r.pointer(c.pointers), personality: c.personalityAt, personalityEncoding: c.personality}
	size := r.pointer(c.pointers & encodedFormat)
	if pc < f.start || pc >= f.start+size {
		return nil
	}
	if c.augmented {
		behind := r.uleb()
		behind += r.at
		if c.exceptions != encodedNone {
			f.exceptions = r.pointer(c.exceptions)
		}
		r.at = behind
	}
	rules := newRules()
	instructions := r.at
	rules.run(&tableReader{file: r.file, at: c.start}, c.end, nil)
	initial := rules.copy()
	rules.location, rules.pc = f.start, pc
	rules.run(&tableReader{file: r.file, at: instructions}, end, initial)
	f.rules = rules.encode()
	return f
}
