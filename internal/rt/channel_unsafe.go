package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
)

// Channels.
//
// The buffer of a channel, whether it is closed and which goroutines outside wait for it are
// the real channel's. On an unbuffered one two sides that only try never meet: so a
// goroutine that waits in park has its offers (comm) written down, and the other side
// moves the value and does the operation for both. On a buffered one, too, what a goroutine
// waits for is done for it, the moment it can be done: as natively, none that comes later
// gets a place, or a value, before one that waits.

// A comm is an offer to send to or receive from a channel.
type comm struct {
	on   *object
	send bool
	// value is where the value is, or is to be put: a *T.
	value unsafe.Pointer
	// move copies the value between two such places, from and to; it knows T.
	move func(from, to unsafe.Pointer)
	// by does it on the real channel.
	by Case
}

func (o *object) length() int      { return int(o.channel.header.length) }
func (o *object) capacity() int    { return int(o.channel.header.capacity) }
func (o *object) unbuffered() bool { return o.channel.header.capacity == 0 }
func (o *object) closed() bool     { return o.channel.header.closed != 0 }

// slot is the past of the i-th place of a channel's buffer. Buffers can be large, as the one of a
// million in each sql.DB, and are hardly used.
func (o *object) slot(i int) *race.Vector {
	for len(o.slots) <= i {
		o.slots = append(o.slots, race.Vector{})
	}
	return &o.slots[i]
}

// channelAt returns the object of a channel, which is not nil.
func (s *scheduler) channelAt(p unsafe.Pointer) *object {
	o := s.objects.at(p)
	if o.channel.header == nil {
		o.channel.header = (*chanHeader)(p)
		o.keep(p, chanState)
		if h := o.channel.header; h.capacity > 0 && h.size > 0 {
			s.journal.Keep(uintptr(h.buffer), uintptr(h.capacity)*uintptr(h.size))
		}
	}
	return o
}

// possible reports whether c's i-th offer can be done now.
func (c *goroutine) possible(i int) bool {
	m := &c.comms[i]
	switch o := m.on; {
	case o.closed():
		return true
	case o.unbuffered():
		d, _ := c.partner(i)
		return d != nil || o.awaitedNatively(m.send)
	case m.send:
		return o.length() < o.capacity()
	default:
		return o.length() > 0
	}
}

// offered is how many offers to send, or to receive, the goroutines have that wait for o.
func (o *object) offered(send bool) *int {
	if send {
		return &o.sends
	}
	return &o.receives
}

// idle reports whether none that waits for the channel o can go on because of it, or could
// since it was looked for the last time. There may be many. Those that wait for a channel that
// is closed have been let go, for good.
func (o *object) idle() bool {
	switch {
	case o.channel.header == nil:
		return false
	case o.closed():
		return o.seenClosed
	case o.someReady:
		return false
	case o.unbuffered():
		return (o.sends == 0 || o.receives == 0) && !o.awaitedNatively(true) && !o.awaitedNatively(false)
	}
	return (o.sends == 0 || o.length() == o.capacity()) && (o.receives == 0 || o.length() == 0)
}

// awaitedNatively reports whether a goroutine outside waits for another to send to the
// channel, or to receive from it.
func (o *object) awaitedNatively(send bool) bool {
	if send {
		return o.channel.header.receivers.first != nil
	}
	return o.channel.header.senders.first != nil
}

// partner returns the goroutine that waits, longest of all, to do the other side of c's
// i-th offer, and by which offer of its own.
func (c *goroutine) partner(i int) (*goroutine, int) {
	m := &c.comms[i]
	if !m.on.unbuffered() || m.on.closed() || *m.on.offered(!m.send) == 0 {
		return nil, 0
	}
	return m.on.first(!m.send, c)
}

// first returns the goroutine that waits, longest of all but c, to send to o, or to receive
// from it, and by which of its offers.
func (o *object) first(send bool, c *goroutine) (*goroutine, int) {
	for _, d := range o.waiters {
		if d == c || d.state != blocked || d.chose >= 0 {
			continue
		}
		for j := range d.comms {
			if n := &d.comms[j]; n.on == o && n.send == send {
				return d, j
			}
		}
	}
	return nil, 0
}

// meet does c's i-th offer together with the j-th one of d, which waits for it.
func (c *goroutine) meet(i int, d *goroutine, j int) {
	m, n := &c.comms[i], &d.comms[j]
	from, to := m.value, n.value
	if !m.send {
		from, to = to, from
	}
	m.move(from, to)
	c.Meet(&d.Thread)
	if m.send {
		s.emit(c, event.Send, s.ops[s.at(c)].Site, m.on.addr, 1, 0)
		s.emit(d, event.Recv, d.op.Site, m.on.addr, 1, 0)
	} else {
		s.emit(d, event.Send, d.op.Site, m.on.addr, 1, 0)
		s.emit(c, event.Recv, s.ops[s.at(c)].Site, m.on.addr, 1, 0)
	}
	d.op.Kind, d.op.Addr, d.op.Size = event.None, 0, 0
	d.goOn(j)
}

// goOn lets d, which waited, go on: another goroutine did its j-th offer.
func (d *goroutine) goOn(j int) {
	d.chose = j
	// It has what it waited for: of a crowd at a channel, the next one that comes must not
	// have to look through those that are only to go on.
	d.unregister()
	s.resume(d)
}

// A Sender is a channel to which a value is going to be sent once it has been computed.
type Sender[T any] struct{ ch chan<- T }

// To returns the sender for ch. It is no step of the goroutine.
func To[T any](ch chan<- T) Sender[T] { return Sender[T]{ch} }

// Send is ch <- v.
func (l Sender[T]) Send(v T, site uint32) {
	c := enter()
	if c == nil {
		if heldBack() {
			if trySend(l.ch, v) {
				return
			}
			releaseEarly()
		}
		l.ch <- v
		return
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&l.ch))
	if p == nil {
		c.forever(event.Op{Kind: event.Send, Site: site})
	}
	o := s.channelAt(p)
	op := event.Op{Kind: event.Send, Site: site, Addr: uintptr(p), Size: 1}
	c.wait = wait{kind: forChannel}
	c.comms = append(c.comms[:0], comm{on: o, send: true})
	if !c.dying {
		c.touch(uintptr(p), 1, event.Send, site)
	}
	if o.unbuffered() {
		c.comms[0] = (&SendCase[T]{l.ch, v}).offer()
	}
	for {
		alive, waits := c.awaitTurn(op)
		if waits {
			if c.comms[0].by == nil {
				c.comms[0] = (&SendCase[T]{l.ch, v}).offer()
			}
			c.awaitDone(op)
		}
		if !alive {
			c.comms = c.comms[:0]
			c.leave()
			if !trySend(l.ch, v) {
				c.die()
			}
			return
		}
		if c.did() {
			break
		}
		if d, j := c.partner(0); d != nil {
			c.meet(0, d, j)
			break
		}
		c.leave()
		ok := trySend(l.ch, v) // panics if ch is closed
		enter()
		if ok {
			c.sent(o, site)
			break
		}
	}
	c.forgetOffer()
	c.leave()
}

// forgetOffer lets go of the only offer of c, which the collector could not.
func (c *goroutine) forgetOffer() {
	c.comms[0] = comm{}
	c.comms = c.comms[:0]
}

// did reports whether another goroutine did one of c's offers, and forgets it.
func (c *goroutine) did() bool {
	did := c.chose >= 0
	c.chose = -1
	return did
}

func move[T any](from, to unsafe.Pointer) { *(*T)(to) = *(*T)(from) }

func trySend[T any](ch chan<- T, v T) bool {
	select {
	case ch <- v:
		return true
	default:
		return false
	}
}

func tryRecv[T any](ch <-chan T) (v T, ok, done bool) {
	select {
	case v, ok = <-ch:
		return v, ok, true
	default:
		return v, false, false
	}
}

// Recv is <-ch.
func Recv[T any](ch <-chan T, site uint32) T {
	v, _ := Recv2(ch, site)
	return v
}

// Recv2 is <-ch where it has two results.
func Recv2[T any](ch <-chan T, site uint32) (v T, ok bool) {
	c := enter()
	if c == nil {
		if heldBack() {
			if v, ok, done := tryRecv(ch); done {
				return v, ok
			}
			releaseEarly()
		}
		v, ok = <-ch
		return v, ok
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&ch))
	if p == nil {
		c.forever(event.Op{Kind: event.Recv, Site: site})
	}
	o := s.channelAt(p)
	op := event.Op{Kind: event.Recv, Site: site, Addr: uintptr(p), Size: 1}
	c.wait = wait{kind: forChannel}
	c.comms = append(c.comms[:0], comm{on: o})
	var box *RecvCase[T]
	if o.unbuffered() {
		box = CaseRecv(ch)
		c.comms[0] = box.offer()
	}
	for {
		alive, waits := c.awaitTurn(op)
		if waits {
			if box == nil {
				box = CaseRecv(ch)
				c.comms[0] = box.offer()
			}
			c.awaitDone(op)
		}
		if !alive {
			c.comms = c.comms[:0]
			c.leave()
			v, ok, done := tryRecv(ch)
			if !done {
				c.die()
			}
			return v, ok
		}
		if c.did() {
			v, ok = box.V, true
			break
		}
		if d, j := c.partner(0); d != nil {
			c.meet(0, d, j)
			v, ok = box.V, true
			break
		}
		var done bool
		if v, ok, done = tryRecv(ch); done {
			c.received(o, site, ok)
			break
		}
	}
	c.forgetOffer()
	c.leave()
	return v, ok
}

// Close is close(ch).
func Close[T any](ch chan<- T, site uint32) {
	c := enter()
	if c == nil {
		close(ch)
		return
	}
	c.close(*(*unsafe.Pointer)(unsafe.Pointer(&ch)), site, func() { close(ch) })
}

// CloseAny is close of the channel at p, by plain. It returns false if the caller is not
// under control.
func CloseAny(p unsafe.Pointer, plain func()) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	c.close(p, c.site(), plain)
	return true
}

func (c *goroutine) close(p unsafe.Pointer, site uint32, plain func()) {
	if p == nil {
		c.leave()
		plain()
		return
	}
	o := s.channelAt(p)
	alive := c.step(event.Op{Kind: event.Close, Site: site, Addr: uintptr(p), Size: 1})
	if alive {
		c.touch(uintptr(p), 1, event.Close, site)
	}
	c.leave()
	plain() // may panic
	if alive {
		enter()
		c.Release(&o.released)
		s.emit(c, event.Close, site, o.addr, 1, 0)
		s.changed(o)
		c.leave()
	}
}

// LenSendChan is len(ch) of a channel that is only sent to.
func LenSendChan[T any](ch chan<- T, site uint32) int {
	return LenChan(*(*<-chan T)(unsafe.Pointer(&ch)), site)
}

// LenChan is len(ch).
func LenChan[T any](ch <-chan T, site uint32) int {
	c := enter()
	if c == nil {
		return len(ch)
	}
	if p := *(*unsafe.Pointer)(unsafe.Pointer(&ch)); p != nil {
		op := event.Op{Kind: event.ChanLen, Site: site, Addr: uintptr(p), Size: 1}
		c.polls(&op)
		if c.step(op) {
			s.emit(c, event.ChanLen, site, uintptr(p), 1, uint64(len(ch)))
		}
	}
	c.leave()
	return len(ch)
}
