package rt

import (
	"math/bits"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// Happens-before, as in FastTrack (Flanagan and Freund, PLDI 2009), but exact for
// every byte and for accesses of package sync/atomic.
//
// A vector clock (vector) says for every slot up to which of its moments everything
// has happened before. A goroutine has a slot, in which its own time passes whenever it
// releases something. An access is known by the slot and the moment it was made at: it
// happened before what goroutine c does now if c.vector has come past that moment.
//
// A slot is used again for a new goroutine if all that its former owner did happened
// before the go statement; then nothing can be mistaken for another, and programs that
// start goroutines in waves need few slots.

// A vector is a vector clock. Slots beyond its end are at 0.
type vector []uint32

func (v *vector) join(w vector) {
	if n := len(*v); len(w) > n {
		*v = append(*v, w[n:]...)
		w = w[:n]
	}
	for i, t := range w {
		if t > (*v)[i] {
			(*v)[i] = t
		}
	}
}

func (v *vector) set(w vector) { *v = append((*v)[:0], w...) }

func (v vector) at(slot uint32) uint32 {
	if int(slot) < len(v) {
		return v[slot]
	}
	return 0
}

// tick lets c's own time pass: what it does from now on is not part of what it has
// released so far.
func (c *goroutine) tick() { c.vector[c.slot]++ }

func (c *goroutine) acquire(v vector) {
	c.vector.join(v)
	if foreign.Load() {
		c.acquireAll()
	}
}

// acquireAll makes all that was done so far c's past. Where goroutines take part that are
// not under control, it cannot be seen what they order: what one goroutine has handed to
// them, another may have got. A race that is missed then is better than one that is none.
func (c *goroutine) acquireAll() {
	for _, d := range s.all {
		if d == c {
			continue
		}
		c.vector.join(d.vector)
		if d.state != ended {
			d.tick()
		}
	}
}

// release makes v c's past, and nothing else.
func (c *goroutine) release(v *vector) {
	v.set(c.vector)
	c.tick()
}

// releaseMerge adds c's past to v.
func (c *goroutine) releaseMerge(v *vector) {
	v.join(c.vector)
	c.tick()
}

// exchange makes v c's past, and what v was part of c's past.
func (c *goroutine) exchange(v *vector) {
	s.scratch.set(*v)
	v.set(c.vector)
	c.acquire(s.scratch)
	c.tick()
}

// A slotEnd is a slot whose goroutine has ended, and the last moment of that.
type slotEnd struct {
	slot uint32
	at   uint32
}

// takeSlot gives c, whose vector is that of its creator, a slot of its own.
func (s *scheduler) takeSlot(c *goroutine) {
	const look = 16 // at so many of those that ended last
	for i := len(s.slotEnds) - 1; i >= max(0, len(s.slotEnds)-look); i-- {
		if e := s.slotEnds[i]; c.vector.at(e.slot) >= e.at {
			s.slotEnds = append(s.slotEnds[:i], s.slotEnds[i+1:]...)
			c.slot = e.slot
			c.vector[c.slot] = e.at + 1
			return
		}
	}
	c.slot = s.slots
	s.slots++
	for int(c.slot) >= len(c.vector) {
		c.vector = append(c.vector, 0)
	}
	c.vector[c.slot] = 1
}

// shadow keeps for every word of 8 bytes the accesses that a later one may race with.
// It is emptied by counting up the generation.
type shadow struct {
	generation uint32
	used       int
	table      []word // open addressing
	shift      uint
	accesses   []access // 0 is not used
	free       uint32
}

type word struct {
	key        uintptr // the address / 8
	generation uint32
	head       uint32 // the list of accesses
	writes     uint32 // how many of them there were that write
}

// A reading is a read that a goroutine has made, so that it need not look for it among
// those of a thousand others when it makes it again.
type reading struct {
	key    uintptr
	at     uint32
	writes uint32 // to the word, up to then
	index  uint32 // in shadow.accesses
}

// readings is how many words a goroutine remembers reading.
const readings = 16

type access struct {
	next   uint32
	slot   uint32
	at     uint32
	g      uint32
	site   uint32
	frame  uint32
	mask   uint8 // the bytes of the word
	kind   event.Kind
	write  bool
	atomic bool
	raced  bool // with an earlier one
}

func (h *shadow) reset() {
	if h.table == nil {
		h.resize(10)
	}
	h.generation++
	if h.generation == 0 {
		clear(h.table)
		h.generation = 1
	}
	h.used = 0
	h.accesses = append(h.accesses[:0], access{})
	h.free = 0
}

func (h *shadow) resize(log uint) {
	old := h.table
	h.table = make([]word, 1<<log)
	h.shift = 64 - log
	for _, w := range old {
		if w.generation == h.generation {
			*h.find(w.key) = w
		}
	}
}

// find returns the entry of a word, or the empty one where it belongs.
func (h *shadow) find(key uintptr) *word {
	for i := uint64(key) * 0x9E3779B97F4A7C15 >> h.shift; ; i++ {
		w := &h.table[i&uint64(len(h.table)-1)]
		if w.generation != h.generation || w.key == key {
			return w
		}
	}
}

func (h *shadow) at(key uintptr) *word {
	w := h.find(key)
	if w.generation != h.generation {
		if h.used++; h.used > len(h.table)/2 {
			h.resize(64 - h.shift + 1)
			w = h.find(key)
		}
		*w = word{key: key, generation: h.generation}
	}
	return w
}

func (h *shadow) add(a access, w *word) {
	a.next = w.head
	if i := h.free; i != 0 {
		h.free = h.accesses[i].next
		h.accesses[i] = a
		w.head = i
		return
	}
	h.accesses = append(h.accesses, a)
	w.head = uint32(len(h.accesses) - 1)
}

// touch checks an access of c against what was there before, and keeps it.
func (c *goroutine) touch(addr, size uintptr, kind event.Kind, site uint32) {
	if s.config.NoRaces || size == 0 {
		return
	}
	a := access{slot: c.slot, at: c.vector[c.slot], g: c.id, site: site, frame: c.frame, kind: kind, write: writes(kind), atomic: atomically(kind)}
	end := addr + size
	for key := addr / 8; key*8 < end; key++ {
		a.mask = 0xff
		if start := key * 8; start < addr {
			a.mask &= 0xff << (addr - start)
		}
		if over := key*8 + 8; over > end {
			a.mask &= 0xff >> (over - end)
		}
		c.touchWord(s.shadow.at(key), a)
	}
}

// writes reports whether an operation counts as a store to what it touches. A send
// reads its channel and Close writes it, so that a send not ordered with the Close is a
// race; so it is with the first Add and a Wait of a WaitGroup. The race detector does
// the same.
func writes(k event.Kind) bool {
	return !k.IsRead() && k != event.Send && k != event.WaitGroupAdd
}

// atomically reports whether two operations of the kind never race with each other.
func atomically(k event.Kind) bool {
	switch k {
	case event.Lock, event.TryLock, event.Unlock:
		return true
	}
	return k.IsAtomic()
}

func (c *goroutine) touchWord(w *word, a access) {
	h := &s.shadow
	if first := &h.accesses[w.head]; w.head != 0 && first.slot == a.slot && first.at == a.at && first.kind == a.kind && first.mask == a.mask && !first.raced {
		// Nobody was here since. Only the place of the last access is news.
		first.site, first.frame = a.site, a.frame
		return
	}
	r := &c.readings[w.key%readings]
	if a.write {
		w.writes++
	} else if r.key == w.key && r.writes == w.writes {
		// Nobody has written since. The access is still in the list unless it was covered:
		// then it has no bytes left, or is used again, by c at a later moment at the
		// earliest.
		if b := &h.accesses[r.index]; b.slot == a.slot && b.at == r.at && b.kind == a.kind && b.mask == a.mask && !b.raced {
			b.at, b.site, b.frame = a.at, a.site, a.frame
			r.at = a.at
			return
		}
	}
	for link := &w.head; *link != 0; {
		i := *link
		b := &h.accesses[i]
		if b.mask&a.mask == 0 {
			link = &b.next
			continue
		}
		if b.slot != a.slot && b.at > c.vector.at(b.slot) {
			if (a.write || b.write) && !(a.atomic && b.atomic) {
				a.raced = true
				s.raced(w, b, &a)
			}
		} else if a.covers(b) {
			// Whatever races with b races with a.
			if b.mask &^= a.mask; b.mask == 0 {
				*link = b.next
				b.next = h.free
				h.free = i
				continue
			}
		}
		link = &b.next
	}
	h.add(a, w)
	if !a.write {
		*r = reading{key: w.key, at: a.at, writes: w.writes, index: w.head}
	}
}

// covers reports whether every kind of access that conflicts with b conflicts with a.
func (a *access) covers(b *access) bool {
	if a.atomic && !b.atomic {
		return false
	}
	return a.write || !b.write
}

// raced takes note of a race, once for each pair of sites.
func (s *scheduler) raced(w *word, a, b *access) {
	for i := range s.result.Races {
		r := &s.result.Races[i]
		if r.First.Site == a.site && r.Second.Site == b.site || r.First.Site == b.site && r.Second.Site == a.site {
			return
		}
	}
	if len(s.result.Races) == maxRaces {
		return
	}
	s.result.Races = append(s.result.Races, Race{First: a.access(w), Second: b.access(w), Step: s.steps})
	s.stopping = s.stopping || s.config.StopAtRace
}

// maxRaces is how many races of one run are told apart.
const maxRaces = 1000

func (a *access) access(w *word) Access {
	return Access{
		G: a.g, Kind: a.kind, Site: a.site, Frame: a.frame,
		Addr: w.key*8 + uintptr(bits.TrailingZeros8(a.mask)), Size: uintptr(bits.OnesCount8(a.mask)),
	}
}
