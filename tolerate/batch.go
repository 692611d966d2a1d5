package tolerate

// Room is how many elements a straight section has copies of at a time, in each of its batches. They are looked for one after the
// other, and lie in the stack frame of the section, so they have to be few.
const Room = 8

// A Batch is the copies that a straight section has of memory whose addresses it finds on its way: elements of slices, fields of
// nodes. A copy is taken when the section first uses the address, and is what the section uses from then on.
//
//	x.mu.Lock()         x.mu.Lock(); var s tolerate.Batch[int]
//	x.list[i]++         if s.N > 7 { put(&s) }; (*s.Of(&x.list[i]))++
//	x.mu.Unlock()       put(&s); x.mu.Unlock()
//
// What is published, and how, is written out, as it is for variables: see [Label]. N is 0 afterwards. A pointer that Of returns is
// good until then; so a statement for which there is not enough room finds all published before it, and never in its midst.
type Batch[T any] struct {
	N           int
	At          [Room]*T
	Own, Before [Room]T
}

// Of returns the copy of what is at an address, which must not be nil. It is for values that are loaded by one instruction.
func (b *Batch[T]) Of(p *T) *T {
	for i := range b.N {
		if b.At[i] == p {
			return &b.Own[i]
		}
	}
	return b.add(p, *p)
}

// OfWide is [Batch.Of] for values of several words: a section does not begin with half of a careless write, as far as looking
// twice can tell.
func (b *Batch[T]) OfWide(p *T) *T {
	for i := range b.N {
		if b.At[i] == p {
			return &b.Own[i]
		}
	}
	return b.add(p, Take(p))
}

func (b *Batch[T]) add(p *T, v T) *T {
	i := b.N
	b.At[i], b.Own[i], b.Before[i] = p, v, v
	b.N++
	return &b.Own[i]
}

// Crowded counts that a section publishes a batch because there is no room for what it uses next. What it has published is open to
// careless code until it is used again.
func Crowded() { counters.crowded.Add(1) }
