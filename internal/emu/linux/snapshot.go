package linux

import (
	"maps"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/emu/sockets"
)

// A Snapshot is a state of a process that it can go back to, any number of times.
type Snapshot struct {
	memory  mem.Snapshot
	state   state
	threads []Thread
	cpus    []cpu.CPU
}

// Snapshot returns the present state. What the program wrote to its standard output and
// error is not a part of it.
func (p *Process) Snapshot() *Snapshot {
	s := &Snapshot{memory: p.Mem.Snapshot(), state: p.state.copy()}
	for _, t := range p.threads {
		s.threads = append(s.threads, *t)
		s.cpus = append(s.cpus, *t.CPU)
	}
	return s
}

// Instructions returns how many instructions had been executed.
func (s *Snapshot) Instructions() uint64 { return s.state.count }

// Restore makes the state that of a snapshot. Threads stay the same objects.
func (p *Process) Restore(s *Snapshot) {
	p.Mem.Restore(s.memory)
	p.Mem.Forget()
	p.net.Abandon()
	p.state = s.state.copy()
	for i, t := range p.threads {
		c := t.CPU
		*t = s.threads[i]
		*c = s.cpus[i]
	}
	p.running = nil
}

// copy returns a state that shares nothing that changes.
func (s *state) copy() state {
	c := *s
	c.threads = slices.Clone(s.threads)
	c.files.over = maps.Clone(s.files.over)
	linked := &sockets.Copier{}
	c.net = linked.Net(s.net)
	nodes := map[*node]*node{}
	same := func(n *node) *node {
		if n == nil || !n.own && n.pipe == nil && n.socket == nil && n.watched == nil {
			return n
		}
		if nodes[n] == nil {
			m := *n
			m.data = slices.Clone(n.data)
			if n.pipe != nil {
				pp := *n.pipe
				pp.data = slices.Clone(pp.data)
				m.pipe = &pp
			}
			m.socket = linked.Socket(n.socket)
			m.watched = n.watched.copy()
			nodes[n] = &m
		}
		return nodes[n]
	}
	for name, n := range c.files.over {
		c.files.over[name] = same(n)
	}
	descriptions := map[*description]*description{}
	c.fds = make([]*description, len(s.fds))
	for i, d := range s.fds {
		if d == nil {
			continue
		}
		if descriptions[d] == nil {
			e := *d
			e.node = same(d.node)
			descriptions[d] = &e
		}
		c.fds[i] = descriptions[d]
	}
	return c
}
