package emu

import (
	"bytes"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
)

// A symbol is a named range of addresses.
type symbol struct {
	addr, size uint64
	name       string
}

// Symbols are the names in the files that are mapped into an address space. Stripped
// programs keep those that the dynamic linker needs.
type Symbols struct {
	byFile map[string][]symbol // by offset in the file's own addresses
	files  []string            // in the order of their addresses
	areas  []mem.Area
	bases  map[string]uint64
	data   map[string][]byte
	lines  map[string][]lineEntry // of files that were asked about
}

// NewSymbols reads the names in what a space maps now.
func NewSymbols(space *mem.Space) *Symbols {
	s := &Symbols{byFile: map[string][]symbol{}, areas: space.Areas(), bases: map[string]uint64{}, data: map[string][]byte{}, lines: map[string][]lineEntry{}}
	for _, a := range s.areas {
		if a.File == nil {
			continue
		}
		name := a.File.Name
		if _, ok := s.byFile[name]; !ok {
			s.files = append(s.files, name)
			s.data[name] = a.File.Data()
			s.byFile[name] = readSymbols(s.data[name])
			s.bases[name] = a.Start - uint64(a.Offset)
		}
	}
	return s
}

// readSymbols returns the functions of an ELF file; none if it is not one.
func readSymbols(data []byte) []symbol {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	defer f.Close()
	base := fileBase(f)
	var all []symbol
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		list, err := read()
		if err != nil {
			continue // there are none
		}
		for _, e := range list {
			kind := elf.ST_TYPE(e.Info)
			if e.Value != 0 && e.Section != elf.SHN_UNDEF && (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC || kind == elf.STT_OBJECT) {
				all = append(all, symbol{e.Value - base, e.Size, e.Name})
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].addr < all[j].addr })
	return all
}

// Find returns the address of a name, 0 if it is not there. Of several, the program's own
// counts, which is at the lowest addresses.
func (s *Symbols) Find(name string) uint64 {
	for _, file := range s.files {
		for _, e := range s.byFile[file] {
			if e.name == name {
				return s.bases[file] + e.addr
			}
		}
	}
	return 0
}

// Unit returns the code that functions are a part of: from the first of them to the last,
// with what has no name between them and the name before.
func (s *Symbols) Unit(names []string) (start, end uint64) {
	for _, file := range s.files {
		list, first, last := s.byFile[file], -1, -1
		for i, e := range list {
			if slices.Contains(names, e.name) {
				if last = i; first < 0 {
					first = i
				}
			}
		}
		if first < 0 {
			continue
		}
		start, end = 0, s.bases[file]+list[last].addr+list[last].size
		if first > 0 {
			start = s.bases[file] + list[first-1].addr + list[first-1].size
		}
		return start, end
	}
	return 0, 0
}

// Name describes an address: the function and how far into it, or the file and how far
// into that; "" for memory that no file fills.
func (s *Symbols) Name(addr uint64) string {
	file := s.path(addr)
	if file == "" {
		return ""
	}
	offset := addr - s.bases[file]
	list := s.byFile[file]
	j := sort.Search(len(list), func(j int) bool { return list[j].addr > offset }) - 1
	if j >= 0 && offset < list[j].addr+max(list[j].size, 1) {
		if list[j].addr == offset {
			return list[j].name
		}
		return fmt.Sprintf("%s+%#x", list[j].name, offset-list[j].addr)
	}
	return fmt.Sprintf("%s+%#x", filepath.Base(file), offset)
}

// File returns the name of the file that an address is in, "" if there is none.
func (s *Symbols) File(addr uint64) string {
	if path := s.path(addr); path != "" {
		return filepath.Base(path)
	}
	return ""
}

func (s *Symbols) path(addr uint64) string {
	i := sort.Search(len(s.areas), func(i int) bool { return s.areas[i].End > addr })
	if i == len(s.areas) || s.areas[i].Start > addr || s.areas[i].File == nil {
		return ""
	}
	return s.areas[i].File.Name
}
