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
// the place of two that only tools read: notes, and what they say about the processor. Where
// there are no such headers, the table of headers grows, if nothing stands behind it.
func (p *Patch) Copy() ([]byte, error) {
	if p.Traps() > 0 {
		return nil, errors.New("a section begins where there is no room for a jump; a copy of the program cannot handle breakpoints")
	}
	out := append([]byte(nil), p.file.data...)
	le := binary.LittleEndian
	headers := le.Uint64(out[32:])
	free := p.file.spareHeaders()
	if free == nil {
		free = p.file.grownHeaders(out)
	}
	if free == nil {
		return nil, errors.New("the program has no room for the headers of more segments")
	}
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

// spareHeaders are the last two headers that only tools read, nil if there are not as many.
// The last, because segments are in the order of their addresses.
func (f *file) spareHeaders() []int {
	var spare []int
	for i, ph := range f.elf.Progs {
		if ph.Type == elf.PT_NOTE || ph.Type == elf.PT_GNU_PROPERTY {
			spare = append(spare, i)
		}
	}
	if len(spare) < 2 {
		return nil
	}
	return spare[len(spare)-2:]
}

// grownHeaders makes the table of headers in a copy of the file longer by two, and returns
// which. It is nil if something stands behind the table.
func (f *file) grownHeaders(out []byte) []int {
	const more = 2 * headerSize
	le := binary.LittleEndian
	start, count := le.Uint64(out[32:]), len(f.elf.Progs)
	end := start + uint64(count)*headerSize
	if end+more > uint64(len(out)) || !allZero(out[end:end+more]) {
		return nil
	}
	for _, s := range f.elf.Sections {
		if s.Type != elf.SHT_NOBITS && s.Offset < end+more && s.Offset+s.FileSize > end {
			return nil
		}
	}
	for i, ph := range f.elf.Progs {
		tail := ph.Off + ph.Filesz
		switch {
		case ph.Off <= start && tail >= end && tail <= end+more:
			// The segment that the table is in, and the one that is the table.
			b := out[start+uint64(i)*headerSize:]
			le.PutUint64(b[32:], end+more-ph.Off)
			le.PutUint64(b[40:], end+more-ph.Off)
		case ph.Off > start && ph.Off < end+more && ph.Filesz > 0:
			return nil
		}
	}
	le.PutUint16(out[56:], uint16(count+2))
	return []int{count, count + 1}
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
