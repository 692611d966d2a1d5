package sli

import (
	"errors"
	"fmt"
)

// A Simulation runs a program of several goroutines under a given schedule and
// records what an instrumented run of it would: a trace. It is how front ends are
// tested against the programs they lift, and the engine against both, without
// building anything.
type Simulation struct {
	// Pick chooses who makes the next step; ready are the goroutines that have not
	// ended, in rising order. A step that cannot be made is asked for again.
	Pick func(ready []uint32) uint32
	// MaxSteps ends a run that does not end by itself.
	MaxSteps int

	prog     *Program
	memory   map[uint64]byte
	threads  map[uint32]*Thread
	order    []uint32
	events   []Event
	frames   uint32
	next     uint64
	symbols  map[string]uint64
	names    map[uint64]string
	closures map[uint64]closureValue
	maps     map[uint64]map[string]Value
	locks    map[uint64]*simLock
	groups   map[uint64]int64
	chans    map[uint64]*simChan
	onces    map[uint64]uint8
	sending  map[uint32]*simItem
	err      error
}

type simLock struct {
	writer  bool
	readers int
}

type simChan struct {
	room   int
	queue  []*simItem
	closed bool
}

type simItem struct {
	val   Value
	taken bool
}

// ErrStuck is returned when no goroutine can make a step, ErrSteps when a run is too
// long.
var (
	ErrStuck = errors.New("simulation: every goroutine waits")
	ErrSteps = errors.New("simulation: too many steps")
)

// NewSimulation prepares a run. init functions, if any, run before in their order
// and leave no trace.
func NewSimulation(p *Program, inits ...*Func) (*Simulation, error) {
	s := &Simulation{
		MaxSteps: 1 << 20, prog: p, memory: map[uint64]byte{}, threads: map[uint32]*Thread{}, next: 1 << 32,
		symbols: map[string]uint64{}, names: map[uint64]string{}, closures: map[uint64]closureValue{},
		maps: map[uint64]map[string]Value{}, locks: map[uint64]*simLock{}, groups: map[uint64]int64{},
		chans: map[uint64]*simChan{}, onces: map[uint64]uint8{}, sending: map[uint32]*simItem{},
	}
	for _, f := range inits {
		if _, err := s.Call(f); err != nil {
			return nil, fmt.Errorf("running %s: %w", f.Name, err)
		}
	}
	s.events = nil
	return s, nil
}

// Call runs fn alone to its end and returns what it returned. A crash is an error.
func (s *Simulation) Call(fn *Func, args ...Value) (Value, error) {
	t := NewThread(s.prog, s, 1, fn, args, nil)
	for range s.MaxSteps {
		switch st := t.Step(); {
		case s.err != nil:
			return Value{}, s.err
		case st == Ended:
			return t.Result, nil
		case st == Crashed:
			return Value{}, fmt.Errorf("%v at %s", t.Failed.Why, t.Failed.Name())
		case st != Running:
			return Value{}, ErrStuck
		}
	}
	return Value{}, ErrSteps
}

// Run runs fn as goroutine 1, and what it starts, to the end or the first failure.
// The failure has Why 0 if there was none.
func (s *Simulation) Run(fn *Func, args ...Value) (*Log, Failure, error) {
	s.start(1, fn, args, nil)
	blocked := map[uint32]bool{}
	for range s.MaxSteps {
		if len(s.order) == 0 {
			return NewLog(s.events), Failure{}, s.err
		}
		var ready []uint32
		for _, g := range s.order {
			if !blocked[g] {
				ready = append(ready, g)
			}
		}
		if len(ready) == 0 {
			return NewLog(s.events), Failure{}, ErrStuck
		}
		g := ready[0]
		if s.Pick != nil && len(ready) > 1 {
			g = s.Pick(ready)
		}
		t := s.threads[g]
		made := len(s.events)
		st := t.Step()
		if s.err != nil {
			return nil, Failure{}, s.err
		}
		switch st {
		case Blocked:
			if len(s.events) > made { // it waits for what it did to be taken up
				clear(blocked)
			}
			blocked[g] = true
			continue
		case Crashed:
			s.event(t, t.Failed, Event{Kind: KindCrash})
			return NewLog(s.events), Failure{Why: t.Failed.Why, G: g, Seq: uint64(len(s.events))}, nil
		case Ended:
			s.event(nil, nil, Event{G: g, Kind: KindEnd})
			for i, x := range s.order {
				if x == g {
					s.order = append(s.order[:i:i], s.order[i+1:]...)
				}
			}
		}
		clear(blocked)
	}
	return NewLog(s.events), Failure{}, ErrSteps
}

// Next is the instruction that a goroutine is about to execute, for Pick.
func (s *Simulation) Next(g uint32) *Instr { return s.threads[g].At() }

func (s *Simulation) start(g uint32, fn *Func, args, captured []Value) {
	s.event(nil, nil, Event{G: g, Kind: KindStart})
	s.order = append(s.order, g)
	s.threads[g] = NewThread(s.prog, s, g, fn, args, captured)
}

func (s *Simulation) event(t *Thread, in *Instr, e Event) {
	e.Seq = uint64(len(s.events) + 1)
	if t != nil {
		e.G = t.G
		if len(t.Frames) > 0 && e.Frame == 0 {
			e.Frame = t.Top().ID
		}
	}
	if in != nil && len(in.Sites) > 0 {
		e.Site = in.Sites[0]
	}
	s.events = append(s.events, e)
}

// Allocate makes n bytes of zeroed memory.
func (s *Simulation) Allocate(n int) uint64 {
	a := s.next
	s.next += uint64(n+63) &^ 31
	return a
}

// Poke and Peek are the memory.
func (s *Simulation) Poke(addr uint64, b []byte) {
	for i, x := range b {
		s.memory[addr+uint64(i)] = x
	}
}

func (s *Simulation) Peek(addr uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = s.memory[addr+uint64(i)]
	}
	return b
}

func (s *Simulation) fail(t *Thread, in *Instr, what string) {
	if s.err == nil {
		s.err = fmt.Errorf("simulation of %s: %s", in.Block.Func.Name, what)
	}
}

func (s *Simulation) Load(t *Thread, in *Instr, addr, key Value) (Value, Status) {
	if !addr.Known {
		s.fail(t, in, "load from an unknown address: "+in.String())
		return Unknown(in.Size), Lost
	}
	a := addr.Uint()
	if in.Key != nil {
		s.access(t, in, Event{Kind: KindLoad, Addr: a, Size: 1, Map: true})
		return s.element(in, a, key), Running
	}
	b := s.Peek(a, in.Size)
	s.access(t, in, Event{Kind: KindLoad, Addr: a, Size: uint32(in.Size), Before: b, Atomic: in.Atomic})
	return Bytes(b), Running
}

func (s *Simulation) element(in *Instr, m uint64, key Value) Value {
	if in.Key.Op == OpOpaque {
		if in.Key.Name == "len" {
			return Word(8, uint64(len(s.maps[m])))
		}
		return Unknown(in.Size)
	}
	v, ok := s.maps[m][string(key.Append(nil))]
	if !ok {
		return zero(in.Size)
	}
	if in.Size == v.Size+1 {
		return Bytes(append(v.Append(nil), 1))
	}
	return v
}

func (s *Simulation) access(t *Thread, in *Instr, e Event) {
	if len(in.Sites) > 0 {
		s.event(t, in, e)
	}
}

func (s *Simulation) Store(t *Thread, in *Instr, addr, key, val Value) Status {
	if !addr.Known || in.Val != nil && !val.Known {
		s.fail(t, in, "store of something unknown: "+in.String())
		return Lost
	}
	a := addr.Uint()
	if in.Key != nil {
		s.access(t, in, Event{Kind: KindStore, Addr: a, Size: 1, Map: true})
		if s.maps[a] == nil {
			s.maps[a] = map[string]Value{}
		}
		switch {
		case in.Val != nil:
			s.maps[a][string(key.Append(nil))] = val
		case in.Key.Op == OpOpaque:
			clear(s.maps[a])
		default:
			delete(s.maps[a], string(key.Append(nil)))
		}
		return Running
	}
	before, after := s.Peek(a, in.Size), val.Append(nil)
	s.Poke(a, after)
	s.access(t, in, Event{Kind: KindStore, Addr: a, Size: uint32(in.Size), Before: before, After: after, Atomic: in.Atomic})
	return Running
}

func (s *Simulation) Alloc(t *Thread, in *Instr, size Value) Value {
	a := s.Allocate(int(size.Uint()))
	s.access(t, in, Event{Kind: KindAlloc, Addr: a, Size: uint32(size.Uint())})
	return Word(8, a)
}

func (s *Simulation) Spawn(t *Thread, in *Instr, fn *Func, args, captured []Value) {
	g := uint32(2)
	for s.threads[g] != nil {
		g++
	}
	s.event(t, in, Event{Kind: KindSpawn, Arg: uint64(g)})
	s.start(g, fn, args, captured)
}

func (s *Simulation) Enter(t *Thread, f *Frame) {
	s.frames++
	f.ID = s.frames
	parent := uint32(0)
	if len(t.Frames) > 1 {
		parent = t.Frames[len(t.Frames)-2].ID
	}
	s.event(nil, nil, Event{G: t.G, Kind: KindCall, Frame: f.ID, Arg: uint64(parent), Site: f.Func.Site})
}

func (s *Simulation) Leave(t *Thread, f *Frame) {
	s.event(nil, nil, Event{G: t.G, Kind: KindReturn, Frame: f.ID, Site: f.Func.Site})
}

func (s *Simulation) Crash(t *Thread, in *Instr, cond Value) bool {
	if !cond.Known {
		s.fail(t, in, "a test of something unknown: "+in.String())
	}
	return cond.Uint() != 0
}

func (s *Simulation) Branch(t *Thread, in *Instr) int {
	s.fail(t, in, "a branch on something unknown: "+in.X.String())
	return 0
}

func (s *Simulation) Target(t *Thread, in *Instr, fn Value) (*Func, []Value) {
	if in.Method != "" {
		if m := s.prog.Methods[s.names[fn.Uint()]]; m != nil {
			return m[in.Method], nil
		}
		return nil, nil
	}
	c := s.closures[fn.Uint()]
	return c.fn, c.captured
}

func (s *Simulation) Symbol(name string) Value {
	a, ok := s.symbols[name]
	if !ok {
		d := s.prog.Data[name]
		a = s.Allocate(max(len(d), 1<<16))
		s.Poke(a, d)
		s.symbols[name], s.names[a] = a, name
	}
	return Word(8, a)
}

func (s *Simulation) Closure(name string, captured []Value) Value {
	if len(captured) == 0 {
		a := s.Symbol("func " + name)
		s.closures[a.Uint()] = closureValue{fn: s.prog.Func(name)}
		return a
	}
	a := s.Allocate(8)
	s.closures[a] = closureValue{s.prog.Func(name), captured}
	return Word(8, a)
}

func (s *Simulation) Captured(c Value) []Value { return s.closures[c.Uint()].captured }

func (s *Simulation) Text(addr uint64, n int) ([]byte, bool) { return s.Peek(addr, n), true }
