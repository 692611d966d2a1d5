package rt

import "github.com/cofferdam-go/cofferdam/internal/event"

// at is where among the ready ones c is.
func (s *scheduler) at(c *goroutine) int { return c.index - s.passed }

// insert makes c ready to do op.
func (s *scheduler) insert(c *goroutine, op event.Op) {
	op.G = c.id
	s.ahead = 0
	i := len(s.ready)
	s.arrivals++
	s.arrived = c.id
	s.ready = append(s.ready, c)
	s.ids = append(s.ids, c.id)
	s.ops = append(s.ops, op)
	for ; i > 0 && s.ids[i-1] > c.id; i-- {
		s.place(s.ready[i-1], i, s.ops[i-1])
	}
	s.place(c, i, op)
	c.state = ready
}

// place makes c the ready one at a place.
func (s *scheduler) place(c *goroutine, at int, op event.Op) {
	s.ready[at], s.ids[at], s.ops[at] = c, c.id, op
	c.index = s.passed + at
}

// remove takes c from the ready ones.
func (s *scheduler) remove(c *goroutine) {
	at := s.at(c)
	c.op = s.ops[at]
	s.ahead = 0
	c.index = -1
	if len(s.ready) > crowd && at < len(s.ready)/2 {
		s.removeFirst(at)
		return
	}
	copy(s.ops[at:], s.ops[at+1:])
	copy(s.ids[at:], s.ids[at+1:])
	copy(s.ready[at:], s.ready[at+1:])
	n := len(s.ready) - 1
	s.ready[n] = nil
	s.ready, s.ids, s.ops = s.ready[:n], s.ids[:n], s.ops[:n]
	for i := at; i < n; i++ {
		s.ready[i].index = s.passed + i
	}
}

// removeFirst removes what is at a place by moving those before it: of a crowd of goroutines
// it is mostly the first that goes.
func (s *scheduler) removeFirst(at int) {
	copy(s.ops[1:at+1], s.ops[:at])
	copy(s.ids[1:at+1], s.ids[:at])
	copy(s.ready[1:at+1], s.ready[:at])
	s.ready[0] = nil
	s.ready, s.ids, s.ops = s.ready[1:], s.ids[1:], s.ops[1:]
	s.passed++
	for i := range at {
		s.ready[i].index = s.passed + i
	}
}
