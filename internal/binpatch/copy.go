package binpatch

import (
	"debug/elf"
	"encoding/binary"
	"errors"
)

// Copy is the program with the patch in it: for static programs, and for those that the
// dynamic linker loads nothing into.
//
// The code and data of the sections are two more segments at the end. Their headers take
// the place of two that only tools read: notes, and what they say about the processor.
func (p *Patch) Copy() ([]byte, error) {
	if p.Traps() > 0 {
		return nil, errors.New("a section begins where there is no room for a jump; a copy of the program cannot handle breakpoints")
	}
	out := append([]byte(nil), p.file.data...)
	le := binary.LittleEndian
	headers := le.Uint64(out[32:])
	var free []int
	for i, ph := range p.file.elf.Progs {
		if ph.Type == elf.PT_NOTE || ph.Type == elf.PT_GNU_PROPERTY {
			free = append(free, i)
		}
	}
	if len(free) < 2 {
		return nil, errors.New("the program has no two headers that could make room for more segments")
	}
	// Segments are in the order of their addresses, so the last two make way.
	free = free[len(free)-2:]
	start := (p.file.end + pageSize - 1) &^ (pageSize - 1)
	code := append([]byte(nil), p.code...)
	for _, at := range p.moved {
		le.PutUint32(code[at:], le.Uint32(code[at:])-uint32(start))
	}
	for _, e := range p.entries {
		b := out[p.file.text.Off+e.at-p.file.text.Vaddr:]
		b[0] = 0xe9
		le.PutUint32(b[1:], uint32(start)+e.trampoline-uint32(e.at)-jumpSize)
	}
	add := func(header int, flags elf.ProgFlag, addr uint64, content []byte) {
		for uint64(len(out))%pageSize != addr%pageSize {
			out = append(out, 0)
		}
		b := out[headers+uint64(header)*headerSize:]
		le.PutUint32(b, uint32(elf.PT_LOAD))
		le.PutUint32(b[4:], uint32(flags))
		for j, v := range []uint64{uint64(len(out)), addr, addr, uint64(len(content)), uint64(len(content)), pageSize} {
			le.PutUint64(b[8+8*j:], v)
		}
		out = append(out, content...)
	}
	add(free[0], elf.PF_R|elf.PF_X, start, code)
	add(free[1], elf.PF_R|elf.PF_W, start+uint64(p.dataAt()), p.data)
	return out, nil
}
