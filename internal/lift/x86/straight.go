package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A Straight is code without calls as a function from the whole state of a processor to the
// whole state, for tests that hold lifted code against other judges.
type Straight struct {
	Program *ir.Program
	Func    *ir.Func
	// General, Vectors and Flags are the parameters, and their values at the end are in the
	// registers of the same names in End.
	General [16]ir.Reg
	Vectors [16]ir.Reg
	// Flags are carry, zero, sign, overflow and parity.
	Flags [5]ir.Reg
	End   *Straight
	// Opaque are instructions that could not be lifted.
	Opaque []x86.Op
}

// LiftStraight lifts code at an address, up to a breakpoint.
func LiftStraight(code []byte, at uint64) (*Straight, error) {
	im := &Image{Base: at, slots: map[uint64]string{}, segments: []segment{{at, at + uint64(len(code)), true, code}}}
	p := newProgram(Config{Image: im})
	fn := &ir.Func{Name: "straight"}
	s := &Straight{Program: p.Program, Func: fn, End: &Straight{}}
	l := &lifter{
		program: p, machine: p.discover(at), fn: fn, builders: map[*ir.Block]*blockBuilder{}, phis: map[*ir.Block][]*ir.Instr{}, byPC: map[uint64]*blockBuilder{},
		inst: &placedInst{pc: at},
	}
	param := func(v variable) ir.Reg {
		l.params[v] = fn.NewReg(v.name(), v.size())
		fn.Params = append(fn.Params, l.params[v])
		return l.params[v]
	}
	for r := range s.General {
		s.General[r], s.Vectors[r] = param(variable(r)), param(vectorVar(x86.Reg(r)))
	}
	for i := range s.Flags {
		s.Flags[i] = param(carry + variable(i))
	}
	l.current = l.newBlock()
	l.set(less, derived)
	l.set(lessEqual, derived)
	l.set(belowEqual, derived)
	for pc := at; ; {
		in := placedInst{pc: pc}
		if !p.decode(pc, &in.Inst) || in.Op == x86.INT3 {
			break
		}
		l.inst = &in
		l.instruction(&machineBlock{}, false)
		pc = in.next()
	}
	end := func(v variable) ir.Reg {
		dst := fn.NewReg("", v.size())
		l.emit(&ir.Instr{Op: ir.Assign, Dst: dst, Size: v.size(), Operand: l.get(v)})
		return dst
	}
	for r := range s.General {
		s.End.General[r], s.End.Vectors[r] = end(variable(r)), end(vectorVar(x86.Reg(r)))
	}
	for i := range s.Flags {
		s.End.Flags[i] = end(carry + variable(i))
	}
	l.emit(&ir.Instr{Op: ir.Return})
	l.completePhis()
	l.dropTrivialPhis()
	for _, in := range l.opaque {
		s.Opaque = append(s.Opaque, in.Op)
	}
	p.Funcs = append(p.Funcs, fn)
	p.Finish()
	return s, p.Check()
}
