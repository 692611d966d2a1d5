package randprog

import (
	"math/rand/v2"
	"slices"
)

// Draws are the numbers that a program is made from.
type Draws []uint16

// A source hands out draws. When its list is used up it goes on with random numbers, or
// with zeros, which stand for the simplest choice.
type source struct {
	list Draws
	used int
	rng  *rand.Rand
}

// pick returns a number below n. 0 is to be the simplest choice.
func (s *source) pick(n int) int {
	if n <= 1 {
		return 0
	}
	if s.used == len(s.list) {
		var d uint16
		if s.rng != nil {
			d = uint16(s.rng.Uint32())
		}
		s.list = append(s.list, d)
	}
	d := s.list[s.used]
	s.used++
	return int(d) % n
}

// chance is true in one of n cases.
func (s *source) chance(n int) bool { return s.pick(n) == n-1 }

// Shrink returns the shortest and smallest draws that it finds for which fails is still
// true, in at most so many tries.
func Shrink(d Draws, fails func(Draws) bool, tries int) Draws {
	attempt := func(candidate Draws) bool {
		if tries <= 0 || slices.Equal(candidate, d) {
			return false
		}
		tries--
		if !fails(candidate) {
			return false
		}
		d = candidate
		return true
	}
	for again := true; again && tries > 0; {
		again = false
		for size := max(1, len(d)/2); size >= 1; size /= 2 {
			for at := 0; at+size <= len(d); {
				if attempt(slices.Concat(d[:at], d[at+size:])) {
					again = true
				} else {
					at += size
				}
			}
		}
		for at := range d {
			for at < len(d) && d[at] > 0 {
				smaller := slices.Clone(d)
				smaller[at] /= 2
				if !attempt(smaller) {
					break
				}
				again = true
			}
		}
	}
	return d
}
