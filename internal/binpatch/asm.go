package binpatch

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// A listing is machine code as text: the bytes of an instruction, then what they mean, which
// a test holds to be true. A name in braces stands for the distance to it in 4 bytes, one in
// angle brackets in 1 byte. A line that ends with a colon names the place.

// An assembly is machine code that is put together, with names for places in it.
type assembly struct {
	code   []byte
	labels map[string]int
	fixes  []fixup
}

// A fixup is a distance that is filled in when all places are known.
type fixup struct {
	at, size, end int // where it is, how long, and where the instruction ends
	label         string
}

func newAssembly() *assembly { return &assembly{labels: map[string]int{}} }

func (a *assembly) label(name string) { a.labels[name] = len(a.code) }

func (a *assembly) emit(b ...byte) { a.code = append(a.code, b...) }

// emitTo adds an instruction that ends with the distance to a place.
func (a *assembly) emitTo(label string, opcode ...byte) {
	a.emit(opcode...)
	a.fixes = append(a.fixes, fixup{len(a.code), 4, len(a.code) + 4, label})
	a.emit(0, 0, 0, 0)
}

// list adds a listing.
func (a *assembly) list(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutSuffix(line, ":"); ok {
			a.label(name)
			continue
		}
		first := len(a.fixes)
		for _, word := range strings.Fields(line) {
			if !a.word(word) {
				break // what the bytes mean follows
			}
		}
		for i := first; i < len(a.fixes); i++ {
			a.fixes[i].end = len(a.code)
		}
	}
}

// word adds one byte, or one distance, of a listing. It reports whether it is one.
func (a *assembly) word(word string) bool {
	switch word[0] {
	case '{':
		a.fixes = append(a.fixes, fixup{at: len(a.code), size: 4, label: strings.Trim(word, "{}")})
		a.emit(0, 0, 0, 0)
		return true
	case '<':
		a.fixes = append(a.fixes, fixup{at: len(a.code), size: 1, label: strings.Trim(word, "<>")})
		a.emit(0)
		return true
	}
	b, err := hex.DecodeString(word)
	if err != nil || len(b) != 1 {
		return false
	}
	a.emit(b[0])
	return true
}

// finish fills in the distances.
func (a *assembly) finish() error {
	for _, f := range a.fixes {
		to, ok := a.labels[f.label]
		if !ok {
			return fmt.Errorf("machine code refers to %s, which is nowhere", f.label)
		}
		distance := to - f.end
		if f.size == 1 {
			if distance != int(int8(distance)) {
				return fmt.Errorf("machine code refers to %s, which is too far away", f.label)
			}
			a.code[f.at] = byte(distance)
			continue
		}
		binary.LittleEndian.PutUint32(a.code[f.at:], uint32(distance))
	}
	a.fixes = nil
	return nil
}
