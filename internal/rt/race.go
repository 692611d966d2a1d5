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
			s.tenants = append(s.tenants, tenant{slot: c.slot, from: e.at + 1, g: c.id})
			return
		}
	}
	c.slot = s.slots
	s.slots++
	for int(c.slot) >= len(c.vector) {
		c.vector = append(c.vector, 0)
	}
	c.vector[c.slot] = s.shadow.past + 1
	s.tenants = append(s.tenants, tenant{slot: c.slot, from: s.shadow.past + 1, g: c.id})
}

// A tenant is who has a slot from a moment on.
type tenant struct {
	slot uint32
	from uint32
	g    uint32
}

// tenant returns whose slot it was at a moment of this run.
func (s *scheduler) tenant(slot, at uint32) uint32 {
	for i := len(s.tenants) - 1; i >= 0; i-- {
		if t := &s.tenants[i]; t.slot == slot && t.from <= at {
			return t.g
		}
	}
	return 0
}

// An access is one that a later one may race with.
type access struct {
	next  uint32 // in shadow.others
	slot  uint32
	at    uint32
	site  uint32
	frame uint32
	kind  event.Kind
	mask  uint8 // the bytes of the word
	raced bool  // with another
}

// touch checks an access of c against what was there before, and keeps it.
//
// What is not usual is done apart. A program whose goroutines work on memory of their
// own, or hand it over, meets little but a load and a store that c's own take the place
// of, or a store that it comes after.
func (c *goroutine) touch(addr, size uintptr, kind event.Kind, site uint32) {
	if !s.config.Races || size == 0 {
		return
	}
	n := addr / wordSize
	if (addr+size-1)/wordSize != n {
		c.touchWords(addr, size, kind, site)
		return
	}
	h := &s.shadow
	number := n / pageWords
	e := &h.recent[number%recentPages]
	p := e.page
	if e.number != number {
		p = h.page(number)
		e.number, e.page = number, p
	}
	mask := uint8(0xff>>((wordSize-size)%wordSize)) << (addr % wordSize)
	w, own := &p.words[n%pageWords], c.slot<<slotShift|uint32(mask)
	if p.others[n%pageWords] == 0 && c.marks(kind) && w.usual(c, kind, own, h.past) {
		w.set(c.vector[c.slot], c.frame, kind, own, site)
	} else {
		c.touchShared(p, n, kind, mask, site)
	}
}

// marks reports whether accesses of c are kept as marks if they are of that kind.
func (c *goroutine) marks(kind event.Kind) bool {
	return c.slot < markedSlots && (kind == event.Load || kind == event.Store)
}

// touchWords is touch for more than one word.
func (c *goroutine) touchWords(addr, size uintptr, kind event.Kind, site uint32) {
	for size > 0 {
		part := min(size, wordSize-addr%wordSize)
		if part == wordSize && c.marks(kind) {
			part = c.touchPage(addr, size, kind, site)
		} else {
			c.touch(addr, part, kind, site)
		}
		addr += part
		size -= part
	}
}

// touchPage is touch for the whole words from addr on that are on the same page. It
// returns how many bytes those are.
func (c *goroutine) touchPage(addr, size uintptr, kind event.Kind, site uint32) uintptr {
	n, past := addr/wordSize, s.shadow.past
	p := s.shadow.page(n / pageWords)
	own, at, frame := c.slot<<slotShift|0xff, c.vector[c.slot], c.frame
	first := n % pageWords
	end := min(first+size/wordSize, pageWords)
	for i := first; i < end; i++ {
		if w := &p.words[i]; p.others[i] == 0 && w.usual(c, kind, own, past) {
			w.set(at, frame, kind, own, site)
		} else {
			c.touchShared(p, n-first+i, kind, 0xff, site)
		}
	}
	return (end - first) * wordSize
}

// touchShared is touch for the word n, on p, which may have been touched in any way.
func (c *goroutine) touchShared(p *page, n uintptr, kind event.Kind, mask uint8, site uint32) {
	h := &s.shadow
	i := n % pageWords
	w := &p.words[i]
	a := access{slot: c.slot, at: c.vector[c.slot], site: site, frame: c.frame, kind: kind, mask: mask}
	r := &c.readings[n%readings]
	if writes(kind) {
		p.writes[i]++
	} else if kind == event.Load {
		// The same load at the same moment, with no write between, meets the same accesses.
		again := reading{n, a.at, site, p.writes[i], mask}
		if *r == again {
			return
		}
		*r = again
	}
	if w.load.at > h.past {
		b := w.load.access(event.Load)
		c.check(n, &b, &a)
		w.load = b.mark()
	}
	if w.store.at > h.past {
		b := w.store.access(event.Store)
		c.check(n, &b, &a)
		w.store = b.mark()
	}
	for link := &p.others[i]; *link != 0; {
		at := *link
		b := &h.others[at]
		if c.check(n, b, &a); b.mask != 0 {
			link = &b.next
			continue
		}
		*link = b.next
		b.next = h.free
		h.free = at
	}
	m := &w.load
	switch {
	case a.slot >= markedSlots || kind != event.Load && kind != event.Store:
		h.add(p, i, a)
		return
	case kind == event.Store:
		m = &w.store
	}
	if m.at > h.past {
		h.add(p, i, m.access(kind))
	}
	*m = a.mark()
}

// check compares an access a of c to the word n with an earlier one. They race, or b
// gives up what a covers of it.
func (c *goroutine) check(n uintptr, b, a *access) {
	if b.mask&a.mask == 0 {
		return
	}
	if b.slot != a.slot && b.at > c.vector.at(b.slot) {
		if (writes(a.kind) || writes(b.kind)) && !(atomically(a.kind) && atomically(b.kind)) {
			a.raced, b.raced = true, true
			s.raced(n, b, a)
		}
	} else if a.covers(b) {
		// Whatever races with b races with a.
		b.mask &^= a.mask
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

// covers reports whether every kind of access that conflicts with b conflicts with a.
func (a *access) covers(b *access) bool {
	if atomically(a.kind) && !atomically(b.kind) {
		return false
	}
	return writes(a.kind) || !writes(b.kind)
}

// raced takes note of a race at the word n, once for each pair of sites.
func (s *scheduler) raced(n uintptr, a, b *access) {
	for i := range s.result.Races {
		r := &s.result.Races[i]
		if r.First.Site == a.site && r.Second.Site == b.site || r.First.Site == b.site && r.Second.Site == a.site {
			return
		}
	}
	if len(s.result.Races) == maxRaces {
		return
	}
	s.result.Races = append(s.result.Races, Race{First: a.told(n), Second: b.told(n), Step: s.steps})
}

// maxRaces is how many races of one run are told apart.
const maxRaces = 1000

// told is what a Result says of an access to the word n.
func (a *access) told(n uintptr) Access {
	return Access{
		G: s.tenant(a.slot, a.at), Kind: a.kind, Site: a.site, Frame: a.frame,
		Addr: n*wordSize + uintptr(bits.TrailingZeros8(a.mask)), Size: uintptr(bits.OnesCount8(a.mask)),
	}
}
