package sockets

import "github.com/cofferdam-go/cofferdam/internal/emu/abi"

// A Socket is one end.
type Socket struct {
	Family, Kind int
	local        Address
	remote       Address
	bound        bool

	listening bool
	backlog   []*Socket // connections that were not accepted yet
	exposed   *Listener // the same on the host, once the process waits for it

	peer     *Socket
	received []packet
	size     int  // of all that was received
	ended    bool // nothing more comes
	shut     bool // it sends no more
	closed   bool
	arrivals uint64

	outside *Connection
}

// A packet is what was sent at once. Stream sockets do not tell packets apart.
type packet struct {
	data []byte
	from Address
}

// capacity is how many bytes wait to be received, at most.
const capacity = 208 << 10

// streams reports whether a socket does not tell packets apart.
func (s *Socket) streams() bool { return s.Kind == Stream }

// Local and Remote are the addresses of the two ends. Remote is empty if there is none.
func (s *Socket) Local() Address  { return s.local }
func (s *Socket) Remote() Address { return s.remote }

// Listening reports whether connections are accepted.
func (s *Socket) Listening() bool { return s.listening }

// Outside reports whether the other end is outside of the process.
func (s *Socket) Outside() bool { return s.outside != nil || s.exposed != nil }

// Arrivals counts what came in or made room, for callers that want to be told once.
func (s *Socket) Arrivals() uint64 {
	n := s.arrivals
	if s.outside != nil {
		n += s.outside.count()
	}
	return n
}

// Readable reports whether Receive or Accept would not wait.
func (s *Socket) Readable() bool {
	switch {
	case s.listening:
		return len(s.backlog) > 0 || s.exposed != nil && s.exposed.pending()
	case s.outside != nil:
		return s.outside.readable()
	}
	return len(s.received) > 0 || s.ended || s.streams() && s.peer == nil && s.remote == ""
}

// Writable reports whether Send would not wait.
func (s *Socket) Writable() bool {
	return !s.listening && (s.outside != nil || s.peer == nil || s.peer.closed || s.peer.size < capacity)
}

// HungUp reports whether the other end is gone, Ended whether nothing more comes.
func (s *Socket) HungUp() bool { return s.ended && (s.peer == nil || s.peer.closed) && s.streams() }
func (s *Socket) Ended() bool {
	return s.ended || s.outside != nil && s.outside.over()
}

// Waiting returns how many bytes could be received at once.
func (s *Socket) Waiting() int {
	if len(s.received) > 0 && !s.streams() {
		return len(s.received[0].data)
	}
	return s.size
}

// Receive takes what has arrived, or looks at it only. cut is how long a packet was of which
// the rest is lost. wait means that there is nothing yet.
func (s *Socket) Receive(b []byte, peek bool) (n, whole int, from Address, e abi.Errno, wait bool) {
	if s.outside != nil {
		return s.outside.receive(b, peek)
	}
	if s.streams() && s.peer == nil && !s.ended && len(s.received) == 0 {
		return 0, 0, "", abi.ENOTCONN, false
	}
	if len(s.received) == 0 {
		return 0, 0, "", 0, !s.ended
	}
	if !s.streams() {
		p := s.received[0]
		if n = copy(b, p.data); !peek {
			s.received, s.size = s.received[1:], s.size-len(p.data)
			s.madeRoom()
		}
		return n, len(p.data), p.from, 0, false
	}
	taken := 0
	for _, p := range s.received {
		c := copy(b[n:], p.data)
		n += c
		if c < len(p.data) {
			break
		}
		taken++
	}
	if !peek {
		s.take(taken, n)
	}
	return n, n, s.remote, 0, false
}

// take drops whole packets, and what of the next was received as well.
func (s *Socket) take(whole, n int) {
	rest := n
	for _, p := range s.received[:whole] {
		rest -= len(p.data)
	}
	s.received, s.size = s.received[whole:], s.size-n
	if rest > 0 {
		s.received = append([]packet{{data: s.received[0].data[rest:]}}, s.received[1:]...)
	}
	s.madeRoom()
}

func (s *Socket) madeRoom() {
	if s.peer != nil {
		s.peer.arrivals++
	}
}

// Send sends to the other end. wait means that there is no room.
func (s *Socket) Send(b []byte) (n int, e abi.Errno, wait bool) {
	switch {
	case s.shut:
		return 0, abi.EPIPE, false
	case s.outside != nil:
		n, e = s.outside.send(b)
		return n, e, false
	case s.peer == nil && s.ended:
		return 0, abi.EPIPE, false
	case s.peer == nil:
		if s.streams() {
			return 0, abi.ENOTCONN, false
		}
		return 0, abi.EDESTADDRREQ, false
	case s.peer.closed || s.peer.shut && s.streams() && s.peer.closed:
		if s.streams() {
			return 0, abi.EPIPE, false
		}
		return 0, abi.ECONNREFUSED, false
	}
	return s.peer.arrive(b, s.local)
}

// arrive adds what another socket sends.
func (s *Socket) arrive(b []byte, from Address) (n int, e abi.Errno, wait bool) {
	switch n = len(b); {
	case n > capacity && !s.streams():
		return 0, abi.EMSGSIZE, false
	case s.size >= capacity, !s.streams() && s.size+n > capacity:
		return 0, 0, true
	case s.streams():
		n = min(n, capacity-s.size)
	}
	if n == 0 && s.streams() {
		return 0, 0, false
	}
	s.received = append(s.received[:len(s.received):len(s.received)], packet{append([]byte(nil), b[:n]...), from})
	s.size += n
	s.arrivals++
	return n, 0, false
}

// Shutdown ends receiving, sending, or both.
func (s *Socket) Shutdown(receiving, sending bool) abi.Errno {
	if s.peer == nil && s.outside == nil && s.streams() && !s.ended {
		return abi.ENOTCONN
	}
	if sending {
		s.shut = true
		if s.peer != nil {
			s.peer.end()
		}
		if s.outside != nil {
			s.outside.closeWrite()
		}
	}
	if receiving {
		s.end()
	}
	return 0
}

func (s *Socket) end() {
	s.ended = true
	s.arrivals++
}
