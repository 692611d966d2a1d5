package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// Pairs are the pairs of conflicting operations that runs have shown: one goroutine did
// something to a word, and the next to do something there that depends on it was another
// goroutine. A pair is two sites in their order, so that the same two sites in the other
// order are another pair: of a race of interest both have been seen, or one schedule still has
// to be found.
//
// Only neighbours are pairs, and of the readings between two changes only the last: that is
// enough to tell whether runs still show something new, and costs a few words for each step.
// Calls of the standard library are left out, because their numbers are others in each process.
type Pairs struct {
	words table[neighbours]
	seen  pairSet
	fresh []uint64
}

// neighbours are the operations on a word that the next one may depend on.
type neighbours struct{ change, read visitor }

// A visitor is an operation by its goroutine and its site.
type visitor struct{ g, site uint32 }

// begin begins a run.
func (p *Pairs) begin() { p.words.reset() }

// step takes note of an operation.
func (p *Pairs) step(g uint32, op *event.Op) {
	from, to := span(op)
	if to != from+1 || op.Site == 0 || op.Site >= event.CallSites {
		return
	}
	n, now := p.words.at(from), visitor{g, op.Site}
	p.pair(n.change, now)
	if classOf(op.Kind) == reads {
		n.read = now
		return
	}
	p.pair(n.read, now)
	n.change, n.read = now, visitor{}
}

// pair takes note of two operations that follow each other.
func (p *Pairs) pair(before, now visitor) {
	if before.site == 0 || before.g == now.g {
		return
	}
	if key := uint64(before.site)<<32 | uint64(now.site); p.seen.add(key) {
		p.fresh = append(p.fresh, key)
	}
}

// Fresh returns the pairs that were not returned before: the first site in the upper half, the
// second in the lower.
func (p *Pairs) Fresh() []uint64 {
	fresh := p.fresh
	p.fresh = nil
	return fresh
}

// A pairSet is a set of numbers that are not 0.
type pairSet struct {
	slots []uint64 // a power of two; at most half of them in use
	used  int
}

// add adds a number, and reports whether it is new.
func (s *pairSet) add(key uint64) bool {
	if 2*s.used >= len(s.slots) {
		old := s.slots
		s.slots, s.used = make([]uint64, max(256, 2*len(old))), 0
		for _, k := range old {
			if k != 0 {
				s.add(k)
			}
		}
	}
	for i := mix(key); ; i++ {
		switch slot := &s.slots[i&uint64(len(s.slots)-1)]; *slot {
		case key:
			return false
		case 0:
			*slot = key
			s.used++
			return true
		}
	}
}
