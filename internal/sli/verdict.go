package sli

import (
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

// machineState evaluates a machine in a memory.
type machineState struct {
	regs   map[regKey]ir.Value
	memory func(addr uint64, size int) ir.Value
	r      *exec.Replay
	own    map[uint64]byte     // what the machine's own stores wrote
	cache  map[string]ir.Value // loads that were made, by label
	touch  func(l *ir.Expr, addr uint64, size int)
	bad    bool // a load went to an address that cannot be used
}

func (s *machineState) Reg(e *ir.Expr) ir.Value {
	if v, ok := s.regs[regKey{e.Ctx, e.Reg}]; ok {
		return v
	}
	return ir.Unknown(e.Size)
}

func (s *machineState) Symbol(name string) ir.Value { return s.r.Symbol(name) }

func (s *machineState) Text(addr uint64, n int) ([]byte, bool) { return s.r.Text(addr, n) }

func (s *machineState) Closure(name string, captured []ir.Value) ir.Value {
	return s.r.Closure(name, captured)
}

func (s *machineState) Bound(c ir.Value, i, size int) ir.Value {
	if got := s.r.Captured(c); c.Known && i < len(got) {
		return got[i]
	}
	return ir.Unknown(size)
}

func (s *machineState) Load(e *ir.Expr, addr, key ir.Value) ir.Value {
	if v, ok := s.cache[e.Key()]; ok {
		return v
	}
	v := s.read(e, addr, key)
	s.cache[e.Key()] = v
	return v
}

func (s *machineState) read(e *ir.Expr, addr, key ir.Value) ir.Value {
	if !addr.Known {
		return ir.Unknown(e.Size)
	}
	if addr.Uint() < ir.FirstPage {
		if len(e.Args) < 2 {
			s.bad = true
		}
		return ir.Unknown(e.Size)
	}
	a := s.r.Real(addr.Uint())
	if len(e.Args) > 1 {
		s.touch(e, a, 1)
		return ir.Unknown(e.Size)
	}
	s.touch(e, a, e.Size)
	whole := true
	for i := range e.Size {
		_, ok := s.own[a+uint64(i)]
		whole = whole && ok
	}
	v := ir.Unknown(e.Size)
	if !whole {
		v = s.memory(a, e.Size)
	}
	if len(s.own) == 0 || !whole && !v.Known {
		return v
	}
	b := make([]byte, e.Size)
	if v.Known {
		b = v.Append(b[:0])
	}
	for i := range b {
		if x, ok := s.own[a+uint64(i)]; ok {
			b[i] = x
		}
	}
	return ir.Bytes(b)
}

// run evaluates the machine. A load through a bad address is a crash like any other;
// an unknown predicate matters only if its sides differ.
func (s *machineState) run(e Edge) Verdict {
	for {
		for _, o := range e.Ops {
			if o.Load != nil {
				ir.Eval(o.Load, s)
				continue
			}
			addr, val := ir.Eval(o.Addr, s), ir.Eval(o.Value, s)
			if !addr.Known || o.Key != nil {
				continue
			}
			a := s.r.Real(addr.Uint())
			for i := range o.Size {
				if val.Known {
					s.own[a+uint64(i)] = byte(val.Slice(i, 1).Uint())
				} else {
					delete(s.own, a+uint64(i))
				}
			}
		}
		if s.bad {
			return WillCrash
		}
		if e.To.Pred == nil {
			if e.To.Crash {
				return WillCrash
			}
			return Safe
		}
		v := ir.Eval(e.To.Pred, s)
		if s.bad {
			return WillCrash
		}
		if !v.Known {
			yes, no := s.fork().run(e.To.Yes), s.fork().run(e.To.No)
			if yes == no {
				return yes
			}
			return CannotTell
		}
		if v.Uint() != 0 {
			e = e.To.Yes
		} else {
			e = e.To.No
		}
	}
}

func (s *machineState) fork() *machineState {
	c := *s
	c.own, c.cache = map[uint64]byte{}, map[string]ir.Value{}
	for k, v := range s.own {
		c.own[k] = v
	}
	for k, v := range s.cache {
		c.cache[k] = v
	}
	return &c
}
