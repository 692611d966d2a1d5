package sched

// stalls decides for the strategies that go by chance when time moves on although
// goroutines are ready. It is the idea of PCT once more: how many stalls a run has is
// drawn beforehand, and at which of the points that allow one; a failure that needs one
// stall at one of k points then shows in one run out of k, whereas a coin that is tossed
// at each point would stall early or never.
//
// It has random numbers of its own, so that a program without timers has the schedules
// that it would have without it.
type stalls struct {
	source source
	points uint64   // of this run that allowed a stall
	length uint64   // what points may come to, learnt from earlier runs
	at     []uint64 // the points at which this run stalls
	drawn  bool     // at is that of this run
}

// stallsOf is how many stalls runs have: half of them none, since most failures need none
// and some need that there is none.
var stallsOf = [...]int{0, 1, 0, 2, 0, 1, 0, 4}

func (s *stalls) begin(seed, run uint64) {
	s.source = sourceOf(seed^0x7374616c6c, run)
	s.points, s.drawn = 0, false
}

func (s *stalls) draw() {
	s.drawn = true
	s.length = max(s.length, 4)
	s.at = s.at[:0]
	for range stallsOf[s.source.below(uint64(len(stallsOf)))] {
		s.at = append(s.at, s.source.below(s.length))
	}
}

// now reports whether time moves on at p, which allows it. A stall goes over one more
// moment in half of the cases.
func (s *stalls) now(p *Turn) bool {
	if p.Stalled > 0 {
		return s.source.below(2) == 0
	}
	if !s.drawn {
		s.draw()
	}
	point := s.points
	s.points++
	for _, at := range s.at {
		if at == point {
			return true
		}
	}
	return false
}

// end learns how long runs are; see PCT.End.
func (s *stalls) end() { s.length = max(s.points, s.length-s.length/16) }
