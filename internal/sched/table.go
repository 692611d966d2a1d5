package sched

import "math/bits"

// A table is a map from words that is emptied in constant time, and keeps its memory:
// thousands of short runs a second each use it afresh. Values are not cleared when the
// table is, but zeroed when their word is asked for first.
type table[V any] struct {
	slots []slot[V] // a power of two; at most three quarters of them in use
	used  int
	now   uint32 // slots of another generation are free
}

type slot[V any] struct {
	word       word
	generation uint32
	value      V
}

func (t *table[V]) reset() {
	t.used = 0
	t.now++
	if t.now == 0 { // after 2^32 runs
		clear(t.slots)
		t.now = 1
	}
}

// at returns the value of w, which stays where it is until the next call of at.
func (t *table[V]) at(w word) *V {
	if 4*t.used >= 3*len(t.slots) {
		t.grow()
	}
	s := t.find(w)
	if s.generation != t.now {
		var zero V
		s.word, s.generation, s.value = w, t.now, zero
		t.used++
	}
	return &s.value
}

// find returns the slot of w, or the free one where it belongs.
func (t *table[V]) find(w word) *slot[V] {
	shift := 64 - uint(bits.TrailingZeros(uint(len(t.slots))))
	for i := uint64(w) * 0x9e3779b97f4a7c15 >> shift; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.generation != t.now || s.word == w {
			return s
		}
	}
}

func (t *table[V]) grow() {
	old := t.slots
	t.slots = make([]slot[V], max(64, 2*len(old)))
	if t.now == 0 {
		t.now = 1
	}
	for i := range old {
		if old[i].generation == t.now {
			*t.find(old[i].word) = old[i]
		}
	}
}
