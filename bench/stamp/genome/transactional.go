package genome

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
	"github.com/cofferdam-go/cofferdam/stm"
)

// Transactional runs the program in several goroutines, with transactions. Each
// goroutine makes the functions of its transactions once: with options, a function
// that captures variables is allocated.
func Transactional(in *Input, goroutines int, o stm.Options) *Result {
	s := in.prepare(goroutines)
	start := time.Now()
	team.Run(goroutines, func(member int) { s.insertAllTx(o, member, goroutines) })
	s.index()
	team.Run(goroutines, func(member int) { s.enterAllTx(o, member, goroutines) })
	s.share()
	for overlap := s.segment - 1; overlap > 0; overlap-- {
		team.Run(goroutines, func(member int) { s.joinAllTx(o, member, overlap) })
	}
	r := s.build()
	r.Elapsed = time.Since(start)
	return r
}

// insertAllTx puts a member's segments into the set.
func (s *sequencer) insertAllTx(o stm.Options, member, members int) {
	var segments []string
	insert := func(tx *stm.Tx) error {
		for _, segment := range segments {
			s.unique.InsertTx(tx, segment, struct{}{})
		}
		return nil
	}
	first, last := team.Share(len(s.segments), member, members)
	for ; first < last; first += chunk {
		segments = s.segments[first:min(first+chunk, last)]
		must(o.Atomically(insert))
	}
}

// enterAllTx makes links of a member's segments, and enters them into the table of
// every overlap.
func (s *sequencer) enterAllTx(o stm.Options, member, members int) {
	var l *link
	var overlap int
	var h uint64
	place, _ := team.Share(len(s.links), member, members)
	put := func(tx *stm.Tx) (int, error) { return s.placeTx(tx, l, place), nil }
	enter := func(tx *stm.Tx) error {
		s.starts[overlap].AddTx(tx, h, l)
		return nil
	}
	first, last := team.Share(s.unique.Buckets(), member, members)
	for i := first; i < last; i++ {
		for segment := range s.unique.Bucket(i) {
			l, h = newLink(segment), 0
			next, err := stm.ValueWith(o, put)
			must(err)
			place = next
			for overlap = 1; overlap < s.segment; overlap++ {
				h = extend(h, segment[overlap-1])
				must(o.Atomically(enter))
			}
		}
	}
}

// joinAllTx finds successors for a member's ends, with a transaction for each attempt
// to join. The tables do not change any more.
func (s *sequencer) joinAllTx(o stm.Options, member, overlap int) {
	var end, start *link
	var letters string
	join := func(tx *stm.Tx) (bool, error) { return joinTx(tx, end, start, letters), nil }
	succeed := func() bool {
		letters = end.segment[s.segment-overlap:]
		for start = range s.starts[overlap].AllOf(hash(letters)) {
			joined, err := stm.ValueWith(o, join)
			must(err)
			if joined {
				return true
			}
		}
		return false
	}
	open := s.ends[member][:0]
	for _, end = range s.ends[member] {
		if !succeed() {
			open = append(open, end)
		}
	}
	s.ends[member] = open
}

// placeTx is place in a transaction.
func (s *sequencer) placeTx(tx *stm.Tx, l *link, from int) int {
	at := from
	for stm.Load(tx, &s.links[at]) != nil {
		at = (at + 1) % len(s.links)
	}
	stm.Store(tx, &s.links[at], l)
	return (at + 1) % len(s.links)
}

// joinTx is join in a transaction.
func joinTx(tx *stm.Tx, end, start *link, letters string) bool {
	first := stm.Load(tx, &end.first)
	if stm.Load(tx, &start.previous) != nil || first == start || start.segment[:len(letters)] != letters {
		return false
	}
	last := stm.Load(tx, &start.last)
	stm.Store(tx, &end.next, start)
	stm.Store(tx, &end.overlap, len(letters))
	stm.Store(tx, &start.previous, end)
	stm.Store(tx, &first.last, last)
	stm.Store(tx, &first.length, stm.Load(tx, &first.length)+stm.Load(tx, &start.length)-len(letters))
	stm.Store(tx, &last.first, first)
	return true
}

// must panics with an error of a transaction whose function has none of its own, as
// there is only one then: that the context of the options is done.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
