package sli

import "fmt"

// Extern does what the simulated programs need of what is not in them.
func (s *Simulation) Extern(t *Thread, in *Instr, args []Value) (Value, Status) {
	switch in.Word {
	case "append":
		return s.grow(t, in, args), Running
	case "(*sync.Once).Do":
		return s.once(t, in, args)
	}
	return zero(in.Size), Running
}

func (s *Simulation) grow(t *Thread, in *Instr, args []Value) Value {
	x, y, elem := args[0], args[1], args[2].Uint()
	n, m, room := x.Slice(8, 8).Uint(), y.Slice(8, 8).Uint(), x.Slice(16, 8).Uint()
	base := x.Slice(0, 8).Uint()
	if n+m > room {
		room = 2*room + m
		old := base
		base = s.Allocate(int(room * elem))
		s.Poke(base, s.Peek(old, int(n*elem)))
		if n > 0 {
			s.access(t, in, Event{Kind: KindLoad, Addr: old, Size: uint32(n * elem)})
		}
	} else if m > 0 {
		at := base + n*elem
		s.access(t, in, Event{
			Kind: KindStore, Addr: at, Size: uint32(m * elem),
			Before: s.Peek(at, int(m*elem)), After: s.Peek(y.Slice(0, 8).Uint(), int(m*elem)),
		})
	}
	s.Poke(base+n*elem, s.Peek(y.Slice(0, 8).Uint(), int(m*elem)))
	return Bytes(Word(8, room).Append(Word(8, n+m).Append(Word(8, base).Append(nil))))
}

func (s *Simulation) once(t *Thread, in *Instr, args []Value) (Value, Status) {
	const running, done = 1, 2
	a := args[0].Uint()
	switch s.onces[a] {
	case 0:
		s.onces[a] = running
		s.sending[t.G] = &simItem{}
		c := s.closures[args[1].Uint()]
		t.CallBack(c.fn, nil, c.captured)
		return Value{}, Called
	case running:
		if s.sending[t.G] == nil {
			return Value{}, Blocked
		}
		delete(s.sending, t.G)
		s.onces[a] = done
		s.event(t, in, Event{Kind: KindRelease, Addr: a})
	default:
		s.event(t, in, Event{Kind: KindAcquire, Addr: a})
	}
	return Value{Known: true}, Running
}

// Sync does the operations of the program's own synchronisation.
func (s *Simulation) Sync(t *Thread, in *Instr, args []Value) (Value, Status) {
	a := uint64(0)
	if len(args) > 0 {
		a = args[0].Uint()
	}
	none := zero(in.Size)
	switch in.Word {
	case "lock", "unlock", "rlock", "runlock":
		return none, s.lock(t, in, a)
	case "wgadd":
		s.groups[a] += args[1].Int()
	case "done":
		s.groups[a]--
		s.event(t, in, Event{Kind: KindRelease, Addr: a})
	case "wait":
		if s.groups[a] > 0 {
			return none, Blocked
		}
		s.event(t, in, Event{Kind: KindAcquire, Addr: a})
	case "makechan":
		c := s.Allocate(8)
		s.chans[c] = &simChan{room: int(a)}
		s.access(t, in, Event{Kind: KindAlloc, Addr: c, Size: 8})
		return Word(8, c), Running
	case "send":
		return none, s.send(t, in, a, args[1])
	case "recv":
		return s.receive(t, in, a)
	case "close":
		s.chans[a].closed = true
		s.event(t, in, Event{Kind: KindRelease, Addr: a})
	case "add", "cas", "swap":
		return s.update(t, in, a, args), Running
	case "yield", "sleep":
	default:
		s.fail(t, in, fmt.Sprintf("no such operation: %s", in.Word))
	}
	return none, Running
}

func (s *Simulation) lock(t *Thread, in *Instr, a uint64) Status {
	l := s.locks[a]
	if l == nil {
		l = &simLock{}
		s.locks[a] = l
	}
	kind := KindLock
	switch in.Word {
	case "lock":
		if l.writer || l.readers > 0 {
			return Blocked
		}
		l.writer = true
	case "rlock":
		if l.writer {
			return Blocked
		}
		l.readers++
		kind = KindRLock
	case "unlock":
		l.writer = false
		kind = KindUnlock
	case "runlock":
		l.readers--
		kind = KindRUnlock
	}
	s.event(t, in, Event{Kind: kind, Addr: a})
	return Running
}

func (s *Simulation) send(t *Thread, in *Instr, a uint64, v Value) Status {
	c := s.chans[a]
	if it := s.sending[t.G]; it != nil {
		if !it.taken {
			return Blocked
		}
		delete(s.sending, t.G)
		return Running
	}
	if c.room > 0 && len(c.queue) >= c.room {
		return Blocked
	}
	it := &simItem{val: v}
	c.queue = append(c.queue, it)
	s.event(t, in, Event{Kind: KindSend, Addr: a})
	if c.room == 0 {
		s.sending[t.G] = it
		return Blocked
	}
	return Running
}

func (s *Simulation) receive(t *Thread, in *Instr, a uint64) (Value, Status) {
	c := s.chans[a]
	if len(c.queue) == 0 {
		if !c.closed {
			return Value{}, Blocked
		}
		s.event(t, in, Event{Kind: KindAcquire, Addr: a})
		return zero(in.Size), Running
	}
	it := c.queue[0]
	c.queue = c.queue[1:]
	it.taken = true
	s.event(t, in, Event{Kind: KindRecv, Addr: a})
	if in.Size == it.val.Size+1 {
		return Bytes(append(it.val.Append(nil), 1)), Running
	}
	return it.val, Running
}

func (s *Simulation) update(t *Thread, in *Instr, a uint64, args []Value) Value {
	size := args[len(args)-1].Size
	before := Bytes(s.Peek(a, size))
	after, result := before, zero(in.Size)
	switch in.Word {
	case "add":
		after = Word(size, before.Uint()+args[1].Uint())
		result = after
	case "swap":
		after, result = args[1], before
	case "cas":
		if before == args[1] {
			after, result = args[2], Word(in.Size, 1)
		}
	}
	s.Poke(a, after.Append(nil))
	s.event(t, in, Event{Kind: KindUpdate, Addr: a, Size: uint32(size), Atomic: true, Before: before.Append(nil), After: after.Append(nil)})
	return result
}
