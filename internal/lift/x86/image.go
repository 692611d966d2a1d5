package x86

import (
	"bytes"
	"debug/elf"
	"fmt"
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// An Image is the file of a program, as it is mapped at a base.
type Image struct {
	Path string
	Base uint64
	// segments are what the file fills, by address.
	segments []segment
	// slots are the names of what the dynamic linker puts at an address.
	slots map[uint64]string
	// functions are names by address, of those that have some.
	functions []function
	sections  []elf.SectionHeader
}

type segment struct {
	start, end uint64
	exec       bool
	data       []byte
}

type function struct {
	addr, size uint64
	name       string
}

// NewImage reads an ELF file whose addresses begin at base.
func NewImage(path string, data []byte, base uint64) (*Image, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	defer f.Close()
	im := &Image{Path: path, Base: base, slots: map[uint64]string{}}
	for _, ph := range f.Progs {
		if ph.Type == elf.PT_LOAD && ph.Off+ph.Filesz <= uint64(len(data)) {
			im.segments = append(im.segments, segment{base + ph.Vaddr, base + ph.Vaddr + ph.Memsz, ph.Flags&elf.PF_X != 0, data[ph.Off : ph.Off+ph.Filesz]})
		}
	}
	for _, s := range f.Sections {
		im.sections = append(im.sections, s.SectionHeader)
	}
	im.readSlots(f)
	im.readFunctions(f)
	return im, nil
}

// readSlots reads which names the dynamic linker resolves, and where it puts them.
func (im *Image) readSlots(f *elf.File) {
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return // a static program
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		raw, err := s.Data()
		if err != nil {
			continue
		}
		for ; len(raw) >= 24; raw = raw[24:] {
			info := word(raw[8:16])
			kind, n := elf.R_X86_64(info&0xffffffff), int(info>>32)
			if (kind == elf.R_X86_64_JMP_SLOT || kind == elf.R_X86_64_GLOB_DAT) && n > 0 && n <= len(symbols) {
				im.slots[im.Base+word(raw[:8])] = symbols[n-1].Name
			}
		}
	}
}

func (im *Image) readFunctions(f *elf.File) {
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		list, err := read()
		if err != nil {
			continue // it is stripped
		}
		for _, s := range list {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && s.Value != 0 {
				im.functions = append(im.functions, function{im.Base + s.Value, s.Size, s.Name})
			}
		}
	}
	sort.SliceStable(im.functions, func(i, j int) bool { return im.functions[i].addr < im.functions[j].addr })
}

// Imports reports whether the dynamic linker looks up a name for the program.
func (im *Image) Imports(name string) bool {
	for _, slot := range im.slots {
		if slot == name {
			return true
		}
	}
	return false
}

// Contains reports whether an address is the image's.
func (im *Image) Contains(addr uint64) bool {
	for i := range im.segments {
		if addr >= im.segments[i].start && addr < im.segments[i].end {
			return true
		}
	}
	return false
}

// executable reports whether an address is in the image's code.
func (im *Image) executable(addr uint64) bool {
	for i := range im.segments {
		if s := &im.segments[i]; s.exec && addr >= s.start && addr < s.start+uint64(len(s.data)) {
			return true
		}
	}
	return false
}

// bytes are n bytes of the file at an address, nil if it does not have them.
func (im *Image) bytes(addr uint64, n int) []byte {
	for i := range im.segments {
		s := &im.segments[i]
		if addr >= s.start && addr+uint64(n) <= s.start+uint64(len(s.data)) {
			return s.data[addr-s.start:][:n]
		}
	}
	return nil
}

// Decode decodes the instruction at an address of the image's code.
func (im *Image) Decode(pc uint64, in *x86.Inst) bool {
	for i := range im.segments {
		s := &im.segments[i]
		if !s.exec || pc < s.start || pc >= s.start+uint64(len(s.data)) {
			continue
		}
		raw := s.data[pc-s.start:]
		return x86.Decode(raw[:min(len(raw), x86.MaxLen)], in) == nil
	}
	return false
}

// Bytes are n bytes of the file at an address, nil if it does not have them.
func (im *Image) Bytes(addr uint64, n int) []byte { return im.bytes(addr, n) }

// FunctionName is the name of the function at an address; where there is none, the file's
// own address.
func (im *Image) FunctionName(addr uint64) string {
	i := sort.Search(len(im.functions), func(i int) bool { return im.functions[i].addr > addr }) - 1
	if i >= 0 && addr == im.functions[i].addr {
		return im.functions[i].name
	}
	return fmt.Sprintf("%#x", addr-im.Base)
}

// Name describes an address in the image's code: the function and how far into it, or the
// file's own address.
func (im *Image) Name(addr uint64) string {
	i := sort.Search(len(im.functions), func(i int) bool { return im.functions[i].addr > addr }) - 1
	if i >= 0 && addr < im.functions[i].addr+max(im.functions[i].size, 1) {
		if f := &im.functions[i]; addr == f.addr {
			return f.name
		} else {
			return fmt.Sprintf("%s+%#x", f.name, addr-f.addr)
		}
	}
	return fmt.Sprintf("%#x", addr-im.Base)
}

// stub returns the slot that the code at an address jumps through, if that is all it does:
// the way to an imported function. 0 if it is anything else.
func (p *Program) stub(addr uint64) uint64 {
	if slot, ok := p.stubs[addr]; ok {
		return slot
	}
	slot, pc := uint64(0), addr
	for range 2 {
		in := placedInst{pc: pc}
		if !p.decode(pc, &in.Inst) {
			break
		}
		if in.Op == x86.JMP && in.Args[0].Place == x86.Memory && in.Mem.Base == x86.RIP {
			if s := in.next() + uint64(in.Mem.Disp); p.image.slots[s] != "" {
				slot = s
			}
			break
		}
		if in.Op != x86.ENDBR64 {
			break
		}
		pc = in.next()
	}
	p.stubs[addr] = slot
	return slot
}
