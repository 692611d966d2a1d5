package judge

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A channel is what an object of a channel holds.
type channel struct {
	room   int
	closed bool
	buffer []value
	// senders and receivers are the goroutines that wait, the first to come first.
	senders, receivers []waiter
}

// A waiter is one of the branches of a goroutine that waits for channels.
type waiter struct {
	thread string
	branch int
	held   value // what it sends
}

// A branch is one of the communications that an operation can come to.
type branch struct {
	on    chanRef
	sends bool
	held  value
}

// branches are the communications of an operation. blocking says that it waits for one of
// them.
func (m *machine) branches(t *thread, op operation) (all []branch, blocking bool) {
	f := t.top()
	switch in := op.instr.(type) {
	case *ssa.Send:
		return []branch{{m.value(f, in.Chan).(chanRef), true, m.value(f, in.X)}}, true
	case *ssa.UnOp:
		return []branch{{on: m.value(f, in.X).(chanRef)}}, true
	case *ssa.Select:
		for _, c := range in.States {
			b := branch{on: m.value(f, c.Chan).(chanRef)}
			if c.Dir == types.SendOnly {
				b.sends, b.held = true, m.value(f, c.Send)
			}
			all = append(all, b)
		}
		return all, in.Blocking
	}
	panic("judge: no communication")
}

// possible returns the branches that need not wait.
func (s *state) possible(all []branch) []int {
	var now []int
	for i, b := range all {
		if b.on == 0 {
			continue
		}
		c := s.object(int(b.on)).(channel)
		if b.sends && (c.closed || len(c.receivers) > 0 || len(c.buffer) < c.room) ||
			!b.sends && (len(c.buffer) > 0 || len(c.senders) > 0 || c.closed) {
			now = append(now, i)
		}
	}
	return now
}

// choices is in how many ways an operation can go on.
func (m *machine) choices(s *state, t *thread, op operation) int {
	if op.kind == calling && op.extern == drawBelow {
		return int(op.args[0].(int64))
	}
	if op.kind != selecting || t.parked != running {
		return 1
	}
	all, _ := m.branches(t, op)
	return max(1, len(s.possible(all)))
}

// communicate takes the step of a goroutine at a channel operation: one of the possible
// branches, or the beginning of a wait.
func (m *machine) communicate(s *state, t *thread, op operation, choice int) {
	all, blocking := m.branches(t, op)
	if now := s.possible(all); len(now) > 0 {
		i := now[choice]
		if all[i].sends {
			m.send(s, t, i, all[i])
		} else {
			m.receive(s, t, i, all[i])
		}
		return
	}
	if !blocking {
		m.deliver(t, -1, nil, false)
		return
	}
	t.parked, t.offers = forEver, nil
	for i, b := range all {
		if b.on == 0 {
			continue
		}
		t.parked = onChannels
		t.offers = append(t.offers, b.on)
		c := s.object(int(b.on)).(channel)
		w := waiter{t.id, i, b.held}
		if b.sends {
			c.senders = append(slices.Clip(c.senders), w)
		} else {
			c.receivers = append(slices.Clip(c.receivers), w)
		}
		s.setObject(int(b.on), c)
	}
}

func (m *machine) send(s *state, t *thread, i int, b branch) {
	c := s.object(int(b.on)).(channel)
	switch {
	case c.closed:
		panic(programPanic{iface{types.Typ[types.String], "send on closed channel"}})
	case len(c.receivers) > 0:
		m.deliver(t, i, nil, false)
		m.wake(s, c.receivers[0], b.held, true)
	default:
		c.buffer = append(slices.Clip(c.buffer), b.held)
		s.setObject(int(b.on), c)
		m.deliver(t, i, nil, false)
	}
}

func (m *machine) receive(s *state, t *thread, i int, b branch) {
	c := s.object(int(b.on)).(channel)
	switch {
	case len(c.buffer) > 0:
		v := c.buffer[0]
		c.buffer = c.buffer[1:]
		m.deliver(t, i, v, true)
		if len(c.senders) == 0 {
			s.setObject(int(b.on), c)
			return
		}
		w := c.senders[0]
		c.buffer = append(slices.Clip(c.buffer), w.held)
		s.setObject(int(b.on), c)
		m.wake(s, w, nil, false)
	case len(c.senders) > 0:
		w := c.senders[0]
		m.deliver(t, i, w.held, true)
		m.wake(s, w, nil, false)
	default: // closed
		m.deliver(t, i, nil, false)
	}
}

// wake completes the operation of a goroutine that waits.
func (m *machine) wake(s *state, w waiter, v value, ok bool) {
	t := m.unpark(s, w.thread)
	m.deliver(t, w.branch, v, ok)
	m.runLocal(s, t)
}

// unpark takes a goroutine from the queues that it is in.
func (m *machine) unpark(s *state, id string) *thread {
	i := slices.IndexFunc(s.threads, func(t *thread) bool { return t.id == id })
	t := s.own(i)
	t.parked = running
	mine := func(w waiter) bool { return w.thread == id }
	for _, o := range t.offers {
		c := s.object(int(o.(chanRef))).(channel)
		c.senders = slices.DeleteFunc(slices.Clone(c.senders), mine)
		c.receivers = slices.DeleteFunc(slices.Clone(c.receivers), mine)
		s.setObject(int(o.(chanRef)), c)
	}
	t.offers = nil
	return t
}

// deliver gives a goroutine the result of its operation: the branch that was taken, and
// what was received, nil if that is a zero value.
func (m *machine) deliver(t *thread, taken int, v value, ok bool) {
	f := t.top()
	switch in := f.block.Instrs[f.pc].(type) {
	case *ssa.Send:
		m.completed(f, nil)
	case *ssa.UnOp:
		if in.Op != token.ARROW {
			panic("judge: no receive")
		}
		if v == nil {
			v = zero(in.X.Type().Underlying().(*types.Chan).Elem())
		}
		if in.CommaOk {
			v = aggregate{v, ok}
		}
		m.completed(f, v)
	case *ssa.Select:
		result := zero(in.Type()).(aggregate)
		result[0], result[1] = int64(taken), ok
		at := 2
		for i, c := range in.States {
			if c.Dir != types.RecvOnly {
				continue
			}
			if i == taken && v != nil {
				result[at] = v
			}
			at++
		}
		m.completed(f, result)
	}
}

// closeChannel closes a channel: its receivers get zero values, its senders panic.
func (m *machine) closeChannel(s *state, r chanRef) {
	if r == 0 {
		panic(programPanic{iface{types.Typ[types.String], "close of nil channel"}})
	}
	c := s.object(int(r)).(channel)
	if c.closed {
		panic(programPanic{iface{types.Typ[types.String], "close of closed channel"}})
	}
	c.closed = true
	s.setObject(int(r), c)
	for _, w := range c.receivers {
		m.wake(s, w, nil, false)
	}
	for _, w := range c.senders {
		t := m.unpark(s, w.thread)
		m.raise(t, panicking{held: iface{types.Typ[types.String], "send on closed channel"}})
		m.runLocal(s, t)
	}
}
