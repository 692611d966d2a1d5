package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A variable is what an instruction reads and writes besides memory: a register, or one of
// the conditions that follow from the flags.
type variable uint8

const (
	vector0  variable = 16 // after the general registers
	carry    variable = 32
	zero     variable = 33
	sign     variable = 34
	overflow variable = 35
	parity   variable = 36
	// Conditions of several flags have a variable of their own, so that a comparison stays
	// one: "less" is the sign unlike the overflow, but after cmp a, b it is a < b.
	less       variable = 37
	lessEqual  variable = 38
	belowEqual variable = 39
	threadBase variable = 40 // the base of the segment fs
	otherBase  variable = 41
	variables           = 42
)

func vectorVar(r x86.Reg) variable { return vector0 + variable(r) }

// size is how many bytes a variable has.
func (v variable) size() int {
	switch {
	case v < vector0, v == threadBase, v == otherBase:
		return 8
	case v < carry:
		return 16
	}
	return 1
}

var generalNames = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// parameters are what a function is given: every general register, the vector registers that
// carry arguments, the base of the thread's own memory.
var parameters = func() []variable {
	var all []variable
	for v := variable(0); v < 16; v++ {
		all = append(all, v)
	}
	for r := range variable(8) {
		all = append(all, vector0+r)
	}
	return append(all, threadBase)
}()

// ParameterBytes is how many bytes a function's parameters have, and ResultBytes how many
// its result.
const (
	ParameterBytes = 16*8 + 8*16 + 8
	ResultBytes    = 8 + 8 + 16
)

// A blockBuilder is a block while it is built.
type blockBuilder struct {
	block *ir.Block
	// defined are the variables as they are at the block's end, or so far. A condition that
	// follows from others is there as derived.
	defined [variables]*ir.Expr
	// open: more ways may lead into the block than are known yet.
	open bool
	// waiting are variables that were read before all ways into the block were known.
	waiting []waitingPhi
}

type waitingPhi struct {
	v   variable
	phi *ir.Instr
}

// derived stands for a condition that is to be computed from the flags when it is read.
var derived = ir.Opaque("derived", 1)

// read gives a variable's value at the end of a block as far as it was built, with phis
// where ways meet. (Braun and others, Simple and Efficient Construction of SSA Form: a phi
// is made only for what is read.)
func (l *lifter) read(b *blockBuilder, v variable) *ir.Expr {
	if e := b.defined[v]; e != nil {
		if e != derived {
			return e
		}
		b.defined[v] = l.derive(b, v)
		return b.defined[v]
	}
	e := l.readBefore(b, v)
	b.defined[v] = e
	return e
}

func (l *lifter) readBefore(b *blockBuilder, v variable) *ir.Expr {
	preds := b.block.Preds
	if len(preds) == 0 && !b.open {
		if r := l.params[v]; r != 0 {
			return ir.Register(r, v.size())
		}
		return ir.Opaque("not set", v.size())
	}
	if !b.open && len(preds) == 1 {
		// Blocks that nothing leads to may follow one another in a ring.
		b.defined[v] = ir.Opaque("not reached", v.size())
		return l.read(l.builders[preds[0]], v)
	}
	phi := &ir.Instr{Op: ir.Phi, Block: b.block, Dst: l.fn.NewReg(v.name(), v.size()), Size: v.size(), Origin: l.originOf(b)}
	l.phis[b.block] = append(l.phis[b.block], phi)
	e := ir.Register(phi.Dst, v.size())
	b.defined[v] = e
	if b.open {
		b.waiting = append(b.waiting, waitingPhi{v, phi})
		return e
	}
	l.fillPhi(b, v, phi)
	return e
}

func (v variable) name() string {
	if v < vector0 {
		return generalNames[v]
	}
	return ""
}

func (l *lifter) originOf(b *blockBuilder) int {
	if len(b.block.Instrs) > 0 {
		return b.block.Instrs[0].Origin
	}
	return l.pc()
}

func (l *lifter) fillPhi(b *blockBuilder, v variable, phi *ir.Instr) {
	for _, p := range b.block.Preds {
		phi.Args = append(phi.Args, l.read(l.builders[p], v))
	}
}

// completePhis fills the phis that were made before the ways into their blocks were known.
// Filling one may read what makes others.
func (l *lifter) completePhis() {
	for _, b := range l.order {
		b.open = false
	}
	for again := true; again; {
		again = false
		for _, b := range l.order {
			waiting := b.waiting
			b.waiting = nil
			for _, w := range waiting {
				l.fillPhi(b, w.v, w.phi)
				again = true
			}
		}
	}
}

// dropTrivialPhis replaces phis all of whose values are the same, such as the stack pointer's
// at the head of a loop, and puts the others in front of their blocks.
func (l *lifter) dropTrivialPhis() {
	with := map[ir.Reg]*ir.Expr{}
	replace := func(e *ir.Expr) *ir.Expr {
		if !e.HasRegisters() {
			return e
		}
		return e.Rewrite(func(x *ir.Expr) *ir.Expr {
			if x.Op == ir.OpRegister {
				return with[x.Reg]
			}
			return nil
		}, map[*ir.Expr]*ir.Expr{})
	}
	for again := true; again; {
		again = false
		for _, b := range l.order {
			kept := l.phis[b.block][:0]
			for _, phi := range l.phis[b.block] {
				if e := onlyValue(phi, replace); e != nil {
					with[phi.Dst] = e
					again = true
					continue
				}
				kept = append(kept, phi)
			}
			l.phis[b.block] = kept
		}
		// A value may itself have been replaced, and what it was replaced by too.
		for more := again; more; {
			more = false
			for r, e := range with {
				if to := replace(e); to != e {
					with[r], more = to, true
				}
			}
		}
	}
	for _, b := range l.order {
		var head []*ir.Instr
		head = append(head, l.phis[b.block]...)
		b.block.Instrs = append(head, b.block.Instrs...)
		for _, in := range b.block.Instrs {
			for _, e := range []**ir.Expr{&in.Operand, &in.Value, &in.Target} {
				if *e != nil {
					*e = replace(*e)
				}
			}
			for i := range in.Args {
				in.Args[i] = replace(in.Args[i])
			}
		}
	}
}

// onlyValue is the one value that a phi has on all ways besides its own; nil if there are
// several.
func onlyValue(phi *ir.Instr, replace func(*ir.Expr) *ir.Expr) *ir.Expr {
	var only *ir.Expr
	for i, a := range phi.Args {
		a = replace(a)
		phi.Args[i] = a
		if a.Op == ir.OpRegister && a.Reg == phi.Dst {
			continue
		}
		if only != nil && only.Key() != a.Key() {
			return nil
		}
		only = a
	}
	if only != nil && only.HasRegisters() && only.Op != ir.OpRegister {
		found := false
		only.Walk(map[*ir.Expr]bool{}, func(x *ir.Expr) { found = found || x.Op == ir.OpRegister && x.Reg == phi.Dst })
		if found {
			return nil
		}
	}
	return only
}

// derive computes a condition from the flags.
func (l *lifter) derive(b *blockBuilder, v variable) *ir.Expr {
	switch v {
	case less:
		return ir.Binary(ir.OpNe, ir.Unsigned, l.read(b, sign), l.read(b, overflow))
	case lessEqual:
		return ir.Binary(ir.OpOr, ir.Unsigned, l.read(b, zero), l.read(b, less))
	}
	return ir.Binary(ir.OpOr, ir.Unsigned, l.read(b, carry), l.read(b, zero))
}

// get and set are the variables of the block that is built.
func (l *lifter) get(v variable) *ir.Expr { return l.read(l.current, v) }

func (l *lifter) set(v variable, e *ir.Expr) { l.current.defined[v] = e }

// assign puts a value into a register of its own. What is as short as a register stays as it
// is: constants, registers, and registers with a constant added, so that all addresses in a
// frame are the stack pointer at the function's entry and a number.
func (l *lifter) assign(e *ir.Expr, name string) *ir.Expr {
	if isShort(e) {
		return e
	}
	dst := l.fn.NewReg(name, e.Size)
	l.emit(&ir.Instr{Op: ir.Assign, Dst: dst, Size: e.Size, Operand: e})
	return ir.Register(dst, e.Size)
}

func isShort(e *ir.Expr) bool {
	switch e.Op {
	case ir.OpConst, ir.OpRegister, ir.OpOpaque:
		return true
	case ir.OpAdd:
		return e.Args[0].Op == ir.OpRegister && e.Args[1].Op == ir.OpConst
	}
	return false
}

// setGeneral gives a general register a value of 8 bytes.
func (l *lifter) setGeneral(r x86.Reg, e *ir.Expr) {
	l.set(variable(r), l.assign(e, generalNames[r]))
}
