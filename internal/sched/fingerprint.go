package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// A fingerprint is a hash of the happens-before relation of a run.
//
// The hash of a step is made of what it is and of the hashes of the steps that it
// directly depends on: the goroutine's own one before, and the last ones on the same
// words. The fingerprint is the sum of all of them, so that the order of independent
// steps is not in it. Addresses are not in it either, since they differ from run to run.
type fingerprint struct {
	sum  uint64
	own  []uint64 // by goroutine: the hash of its last step
	wide uint64   // the hash of the last step that depends on everything
	// since is the sum of all steps after that one.
	since uint64
	words table[history]
}

// A history is what was done to a word: the hash of the last change, and for each class
// the sum of the hashes of the steps since. (The sum, since they commute.)
type history struct {
	change uint64
	since  [classes]uint64
}

func newFingerprint() *fingerprint { return &fingerprint{} }

func (f *fingerprint) begin() {
	f.sum, f.wide, f.since = 0, 0, 0
	clear(f.own)
	f.words.reset()
}

func (f *fingerprint) goroutine(g uint32) *uint64 {
	for int(g) >= len(f.own) {
		f.own = append(f.own, 0)
	}
	return &f.own[g]
}

// maxSpan is how many words of one operation are looked at: a fingerprint need not be
// exact for operations on whole arrays.
const maxSpan = 64

func (f *fingerprint) step(g uint32, op *event.Op) {
	own := f.goroutine(g)
	h := mix(*own + uint64(g)<<32 + uint64(op.Site)<<8 + uint64(op.Kind))
	h = mix(h ^ f.wide)
	if wide(op) {
		h = mix(h + f.since)
		f.wide, f.since = h, 0
	}
	from, to := span(op)
	c := classOf(op.Kind)
	also := aside(op)
	if to == from+1 && also[0].word == noWord {
		// One word, as nearly all steps are on.
		word := f.words.at(from)
		h = mix(h + word.before(c))
		word.enter(c, h)
	} else {
		h = f.enterAll(from, min(to, from+maxSpan), c, also, h)
	}
	*own = h
	f.sum += h
	f.since += h
}

// enterAll enters a step on several words, and returns its hash, which is h up to there.
func (f *fingerprint) enterAll(from, to word, c class, also [2]touched, h uint64) uint64 {
	// Two passes: the hash must be complete before it is entered.
	for w := from; w < to; w++ {
		h = mix(h + f.words.at(w).before(c))
	}
	for _, a := range also {
		if a.word != noWord {
			h = mix(h + f.words.at(a.word).before(a.class))
		}
	}
	for w := from; w < to; w++ {
		f.words.at(w).enter(c, h)
	}
	for _, a := range also {
		if a.word != noWord {
			f.words.at(a.word).enter(a.class, h)
		}
	}
	return h
}

// branch enters the choice i of g.
func (f *fingerprint) branch(g uint32, i int) {
	own := f.goroutine(g)
	*own = mix(*own + uint64(i) + 1)
	f.sum += *own
}

// before returns a hash of what a step of class c depends on. What it is added to is mixed, so
// that the sums need only be told apart here.
func (h *history) before(c class) uint64 {
	x := h.change
	for d, sum := range h.since {
		if dependent(c, class(d)) {
			x += sum * classFactors[d]
		}
	}
	return x
}

// classFactors are odd numbers without a pattern, one for each class.
var classFactors = [classes]uint64{0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93}

func (h *history) enter(c class, hash uint64) {
	if c == changes {
		*h = history{change: hash}
		return
	}
	h.since[c] += hash
}
