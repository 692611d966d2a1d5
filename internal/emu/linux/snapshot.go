package linux

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
	"github.com/cofferdam-go/cofferdam/internal/emu/image"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
)

// A Snapshot is a state of a process and its children that it can go back to, any number of
// times.
type Snapshot struct {
	memory  mem.Snapshot
	state   state
	threads []Thread
	cpus    []cpu.CPU

	// What a child changes when it executes another program, or ends.
	space   *mem.Space
	code    *cpu.Code
	program image.Image

	children []*Snapshot
}

// Snapshot returns the present state. What the program wrote to its standard output and
// error is not a part of it.
func (p *Process) Snapshot() *Snapshot { return p.snapshot(newCopier()) }

func (p *Process) snapshot(k *copier) *Snapshot {
	s := &Snapshot{state: k.state(&p.state), space: p.Mem, code: p.Code, program: p.program}
	if p.Mem != nil {
		s.memory = p.Mem.Snapshot()
	}
	for _, t := range p.threads {
		s.threads = append(s.threads, *t)
		s.cpus = append(s.cpus, *t.CPU)
	}
	for _, c := range p.children {
		s.children = append(s.children, c.snapshot(k))
	}
	return s
}

// Instructions returns how many instructions had been executed.
func (s *Snapshot) Instructions() uint64 { return s.state.count }

// Restore makes the state that of a snapshot. Threads stay the same objects.
func (p *Process) Restore(s *Snapshot) {
	p.net.Abandon()
	p.restore(s, newCopier())
}

func (p *Process) restore(s *Snapshot, k *copier) {
	p.Mem, p.Code, p.program = s.space, s.code, s.program
	if p.Mem != nil {
		p.Mem.Restore(s.memory)
		p.Mem.Forget()
	}
	p.state = k.state(&s.state)
	for i, t := range p.threads {
		c := t.CPU
		*t = s.threads[i]
		*c = s.cpus[i]
	}
	p.running = nil
	for i, c := range p.children {
		c.restore(s.children[i], k)
	}
}

// A copier copies states of processes that share what changes.
type copier struct {
	system       *system
	files        files.Copier
	descriptions map[*description]*description
}

func newCopier() *copier {
	return &copier{descriptions: map[*description]*description{}}
}

// state returns a copy of a state that shares nothing that changes.
func (k *copier) state(s *state) state {
	c := *s
	c.threads = slices.Clone(s.threads)
	c.children = slices.Clone(s.children)
	if k.system == nil {
		k.system = &system{net: k.files.Sockets.Net(s.net), nextTID: s.nextTID, files: k.files.Tree(s.files)}
	}
	c.system = k.system
	c.fds = slices.Clone(s.fds)
	for i := range c.fds {
		c.fds[i].description = k.description(s.fds[i].description)
	}
	return c
}

func (k *copier) description(d *description) *description {
	if d == nil {
		return nil
	}
	if k.descriptions[d] == nil {
		e := *d
		e.node = k.files.Node(d.node)
		k.descriptions[d] = &e
	}
	return k.descriptions[d]
}
