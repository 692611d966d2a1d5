package race

import (
	"math/bits"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Detector finds the races of one run after the other.
type Detector struct {
	// Races are those of this run, each pair of sites once.
	Races []Race

	// Slots is how many slots are in use, or were, in this run.
	Slots uint32
	// Past is the last moment of all runs before. Moments of this run are later, so that
	// nothing has to be cleared between runs.
	Past uint32

	shadow   shadow
	slotEnds []slotEnd
	tenants  []tenant
}

// A Race is two accesses that nothing orders, at least one of which stores.
type Race struct {
	First, Second Access
}

// An Access is one of the two of a race.
type Access struct {
	G     uint32
	Kind  event.Kind
	Site  uint32
	Frame uint32
	Addr  uintptr
	Size  uintptr
}

// Begin gets ready for a run.
func (d *Detector) Begin() {
	d.Races = nil
	if d.Past > 1<<31 {
		d.Past, d.shadow = 0, shadow{}
	}
	d.shadow.begin()
	d.shadow.forgot = false
}

// Forgot reports whether accesses of the run were forgotten because it touched more memory than
// can be kept in mind: races with them were missed, if there were any.
func (d *Detector) Forgot() bool { return d.shadow.forgot }

// Forget forgets the accesses of the run so far: memory may have been freed, and given out again,
// with which they have nothing to do.
func (d *Detector) Forget() {
	d.shadow.forget()
}

// Ended takes note of how far a thread came in the run.
func (d *Detector) Ended(t *Thread) {
	d.Past = max(d.Past, t.now)
}

// End forgets the goroutines of the run.
func (d *Detector) End() {
	d.Slots, d.slotEnds, d.tenants = 0, nil, d.tenants[:0]
}

// A slotEnd is a slot whose goroutine has ended, and the last moment of that. The last access
// was at an earlier one, or at that, or there was none.
type slotEnd struct {
	slot    uint32
	at      uint32
	touched uint32
}

// TakeSlot gives goroutine g, the vector of whose thread is that of its creator, a slot of
// its own. It is one whose goroutine has ended, if the creator knows all that one accessed:
// of these it looks at some of the last and, because these may still be unknown, at some of
// the first.
func (d *Detector) TakeSlot(t *Thread, g uint32) {
	const look = 16
	n := len(d.slotEnds)
	for i := n - 1; i >= max(0, n-look); i-- {
		if d.takeEnded(t, g, i) {
			return
		}
	}
	for i := 0; i < min(look, n-look); i++ {
		if d.takeEnded(t, g, i) {
			return
		}
	}
	t.Slot, t.now = d.Slots, d.Past+1
	d.Slots++
	d.tenants = append(d.tenants, tenant{slot: t.Slot, from: t.now, g: g})
}

// takeEnded gives a thread the i-th slot whose goroutine has ended, if it can have it.
func (d *Detector) takeEnded(t *Thread, g uint32, i int) bool {
	e := d.slotEnds[i]
	if t.Vector.At(e.slot) < e.touched {
		return false
	}
	if i < len(d.slotEnds)/2 {
		d.slotEnds[i] = d.slotEnds[0]
		d.slotEnds = d.slotEnds[1:]
	} else {
		d.slotEnds = append(d.slotEnds[:i], d.slotEnds[i+1:]...)
	}
	t.Slot, t.now = e.slot, e.at+1
	d.tenants = append(d.tenants, tenant{slot: t.Slot, from: t.now, g: g})
	return true
}

// LeaveSlot says that the goroutine of a thread has ended.
func (d *Detector) LeaveSlot(t *Thread) {
	d.slotEnds = append(d.slotEnds, slotEnd{t.Slot, t.now, t.touched})
}

// A tenant is the goroutine that has a slot from a moment on.
type tenant struct {
	slot uint32
	from uint32
	g    uint32
}

// tenant returns the goroutine that had a slot at a moment of this run.
func (d *Detector) tenant(slot, at uint32) uint32 {
	for i := len(d.tenants) - 1; i >= 0; i-- {
		if o := &d.tenants[i]; o.slot == slot && o.from <= at {
			return o.g
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

// Touch checks an access of a thread against what was there before, and
// keeps it. The size is not 0.
//
// What is not usual is done apart. A program whose goroutines work on memory of their
// own, or hand it over, meets little but a load and a store that the thread's own take the
// place of, or a store that it comes after.
func (d *Detector) Touch(t *Thread, addr, size uintptr, kind event.Kind, site uint32) {
	t.touched = t.now
	n := addr / wordSize
	if (addr+size-1)/wordSize != n {
		d.touchWords(t, addr, size, kind, site)
		return
	}
	h := &d.shadow
	number := n / pageWords
	e := &h.recent[number%recentPages]
	p := e.page
	if e.number != number {
		p = h.page(number)
		e.number, e.page = number, p
	}
	mask := uint8(0xff>>((wordSize-size)%wordSize)) << (addr % wordSize)
	w, own := &p.words[n%pageWords], t.Slot<<slotShift|uint32(mask)
	if p.others[n%pageWords] == 0 && t.marks(kind) && (w.only(own, d.Past) || w.usual(t, kind, own, d.Past)) {
		w.set(t.Now(), t.Frame, kind, own, site)
	} else {
		d.touchShared(t, p, n, kind, mask, site)
	}
}

// marks reports whether accesses of the thread are kept as marks if they are of that kind.
func (t *Thread) marks(kind event.Kind) bool {
	return t.Slot < MarkedSlots && (kind == event.Load || kind == event.Store)
}

// touchWords is Touch for more than one word.
func (d *Detector) touchWords(t *Thread, addr, size uintptr, kind event.Kind, site uint32) {
	for size > 0 {
		part := min(size, wordSize-addr%wordSize)
		if part == wordSize && t.marks(kind) {
			part = d.touchPage(t, addr, size, kind, site)
		} else {
			d.Touch(t, addr, part, kind, site)
		}
		addr += part
		size -= part
	}
}

// touchPage is Touch for the whole words from addr on that are on the same page. It
// returns how many bytes those are.
func (d *Detector) touchPage(t *Thread, addr, size uintptr, kind event.Kind, site uint32) uintptr {
	n, past := addr/wordSize, d.Past
	p := d.shadow.page(n / pageWords)
	own, at, frame := t.Slot<<slotShift|0xff, t.Now(), t.Frame
	first := n % pageWords
	end := min(first+size/wordSize, pageWords)
	for i := first; i < end; i++ {
		if w := &p.words[i]; p.others[i] == 0 && (w.only(own, past) || w.usual(t, kind, own, past)) {
			w.set(at, frame, kind, own, site)
		} else {
			d.touchShared(t, p, n-first+i, kind, 0xff, site)
		}
	}
	return (end - first) * wordSize
}

// touchShared is Touch for the word n, on p, which may have been touched in any way.
func (d *Detector) touchShared(t *Thread, p *page, n uintptr, kind event.Kind, mask uint8, site uint32) {
	h := &d.shadow
	if h.full() {
		h.forget()
		h.forgot = true
		p = h.page(n / pageWords)
	}
	i := n % pageWords
	w := &p.words[i]
	a := access{slot: t.Slot, at: t.Now(), site: site, frame: t.Frame, kind: kind, mask: mask}
	r := &t.readings[n%readings]
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
	if w.load.at > d.Past {
		b := w.load.access(event.Load)
		d.check(t, n, &b, &a)
		w.load = b.mark()
	}
	if w.store.at > d.Past {
		b := w.store.access(event.Store)
		d.check(t, n, &b, &a)
		w.store = b.mark()
	}
	if at := p.others[i]; at != 0 {
		d.checkLists(t, n, &h.lists[at], &a)
		h.release(p, i)
	}
	m := &w.load
	switch {
	case a.slot >= MarkedSlots || kind != event.Load && kind != event.Store:
		h.add(p, i, a)
		return
	case kind == event.Store:
		m = &w.store
	}
	if m.at > d.Past {
		h.add(p, i, m.access(kind))
	}
	*m = a.mark()
}

// checkLists compares an access a of a thread to the word n with those in lists.
func (d *Detector) checkLists(t *Thread, n uintptr, l *lists, a *access) {
	d.checkList(t, n, &l.writers, a)
	if !writes(a.kind) && l.reading < l.doubled {
		return
	}
	l.reading -= d.checkList(t, n, &l.readers, a)
	l.doubled = max(fewReaders, 2*l.reading)
}

// checkList compares an access with those of a list, and returns how many of them are left out
// because of it.
func (d *Detector) checkList(t *Thread, n uintptr, link *uint32, a *access) (gone uint32) {
	h := &d.shadow
	for *link != 0 {
		at := *link
		b := &h.others[at]
		if d.check(t, n, b, a); b.mask != 0 {
			link = &b.next
			continue
		}
		*link = b.next
		b.next = h.free
		h.free = at
		gone++
	}
	return gone
}

// check compares an access a of a thread to the word n with an earlier one. They race, or b
// gives up what a covers of it.
func (d *Detector) check(t *Thread, n uintptr, b, a *access) {
	if b.mask&a.mask == 0 {
		return
	}
	if b.slot != a.slot && b.at > t.Vector.At(b.slot) {
		if (writes(a.kind) || writes(b.kind)) && !(atomically(a.kind) && atomically(b.kind)) {
			a.raced, b.raced = true, true
			d.raced(n, b, a)
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
func (d *Detector) raced(n uintptr, a, b *access) {
	for i := range d.Races {
		r := &d.Races[i]
		if r.First.Site == a.site && r.Second.Site == b.site || r.First.Site == b.site && r.Second.Site == a.site {
			return
		}
	}
	if len(d.Races) == maxRaces {
		return
	}
	d.Races = append(d.Races, Race{First: d.told(a, n), Second: d.told(b, n)})
}

// maxRaces is how many races of one run are told apart.
const maxRaces = 1000

// told is what is said of an access to the word n.
func (d *Detector) told(a *access, n uintptr) Access {
	return Access{
		G: d.tenant(a.slot, a.at), Kind: a.kind, Site: a.site, Frame: a.frame,
		Addr: n*wordSize + uintptr(bits.TrailingZeros8(a.mask)), Size: uintptr(bits.OnesCount8(a.mask)),
	}
}
