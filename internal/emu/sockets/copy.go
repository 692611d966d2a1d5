package sockets

import "slices"

// A Copier copies sockets that point to each other.
type Copier struct{ copies map[*Socket]*Socket }

// Net copies a network.
func (c *Copier) Net(n *Net) *Net {
	m := *n
	m.bound = make(map[string]*Socket, len(n.bound))
	for key, s := range n.bound {
		m.bound[key] = c.Socket(s)
	}
	return &m
}

// Socket copies a socket, once. What is outside is not copied: a connection that is in a
// snapshot stays open, and goes on as the last run has left it.
func (c *Copier) Socket(s *Socket) *Socket {
	if s == nil {
		return nil
	}
	if m := c.copies[s]; m != nil {
		return m
	}
	if c.copies == nil {
		c.copies = map[*Socket]*Socket{}
	}
	m := new(Socket)
	c.copies[s] = m
	*m = *s
	m.received = slices.Clone(s.received)
	m.peer = c.Socket(s.peer)
	m.backlog = nil
	for _, b := range s.backlog {
		m.backlog = append(m.backlog, c.Socket(b))
	}
	if s.outside != nil {
		s.outside.keep()
	}
	return m
}
