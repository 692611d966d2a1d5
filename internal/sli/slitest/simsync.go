package slitest

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Extern does what the simulated programs need of what is not in them.
func (s *Simulation) Extern(t *exec.Thread, in *ir.Instr, args []ir.Value) (ir.Value, exec.Status) {
	switch in.Word {
	case "append":
		return s.grow(t, in, args), exec.Running
	case "(*sync.Once).Do":
		return s.once(t, in, args)
	}
	return ir.Zero(in.Size), exec.Running
}

func (s *Simulation) grow(t *exec.Thread, in *ir.Instr, args []ir.Value) ir.Value {
	x, y, elem := args[0], args[1], args[2].Uint()
	n, m, room := x.Slice(8, 8).Uint(), y.Slice(8, 8).Uint(), x.Slice(16, 8).Uint()
	base := x.Slice(0, 8).Uint()
	if n+m > room {
		room = 2*room + m
		old := base
		base = s.Allocate(int(room * elem))
		s.Poke(base, s.Peek(old, int(n*elem)))
		if n > 0 {
			s.access(t, in, exec.Event{Kind: exec.KindLoad, Addr: old, Size: uint32(n * elem)})
		}
	} else if m > 0 {
		at := base + n*elem
		s.access(t, in, exec.Event{
			Kind: exec.KindStore, Addr: at, Size: uint32(m * elem),
			Before: s.Peek(at, int(m*elem)), After: s.Peek(y.Slice(0, 8).Uint(), int(m*elem)),
		})
	}
	s.Poke(base+n*elem, s.Peek(y.Slice(0, 8).Uint(), int(m*elem)))
	return ir.Bytes(ir.Word(8, room).Append(ir.Word(8, n+m).Append(ir.Word(8, base).Append(nil))))
}

func (s *Simulation) once(t *exec.Thread, in *ir.Instr, args []ir.Value) (ir.Value, exec.Status) {
	const running, done = 1, 2
	a := args[0].Uint()
	switch s.onces[a] {
	case 0:
		s.onces[a] = running
		s.sending[t.G] = &simItem{}
		c := s.closures[args[1].Uint()]
		t.CallBack(c.Func, nil, c.Captured)
		return ir.Value{}, exec.Called
	case running:
		if s.sending[t.G] == nil {
			return ir.Value{}, exec.Blocked
		}
		delete(s.sending, t.G)
		s.onces[a] = done
		s.event(t, in, exec.Event{Kind: exec.KindRelease, Addr: a})
	default:
		s.event(t, in, exec.Event{Kind: exec.KindAcquire, Addr: a})
	}
	return ir.Value{Known: true}, exec.Running
}

// Sync does the operations of the program's own synchronisation.
func (s *Simulation) Sync(t *exec.Thread, in *ir.Instr, args []ir.Value) (ir.Value, exec.Status) {
	a := uint64(0)
	if len(args) > 0 {
		a = args[0].Uint()
	}
	none := ir.Zero(in.Size)
	switch in.Word {
	case "lock", "unlock", "rlock", "runlock":
		return none, s.lock(t, in, a)
	case "wgadd":
		s.groups[a] += args[1].Int()
	case "done":
		s.groups[a]--
		s.event(t, in, exec.Event{Kind: exec.KindRelease, Addr: a})
	case "wait":
		if s.groups[a] > 0 {
			return none, exec.Blocked
		}
		s.event(t, in, exec.Event{Kind: exec.KindAcquire, Addr: a})
	case "makechan":
		c := s.Allocate(8)
		s.chans[c] = &simChan{room: int(a)}
		s.access(t, in, exec.Event{Kind: exec.KindAlloc, Addr: c, Size: 8})
		return ir.Word(8, c), exec.Running
	case "send":
		return none, s.send(t, in, a, args[1])
	case "recv":
		return s.receive(t, in, a)
	case "close":
		s.chans[a].closed = true
		s.event(t, in, exec.Event{Kind: exec.KindRelease, Addr: a})
	case "add", "cas", "swap":
		return s.update(t, in, a, args), exec.Running
	case "yield", "sleep":
	default:
		s.fail(t, in, fmt.Sprintf("no such operation: %s", in.Word))
	}
	return none, exec.Running
}

func (s *Simulation) lock(t *exec.Thread, in *ir.Instr, a uint64) exec.Status {
	l := s.locks[a]
	if l == nil {
		l = &simLock{}
		s.locks[a] = l
	}
	kind := exec.KindLock
	switch in.Word {
	case "lock":
		if l.writer || l.readers > 0 {
			return exec.Blocked
		}
		l.writer = true
	case "rlock":
		if l.writer {
			return exec.Blocked
		}
		l.readers++
		kind = exec.KindRLock
	case "unlock":
		l.writer = false
		kind = exec.KindUnlock
	case "runlock":
		l.readers--
		kind = exec.KindRUnlock
	}
	s.event(t, in, exec.Event{Kind: kind, Addr: a})
	return exec.Running
}

func (s *Simulation) send(t *exec.Thread, in *ir.Instr, a uint64, v ir.Value) exec.Status {
	c := s.chans[a]
	if it := s.sending[t.G]; it != nil {
		if !it.taken {
			return exec.Blocked
		}
		delete(s.sending, t.G)
		return exec.Running
	}
	if c.room > 0 && len(c.queue) >= c.room {
		return exec.Blocked
	}
	it := &simItem{val: v}
	c.queue = append(c.queue, it)
	s.event(t, in, exec.Event{Kind: exec.KindSend, Addr: a})
	if c.room == 0 {
		s.sending[t.G] = it
		return exec.Blocked
	}
	return exec.Running
}

func (s *Simulation) receive(t *exec.Thread, in *ir.Instr, a uint64) (ir.Value, exec.Status) {
	c := s.chans[a]
	if len(c.queue) == 0 {
		if !c.closed {
			return ir.Value{}, exec.Blocked
		}
		s.event(t, in, exec.Event{Kind: exec.KindAcquire, Addr: a})
		return ir.Zero(in.Size), exec.Running
	}
	it := c.queue[0]
	c.queue = c.queue[1:]
	it.taken = true
	s.event(t, in, exec.Event{Kind: exec.KindRecv, Addr: a})
	if in.Size == it.val.Size+1 {
		return ir.Bytes(append(it.val.Append(nil), 1)), exec.Running
	}
	return it.val, exec.Running
}

func (s *Simulation) update(t *exec.Thread, in *ir.Instr, a uint64, args []ir.Value) ir.Value {
	size := args[len(args)-1].Size
	before := ir.Bytes(s.Peek(a, size))
	after, result := before, ir.Zero(in.Size)
	switch in.Word {
	case "add":
		after = ir.Word(size, before.Uint()+args[1].Uint())
		result = after
	case "swap":
		after, result = args[1], before
	case "cas":
		if before == args[1] {
			after, result = args[2], ir.Word(in.Size, 1)
		}
	}
	s.Poke(a, after.Append(nil))
	s.event(t, in, exec.Event{Kind: exec.KindUpdate, Addr: a, Size: uint32(size), Atomic: true, Before: before.Append(nil), After: after.Append(nil)})
	return result
}
