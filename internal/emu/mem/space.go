package mem

import (
	"fmt"
	"slices"
)

// What an area allows.
const (
	Read  = 1
	Write = 2
	Exec  = 4
)

// An Area is a range of addresses with the same protection, and what its pages are
// filled with at first. Areas do not overlap, and are in the order of their addresses.
type Area struct {
	Start, End uint64
	Prot       uint8
	// File and Offset are the contents; without a file they are zeroes.
	File   *File
	Offset int64
	// Grows: a stack, which is extended downwards when it is touched below.
	Grows bool
	// Shared: what a process writes there, its children are to see, too.
	Shared bool
	Name   string
}

// A Space is an address space.
type Space struct {
	view  *table // recent, or never
	areas []Area // replaced, never changed: snapshots share it
	pages map[uint64]*page

	generation uint64
	cloned     uint64 // pages up to this generation may be another space's too
	journal    []change
	free       []*page
	fault      Fault

	code        map[uint64]bool // pages that instructions were fetched from
	codeVersion uint64

	watched bool
	log     []Access

	recent table
}

// NewSpace returns an address space with nothing in it.
func NewSpace() *Space {
	s := &Space{pages: map[uint64]*page{}, code: map[uint64]bool{}, generation: generations.Add(1)}
	s.recent.clear()
	s.view = &s.recent
	return s
}

// Areas returns the areas. They must not be changed.
func (s *Space) Areas() []Area { return s.areas }

// CodeVersion changes whenever instructions that were fetched may have become others.
func (s *Space) CodeVersion() uint64 { return s.codeVersion }

// find returns the index of the first area that ends after addr.
func (s *Space) find(addr uint64) int {
	lo, hi := 0, len(s.areas)
	for lo < hi {
		if mid := (lo + hi) / 2; s.areas[mid].End <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Area returns the area of an address.
func (s *Space) Area(addr uint64) (Area, bool) {
	if i := s.find(addr); i < len(s.areas) && s.areas[i].Start <= addr {
		return s.areas[i], true
	}
	return Area{}, false
}

// Map makes a an area, in place of what was there. Its bounds are multiples of PageSize.
func (s *Space) Map(a Area) {
	if a.Start >= a.End || (a.Start|a.End|uint64(a.Offset))&pageMask != 0 {
		panic(fmt.Sprintf("mem: mapping %#x to %#x at %#x", a.Start, a.End, a.Offset))
	}
	s.Unmap(a.Start, a.End)
	s.replace(func(areas []Area) []Area { return slices.Insert(areas, s.find(a.Start), a) })
}

// Unmap takes away what is between start and end.
func (s *Space) Unmap(start, end uint64) {
	s.cut(start, end, func(Area) (Area, bool) { return Area{}, false })
	if end-start < uint64(len(s.pages))*PageSize {
		for n := start >> pageShift; n < end>>pageShift; n++ {
			s.drop(n)
		}
		return
	}
	for n := range s.pages {
		if n >= start>>pageShift && n < end>>pageShift {
			s.drop(n)
		}
	}
}

// Discard makes the pages between start and end what they were when they were mapped.
func (s *Space) Discard(start, end uint64) {
	for n := start >> pageShift; n < end>>pageShift; n++ {
		s.drop(n)
	}
	s.recent.clear()
}

// Protect changes the protection between start and end. It reports whether all of that
// is mapped.
func (s *Space) Protect(start, end uint64, prot uint8) bool {
	covered := uint64(0)
	s.cut(start, end, func(a Area) (Area, bool) {
		covered += a.End - a.Start
		a.Prot = prot
		return a, true
	})
	return covered == end-start
}

// Extend moves the end of the area that ends at end. It reports whether it could.
func (s *Space) Extend(end, to uint64) bool {
	i := s.find(end - 1)
	if i >= len(s.areas) || s.areas[i].End != end || i+1 < len(s.areas) && s.areas[i+1].Start < to {
		return false
	}
	s.replace(func(areas []Area) []Area {
		areas[i].End = to
		return areas
	})
	return true
}

// cut splits the areas at start and end, and has change say what becomes of each that is
// in between.
func (s *Space) cut(start, end uint64, change func(Area) (Area, bool)) {
	s.replace(func(areas []Area) []Area {
		out := areas[:0:0]
		for _, a := range areas {
			if a.End <= start || a.Start >= end {
				out = append(out, a)
				continue
			}
			if a.Start < start {
				out = append(out, a.part(a.Start, start))
			}
			if b, keep := change(a.part(max(a.Start, start), min(a.End, end))); keep {
				out = append(out, b)
			}
			if a.End > end {
				out = append(out, a.part(end, a.End))
			}
		}
		return out
	})
}

func (a Area) part(start, end uint64) Area {
	a.Offset += int64(start - a.Start)
	a.Start, a.End = start, end
	return a
}

// replace exchanges the list of areas for what f makes of a copy.
func (s *Space) replace(f func([]Area) []Area) {
	before := s.areas
	s.areas = f(slices.Clone(s.areas))
	s.recent.clear()
	if executable(before) != executable(s.areas) {
		s.codeVersion++
		clear(s.code)
	}
}

// executable returns a number that is another one, except by chance, when the areas
// that may be executed are others.
func executable(areas []Area) uint64 {
	sum := uint64(0)
	for _, a := range areas {
		if a.Prot&Exec != 0 {
			for _, x := range []uint64{a.Start, a.End, uint64(a.Offset)} {
				sum = (sum ^ x) * 0x9e3779b97f4a7c15
				sum ^= sum >> 29
			}
		}
	}
	return sum
}

// Gap returns the start of the highest free range of size bytes below limit, 0 if there
// is none.
func (s *Space) Gap(size, limit uint64) uint64 {
	end := limit
	for i := len(s.areas) - 1; i >= 0; i-- {
		a := s.areas[i]
		if a.Start >= end {
			continue
		}
		if a.End <= end && end-a.End >= size {
			return end - size
		}
		end = min(end, a.Start)
	}
	if end >= size+PageSize {
		return end - size
	}
	return 0
}
