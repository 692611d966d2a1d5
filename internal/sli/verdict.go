package sli

import (
	"maps"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Verdict is what a machine predicts.
type Verdict uint8

const (
	Safe Verdict = iota
	WillCrash
	CannotTell
)

// evaluation evaluates a machine in a memory.
type evaluation struct {
	regs       map[regKey]ir.Value
	memory     func(addr uint64, size int) ir.Value
	replay     *exec.Replay
	ownStores  map[uint64]byte     // what the machine's own stores wrote
	loaded     map[string]ir.Value // loads that were made, by label
	touch      func(l *ir.Expr, addr uint64, size int)
	badAddress bool   // a load went to an address that cannot be used
	before     uint64 // the event before which the machine runs
	locals     map[string]ir.Value
}

func (s *evaluation) Reg(e *ir.Expr) ir.Value {
	if value, ok := s.regs[regKey{e.Context, e.Reg}]; ok {
		return value
	}
	return ir.Unknown(e.Size)
}

func (s *evaluation) Symbol(name string) ir.Value { return s.replay.Symbol(name) }

// BadAddress asks for the time at which the machine runs.
func (s *evaluation) BadAddress(addr uint64) ir.Value { return s.replay.BadAddress(addr, s.before) }

func (s *evaluation) Text(addr uint64, n int) ([]byte, bool) { return s.replay.Text(addr, n) }

func (s *evaluation) Closure(name string, captured []ir.Value) ir.Value {
	return s.replay.Closure(name, captured)
}

func (s *evaluation) Captured(closure ir.Value, i, size int) ir.Value {
	if got := s.replay.Captured(closure); closure.Known && i < len(got) {
		return got[i]
	}
	return ir.Unknown(size)
}

// Load gives the same value for a label each time: in one evaluation a load is made once.
func (s *evaluation) Load(e *ir.Expr, addr, key ir.Value) ir.Value {
	if value, ok := s.loaded[e.Key()]; ok {
		return value
	}
	if value, ok := s.locals[e.Key()]; ok {
		return value
	}
	value := s.read(e, addr, key)
	s.loaded[e.Key()] = value
	return value
}

// read reads memory as the machine's own stores have left it.
func (s *evaluation) read(e *ir.Expr, addr, key ir.Value) ir.Value {
	if !addr.Known {
		return ir.Unknown(e.Size)
	}
	if s.BadAddress(addr.Uint()).Uint() != 0 {
		if len(e.Args) < 2 {
			s.badAddress = true
			// Memory that was there, and may be again, decides too.
			if addr.Uint() >= ir.FirstPage {
				s.touch(e, s.replay.Real(addr.Uint()), e.Size)
			}
		}
		return ir.Unknown(e.Size)
	}
	a := s.replay.Real(addr.Uint())
	if len(e.Args) > 1 {
		s.touch(e, a, 1)
		return ir.Unknown(e.Size)
	}
	s.touch(e, a, e.Size)
	whole := true
	for i := range e.Size {
		_, ok := s.ownStores[a+uint64(i)]
		whole = whole && ok
	}
	value := ir.Unknown(e.Size)
	if !whole {
		value = s.memory(a, e.Size)
	}
	if len(s.ownStores) == 0 || !whole && !value.Known {
		return value
	}
	b := make([]byte, e.Size)
	if value.Known {
		b = value.Append(b[:0])
	}
	for i := range b {
		if x, ok := s.ownStores[a+uint64(i)]; ok {
			b[i] = x
		}
	}
	return ir.Bytes(b)
}

// run evaluates the machine. A load through a bad address is a crash like any other;
// an unknown predicate matters only if its sides differ.
func (s *evaluation) run(edge Edge) Verdict {
	for {
		for _, o := range edge.Ops {
			if o.Load != nil {
				ir.Eval(o.Load, s)
				continue
			}
			addr, val := ir.Eval(o.Addr, s), ir.Eval(o.Value, s)
			if !addr.Known || o.Key != nil {
				continue
			}
			a := s.replay.Real(addr.Uint())
			for i := range o.Size {
				if val.Known {
					s.ownStores[a+uint64(i)] = byte(val.Slice(i, 1).Uint())
				} else {
					delete(s.ownStores, a+uint64(i))
				}
			}
		}
		if s.badAddress {
			return WillCrash
		}
		if edge.To.Predicate == nil {
			if edge.To.Crash {
				return WillCrash
			}
			return Safe
		}
		value := ir.Eval(edge.To.Predicate, s)
		if s.badAddress {
			return WillCrash
		}
		if !value.Known {
			// A side that decides nothing more leaves nothing behind for the other.
			first := s
			if edge.To.Yes.To.Predicate != nil || len(edge.To.Yes.Ops) > 0 {
				first = s.fork()
			}
			yes, no := first.run(edge.To.Yes), s.run(edge.To.No)
			if yes == no {
				return yes
			}
			return CannotTell
		}
		if value.Uint() != 0 {
			edge = edge.To.Yes
		} else {
			edge = edge.To.No
		}
	}
}

// fork is a copy that goes on by itself.
func (s *evaluation) fork() *evaluation {
	c := *s
	c.ownStores, c.loaded = maps.Clone(s.ownStores), maps.Clone(s.loaded)
	return &c
}
