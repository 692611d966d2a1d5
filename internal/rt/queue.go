package rt

import "github.com/cofferdam-go/cofferdam/internal/event"

// serve does for the goroutines that wait for the buffered channel o what can be done now, for
// the one that waits longest first.
func (o *object) serve() {
	for !o.closed() && (o.length() < o.capacity() && o.serveFirst(true) || o.length() > 0 && o.serveFirst(false)) {
	}
}

// serveFirst does what the goroutine waits for that waits longest to send to o, or to receive from
// it, if there is one. To the search its next step is that operation, as if it were done then: it
// depends on all others on o.
func (o *object) serveFirst(send bool) bool {
	if *o.offered(send) == 0 {
		return false
	}
	d, j := o.first(send, nil)
	if d == nil || !d.comms[j].by.try() {
		return false
	}
	if send {
		if d.op.Kind == event.Select {
			d.touch(o.addr, 1, event.Send, d.op.Site)
		}
		d.puts(o, d.op.Site)
	} else {
		d.takes(o, d.op.Site)
	}
	d.goOn(j)
	return true
}

// sent is called after a value was put into the buffer of o, or given to a goroutine outside.
func (c *goroutine) sent(o *object, site uint32) {
	c.puts(o, site)
	s.idled = 0 // if it was to a goroutine outside, it was worth the wait
	s.changed(o)
	s.idled = 0
}

// puts takes note that a value of c's was put into the buffer of o.
func (c *goroutine) puts(o *object, site uint32) {
	if n := o.capacity(); n > 0 {
		i := (o.receive + o.length() - 1 + n) % n
		c.exchange(o.slot(i))
	} else {
		c.acquireAll() // the other side was outside
	}
	s.emit(c, event.Send, site, o.addr, 1, uint64(o.length()))
}

// received is called after a value was taken from o, or, if there was none because o is
// closed, not ok.
func (c *goroutine) received(o *object, site uint32, ok bool) {
	if ok {
		c.takes(o, site)
	} else {
		c.acquire(&o.released)
		s.emit(c, event.Recv, site, o.addr, 1, uint64(o.length()))
	}
	s.idled = 0
	s.changed(o)
	s.idled = 0
}

// takes takes note that c has got a value from the buffer of o.
func (c *goroutine) takes(o *object, site uint32) {
	if n := o.capacity(); n > 0 {
		c.exchange(o.slot(o.receive % n))
		o.receive = (o.receive + 1) % n
	} else {
		c.acquireAll() // the other side was outside
	}
	s.emit(c, event.Recv, site, o.addr, 1, uint64(o.length()))
}
