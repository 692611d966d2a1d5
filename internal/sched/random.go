package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// A source yields pseudo-random numbers (SplitMix64: one addition and a few
// multiplications, any seed is good). The standard library's sources would do, but
// their sequence is not promised to stay the same from one Go version to the next, and
// a seed that was noted down should.
type source uint64

func (s *source) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	return mix(uint64(*s))
}

// below returns a number from 0 to n-1. The bias of the remainder is below n/2^64.
func (s *source) below(n uint64) uint64 { return s.next() % n }

// mix is a bijection that lets every bit of x decide about every bit of the result.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sourceOf returns the source for one run of a strategy: the runs of one seed are
// unrelated, and run n is the same whatever happened in the runs before.
func sourceOf(seed, run uint64) source { return source(mix(seed) ^ mix(run+0x632be59bd9b4e019)) }

// sticky is how many points on average a goroutine goes on for in every second run of
// a random walk; see Random.
const sticky = 8

// Random is the random walk: at each point every ready goroutine is as likely as any
// other.
//
// That switches at nearly every point, which finds orders of neighbouring steps soon,
// and hardly ever lets one goroutine run far ahead of another: that m steps of one fall
// between two of another has the probability 2^-m. So every second run is reluctant: it
// stays with the current goroutine except at one point in eight. A test measures both
// on both kinds of bug.
type Random struct {
	seed, run uint64
	first     uint64 // the number of the first run
	source    source
	stalls    stalls
	reluctant bool
}

// NewRandom returns the random walk with a seed.
func NewRandom(seed uint64) *Random { return &Random{seed: seed} }

// from has the runs begin with a number.
func (r *Random) from(run uint64) *Random {
	r.run, r.first = run, run
	return r
}

func (r *Random) Begin() {
	r.source = sourceOf(r.seed, r.run)
	r.stalls.begin(r.seed, r.run)
	r.reluctant = r.run%2 == 1
}

func (r *Random) Chance() uint64 { return r.run }

func (r *Random) Pick(p *Turn) int {
	n := p.goroutines()
	if n < len(p.Ready) && (n == 0 || r.stalls.now(p)) {
		return n
	}
	if r.reluctant && r.source.below(sticky) != 0 {
		return p.Default()
	}
	return int(r.source.below(uint64(n)))
}

func (r *Random) Branch(c Choice) int { return int(r.source.below(uint64(c.N))) }

func (r *Random) End(event.Ending, Used) {
	r.stalls.end()
	r.run++
}

func (r *Random) Watches() bool      { return false }
func (r *Random) Next(uint32) uint64 { return 0 }
func (r *Random) Exhausted() bool    { return false }
func (r *Random) Progress() Progress { return Progress{Method: MethodRandom, Runs: r.run - r.first} }
