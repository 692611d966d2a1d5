package drive

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
)

// A wordSet is a set of words of 8 bytes, as bits by page.
type wordSet struct {
	pages map[uint64]*[8]uint64
	// recent are pages that were asked for, by the low bits of their numbers.
	recent [recentPages]recentBits
}

// recentBits is a page that was asked for; bits is nil if there is none.
type recentBits struct {
	page uint64
	bits *[8]uint64
}

const recentPages = 64

const (
	pageShift = 12
	wordShift = 3
)

func (s *wordSet) add(addr uint64) {
	if s.pages == nil {
		s.pages = map[uint64]*[8]uint64{}
	}
	n := addr >> pageShift
	bits := s.pages[n]
	if bits == nil {
		bits = new([8]uint64)
		s.pages[n] = bits
		s.recent[n%recentPages] = recentBits{n, bits}
	}
	w := addr >> wordShift & 511
	bits[w>>6] |= 1 << (w & 63)
}

// addAll adds words, and reports whether any of them is new.
func (s *wordSet) addAll(words []uint64) (grown bool) {
	for _, w := range words {
		if !s.has(w, 1) {
			s.add(w)
			grown = true
		}
	}
	return grown
}

// has reports whether one of the words of a range is in the set.
func (s *wordSet) has(addr uint64, size uint32) bool {
	for at := addr &^ 7; at < addr+uint64(size); at += 8 {
		n := at >> pageShift
		r := &s.recent[n%recentPages]
		if r.page != n || r.bits == nil {
			r.page, r.bits = n, s.pages[n]
			if r.bits == nil {
				r.bits = &noBits
			}
		}
		w := at >> wordShift & 511
		if r.bits[w>>6]>>(w&63)&1 != 0 {
			return true
		}
	}
	return false
}

var noBits [8]uint64

// words lists the set, in ascending order.
func (s *wordSet) words() []uint64 {
	var all []uint64
	for n, bits := range s.pages {
		for w := range uint64(512) {
			if bits[w>>6]>>(w&63)&1 != 0 {
				all = append(all, n<<pageShift|w<<wordShift)
			}
		}
	}
	slices.Sort(all)
	return all
}

// uses are the threads that access each word, in the run that is under way.
type uses struct {
	pages map[uint64]*[512]use
	run   uint32
	clock uint64 // counts the accesses of the run
	// born is when each thread was created, by number.
	born []uint64
	// recent are pages that were used, by the low bits of their numbers.
	recent [recentPages]recentUses
	// hidden is memory that is never taken for shared: from, and to.
	hidden [2]uint64
	// linker are the sites of the dynamic linker, from and to. What it does when a function is
	// called for the first time is its own affair, and would be steps of every call.
	linker [2]uint32
	// found are the words that this run is the first to share.
	found []uint64
}

type recentUses struct {
	page uint64
	uses *[512]use
}

// A use is what is known about a word.
type use struct {
	run     uint32
	thread  uint16
	written bool
	several bool
	at      uint64 // when the thread accessed it last
}

// begin starts a run.
func (u *uses) begin() {
	if u.pages == nil {
		u.pages = map[uint64]*[512]use{}
	}
	u.run++
	u.clock = 0
	u.born = u.born[:0]
	u.found = u.found[:0]
}

// threads says how many threads there are now. What was done before a thread was created
// is not done beside it: its creator prepares much of what it uses.
func (u *uses) threads(n int) {
	for len(u.born) <= n {
		u.born = append(u.born, u.clock)
	}
}

// maxSpan is how much of a long string operation is looked at.
const maxSpan = 1 << 16

// note takes note of an access. known are the words that are known to be shared.
func (u *uses) note(thread uint32, ref *cpu.Ref, known *wordSet) {
	if ref.Addr >= u.hidden[0] && ref.Addr < u.hidden[1] || ref.Site >= u.linker[0] && ref.Site < u.linker[1] {
		return
	}
	writes := !ref.Kind.IsRead()
	u.clock++
	for at := ref.Addr &^ 7; at < ref.Addr+uint64(min(ref.Size, maxSpan)); at += 8 {
		n := at >> pageShift
		r := &u.recent[n%recentPages]
		if r.page != n || r.uses == nil {
			if u.pages[n] == nil {
				u.pages[n] = new([512]use)
			}
			*r = recentUses{n, u.pages[n]}
		}
		w := &r.uses[at>>wordShift&511]
		if w.run != u.run || !w.several && w.thread != uint16(thread) && w.at <= u.born[thread] {
			*w = use{run: u.run, thread: uint16(thread)}
		}
		before := w.several && w.written
		w.several = w.several || w.thread != uint16(thread)
		w.written = w.written || writes
		w.at = u.clock
		if !before && w.several && w.written && !known.has(at, 8) {
			u.found = append(u.found, at)
		}
	}
}
