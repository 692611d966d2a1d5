// Package race knows what happened before what in a run, and finds accesses that nothing
// orders: happens-before as in FastTrack (Flanagan and Freund, PLDI 2009), but exact for
// every byte and for accesses of package sync/atomic.
//
// # Terms
//
// A vector clock (Vector) says for every slot up to which of its moments everything has
// happened before. A goroutine has a slot, in which its own time passes whenever it
// releases something; its Thread has both. An access is known by the slot and the moment it
// was made at: it happened before what a thread does now if the thread's vector has come
// past that moment.
//
// A slot is used again for a new goroutine if all that its former owner did happened
// before the go statement; then nothing can be mistaken for another, and programs that
// start goroutines in waves need few slots.
//
// Where goroutines are not ordered each needs a slot, and there may be as many as a program
// starts. The first slots of a vector are an array, which is all that most programs ever
// need; the others are a tree whose parts are shared by the vectors that agree on them, so
// that a goroutine that learns of ten thousand others by one lock costs the memory of a few
// and not of ten thousand. A thread's own time is not in its vector: it would have to be
// taken out of what is shared at every release.
//
//	vector.go    vector clocks
//	thread.go    threads
//	detector.go  slots, and an access held against those before it
//	shadow.go    the accesses that a later one may race with, by word of memory
//
// The package is part of instrumented programs, below package sync. It knows nothing of
// schedulers: package rt says which thread releases what to which, and what it touches.
package race

// A Vector is a vector clock. Slots of which nothing is known are at 0.
type Vector struct {
	low  []uint32  // the first slots, at most lowSlots
	high []*branch // the others
	// joined are the branches that were added last, by their place, and did not become parts
	// of the vector. What is in them is in it: of many goroutines that release the same thing
	// each knows of the others nearly what the one before did.
	joined []*branch
}

const (
	lowSlots     = 128
	leafSlots    = 64
	branchLeaves = 32
	branchSlots  = leafSlots * branchLeaves
)

// A branch is a part of vectors, and so is a leaf. One that is shared by several is not
// changed any more.
type branch struct {
	leaves [branchLeaves]*leaf
	shared bool
}

type leaf struct {
	at     [leafSlots]uint32
	shared bool
}

// Reset makes nothing known.
func (v *Vector) Reset() {
	v.low = v.low[:0]
	clear(v.high)
	v.high = v.high[:0]
	v.forgetJoined()
}

func (v *Vector) forgetJoined() {
	clear(v.joined)
	v.joined = v.joined[:0]
}

// At returns up to which moment of a slot all has happened before.
func (v *Vector) At(slot uint32) uint32 {
	if int(slot) < len(v.low) {
		return v.low[slot]
	}
	return v.highAt(slot)
}

func (v *Vector) highAt(slot uint32) uint32 {
	n := int(slot) - lowSlots
	if n < 0 || n/branchSlots >= len(v.high) {
		return 0
	}
	if b := v.high[n/branchSlots]; b != nil {
		if l := b.leaves[n%branchSlots/leafSlots]; l != nil {
			return l.at[n%leafSlots]
		}
	}
	return 0
}

// Set makes v know what w does, and nothing else.
func (v *Vector) Set(w *Vector) {
	if v == w {
		return
	}
	v.low = append(v.low[:0], w.low...)
	if len(v.high)+len(w.high) == 0 {
		return
	}
	clear(v.high)
	v.forgetJoined()
	v.high = append(v.high[:0], w.high...)
	for _, b := range v.high {
		if b != nil {
			b.shared = true
		}
	}
}

// Join adds what w knows.
func (v *Vector) Join(w *Vector) {
	low := w.low
	if n := len(v.low); len(low) > n {
		v.low = append(v.low, low[n:]...)
		low = low[:n]
	}
	for i, at := range low {
		if at > v.low[i] {
			v.low[i] = at
		}
	}
	if len(w.high) > 0 {
		v.joinHigh(w.high)
	}
}

func (v *Vector) joinHigh(high []*branch) {
	for len(v.high) < len(high) {
		v.high = append(v.high, nil)
	}
	for i, b := range high {
		switch {
		case b == nil || b == v.high[i]:
		case v.high[i] == nil:
			b.shared = true
			v.high[i] = b
		case i < len(v.joined) && v.joined[i] == b:
		default:
			v.joinBranch(i, b)
			b.shared = true // so that it stays what it is
			for i >= len(v.joined) {
				v.joined = append(v.joined, nil)
			}
			v.joined[i] = b
		}
	}
}

// joinBranch adds what is in b to v's i-th branch.
func (v *Vector) joinBranch(i int, b *branch) {
	for j, l := range b.leaves {
		mine := v.high[i].leaves[j]
		if l == nil || l == mine {
			continue
		}
		if mine == nil || mine.within(l) {
			l.shared = true
			v.ownBranch(i).leaves[j] = l
		} else if !l.within(mine) {
			mine = v.ownLeaf(i, j)
			for k, at := range l.at {
				mine.at[k] = max(mine.at[k], at)
			}
		}
	}
}

// within reports whether all that is in l is in m.
func (l *leaf) within(m *leaf) bool {
	for i, at := range l.at {
		if at > m.at[i] {
			return false
		}
	}
	return true
}

// Raise adds that all has happened before up to a moment of a slot.
func (v *Vector) Raise(slot, at uint32) {
	if slot >= lowSlots {
		v.raiseHigh(int(slot-lowSlots), at)
		return
	}
	for int(slot) >= len(v.low) {
		v.low = append(v.low, 0)
	}
	v.low[slot] = max(v.low[slot], at)
}

func (v *Vector) raiseHigh(n int, at uint32) {
	for n/branchSlots >= len(v.high) {
		v.high = append(v.high, nil)
	}
	if l := v.ownLeaf(n/branchSlots, n%branchSlots/leafSlots); l.at[n%leafSlots] < at {
		l.at[n%leafSlots] = at
	}
}

// ownBranch returns the i-th branch, which only v has then.
func (v *Vector) ownBranch(i int) *branch {
	b := v.high[i]
	switch {
	case b == nil:
		b = new(branch)
	case b.shared:
		b = &branch{leaves: b.leaves}
		for _, l := range b.leaves {
			if l != nil {
				l.shared = true
			}
		}
	}
	v.high[i] = b
	return b
}

// ownLeaf returns the j-th leaf of the i-th branch, which only v has then.
func (v *Vector) ownLeaf(i, j int) *leaf {
	b := v.ownBranch(i)
	l := b.leaves[j]
	switch {
	case l == nil:
		l = new(leaf)
	case l.shared:
		l = &leaf{at: l.at}
	}
	b.leaves[j] = l
	return l
}
