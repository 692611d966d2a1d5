package rt

import "github.com/cofferdam-go/cofferdam/internal/event"

// at is where among the ready ones c is. Its index says where it was last seen: when another is
// inserted or removed it moves, and of a crowd not all are told.
func (s *scheduler) at(c *goroutine) int {
	if i := c.index - s.passed; uint(i) < uint(len(s.ready)) && s.ready[i] == c {
		return i
	}
	return s.find(c)
}

// find is at where the index is not up to date.
func (s *scheduler) find(c *goroutine) int {
	lo, hi := 0, len(s.ids)
	for lo < hi {
		if mid := (lo + hi) / 2; s.ids[mid] < c.id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	c.index = s.passed + lo
	return lo
}

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
	if i > 0 && s.ids[i-1] > c.id {
		at := s.find(c)
		copy(s.ready[at+1:], s.ready[at:i])
		copy(s.ids[at+1:], s.ids[at:i])
		copy(s.ops[at+1:], s.ops[at:i])
		i = at
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
	if at == len(s.ready) || s.ready[at] != c {
		panic("rt: a goroutine that is not ready is to wait")
	}
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
}
