package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Case is a case of a select statement: a *RecvCase or a *SendCase.
type Case interface {
	// offer returns what to do, with no object for a nil channel.
	offer() comm
	// try does it, if it can be done at once.
	try() bool
	// met is called when it was done with, or by, another goroutine.
	met()
	// ok reports what the receive's second result is.
	ok() bool
}

// A RecvCase receives. Its fields are for the plain statement; see Select.
type RecvCase[T any] struct {
	Ch <-chan T
	V  T
	OK bool
}

// CaseRecv is the case <-ch.
func CaseRecv[T any](ch <-chan T) *RecvCase[T] { return &RecvCase[T]{Ch: ch} }

// Value returns what was received.
func (r *RecvCase[T]) Value() T { return r.V }

// Value2 returns what was received, and whether it was sent.
func (r *RecvCase[T]) Value2() (T, bool) { return r.V, r.OK }

func (r *RecvCase[T]) offer() comm {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&r.Ch))
	if p == nil {
		return comm{}
	}
	return comm{on: s.channelAt(p), value: unsafe.Pointer(&r.V), move: move[T], by: r}
}

func (r *RecvCase[T]) try() (done bool) {
	r.V, r.OK, done = tryRecv(r.Ch)
	return done
}

func (r *RecvCase[T]) met()     { r.OK = true }
func (r *RecvCase[T]) ok() bool { return r.OK }

// A SendTo is the channel of a case that sends.
type SendTo[T any] struct{ ch chan<- T }

// CaseSend is the case ch <- v, up to v.
func CaseSend[T any](ch chan<- T) SendTo[T] { return SendTo[T]{ch} }

// Of is the case ch <- v.
func (l SendTo[T]) Of(v T) *SendCase[T] { return &SendCase[T]{l.ch, v} }

// A SendCase sends. Its fields are for the plain statement; see Select.
type SendCase[T any] struct {
	Ch chan<- T
	V  T
}

func (n *SendCase[T]) offer() comm {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&n.Ch))
	if p == nil {
		return comm{}
	}
	return comm{on: s.channelAt(p), send: true, value: unsafe.Pointer(&n.V), move: move[T], by: n}
}

func (n *SendCase[T]) try() bool { return trySend(n.Ch, n.V) }
func (n *SendCase[T]) met()      {}
func (n *SendCase[T]) ok() bool  { return true }

// Index is int, where that name may mean something else.
type Index = int

// Select is a select statement. It returns the index of the case, -1 for default. plain
// is the statement itself, for goroutines that are not under control: without reflection
// there is no other way to wait for several channels of several types.
//
//	select { case v, ok := <-a: A; case b <- x: B; default: D }
//
// becomes
//
//	switch c0, c1 := cofferdamrt.CaseRecv(a), cofferdamrt.CaseSend(b).Of(x); cofferdamrt.Select(7, true, func() int {
//		select { case c0.V, c0.OK = <-c0.Ch: return 0; case c1.Ch <- c1.V: return 1; default: return -1 }
//	}, c0, c1) { case 0: v, ok := c0.Value2(); A; case 1: B; default: D }
func Select(site uint32, hasDefault bool, plain func() int, cases ...Case) int {
	c := enter()
	if c == nil {
		if hasDefault {
			looksEarly()
		} else {
			waitsEarly()
		}
		return plain()
	}
	op := event.Op{Kind: event.Select, Site: site}
	c.comms = c.comms[:0]
	for _, k := range cases {
		if m := k.offer(); m.on != nil {
			c.comms = append(c.comms, m)
		}
	}
	if len(c.comms) == 0 && !hasDefault {
		c.forever(op)
	}
	if len(c.comms) > 0 {
		op.Addr, op.Size = c.comms[0].on.addr, 1
	}
	if hasDefault {
		c.noteMade(plain, cases)
	}
	i := -1
	for done := false; !done; {
		if hasDefault {
			c.wait = wait{}
		} else {
			c.wait = wait{kind: forChannel}
		}
		alive := c.await(op)
		c.madeForHook = c.madeForHook[:0]
		if !alive {
			return c.selectPlain(hasDefault, cases)
		}
		i, done = c.selectOne(site, hasDefault, cases)
	}
	c.comms = c.comms[:0]
	if i >= 0 {
		c.polling.changes()
	}
	s.emit(c, event.Select, site, op.Addr, 1, uint64(i+1))
	c.leave()
	return i
}

// noteMade takes note of what is allocated for a select statement.
func (c *goroutine) noteMade(plain func() int, cases []Case) {
	c.madeForHook = append(c.madeForHook[:0], *(*uintptr)(unsafe.Pointer(&plain)), uintptr(unsafe.Pointer(unsafe.SliceData(cases))))
	for i := range cases {
		c.madeForHook = append(c.madeForHook, (*[2]uintptr)(unsafe.Pointer(&cases[i]))[1])
	}
}

// selectOne does one of the cases, if it can, and returns its index.
func (c *goroutine) selectOne(site uint32, hasDefault bool, cases []Case) (index int, done bool) {
	if i := c.chose; i >= 0 {
		c.chose = -1
		index = caseOf(i, cases)
		cases[index].met()
		return index, true
	}
	n := 0
	for i := range c.comms {
		if c.possible(i) {
			n++
		}
	}
	pick := s.branch(c, site, n, event.Select)
	if n == 0 && hasDefault && others.Load() == 0 && !foreign.Load() {
		return -1, true
	}
	for i := range c.comms {
		if n > 0 {
			if !c.possible(i) {
				continue
			}
			if pick--; pick >= 0 {
				continue
			}
		}
		m := &c.comms[i]
		index = caseOf(i, cases)
		if m.send {
			c.touch(m.on.addr, 1, event.Send, site)
		}
		if d, j := c.partner(i); d != nil {
			c.meet(i, d, j)
			cases[index].met()
			return index, true
		}
		o, send := m.on, m.send
		c.leave()
		ok := cases[index].try() // panics if it sends and the channel is closed
		enter()
		if !ok {
			continue
		}
		if send {
			c.sent(o, site)
		} else {
			c.received(o, site, cases[index].ok())
		}
		return index, true
	}
	return -1, hasDefault
}

// caseOf returns which case the i-th offer belongs to: those of nil channels have none.
func caseOf(i int, cases []Case) int {
	for k, n := range cases {
		if n.offer().on != nil {
			if i--; i < 0 {
				return k
			}
		}
	}
	panic("rt: more offers than cases")
}

// selectPlain is Select for a goroutine that is being taken down.
func (c *goroutine) selectPlain(hasDefault bool, cases []Case) int {
	c.comms = c.comms[:0]
	c.leave()
	for i, k := range cases {
		if k.offer().on != nil && k.try() {
			return i
		}
	}
	if !hasDefault {
		c.die()
	}
	return -1
}

// An AnyCase is a case of package reflect's, which knows the type of what is sent only by
// its descriptor.
type AnyCase struct {
	Ch    unsafe.Pointer
	Sends bool
	// Value is where the value is, or is to be put, and Move copies between two such places.
	Value unsafe.Pointer
	Move  func(from, to unsafe.Pointer)
	// Try does it, if it can be done at once.
	Try func() (done, received bool)
	// Received is the receive's second result.
	Received bool
}

func (a *AnyCase) offer() comm {
	if a.Ch == nil {
		return comm{}
	}
	return comm{on: s.channelAt(a.Ch), send: a.Sends, value: a.Value, move: a.Move, by: a}
}

func (a *AnyCase) try() (done bool) {
	done, a.Received = a.Try()
	return done
}

func (a *AnyCase) met()     { a.Received = true }
func (a *AnyCase) ok() bool { return a.Received }

// SelectAny is Select for package reflect. The caller is under control.
func SelectAny(hasDefault bool, cases ...Case) int {
	c := enterLibrary()
	if c == nil {
		return -1
	}
	site := c.site()
	c.leave()
	return Select(site, hasDefault, nil, cases...)
}
