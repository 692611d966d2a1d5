package genome

import (
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
)

// Sequential runs the program in one goroutine.
func Sequential(in *Input) *Result {
	s := in.prepare(1)
	start := time.Now()

	for _, segment := range s.segments {
		s.unique.Insert(segment, struct{}{})
	}

	s.index()
	place := 0
	for i := range s.unique.Buckets() {
		for segment := range s.unique.Bucket(i) {
			l := newLink(segment)
			place = s.place(l, place)
			h := uint64(0)
			for overlap := 1; overlap < s.segment; overlap++ {
				h = extend(h, segment[overlap-1])
				s.starts[overlap].Add(h, l)
			}
		}
	}

	s.share()
	for overlap := s.segment - 1; overlap > 0; overlap-- {
		open := s.ends[0][:0]
		for _, end := range s.ends[0] {
			if !s.succeed(end, overlap) {
				open = append(open, end)
			}
		}
		s.ends[0] = open
	}

	r := s.build()
	r.Elapsed = time.Since(start)
	return r
}

// succeed finds a successor for the end of a chain.
func (s *sequencer) succeed(end *link, overlap int) bool {
	letters := end.segment[s.segment-overlap:]
	for start := range s.starts[overlap].AllOf(hash(letters)) {
		if join(end, start, letters) {
			return true
		}
	}
	return false
}

// place puts a link into the first free place from a place on, and returns the next
// place.
func (s *sequencer) place(l *link, at int) int {
	for s.links[at] != nil {
		at = (at + 1) % len(s.links)
	}
	s.links[at] = l
	return (at + 1) % len(s.links)
}

// join makes one chain of the one that end is the last of and the one that start is
// the first of, if it still is, is not the same chain, and begins with the letters.
func join(end, start *link, letters string) bool {
	first := end.first
	if start.previous != nil || first == start || start.segment[:len(letters)] != letters {
		return false
	}
	last := start.last
	end.next, end.overlap = start, len(letters)
	start.previous = end
	first.last = last
	first.length += start.length - len(letters)
	last.first = first
	return true
}

// Mutex runs the program in several goroutines, with one lock for everything.
func Mutex(in *Input, goroutines int) *Result {
	s := in.prepare(goroutines)
	var mu sync.Mutex
	start := time.Now()

	team.Run(goroutines, func(member int) {
		first, last := team.Share(len(s.segments), member, goroutines)
		for ; first < last; first += chunk {
			mu.Lock()
			for _, segment := range s.segments[first:min(first+chunk, last)] {
				s.unique.Insert(segment, struct{}{})
			}
			mu.Unlock()
		}
	})

	s.index()
	team.Run(goroutines, func(member int) {
		place, _ := team.Share(len(s.links), member, goroutines)
		first, last := team.Share(s.unique.Buckets(), member, goroutines)
		for i := first; i < last; i++ {
			for segment := range s.unique.Bucket(i) {
				l := newLink(segment)
				mu.Lock()
				place = s.place(l, place)
				mu.Unlock()
				h := uint64(0)
				for overlap := 1; overlap < s.segment; overlap++ {
					h = extend(h, segment[overlap-1])
					mu.Lock()
					s.starts[overlap].Add(h, l)
					mu.Unlock()
				}
			}
		}
	})

	s.share()
	for overlap := s.segment - 1; overlap > 0; overlap-- {
		team.Run(goroutines, func(member int) {
			open := s.ends[member][:0]
			for _, end := range s.ends[member] {
				if !s.succeedLocked(&mu, end, overlap) {
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

// succeedLocked is succeed with the lock around each attempt to join.
func (s *sequencer) succeedLocked(mu *sync.Mutex, end *link, overlap int) bool {
	letters := end.segment[s.segment-overlap:]
	for start := range s.starts[overlap].AllOf(hash(letters)) {
		mu.Lock()
		joined := join(end, start, letters)
		mu.Unlock()
		if joined {
			return true
		}
	}
	return false
}
