package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// PCT is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi,
// Nagarakatte, ASPLOS 2010). Every goroutine has a random priority, and the ready one
// with the highest always goes; at d-1 points of the run, chosen at random beforehand,
// the one that would go falls below all others. A bug that needs d orderings between
// steps (its depth) shows in one run with a probability of at least 1/(n k^(d-1)) for n
// goroutines and k points.
//
// k counts the points at which there was a choice: what changes while one goroutine is
// alone has the same effect at the next point at which it is not. k is learnt from the
// runs before.
//
// A goroutine that yields falls below all others, or those that wait by yielding would
// keep what they wait for from happening. The guarantee is for programs that do not
// yield, as in the paper.
type PCT struct {
	seed, run uint64
	first     uint64 // the number of the first run
	depth     int    // 0: varies
	length    uint64

	source   source
	stalls   stalls
	points   uint64 // in this run
	changes  []uint64
	floor    int64   // the lowest priority so far
	priority []int64 // by goroutine; 0: not seen yet in this run
	// top is the goroutine that had the highest priority when so many had arrived; 0 if it
	// has changed since.
	top      uint32
	arrivals uint64
}

// depths is the order in which depths are tried: depth 1 needs the fewest runs by a
// factor of k, so one run in eight is enough for it from the start; the same factor says
// that depth 3 is a long shot compared with 2. Depth 3 finds what 2 finds, too, only less
// often. What is deeper would never show with fewer changes, however many runs there are:
// a signal that is lost when two others hold what two wait for has depth 4.
var depths = [...]int{1, 2, 3, 2, 4, 2, 8, 3}

// MaxDepth is the greatest depth that PCT can be asked for.
const MaxDepth = 64

// NewPCT returns PCT with a seed, for bugs of the given depth, which is cut at MaxDepth;
// 0 stands for depths 1 to 8 in turn.
func NewPCT(seed uint64, depth int) *PCT {
	return &PCT{seed: seed, depth: min(depth, MaxDepth), length: 16}
}

// from has the runs begin with a number, and with what earlier ones have shown k to be.
func (s *PCT) from(run, length uint64) *PCT {
	s.run, s.first, s.length = run, run, max(length, s.length)
	return s
}

func (s *PCT) Begin() {
	s.source = sourceOf(s.seed, s.run)
	s.stalls.begin(s.seed, s.run)
	s.points = 0
	s.floor = 0
	s.top = 0
	clear(s.priority)
	d := s.depth
	if d <= 0 {
		d = depths[s.run%uint64(len(depths))]
	}
	s.changes = s.changes[:0]
	for range d - 1 {
		s.changes = append(s.changes, s.source.below(s.length))
	}
}

func (s *PCT) Chance() uint64 { return s.run }

func (s *PCT) Pick(p *Turn) int {
	n := p.goroutines()
	if n < len(p.Ready) && (n == 0 || s.stalls.now(p)) {
		return n
	}
	// A goroutine that yields usually goes behind all others, so that none waits in vain;
	// but a yield is no synchronisation, and now and then it has no effect.
	if c := p.current(); c >= 0 && yields(&p.Ops[c]) && s.heeds(&p.Ops[c]) && s.source.below(4) != 0 {
		s.sink(p.Current)
	}
	if n == 1 {
		return 0
	}
	best := s.best(p)
	for i, at := range s.changes {
		if at == s.points {
			// Not simply below all others: which of two that fell is the lower must not
			// depend on which fell first, or some bugs of depth 3 would never show.
			s.priority[p.Ready[best]] = int64(i) + 1
			s.top = 0
			best = s.best(p)
		}
	}
	s.points++
	return best
}

// heeds reports whether a yield has any effect in this run. Of a goroutine that waits for others
// all have one. Of another, in half of the runs none has: it may yield many times before it does
// what the others must not be behind.
func (s *PCT) heeds(op *event.Op) bool {
	return op.Round != event.NewRound || (s.run/uint64(len(depths))+uint64(op.G))%2 == 0
}

// best returns the ready goroutine with the highest priority.
func (s *PCT) best(p *Turn) int {
	// While none becomes ready the highest stays the highest, if it is there, and of one that
	// does only that one is asked: of ten thousand that are ready not all have to be looked at
	// for every step.
	if p.Arrivals != 0 && s.top != 0 && s.top == p.Current {
		switch p.Arrivals - s.arrivals {
		case 0:
			return p.current()
		case 1:
			if s.arrivals++; s.of(p.Arrived) > s.of(s.top) {
				s.top = p.Arrived
			}
			if i := p.index(s.top); i >= 0 {
				return i
			}
		}
	}
	best, priority := 0, s.of(p.Ready[0])
	for i, g := range p.Ready[:p.goroutines()] {
		if int(g) < len(s.priority) && s.priority[g] != 0 && s.priority[g] <= priority {
			continue
		}
		if q := s.of(g); q > priority {
			best, priority = i, q
		}
	}
	s.top, s.arrivals = p.Ready[best], p.Arrivals
	return best
}

// of returns the priority of g, and gives it one if it is new. With 62 random bits two
// are equal once in a lifetime, and then the lower number goes first.
func (s *PCT) of(g uint32) int64 {
	for int(g) >= len(s.priority) {
		s.priority = append(s.priority, 0)
	}
	if s.priority[g] == 0 {
		s.priority[g] = int64(s.source.next()>>2) + MaxDepth
	}
	return s.priority[g]
}

// sink puts g below all others.
func (s *PCT) sink(g uint32) {
	s.of(g)
	s.top = 0
	s.floor--
	s.priority[g] = s.floor
}

func (s *PCT) Branch(c Choice) int { return int(s.source.below(uint64(c.N))) }

func (s *PCT) End(event.Ending, Used) {
	s.run++
	s.stalls.end()
	// The longest run counts, since the guarantee needs an upper bound of k; but it is
	// forgotten slowly, since one run that span for long would spoil all later ones.
	s.length = max(s.points, s.length-s.length/16, 1)
}

func (s *PCT) Watches() bool      { return false }
func (s *PCT) Next(uint32) uint64 { return 0 }
func (s *PCT) Exhausted() bool    { return false }
func (s *PCT) Progress() Progress {
	return Progress{Method: MethodPCT, Runs: s.run - s.first, Depth: s.depth}
}
