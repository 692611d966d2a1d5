package ir

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Value is the contents of a register or of a piece of memory: Size bytes, least
// significant first, or nothing that is known about them.
//
// Everything is bytes (a slice header is 24 of them, a structure as many as it has),
// because that is what the trace keeps and what two front ends can agree on.
type Value struct {
	Size  int
	Known bool
	word  uint64 // the bytes, if there are at most 8
	wide  string // else
}

// Unknown is a value of which only the size is known.
func Unknown(size int) Value { return Value{Size: size} }

// Word is a value of up to 8 bytes.
func Word(size int, w uint64) Value {
	if size < 8 {
		w &= 1<<(8*uint(size)) - 1
	}
	return Value{Size: size, Known: true, word: w}
}

// Bytes is the value that b spells.
func Bytes(b []byte) Value {
	if len(b) > 8 {
		return Value{Size: len(b), Known: true, wide: string(b)}
	}
	var w [8]byte
	copy(w[:], b)
	return Value{Size: len(b), Known: true, word: binary.LittleEndian.Uint64(w[:])}
}

// Uint is the value as an unsigned number.
func (v Value) Uint() uint64 { return v.word }

// Int is the value as a signed number.
func (v Value) Int() int64 {
	if v.Size == 0 || v.Size >= 8 {
		return int64(v.word)
	}
	shift := 64 - 8*uint(v.Size)
	return int64(v.word<<shift) >> shift
}

// Float is the value as a floating-point number.
func (v Value) Float() float64 {
	if v.Size == 4 {
		return float64(math.Float32frombits(uint32(v.word)))
	}
	return math.Float64frombits(v.word)
}

// floatValue is a floating-point number of 4 or 8 bytes.
func floatValue(size int, f float64) Value {
	if size == 4 {
		return Word(4, uint64(math.Float32bits(float32(f))))
	}
	return Word(8, math.Float64bits(f))
}

// boolValue is a truth value, one byte.
func boolValue(b bool) Value {
	if b {
		return Word(1, 1)
	}
	return Word(1, 0)
}

// Append appends the bytes of a known value to b.
func (v Value) Append(b []byte) []byte {
	if v.Size > 8 {
		return append(b, v.wide...)
	}
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v.word)
	return append(b, w[:v.Size]...)
}

// AppendKey appends what tells the value apart from others of its size to b.
func (v Value) AppendKey(b []byte) []byte {
	if !v.Known {
		return append(b, 0)
	}
	return v.Append(append(b, 1))
}

// Slice is the size bytes of v at off.
func (v Value) Slice(off, size int) Value {
	if !v.Known || off < 0 || off+size > v.Size {
		return Unknown(size)
	}
	if v.Size > 8 {
		return Bytes([]byte(v.wide[off : off+size]))
	}
	return Word(size, v.word>>(8*uint(off)))
}

// Zero is the value of which every byte is 0.
func Zero(size int) Value {
	if size > 8 {
		return Bytes(make([]byte, size))
	}
	return Word(size, 0)
}

func (v Value) String() string {
	switch {
	case !v.Known:
		return "?"
	case v.Size > 8:
		return fmt.Sprintf("%x", v.wide)
	case v.word > 1<<16 && v.Size == 8 && v.Int() > 0:
		return fmt.Sprintf("%#x", v.word)
	}
	return fmt.Sprint(v.Int())
}

// Addresses below firstPage cannot be used by any program. Addresses from invented on
// are not a program's either: they stand for objects whose address is not known yet,
// and whether one of them equals an address of the program cannot be told.
const (
	FirstPage     = 4096
	FirstInvented = 1 << 56
)
