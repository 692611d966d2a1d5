package tolerate

// Room is how many elements a straight section has copies of at a time, in each of its batches, if it goes
// through them in a loop. They are looked for one after the other, and lie in the stack frame of the section,
// zeroed, so they have to be few.
const Room = 8

// Rooms are arrays for as many things as a section can need: without a loop these are as many as it has
// expressions for them, and never more than Room.
type Rooms[T any] interface {
	[1]T | [2]T | [3]T | [4]T | [5]T | [6]T | [7]T | [8]T
}

// A Batch is the copies that a straight section has of memory whose addresses it finds on its way: elements
// of slices, fields of nodes. A copy is taken when the section first uses the address, and is what the
// section uses from then on.
//
//	x.mu.Lock()         x.mu.Lock(); var s tolerate.Batch[int, [8]*int, [8]int]
//	x.list[i]++         if s.N > 7 { put(&s) }; (*s.Of(&x.list[i]))++
//	x.mu.Unlock()       put(&s); x.mu.Unlock()
//
// What is published, and how, is written out, as it is for variables: see [Label]. N is 0 afterwards. A
// pointer that Of returns is good until then; so a statement for which there is not enough room finds all
// published before it, and never in its midst.
type Batch[T any, At Rooms[*T], Own Rooms[T]] struct {
	N           int
	At          At
	Own, Before Own
}

// Of returns the copy of what is at an address, which must not be nil. It is for values that variables in
// straight sections are assigned from, and small enough to be inlined. What was used last is looked at first.
func (b *Batch[T, At, Own]) Of(p *T) *T {
	for i := b.N - 1; i >= 0; i-- {
		if b.At[i] == p {
			return &b.Own[i]
		}
	}
	i, v := b.N, *p
	b.At[i], b.Own[i], b.Before[i] = p, v, v
	b.N++
	return &b.Own[i]
}

// OfWide is [Batch.Of] for values that [Take] is for.
func (b *Batch[T, At, Own]) OfWide(p *T) *T {
	for i := b.N - 1; i >= 0; i-- {
		if b.At[i] == p {
			return &b.Own[i]
		}
	}
	i, v := b.N, Take(p)
	b.At[i], b.Own[i], b.Before[i] = p, v, v
	b.N++
	return &b.Own[i]
}

// Crowded counts that a section publishes a batch because there is no room for what it uses next. What it has
// published is open to careless code until it is used again.
func Crowded() { counters.crowded.Add(1) }
