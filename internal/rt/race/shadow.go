package race

import "github.com/cofferdam-go/cofferdam/internal/event"

// shadow keeps for every word of memory the accesses that a later one may race with.
//
// Words lie together in pages as they do in memory, so that what a program does one after
// the other is found one after the other here. The last plain load and the last plain
// store of a word have a place of their own, which is all that most words ever need; what
// else cannot be forgotten is in a list. A page is small because programs that touch a
// word here and there should not pay for the space between.
//
// Nothing is cleared between runs. Entries of the table are of this run if they have its
// generation. A mark is of this run if its moment is later than the past, which is as far
// as any goroutine came in the runs before (Detector.Past); moments begin there.
type shadow struct {
	generation uint32
	table      []entry // open addressing
	shift      uint
	recent     [recentPages]recentPage
	pages      []*page  // the first used are this run's, the others are spare
	used       int      // also entries of the table
	lists      []lists  // 0 is not used
	freeLists  uint32   // those of lists that are not used any more, by their readers
	others     []access // 0 is not used
	free       uint32   // those of others that are not used any more, as a list
	most       int      // pages
	mostOthers int
	forgot     bool // accesses of this run, because there were so many
}

// lists are the accesses to a word that have no place of their own. Those that read cannot race
// with each other. So one that reads is not held against them, but only, as soon as they have
// doubled, takes the place of those that it comes after: of ten thousand goroutines that send
// on a channel, each would else go through the sends of all others.
type lists struct {
	writers, readers uint32 // in shadow.others
	reading          uint32 // how many readers there are
	doubled          uint32 // how many there are to be when they are gone through
}

// fewReaders is how many are not gone through.
const fewReaders = 16

// mostOthers is how many accesses are in lists at most, 28 bytes each.
const mostOthers = 1 << 22

// mostPages is how many pages a shadow has at most, 2.6 KB each. A run that touches more than
// the 128 MB that they stand for begins anew, and is told to have missed races perhaps.
const mostPages = 1 << 18

const (
	wordSize  = 8
	pageWords = 64
)

// A recentPage is a page that was found lately. None has the number 0.
type recentPage struct {
	number uintptr
	page   *page
}

const recentPages = 128

// An entry says where the shadow of some memory is.
type entry struct {
	number     uintptr // the address of the memory / pageWords / wordSize
	page       *page
	generation uint32
}

// A page is the shadow of some words.
type page struct {
	words  [pageWords]marks
	others [pageWords]uint32 // in shadow.lists
	writes [pageWords]uint32 // how many there were to words with a list
	shared bool              // others may have been used
}

// A reading is the last load of a word with a list, by a goroutine that need not go
// through the list again: of goroutines that wait for a word to change there may be
// thousands, each with an entry in it.
type reading struct {
	word   uintptr
	at     uint32
	site   uint32
	writes uint32
	mask   uint8
}

// readings is how many words a goroutine remembers reading.
const readings = 16

type marks struct{ load, store mark }

// A mark is an access in few bytes. It is none if it was in the past.
type mark struct {
	at    uint32
	site  uint32
	frame uint32
	who   uint32 // the slot, whether it raced, and the bytes of the word
}

const (
	slotShift = 16
	racedBit  = 1 << 15

	// MarkedSlots is how many slots fit into a mark. The accesses of others are in lists.
	MarkedSlots = 1 << (32 - slotShift)
)

func (m *mark) access(kind event.Kind) access {
	return access{slot: m.who >> slotShift, at: m.at, site: m.site, frame: m.frame, kind: kind, mask: uint8(m.who), raced: m.who&racedBit != 0}
}

// mark returns a as a mark, or none if nothing is left of it.
func (a *access) mark() mark {
	if a.mask == 0 {
		return mark{}
	}
	m := mark{at: a.at, site: a.site, frame: a.frame, who: a.slot<<slotShift | uint32(a.mask)}
	if a.raced {
		m.who |= racedBit
	}
	return m
}

// only reports whether all that is known of a word are a load and a store like own: by the same
// thread, of the same bytes.
func (w *marks) only(own, past uint32) bool {
	return (w.load.who == own || w.load.at <= past) && (w.store.who == own || w.store.at <= past)
}

// usual reports whether all that is known of a word are a load and a store that a load
// or store of t takes the place of, or a store that its load comes after. Then they
// cannot race, and set is all that there is to do.
func (w *marks) usual(t *Thread, kind event.Kind, own, past uint32) bool {
	if w.load.at > past && w.load.who != own {
		return false
	}
	return w.store.at <= past || w.store.who == own || kind == event.Load && t.Knows(w.store.who>>slotShift, w.store.at)
}

// set makes a load or store the last one. The fields are set one by one because a literal
// would be put together elsewhere first.
func (w *marks) set(at, frame uint32, kind event.Kind, own, site uint32) {
	m := &w.load
	if kind == event.Store {
		m.at = 0
		m = &w.store
	}
	m.at, m.site, m.frame, m.who = at, site, frame, own
}

// begin gets ready for a run.
func (h *shadow) begin() {
	if h.table == nil {
		h.resize(8)
	}
	if h.most == 0 {
		h.most = mostPages
	}
	if h.mostOthers == 0 {
		h.mostOthers = mostOthers
	}
	h.generation++
	if h.generation == 0 {
		clear(h.table)
		h.generation = 1
	}
	h.used = 0
	clear(h.recent[:])
	h.others, h.lists = append(h.others[:0], access{}), append(h.lists[:0], lists{})
	h.free, h.freeLists = 0, 0
}

// forget drops all accesses.
func (h *shadow) forget() {
	for _, p := range h.pages[:h.used] {
		*p = page{}
	}
	h.begin()
}

func (h *shadow) resize(log uint) {
	old := h.table
	h.table = make([]entry, 1<<log)
	h.shift = 64 - log
	for _, e := range old {
		if e.generation == h.generation {
			*h.find(e.number) = e
		}
	}
}

// find returns the entry of a page, or the empty one where it belongs.
func (h *shadow) find(number uintptr) *entry {
	for i := h.hash(number); ; i++ {
		e := &h.table[i&uintptr(len(h.table)-1)]
		if e.generation != h.generation || e.number == number {
			return e
		}
	}
}

func (h *shadow) hash(number uintptr) uintptr {
	return uintptr(uint64(number) * 0x9E3779B97F4A7C15 >> (h.shift & 63))
}

// page returns the shadow of the words from number*pageWords on. It is nearly always the
// one that first finds.
func (h *shadow) page(number uintptr) *page {
	if e := h.find(number); e.generation == h.generation {
		return e.page
	}
	if h.used >= h.most {
		h.forget()
		h.forgot = true
	}
	if h.used+1 > len(h.table)/4 {
		h.resize(64 - h.shift + 1)
	}
	if h.used == len(h.pages) {
		const together = 16
		for some := make([]page, together); len(some) > 0; some = some[1:] {
			h.pages = append(h.pages, &some[0])
		}
	}
	p := h.pages[h.used]
	h.used++
	if p.shared {
		clear(p.others[:])
		p.shared = false
	}
	*h.find(number) = entry{number, p, h.generation}
	return p
}

// add puts an access into the lists of the i-th word of p.
func (h *shadow) add(p *page, i uintptr, a access) {
	p.shared = true
	at := p.others[i]
	if at == 0 {
		at = h.newLists()
		p.others[i] = at
	}
	l := &h.lists[at]
	if writes(a.kind) {
		l.writers = h.put(a, l.writers)
	} else {
		l.readers = h.put(a, l.readers)
		l.reading++
	}
}

// newLists returns lists with nothing in them.
func (h *shadow) newLists() uint32 {
	at := h.freeLists
	if at == 0 {
		h.lists = append(h.lists, lists{})
		at = uint32(len(h.lists) - 1)
	} else {
		h.freeLists = h.lists[at].readers
	}
	h.lists[at] = lists{doubled: fewReaders}
	return at
}

// put puts an access before those of a list, and returns where it is.
func (h *shadow) put(a access, next uint32) uint32 {
	a.next = next
	if at := h.free; at != 0 {
		h.free = h.others[at].next
		h.others[at] = a
		return at
	}
	h.others = append(h.others, a)
	return uint32(len(h.others) - 1)
}

// full reports whether there is no room for more accesses in lists.
func (h *shadow) full() bool { return h.free == 0 && len(h.others) >= h.mostOthers }

// release gives the lists of the i-th word of p back if there is nothing in them.
func (h *shadow) release(p *page, i uintptr) {
	at := p.others[i]
	if l := &h.lists[at]; l.writers == 0 && l.readers == 0 {
		*l = lists{readers: h.freeLists}
		h.freeLists = at
		p.others[i] = 0
	}
}
