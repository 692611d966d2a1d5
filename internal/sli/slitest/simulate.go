package slitest

import (
	"errors"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Simulation runs a program of several goroutines under a given schedule and
// records what an instrumented run of it would: a trace. It is how front ends are
// tested against the programs they lift, and the engine against both, without
// building anything.
type Simulation struct {
	// Pick chooses the goroutine that makes the next step; ready are those that have not
	// ended, in the order in which they began. A step that cannot be made yet is asked
	// for again. Without Pick the first goroutine goes on for as long as it can.
	Pick func(ready []uint32) uint32
	// Externs do what the program calls outside itself, by the front end's name for it.
	Externs map[string]Extern
	// Executed, if there is one, is called with each instruction that was executed.
	Executed func(g uint32, in *ir.Instr)
	// MaxSteps ends a run that does not end by itself.
	MaxSteps int

	prog        *ir.Program
	memory      map[uint64]byte
	threads     map[uint32]*exec.Thread
	running     []uint32
	events      []exec.Event
	frames      uint32
	nextAddress uint64
	symbols     map[string]uint64
	names       map[uint64]string
	closures    map[uint64]exec.Closure
	maps        map[uint64]map[string]ir.Value
	locks       map[uint64]*lockState
	groups      map[uint64]int64
	channels    map[uint64]*channelState
	onces       map[uint64]uint8
	calling     map[uint32]bool     // goroutines inside the function of a Once
	sending     map[uint32]*message // of goroutines that wait for it to be received
	err         error
}

// ErrStuck is returned when no goroutine can make a step, ErrSteps when a run is too
// long.
var (
	ErrStuck = errors.New("simulation: every goroutine waits")
	ErrSteps = errors.New("simulation: too many steps")
)

// A CrashError says that a test of a function that was called alone failed.
type CrashError struct{ Test *ir.Instr }

func (e *CrashError) Error() string {
	return fmt.Sprintf("%v at %s", e.Test.Cause, e.Test.Name())
}

// NewSimulation prepares a run with empty memory.
func NewSimulation(program *ir.Program) *Simulation {
	return &Simulation{
		MaxSteps: 1 << 20, prog: program, memory: map[uint64]byte{}, threads: map[uint32]*exec.Thread{}, nextAddress: 1 << 32,
		symbols: map[string]uint64{}, names: map[uint64]string{}, closures: map[uint64]exec.Closure{},
		maps: map[uint64]map[string]ir.Value{}, locks: map[uint64]*lockState{}, groups: map[uint64]int64{},
		channels: map[uint64]*channelState{}, onces: map[uint64]uint8{}, calling: map[uint32]bool{}, sending: map[uint32]*message{},
	}
}

// Init runs functions one after the other, as a program initialises itself. They leave
// no trace.
func (s *Simulation) Init(fns ...*ir.Func) error {
	for _, fn := range fns {
		if _, err := s.Call(fn); err != nil {
			return fmt.Errorf("running %s: %w", fn.Name, err)
		}
	}
	s.events = nil
	return nil
}

// Call runs fn alone to its end and returns what it returned. A crash is a *CrashError.
func (s *Simulation) Call(fn *ir.Func, args ...ir.Value) (ir.Value, error) {
	thread := exec.NewThread(s.prog, s, ir.NewContexts(), 1, fn, args, nil)
	for range s.MaxSteps {
		switch st := thread.Step(); {
		case s.err != nil:
			return ir.Value{}, s.err
		case st == exec.Ended:
			return thread.Result, nil
		case st == exec.Crashed:
			return ir.Value{}, &CrashError{Test: thread.Failed}
		case st != exec.Running:
			return ir.Value{}, ErrStuck
		}
	}
	return ir.Value{}, ErrSteps
}

// Run runs fn as goroutine 1, and what it starts, to the end or the first failure.
// The failure has no Cause if there was none.
func (s *Simulation) Run(fn *ir.Func, args ...ir.Value) (*exec.Log, exec.Failure, error) {
	s.start(1, fn, args, nil)
	blocked := map[uint32]bool{}
	for range s.MaxSteps {
		if len(s.running) == 0 {
			return exec.NewLog(s.events), exec.Failure{}, s.err
		}
		var ready []uint32
		for _, g := range s.running {
			if !blocked[g] {
				ready = append(ready, g)
			}
		}
		if len(ready) == 0 {
			return exec.NewLog(s.events), exec.Failure{}, ErrStuck
		}
		g := ready[0]
		if s.Pick != nil && len(ready) > 1 {
			g = s.Pick(ready)
		}
		thread := s.threads[g]
		made, in := len(s.events), thread.At()
		st := thread.Step()
		if s.Executed != nil && st != exec.Blocked {
			s.Executed(g, in)
		}
		if s.err != nil {
			return nil, exec.Failure{}, s.err
		}
		switch st {
		case exec.Blocked:
			if len(s.events) > made { // it waits for what it did to be taken up
				clear(blocked)
			}
			blocked[g] = true
			continue
		case exec.Crashed:
			s.event(thread, thread.Failed, exec.Event{Kind: exec.KindCrash})
			return exec.NewLog(s.events), exec.Failure{Cause: thread.Failed.Cause, G: g, Seq: uint64(len(s.events))}, nil
		case exec.Ended:
			s.event(nil, nil, exec.Event{G: g, Kind: exec.KindEnd})
			for i, x := range s.running {
				if x == g {
					s.running = append(s.running[:i:i], s.running[i+1:]...)
				}
			}
		}
		clear(blocked)
	}
	return exec.NewLog(s.events), exec.Failure{}, ErrSteps
}

// Result is what the first function of a run returned, once it has.
func (s *Simulation) Result() ir.Value { return s.threads[1].Result }

// Next is the instruction that a goroutine is about to execute, for Pick.
func (s *Simulation) Next(g uint32) *ir.Instr { return s.threads[g].At() }

func (s *Simulation) start(g uint32, fn *ir.Func, args, captured []ir.Value) {
	s.event(nil, nil, exec.Event{G: g, Kind: exec.KindStart})
	s.running = append(s.running, g)
	s.threads[g] = exec.NewThread(s.prog, s, ir.NewContexts(), g, fn, args, captured)
}

func (s *Simulation) event(thread *exec.Thread, in *ir.Instr, event exec.Event) {
	event.Seq = uint64(len(s.events) + 1)
	if thread != nil {
		event.G = thread.G
		if len(thread.Frames) > 0 && event.Frame == 0 {
			event.Frame = thread.Top().ID
		}
	}
	if in != nil && len(in.Sites) > 0 {
		event.Site = in.Sites[0]
	}
	s.events = append(s.events, event)
}

// Allocate makes n bytes of zeroed memory.
func (s *Simulation) Allocate(n int) uint64 {
	a := s.nextAddress
	s.nextAddress += uint64(n+63) &^ 31
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

// fail ends the simulation: what is not known must not be guessed by a judge.
func (s *Simulation) fail(in *ir.Instr, what string) {
	if s.err == nil {
		s.err = fmt.Errorf("simulation of %s: %s", in.Block.Func.Name, what)
	}
}

func (s *Simulation) Load(thread *exec.Thread, in *ir.Instr, addr, key ir.Value) (ir.Value, exec.Status) {
	if !addr.Known {
		s.fail(in, "load from an unknown address: "+in.String())
		return ir.Unknown(in.Size), exec.Lost
	}
	a := addr.Uint()
	if in.Key != nil {
		s.access(thread, in, exec.Event{Kind: exec.KindLoad, Addr: a, Size: 1, Map: true})
		return s.element(in, a, key), exec.Running
	}
	b := s.Peek(a, in.Size)
	s.access(thread, in, exec.Event{Kind: exec.KindLoad, Addr: a, Size: uint32(in.Size), Before: b, Atomic: in.Atomic})
	return ir.Bytes(b), exec.Running
}

// element is what a map holds for a key; with room for one more byte, whether it does.
func (s *Simulation) element(in *ir.Instr, m uint64, key ir.Value) ir.Value {
	switch in.Key {
	case ir.LengthKey:
		return ir.Word(8, uint64(len(s.maps[m])))
	case ir.AnyKey, ir.NextKey:
		return ir.Unknown(in.Size)
	}
	value, ok := s.maps[m][string(key.Append(nil))]
	if !ok {
		return ir.Zero(in.Size)
	}
	if in.Size == value.Size+1 {
		return ir.Bytes(append(value.Append(nil), 1))
	}
	return value
}

// access records an event, if the instruction makes events.
func (s *Simulation) access(thread *exec.Thread, in *ir.Instr, event exec.Event) {
	if len(in.Sites) > 0 {
		s.event(thread, in, event)
	}
}

func (s *Simulation) Store(thread *exec.Thread, in *ir.Instr, addr, key, val ir.Value) exec.Status {
	if !addr.Known || in.Value != nil && !val.Known {
		s.fail(in, "store of something unknown: "+in.String())
		return exec.Lost
	}
	a := addr.Uint()
	if in.Key != nil {
		s.access(thread, in, exec.Event{Kind: exec.KindStore, Addr: a, Size: 1, Map: true})
		if s.maps[a] == nil {
			s.maps[a] = map[string]ir.Value{}
		}
		switch {
		case in.Value != nil:
			s.maps[a][string(key.Append(nil))] = val
		case in.Key == ir.AnyKey:
			clear(s.maps[a])
		default:
			delete(s.maps[a], string(key.Append(nil)))
		}
		return exec.Running
	}
	before, after := s.Peek(a, in.Size), val.Append(nil)
	s.Poke(a, after)
	s.access(thread, in, exec.Event{Kind: exec.KindStore, Addr: a, Size: uint32(in.Size), Before: before, After: after, Atomic: in.Atomic})
	return exec.Running
}

// Update reads and writes in one step.
func (s *Simulation) Update(thread *exec.Thread, in *ir.Instr, addr ir.Value, change func(ir.Value) ir.Value) (ir.Value, exec.Status) {
	if !addr.Known {
		s.fail(in, "update of something unknown: "+in.String())
		return ir.Unknown(in.Size), exec.Lost
	}
	before := s.Peek(addr.Uint(), in.Size)
	value := change(ir.Bytes(before))
	if !value.Known {
		s.fail(in, "update with something unknown: "+in.String())
		return ir.Unknown(in.Size), exec.Lost
	}
	after := value.Append(nil)
	s.Poke(addr.Uint(), after)
	s.access(thread, in, exec.Event{Kind: exec.KindUpdate, Addr: addr.Uint(), Size: uint32(in.Size), Before: before, After: after, Atomic: in.Atomic})
	return ir.Bytes(before), exec.Running
}

func (s *Simulation) Alloc(thread *exec.Thread, in *ir.Instr, size ir.Value) ir.Value {
	a := s.Allocate(int(size.Uint()))
	s.access(thread, in, exec.Event{Kind: exec.KindAlloc, Addr: a, Size: uint32(size.Uint())})
	return ir.Word(8, a)
}

func (s *Simulation) Spawn(thread *exec.Thread, in *ir.Instr, fn *ir.Func, args, captured []ir.Value) {
	g := uint32(2)
	for s.threads[g] != nil {
		g++
	}
	s.event(thread, in, exec.Event{Kind: exec.KindSpawn, Arg: uint64(g)})
	s.start(g, fn, args, captured)
}

func (s *Simulation) Enter(thread *exec.Thread, f *exec.Frame) {
	s.frames++
	f.ID = s.frames
	parent := uint32(0)
	if len(thread.Frames) > 1 {
		parent = thread.Frames[len(thread.Frames)-2].ID
	}
	s.event(nil, nil, exec.Event{G: thread.G, Kind: exec.KindCall, Frame: f.ID, Arg: uint64(parent), Site: f.Func.Site})
}

func (s *Simulation) Leave(thread *exec.Thread, f *exec.Frame) {
	s.event(nil, nil, exec.Event{G: thread.G, Kind: exec.KindReturn, Frame: f.ID, Site: f.Func.Site})
}

func (s *Simulation) Crash(thread *exec.Thread, in *ir.Instr, cond ir.Value) bool {
	if !cond.Known {
		s.fail(in, "a test of something unknown: "+in.String())
	}
	return cond.Uint() != 0
}

func (s *Simulation) Branch(thread *exec.Thread, in *ir.Instr) int {
	s.fail(in, "a branch on something unknown: "+in.Operand.String())
	return 0
}

func (s *Simulation) Target(thread *exec.Thread, in *ir.Instr, fn ir.Value) (*ir.Func, []ir.Value) {
	if in.Method != "" {
		if m := s.prog.Methods[s.names[fn.Uint()]]; m != nil {
			return m[in.Method], nil
		}
		return nil, nil
	}
	c := s.closures[fn.Uint()]
	return c.Func, c.Captured
}

func (s *Simulation) Symbol(name string) ir.Value {
	a, ok := s.symbols[name]
	if !ok {
		d := s.prog.Constants[name]
		a = s.Allocate(max(len(d), 1<<16))
		s.Poke(a, d)
		s.symbols[name], s.names[a] = a, name
	}
	return ir.Word(8, a)
}

func (s *Simulation) Closure(name string, captured []ir.Value) ir.Value {
	if len(captured) == 0 {
		a := s.Symbol(ir.FuncSymbol(name))
		s.closures[a.Uint()] = exec.Closure{Func: s.prog.Func(name)}
		return a
	}
	a := s.Allocate(8)
	s.closures[a] = exec.Closure{Func: s.prog.Func(name), Captured: captured}
	return ir.Word(8, a)
}

func (s *Simulation) Captured(closure ir.Value) []ir.Value {
	return s.closures[closure.Uint()].Captured
}

// BadAddress is whether an address is on the page that no program uses.
func (s *Simulation) BadAddress(addr uint64) ir.Value {
	if addr < ir.FirstPage {
		return ir.Word(1, 1)
	}
	return ir.Word(1, 0)
}

func (s *Simulation) Text(addr uint64, n int) ([]byte, bool) { return s.Peek(addr, n), true }
