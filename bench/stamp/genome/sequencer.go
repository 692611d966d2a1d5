package genome

import (
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/stamp/container"
	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
)

// A sequencer is the state of a run.
type sequencer struct {
	*Input
	unique *container.Map[string, struct{}] // filled in phase 1
	links  []*link                          // filled in phase 2

	// starts has the links by the hash of their first letters: starts[n] by that of
	// the first n. Filled in phase 2, looked at in phase 3.
	starts []*container.Map[uint64, *link]

	// ends has for each goroutine the links that end a chain and whose successor it
	// is to find.
	ends [][]*link
}

// A link is a segment in its place in a chain.
type link struct {
	segment string // never changes

	previous *link // nil for the first of a chain
	next     *link // nil for the last of a chain
	overlap  int   // letters shared with next

	last   *link // of the chain; kept up to date in its first link alone
	length int   // letters of the chain; the same
	first  *link // of the chain; kept up to date in its last link alone
}

func newLink(segment string) *link {
	l := &link{segment: segment, length: len(segment)}
	l.first, l.last = l, l
	return l
}

// chunk is the number of segments that one transaction of phase 1 inserts.
const chunk = 12

// prepare makes the state of a run. The set has as many buckets as it can have
// elements, or nearly so.
func (in *Input) prepare(goroutines int) *sequencer {
	return &sequencer{
		Input:  in,
		unique: container.NewMap[string, struct{}](len(in.gene), hash),
		ends:   make([][]*link, goroutines),
	}
}

// index makes what phase 2 fills.
func (s *sequencer) index() {
	n := 0
	for i := range s.unique.Buckets() {
		for range s.unique.Bucket(i) {
			n++
		}
	}
	s.links = make([]*link, n)
	s.starts = make([]*container.Map[uint64, *link], s.segment)
	for overlap := 1; overlap < s.segment; overlap++ {
		s.starts[overlap] = container.NewMap[uint64, *link](n, func(h uint64) uint64 { return h })
	}
}

// share gives each goroutine the ends that it is to find successors for: at first,
// each link is one.
func (s *sequencer) share() {
	for member := range s.ends {
		first, last := team.Share(len(s.links), member, len(s.ends))
		s.ends[member] = append([]*link(nil), s.links[first:last]...)
	}
}

// build reads the chains, of which there is one if every segment was matched.
func (s *sequencer) build() *Result {
	length := 0
	for _, first := range s.links {
		if first.previous == nil {
			length += first.length
		}
	}
	var sequence strings.Builder
	sequence.Grow(length)
	for _, first := range s.links {
		if first.previous != nil {
			continue
		}
		overlap := 0
		for l := first; l != nil; l = l.next {
			sequence.WriteString(l.segment[overlap:])
			overlap = l.overlap
		}
	}
	return &Result{Sequence: sequence.String(), Unique: len(s.links)}
}

// hash returns the hash of some letters.
func hash(letters string) uint64 {
	h := uint64(0)
	for i := range len(letters) {
		h = extend(h, letters[i])
	}
	return h
}

// extend returns the hash of letters with one more.
func extend(h uint64, letter byte) uint64 { return h*65599 + uint64(letter) }
