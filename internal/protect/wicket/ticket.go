package wicket

import (
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A Section is one on nodes: see [Stamp]. It is a local variable of the function that takes the lock, and its zero value is
// no section. What it stamps nodes with is its ticket: the slot that it has for the time in which it runs, and the slot's
// generation.
type Section struct {
	ticket uint64 // 0: it does not stamp
	tag    uint64 // the part of the ticket that is beside the uses of a node
	slot   *slot  // nil: it has none
	left   *slot  // the one that it had
	shared *Readers

	gaveWay bool // to an access that waits: once is fair
}

// A slot has what accesses have to know of a section: nodes do not refer to it, but to the number of the slot.
type slot struct {
	_       [0]atomic.Uint64
	word    uint64 // the generation, and the state in the lowest bits
	holder  uint64 // the g in the section, or readersHold; 0: the slot is free
	wanters uint32 // accesses that wait for the section
	site    uint32 // the lower half of the return address of what began it
	// passedOver is how many sections would have this slot had it been free, and have another one. A search for the
	// section of a goroutine ends where there is none.
	passedOver uint32
	probes     uint32 // how many slots the section has passed over
	taker      uint64 // the g that has taken the slot, by which these are known
	number     uint32 // of the slot
	_          [20]byte
}

// slots are all there are. A goroutine in a section waits for nothing, mostly, so there are few at a time; sections that
// find none are not protected, which is told.
var slots [1 << slotBits]slot

const (
	slotBits   = 14
	slotNumber = 1<<slotBits - 1
	stateBits  = 2

	// readersHold stands for the goroutines that share a slot. No g has this address.
	readersHold = 1
	// mostProbes is how many slots a section tries.
	mostProbes = 64
	// firstSlots is how many slots are tried first, as a power of two: few, so that they stay in the cache.
	firstSlots = 6
)

// unticketed counts the sections that have found no slot.
var unticketed atomic.Uint64

// probe returns the slot that a section of a goroutine tries after some others.
func probe(g uint64, i uint32) (at *slot, number uint32) {
	const golden = 0x9e3779b97f4a7c15
	h := (g>>4 + uint64(i)*0x632be59bd9b4e019) * golden
	n := h >> (64 - min(firstSlots+i/2, slotBits))
	return &slots[n], uint32(n)
}

// ticketOf returns the ticket of a section that is running in the slot, 0 if none is.
func (s *slot) ticketOf(word uint64) uint64 {
	if word&state == 0 {
		return 0
	}
	return word>>stateBits<<slotBits | uint64(s.number)
}

// tagOf returns what of a ticket stands beside the uses of a node.
func tagOf(ticket uint64) uint64 { return ticket * 0xd6e8feb86659fd93 & tags }

// Lock begins a section that may write. The calling goroutine has the lock. Lock is not inlined: its return address is
// the section's site.
//
//go:noinline
func (s *Section) Lock() {
	if raceBuild {
		return
	}
	g, site := page.Here()
	at, number := probe(uint64(g), 0)
	if atomic.LoadUint64(&at.holder) != 0 || !atomic.CompareAndSwapUint64(&at.holder, 0, uint64(g)) {
		if at = takeLater(uint64(g), uint64(g)); at == nil {
			return
		}
		number = at.number
	}
	at.number, at.site = number, uint32(site)
	s.slot = at
	s.begin()
}

// takeLater takes another slot than the first, nil if none is found.
//
//go:noinline
func takeLater(g, holder uint64) *slot {
	for i := range uint32(mostProbes) {
		at, number := probe(g, i)
		if atomic.LoadUint64(&at.holder) == 0 && atomic.CompareAndSwapUint64(&at.holder, 0, holder) {
			at.number, at.probes, at.taker = number, i, g
			return at
		}
		atomic.AddUint32(&at.passedOver, 1)
	}
	passOver(g, mostProbes, ^uint32(0))
	unticketed.Add(1)
	return nil
}

// passOver changes how many sections have passed over the first slots of a goroutine.
func passOver(g uint64, probes, by uint32) {
	for i := range probes {
		at, _ := probe(g, i)
		atomic.AddUint32(&at.passedOver, by)
	}
}

// begin begins a generation of the slot that the section has.
func (s *Section) begin() {
	word := s.slot.word&^uint64(state) + 1<<stateBits | held
	storeRelease(&s.slot.word, word)
	s.use(s.slot.ticketOf(word))
	s.gaveWay = false
}

// use has the section stamp nodes with a ticket.
func (s *Section) use(ticket uint64) { s.ticket, s.tag = ticket, tagOf(ticket) }

// free gives the slot of a section back that has ended.
func (s *slot) free() {
	if probes := s.probes; probes > 0 {
		s.probes = 0
		passOver(s.taker, probes, ^uint32(0))
	}
	storeRelease(&s.holder, 0)
}

// Leave ends the section. The caller is about to release the lock, by a locked instruction, and calls Wake when that is
// done.
func (s *Section) Leave() {
	at := s.slot
	if at == nil {
		return
	}
	storeRelease(&at.word, at.word&^uint64(state))
	at.free()
	s.use(0)
	s.slot, s.left = nil, at
}

// Wake lets the accesses pass that waited for the section which Leave has ended.
func (s *Section) Wake() {
	if s.left != nil && atomic.LoadUint32(&s.left.wanters) != 0 {
		waiting.wake(&s.left.wanters)
	}
}

// Unlock ends the section, or interrupts it for code that waits, or that may hand nodes to another goroutine: these are stamped no
// more. The slot is given back, because it is not known whether the section goes on: the code may panic, or be the function's last.
func (s *Section) Unlock() {
	at := s.slot
	if at == nil {
		return
	}
	s.use(0)
	s.slot = nil
	at.end()
}

func (s *slot) wake() {
	if atomic.LoadUint32(&s.wanters) != 0 {
		waiting.wake(&s.wanters)
	}
}

// Relent says that the section goes on with code that may wait for another goroutine, which may need an access for what
// it does. The nodes stay stamped.
func (s *Section) Relent() {
	if s.slot == nil {
		return
	}
	atomic.StoreUint64(&s.slot.word, s.slot.word&^uint64(state)|relents)
	s.slot.wake()
}

// Resume goes on with the section after [Section.Relent], or after Unlock, or begins the next one. If an access has passed, the
// nodes that the section has used are stamped no more. Resume is not inlined, as Lock.
//
//go:noinline
func (s *Section) Resume() {
	if raceBuild {
		return
	}
	if s.slot == nil {
		g, site := page.Here()
		if s.slot = takeLater(uint64(g), uint64(g)); s.slot != nil {
			s.slot.site = uint32(site)
			s.begin()
		}
		return
	}
	word := atomic.LoadUint64(&s.slot.word)
	if word&state == relents && atomic.CompareAndSwapUint64(&s.slot.word, word, word&^uint64(state)|held) {
		return
	}
	s.begin()
}

// LeaveMine is Unlock: a section that has ended has no slot.
func (s *Section) LeaveMine() { s.Unlock() }

// sectionOf returns the section that a goroutine is in, nil if it is in none, or if all that it is in relent: code that such a
// section calls may hand nodes to another goroutine.
func sectionOf(g uint64) *slot {
	for i := range uint32(mostProbes) {
		at, _ := probe(g, i)
		if atomic.LoadUint64(&at.holder) == g && atomic.LoadUint64(&at.word)&state == held {
			return at
		}
		if atomic.LoadUint32(&at.passedOver) == 0 {
			break
		}
	}
	return nil
}

// Readers are the sections that share a lock, and with it a ticket: a node has one stamp.
type Readers struct {
	word atomic.Uint64 // how many there are, and the number of their slot
}

const (
	readersOf  = 1<<32 - 1
	numberFrom = 32
)

// RLock begins a section that only reads.
//
//go:noinline
func (s *Section) RLock(shared *Readers) {
	if raceBuild {
		return
	}
	g, site := page.Here()
	var fresh *slot
	for {
		word := shared.word.Load()
		next := word + 1
		if word&readersOf == 0 {
			if fresh == nil {
				if fresh = takeLater(uint64(g), readersHold); fresh == nil {
					return
				}
				fresh.site = uint32(site)
			}
			next = uint64(fresh.number)<<numberFrom | 1
			s.slot = fresh
			s.begin()
		}
		if shared.word.CompareAndSwap(word, next) {
			s.join(shared, &slots[next>>numberFrom], fresh)
			return
		}
	}
}

// join has a section share a slot. It has taken another one if that was not needed.
func (s *Section) join(shared *Readers, at, fresh *slot) {
	if fresh != nil && fresh != at {
		storeRelease(&fresh.word, fresh.word&^uint64(state))
		fresh.free()
	}
	s.slot, s.shared, s.gaveWay = nil, shared, false
	s.use(at.ticketOf(atomic.LoadUint64(&at.word)))
}

// RUnlock ends a section that RLock began.
func (s *Section) RUnlock() {
	shared := s.shared
	if shared == nil {
		return
	}
	s.use(0)
	s.shared = nil
	for {
		word := shared.word.Load()
		next := word - 1
		if next&readersOf == 0 {
			next = 0
		}
		if shared.word.CompareAndSwap(word, next) {
			if next == 0 {
				slots[word>>numberFrom].end()
			}
			return
		}
	}
}

// end ends the section in a slot that does not release its lock at once, and gives the slot back.
func (s *slot) end() {
	atomic.StoreUint64(&s.word, s.word&^uint64(state))
	s.wake()
	s.free()
}
