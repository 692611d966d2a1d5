package slitest

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

type lockState struct {
	writer  bool
	readers int
}

type channelState struct {
	room   int
	queue  []*message
	closed bool
}

// A message is a value on its way through a channel.
type message struct {
	value    ir.Value
	received bool
}

// Sync does the operations of the program's own synchronisation.
func (s *Simulation) Sync(thread *exec.Thread, in *ir.Instr, args []ir.Value) (ir.Value, exec.Status) {
	object := uint64(0)
	if len(args) > 0 {
		object = args[0].Uint()
	}
	none := ir.Zero(in.Size)
	switch in.Sync {
	case ir.SyncLock, ir.SyncUnlock, ir.SyncReadLock, ir.SyncReadUnlock:
		return none, s.lock(thread, in, object)
	case ir.SyncTryLock, ir.SyncTryReadLock:
		if s.lock(thread, in, object) == exec.Running {
			return ir.Word(in.Size, 1), exec.Running
		}
	case ir.SyncGroupAdd:
		s.groups[object] += args[1].Int()
	case ir.SyncGroupDone:
		s.groups[object]--
		s.event(thread, in, exec.Event{Kind: exec.KindRelease, Addr: object})
	case ir.SyncGroupWait:
		if s.groups[object] > 0 {
			return none, exec.Blocked
		}
		s.event(thread, in, exec.Event{Kind: exec.KindAcquire, Addr: object})
	case ir.SyncNewChannel:
		c := s.Allocate(8)
		s.channels[c] = &channelState{room: int(object)}
		s.access(thread, in, exec.Event{Kind: exec.KindAlloc, Addr: c, Size: 8})
		return ir.Word(8, c), exec.Running
	case ir.SyncSend:
		return none, s.send(thread, in, object, args[1])
	case ir.SyncReceive:
		return s.receive(thread, in, object)
	case ir.SyncClose:
		s.channels[object].closed = true
		s.event(thread, in, exec.Event{Kind: exec.KindRelease, Addr: object})
	case ir.SyncChannelLength:
		return ir.Word(in.Size, uint64(len(s.channels[object].queue))), exec.Running
	case ir.SyncYield, ir.SyncSleep:
	case ir.SyncConditionWait, ir.SyncConditionWake, ir.SyncSelect, ir.SyncPoll:
		s.fail(in, fmt.Sprintf("%v cannot be simulated", in.Sync))
	default:
		panic(fmt.Sprintf("slitest: no synchronisation operation: %v", in.Sync))
	}
	return none, exec.Running
}

// lock takes or releases a lock. A lock that cannot be taken now gives Blocked.
func (s *Simulation) lock(thread *exec.Thread, in *ir.Instr, addr uint64) exec.Status {
	l := s.locks[addr]
	if l == nil {
		l = &lockState{}
		s.locks[addr] = l
	}
	kind := exec.KindLock
	switch in.Sync {
	case ir.SyncLock, ir.SyncTryLock:
		if l.writer || l.readers > 0 {
			return exec.Blocked
		}
		l.writer = true
	case ir.SyncReadLock, ir.SyncTryReadLock:
		if l.writer {
			return exec.Blocked
		}
		l.readers++
		kind = exec.KindRLock
	case ir.SyncUnlock:
		l.writer = false
		kind = exec.KindUnlock
	case ir.SyncReadUnlock:
		l.readers--
		kind = exec.KindRUnlock
	}
	s.event(thread, in, exec.Event{Kind: kind, Addr: addr})
	return exec.Running
}

// send puts a value into a channel. Without room for it, the sender comes back until
// the value was received.
func (s *Simulation) send(thread *exec.Thread, in *ir.Instr, addr uint64, value ir.Value) exec.Status {
	c := s.channels[addr]
	if m := s.sending[thread.G]; m != nil {
		if !m.received {
			return exec.Blocked
		}
		delete(s.sending, thread.G)
		return exec.Running
	}
	if c.room > 0 && len(c.queue) >= c.room {
		return exec.Blocked
	}
	m := &message{value: value}
	c.queue = append(c.queue, m)
	s.event(thread, in, exec.Event{Kind: exec.KindSend, Addr: addr})
	if c.room == 0 {
		s.sending[thread.G] = m
		return exec.Blocked
	}
	return exec.Running
}

func (s *Simulation) receive(thread *exec.Thread, in *ir.Instr, addr uint64) (ir.Value, exec.Status) {
	c := s.channels[addr]
	if len(c.queue) == 0 {
		if !c.closed {
			return ir.Value{}, exec.Blocked
		}
		s.event(thread, in, exec.Event{Kind: exec.KindAcquire, Addr: addr})
		return ir.Zero(in.Size), exec.Running
	}
	m := c.queue[0]
	c.queue = c.queue[1:]
	m.received = true
	s.event(thread, in, exec.Event{Kind: exec.KindRecv, Addr: addr})
	if in.Size == m.value.Size+1 {
		return ir.Bytes(append(m.value.Append(nil), 1)), exec.Running
	}
	return m.value, exec.Running
}
