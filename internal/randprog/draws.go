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

// A Source hands out draws to packages that make programs of their own.
type Source struct{ source }

// NewSource returns a source of random draws.
func NewSource(rng *rand.Rand) *Source { return &Source{source{rng: rng}} }

// SourceOf returns a source of the draws of a list.
func SourceOf(d Draws) *Source { return &Source{source{list: append(Draws(nil), d...)}} }

// Pick returns a number below n. 0 is to be the simplest choice.
func (s *Source) Pick(n int) int { return s.pick(n) }

// Chance is true in one of n cases.
func (s *Source) Chance(n int) bool { return s.chance(n) }

// Used returns the draws that were handed out.
func (s *Source) Used() Draws { return s.list[:s.used:s.used] }

// Smaller returns draws that are shorter or smaller than d, those that leave out most first.
func Smaller(d Draws) []Draws {
	var all []Draws
	for size := len(d) / 2; size >= 1; size /= 2 {
		for at := 0; at+size <= len(d); at += size {
			all = append(all, slices.Concat(d[:at], d[at+size:]))
		}
	}
	for at := range d {
		if d[at] > 0 {
			less := slices.Clone(d)
			less[at] = 0
			all = append(all, less)
		}
	}
	return all
}
