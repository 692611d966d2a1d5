// Package disturbed finds, in the accesses of a run, operations that came into each other: one of them accessed memory
// between two accesses of the other to it, and one of the two writes. That is so in many correct programs. It is where a
// section may be missing if the run has failed and nothing else tells where.
//
// [Pairs] are such operations with the accesses that show it. An operation may be a large one, of which a call was
// disturbed, in one variable:
//
//	func (s *Shop) ServeHTTP(w, r) {
//		ok := s.Take(r.Item)              reads the stock, and writes it
//		answer(w, ok, s.Hits())           reads a counter
//	}
//
// [Words] and [OnWord] narrow what is found to single words of memory, [Innermost] to the calls inside of an operation
// between whose own accesses the other came.
//
//	disturbed.go   operations, and pairs of them
//	narrow.go      the calls and words that show it by themselves
package disturbed

import (
	"cmp"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// An Operation is a call that test code, or a goroutine's start, makes of the program's own code.
type Operation struct {
	Goroutine uint32
	Touches   []Touch
}

// overlaps reports whether one of two operations began before the other had ended. In a long run most
// pairs did not, and none of them came between accesses of the other.
func (o *Operation) overlaps(other *Operation) bool {
	return o.Touches[0].Seq < other.Touches[len(other.Touches)-1].Seq && other.Touches[0].Seq < o.Touches[len(o.Touches)-1].Seq
}

// A Touch is an access that an operation makes.
type Touch struct {
	Seq   uint64
	Word  uint64 // of memory
	Write bool
	Site  uint32
	Calls []trace.Frame // in progress, from the operation to the function that makes it
}

// touchesOfWord is how many accesses to a word, the last, are compared with each other.
const touchesOfWord = 64

// A Pair is two operations of which one came between accesses of the other to memory that one of
// them writes: the accesses of both to such memory.
type Pair [2][]Touch

// is reports whether these accesses are of operations that came into each other.
func (d Pair) is() bool { return comesBetween(d[0], d[1]) || comesBetween(d[1], d[0]) }

// Pairs are the pairs of operations that came into each other.
func Pairs(all []*Operation) []Pair {
	type at struct {
		operation *Operation
		touch     Touch
	}
	byWord := make(map[uint64][]at)
	for _, o := range all {
		for _, t := range o.Touches {
			byWord[t.Word] = append(byWord[t.Word], at{o, t})
		}
	}
	common := make(map[[2]*Operation]*Pair)
	var order []*Pair
	index := make(map[*Operation]int)
	for i, o := range all {
		index[o] = i
	}
	for _, o := range all { // in the order of the run
		for _, t := range o.Touches {
			others := byWord[t.Word]
			for _, x := range others[max(0, len(others)-touchesOfWord):] {
				if x.operation.Goroutine == o.Goroutine || !t.Write && !x.touch.Write || !o.overlaps(x.operation) || index[x.operation] < index[o] {
					continue
				}
				key := [2]*Operation{o, x.operation}
				if common[key] == nil {
					common[key] = new(Pair)
					order = append(order, common[key])
				}
				common[key][0], common[key][1] = append(common[key][0], t), append(common[key][1], x.touch)
			}
		}
	}
	var pairs []Pair
	for _, pair := range order {
		if pair.is() {
			pairs = append(pairs, *pair)
		}
	}
	return pairs
}

// comesBetween reports whether one of some accesses came between two of others.
func comesBetween(some, others []Touch) bool {
	if len(others) == 0 {
		return false
	}
	bySeq := func(a, b Touch) int { return cmp.Compare(a.Seq, b.Seq) }
	first, last := slices.MinFunc(others, bySeq).Seq, slices.MaxFunc(others, bySeq).Seq
	return slices.ContainsFunc(some, func(t Touch) bool { return first < t.Seq && t.Seq < last })
}
