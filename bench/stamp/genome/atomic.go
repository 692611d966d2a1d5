package genome

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
	"github.com/cofferdam-go/cofferdam/stm"
)

// Atomic runs the program in several goroutines, with transactions that are plain code.
func Atomic(in *Input, goroutines int) *Result {
	s := in.prepare(goroutines)
	start := time.Now()
	team.Run(goroutines, func(member int) { s.insertAll(member, goroutines) })
	s.index()
	team.Run(goroutines, func(member int) { s.enterAll(member, goroutines) })
	s.share()
	for overlap := s.segment - 1; overlap > 0; overlap-- {
		team.Run(goroutines, func(member int) { s.joinAll(member, overlap) })
	}
	r := s.build()
	r.Elapsed = time.Since(start)
	return r
}

// insertAll puts a member's segments into the set.
func (s *sequencer) insertAll(member, members int) {
	first, last := team.Share(len(s.segments), member, members)
	for ; first < last; first += chunk {
		segments := s.segments[first:min(first+chunk, last)]
		stm.Atomic(func() {
			for _, segment := range segments {
				s.unique.Insert(segment, struct{}{})
			}
		})
	}
}

// enterAll makes links of a member's segments, and enters them into the table of every
// overlap.
func (s *sequencer) enterAll(member, members int) {
	place, _ := team.Share(len(s.links), member, members)
	first, last := team.Share(s.unique.Buckets(), member, members)
	for i := first; i < last; i++ {
		for segment := range s.unique.Bucket(i) {
			l, h := newLink(segment), uint64(0)
			stm.Atomic(func() { place = s.place(l, place) })
			for overlap := 1; overlap < s.segment; overlap++ {
				h = extend(h, segment[overlap-1])
				stm.Atomic(func() { s.starts[overlap].Add(h, l) })
			}
		}
	}
}

// joinAll finds successors for a member's ends, with a transaction for each attempt to
// join. The tables do not change any more.
func (s *sequencer) joinAll(member, overlap int) {
	open := s.ends[member][:0]
	for _, end := range s.ends[member] {
		joined := false
		letters := end.segment[s.segment-overlap:]
		for start := range s.starts[overlap].AllOf(hash(letters)) {
			if stm.Atomic(func() { joined = join(end, start, letters) }); joined {
				break
			}
		}
		if !joined {
			open = append(open, end)
		}
	}
	s.ends[member] = open
}
