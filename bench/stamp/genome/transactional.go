package genome

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
	"github.com/cofferdam-go/cofferdam/stm"
)

// Transactional runs the program in several goroutines, with transactions.
func Transactional(in *Input, goroutines int, o stm.Options) *Result {
	s := in.prepare(goroutines)
	start := time.Now()

	team.Run(goroutines, func(member int) {
		first, last := team.Share(len(s.segments), member, goroutines)
		for ; first < last; first += chunk {
			s.insertTx(o, s.segments[first:min(first+chunk, last)])
		}
	})

	s.index()
	team.Run(goroutines, func(member int) {
		place, _ := team.Share(len(s.links), member, goroutines)
		first, last := team.Share(s.unique.Buckets(), member, goroutines)
		for i := first; i < last; i++ {
			for segment := range s.unique.Bucket(i) {
				l := newLink(segment)
				place = s.placeTx(o, l, place)
				h := uint64(0)
				for overlap := 1; overlap < s.segment; overlap++ {
					h = extend(h, segment[overlap-1])
					s.enterTx(o, overlap, h, l)
				}
			}
		}
	})

	s.share()
	for overlap := s.segment - 1; overlap > 0; overlap-- {
		team.Run(goroutines, func(member int) {
			open := s.ends[member][:0]
			for _, end := range s.ends[member] {
				if !s.succeedTx(o, end, overlap) {
					open = append(open, end)
				}
			}
			s.ends[member] = open
		})
	}

	r := s.build()
	r.Elapsed = time.Since(start)
	return r
}

// insertTx puts segments into the set.
func (s *sequencer) insertTx(o stm.Options, segments []string) {
	must(o.Atomically(func(tx *stm.Tx) error {
		for _, segment := range segments {
			s.unique.InsertTx(tx, segment, struct{}{})
		}
		return nil
	}))
}

// placeTx is place as a transaction.
func (s *sequencer) placeTx(o stm.Options, l *link, from int) int {
	at, err := stm.ValueWith(o, func(tx *stm.Tx) (int, error) {
		at := from
		for stm.Load(tx, &s.links[at]) != nil {
			at = (at + 1) % len(s.links)
		}
		stm.Store(tx, &s.links[at], l)
		return at, nil
	})
	must(err)
	return (at + 1) % len(s.links)
}

// enterTx enters a link into the table of an overlap.
func (s *sequencer) enterTx(o stm.Options, overlap int, h uint64, l *link) {
	must(o.Atomically(func(tx *stm.Tx) error {
		s.starts[overlap].AddTx(tx, h, l)
		return nil
	}))
}

// succeedTx is succeed with a transaction for each attempt to join. The tables do
// not change any more.
func (s *sequencer) succeedTx(o stm.Options, end *link, overlap int) bool {
	letters := end.segment[s.segment-overlap:]
	for start := range s.starts[overlap].AllOf(hash(letters)) {
		joined, err := stm.ValueWith(o, func(tx *stm.Tx) (bool, error) {
			return joinTx(tx, end, start, letters), nil
		})
		must(err)
		if joined {
			return true
		}
	}
	return false
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
