package explore

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
)

// image returns where a program's code and variables lie in memory, as far as that is fixed
// when it is linked; nil if it is not known. In a build of the edited program they lie
// elsewhere, and with them the types and functions that values refer to: two runs are
// compared up to that.
func image(path string) []uint64 {
	var lo, hi uint64
	include := func(at, size uint64) {
		if size > 0 && at > 0 {
			if lo == 0 || at < lo {
				lo = at
			}
			hi = max(hi, at+size)
		}
	}
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD {
				include(p.Vaddr, p.Memsz)
			}
		}
	} else if f, err := macho.Open(path); err == nil {
		defer f.Close()
		for _, s := range f.Sections {
			include(s.Addr, s.Size)
		}
	} else if f, err := pe.Open(path); err == nil {
		defer f.Close()
		if h, ok := f.OptionalHeader.(*pe.OptionalHeader64); ok {
			include(h.ImageBase, uint64(h.SizeOfImage))
		}
	}
	if lo == 0 {
		return nil
	}
	return []uint64{lo, hi}
}
