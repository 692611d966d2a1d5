package rt

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// Chance.
//
// A program draws random numbers (packages math/rand and crypto/rand), and ranges over maps
// in an order that the runtime draws. All of them come from the sequence that the strategy
// chooses for a run. Each goroutine draws from a stream of its own: otherwise what one
// draws would depend on how many numbers others have drawn before, and two schedules that
// differ in the order of independent steps only would differ in what they lead to.
//
// A draw with few possibilities (rand.IntN(3), the order of a small map, the case of a select) is a
// choice that the strategy is asked for: one that tries all schedules tries all possibilities,
// too. Its answer is counted from a number of the goroutine's stream, so that a program whose
// strategy leaves choices alone sees numbers that look drawn: that a hundred draws of five are
// all 0 is a schedule, but none that a person believes.

// A chance is where the random numbers of a run come from.
type chance struct {
	seed   uint64     // of the sequence
	drawer *goroutine // whose stream it is that the runtime draws from
	before uint64     // Patched.Draws at the start of the run
	draws  bool       // beside those
}

func (c *chance) begin(seed, sequence uint64) {
	*c = chance{seed: spread(seed + spread(sequence))}
	if Patched.Draws != nil {
		c.before = Patched.Draws()
	}
}

// drawn reports whether the program drew random numbers that it did not get by choices.
func (c *chance) drawn() bool {
	return c.draws || Patched.Draws != nil && Patched.Draws() != c.before
}

// stream returns the start of the stream of a goroutine. It is never 0, which stands for
// the runtime's own random numbers.
func (c *chance) stream(id uint32) uint64 { return spread(c.seed+uint64(id)) | 1 }

// give lets d draw from its stream from now on.
func (c *chance) give(d *goroutine) {
	if Patched.Stream == nil || c.drawer == d {
		return
	}
	if before := Patched.Stream(d.stream); c.drawer != nil {
		c.drawer.stream = before
	}
	c.drawer = d
}

// spread lets every bit of x decide about every bit of the result (SplitMix64).
func spread(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fewPossibilities is how many a draw may have at most to be a choice of the strategy.
const fewPossibilities = 8

// DrawBelow draws a number from 0 to n-1. ok is false if the caller is not under control,
// or the number is to be drawn in the ordinary way.
func DrawBelow(n int) (i int, ok bool) {
	if n < 2 || n > fewPossibilities {
		return 0, false
	}
	c := enterLibrary()
	if c == nil {
		return 0, false
	}
	if ok = !c.dying; ok {
		i = s.draw(c, c.site(), n)
	}
	c.leave()
	return i, ok
}

// branch is a choice by chance between n possibilities.
func (s *scheduler) branch(c *goroutine, site uint32, n int, kind event.Kind) int {
	if n < 2 {
		return 0
	}
	c.branches++
	from := spread(s.chance.stream(c.id)+c.branches) % uint64(n)
	return (int(from) + s.strategy.Branch(sched.Choice{G: c.id, Site: site, N: n, Kind: kind})) % n
}

// draw is a number by chance below n.
func (s *scheduler) draw(c *goroutine, site uint32, n int) int {
	s.completeLast()
	i := s.branch(c, site, n, event.Random)
	s.emit(c, event.Random, site, 0, 0, uint64(i))
	return i
}

// DrawBytes fills b with random bytes. It returns false if the caller is not under control.
func DrawBytes(b []byte) bool {
	if Patched.Draw == nil {
		return false
	}
	c := enterLibrary()
	if c == nil {
		return false
	}
	if c.dying {
		c.leave()
		return false
	}
	for i := range b {
		b[i] = byte(Patched.Draw() >> 32)
	}
	c.leave()
	return true
}

// Range announces that m is about to be ranged over, and returns m. In which order is a
// choice, if the map is small: it has as many orders as elements, each of which can be the
// first.
func Range[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	MR(m, site)
	if len(m) < 2 || Patched.Stream == nil {
		return m
	}
	c := enter()
	if c == nil {
		return m
	}
	if !c.dying {
		if starts, known := startsOf(m); known {
			Patched.Force(starts[s.draw(c, site, len(m))])
		} else {
			s.chance.draws = true
		}
	}
	c.leave()
	return m
}

// startsOf returns the random numbers by which the runtime begins with each of the elements
// of a small map. It tries them, since where an element is depends on those that were
// deleted. known is false if some are not found: the map is not small, or was larger.
func startsOf[M ~map[K]V, K comparable, V any](m M) (starts [fewPossibilities]uint64, known bool) {
	if len(m) > fewPossibilities {
		return starts, false
	}
	before := Patched.Stream(1)
	var last K
	found := 0
	for n := uint64(0); n < fewPossibilities && found < len(m); n++ {
		Patched.Force(n)
		for k := range m {
			if found == 0 || k != last {
				starts[found] = n
				found++
			}
			last = k
			break
		}
	}
	Patched.Stream(before)
	return starts, found == len(m)
}
