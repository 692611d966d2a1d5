package emu

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"sort"
)

// A lineEntry is where the code of a line begins; line 0 is that of no line.
type lineEntry struct {
	addr uint64 // as an offset in the file
	file string
	line int
}

// Line returns the source file and line of an address, of a program with debug information;
// otherwise "" and 0.
func (s *Symbols) Line(addr uint64) (file string, line int) {
	path := s.path(addr)
	if path == "" {
		return "", 0
	}
	table, known := s.lines[path]
	if !known {
		table = readLines(s.data[path])
		s.lines[path] = table
	}
	offset := addr - s.bases[path]
	i := sort.Search(len(table), func(i int) bool { return table[i].addr > offset }) - 1
	if i < 0 {
		return "", 0
	}
	return table[i].file, table[i].line
}

// readLines reads the table of lines of an ELF file; there is none if it is stripped.
func readLines(data []byte) []lineEntry {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Section(".debug_line") == nil {
		return nil
	}
	info, err := f.DWARF()
	if err != nil {
		return nil
	}
	base := fileBase(f)
	var all []lineEntry
	units := info.Reader()
	for {
		unit, err := units.Next()
		if err != nil || unit == nil {
			break
		}
		if unit.Tag != dwarf.TagCompileUnit {
			units.SkipChildren()
			continue
		}
		units.SkipChildren()
		lines, err := info.LineReader(unit)
		if err != nil || lines == nil {
			continue
		}
		var e dwarf.LineEntry
		for lines.Next(&e) == nil {
			one := lineEntry{addr: e.Address - base}
			if !e.EndSequence && e.File != nil {
				one.file, one.line = e.File.Name, e.Line
			}
			all = append(all, one)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].addr < all[j].addr })
	return all
}

// fileBase is what has to be taken from an address in an ELF file for its offset.
func fileBase(f *elf.File) uint64 {
	if f.Type == elf.ET_EXEC {
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD {
				return p.Vaddr - p.Off
			}
		}
	}
	return 0
}
