package x86

import (
	"debug/elf"
	"slices"
)

// Functions are the addresses of functions that the tables for unwinding name. Stripped
// programs keep them; there may be more functions than that.
func (im *Image) Functions() []uint64 {
	var all []uint64
	for _, s := range im.sections {
		if s.Name != ".eh_frame_hdr" {
			continue
		}
		// Version 1; a pointer of 4 bytes, the number of entries, and entries of two
		// distances from the section, which is how every linker writes it.
		raw := im.bytes(im.Base+s.Addr, int(s.Size))
		if len(raw) < 12 || raw[0] != 1 || raw[2] != 0x03 || raw[3] != 0x3b {
			continue
		}
		n := word(raw[8:12])
		for raw = raw[12:]; n > 0 && len(raw) >= 8; n, raw = n-1, raw[8:] {
			at := im.Base + s.Addr + uint64(int64(int32(word(raw[:4]))))
			if im.executable(at) && !im.inSection(at, ".plt", ".plt.got", ".plt.sec") {
				all = append(all, at)
			}
		}
	}
	for _, f := range im.functions {
		all = append(all, f.addr)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (im *Image) inSection(addr uint64, names ...string) bool {
	return slices.ContainsFunc(im.sections, func(s elf.SectionHeader) bool {
		return slices.Contains(names, s.Name) && addr >= im.Base+s.Addr && addr < im.Base+s.Addr+s.Size
	})
}
