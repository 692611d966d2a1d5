package sockets

import "github.com/cofferdam-go/cofferdam/internal/emu/abi"

// A Net is all sockets of a process.
type Net struct {
	bound map[string]*Socket
	port  uint16 // that was given last
	world *World
	// opened are the connections of the host that were made.
	opened []*Connection
}

// firstPort is the first that is given to sockets which are bound to none.
const firstPort = 40_000

// New returns a network with nothing in it, beyond which is world.
func New(world *World) *Net { return &Net{bound: map[string]*Socket{}, port: firstPort, world: world} }

// Open returns a socket. ok is false if there are none of the family and kind.
func (n *Net) Open(family, kind int) (s *Socket, ok bool) {
	switch {
	case family != Unix && family != IPv4 && family != IPv6:
	case kind == Stream, kind == Datagram, kind == SeqPacket && family == Unix:
		return &Socket{Family: family, Kind: kind, local: local(family)}, true
	}
	return nil, false
}

// Pair connects two sockets with each other.
func Pair(a, b *Socket) {
	a.peer, b.peer = b, a
	a.remote, b.remote = b.local, a.local
}

// Bind gives a socket an address.
func (n *Net) Bind(s *Socket, a Address) abi.Errno {
	if s.bound || a.family() != s.Family {
		return abi.EINVAL
	}
	if _, port, ok := a.ip(); ok && port == 0 {
		a = n.freePort(s.Kind, a)
	}
	if n.bound[a.key(s.Kind)] != nil {
		return abi.EADDRINUSE
	}
	s.local, s.bound = a, true
	n.bound[a.key(s.Kind)] = s
	return 0
}

func (n *Net) freePort(kind int, a Address) Address {
	for {
		n.port++
		if a = a.withPort(max(n.port, firstPort)); n.bound[a.key(kind)] == nil {
			return a
		}
	}
}

// Listen has a socket accept connections.
func (n *Net) Listen(s *Socket) abi.Errno {
	if s.Kind == Datagram {
		return abi.EOPNOTSUPP
	}
	if !s.bound {
		if e := n.Bind(s, local(s.Family)); e != 0 {
			return e
		}
	}
	s.listening = true
	return 0
}

// Connect connects a socket. Whatever listens in the process is connected at once.
func (n *Net) Connect(s *Socket, to Address) abi.Errno {
	switch {
	case s.peer != nil && s.streams() || s.outside != nil:
		return abi.EISCONN
	case s.listening:
		return abi.EINVAL
	}
	if s.local == local(s.Family) && s.Family != Unix {
		s.local = n.freePort(s.Kind, loopback(s.Family, 0))
	}
	if there := n.at(s.Kind, to); there != nil {
		s.remote = to
		if s.Kind == Datagram {
			s.peer = there
			return 0
		}
		if !there.listening {
			return abi.ECONNREFUSED
		}
		other := &Socket{Family: s.Family, Kind: s.Kind, local: there.local}
		if _, _, ok := to.ip(); ok {
			other.local = to
		}
		Pair(s, other)
		there.backlog = append(there.backlog[:len(there.backlog):len(there.backlog)], other)
		there.arrivals++
		return 0
	}
	return n.connectOutside(s, to)
}

func (n *Net) connectOutside(s *Socket, to Address) abi.Errno {
	c, e := n.world.Connect(s.Kind, to)
	if e == 0 {
		s.outside, s.remote = c, to
		n.opened = append(n.opened[:len(n.opened):len(n.opened)], c)
	}
	return e
}

// at is the socket of the process that has an address.
func (n *Net) at(kind int, a Address) *Socket {
	if !a.inProcess() {
		return nil
	}
	return n.bound[a.key(kind)]
}

// SendTo sends a packet to an address.
func (n *Net) SendTo(s *Socket, b []byte, to Address) (int, abi.Errno, bool) {
	if s.Kind != Datagram {
		return s.Send(b)
	}
	if s.Family != Unix && !s.bound {
		if e := n.Bind(s, loopback(s.Family, 0)); e != 0 {
			return 0, e, false
		}
	}
	if there := n.at(s.Kind, to); there != nil {
		return there.arrive(b, s.local)
	}
	if s.outside == nil || s.remote != to {
		if e := n.connectOutside(s, to); e != 0 {
			return 0, e, false
		}
	}
	return s.Send(b)
}

// Accept takes a connection. wait means that there is none yet.
func (n *Net) Accept(s *Socket) (c *Socket, e abi.Errno, wait bool) {
	switch {
	case !s.listening:
		return nil, abi.EINVAL, false
	case len(s.backlog) > 0:
		c, s.backlog = s.backlog[0], s.backlog[1:]
		return c, 0, false
	case s.exposed != nil:
		if client := s.exposed.accept(); client != nil {
			n.opened = append(n.opened[:len(n.opened):len(n.opened)], client)
			return &Socket{Family: s.Family, Kind: s.Kind, local: s.local, remote: local(s.Family), outside: client}, 0, false
		}
	}
	return nil, 0, true
}

// Expose has clients of the host reach a socket that listens.
func (n *Net) Expose(s *Socket) error {
	if s.exposed != nil {
		return nil
	}
	l, err := n.world.Listen(s.local)
	s.exposed = l
	return err
}

// Abandon closes all connections of the host that no snapshot has.
func (n *Net) Abandon() {
	for _, c := range n.opened {
		c.close()
	}
}

// World is what is beyond the network.
func (n *Net) World() *World { return n.world }

// Close closes a socket.
func (n *Net) Close(s *Socket) {
	s.closed = true
	if key := s.local.key(s.Kind); s.bound && n.bound[key] == s {
		delete(n.bound, key)
	}
	for _, c := range s.backlog {
		n.Close(c)
	}
	if s.peer != nil && s.peer.peer == s {
		s.peer.end()
	}
	if s.outside != nil {
		s.outside.close()
	}
}
