package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A Failure is how and where a run of a program failed: at which of the program's own
// instructions, and what it did there that could not be done.
type Failure struct {
	PC    uint64
	Cause ir.Cause
	// Argument is, for a failure inside of what the instruction calls, the register that
	// has the bad address.
	Argument x86.Reg
	Outside  bool
	// AtStore: the instruction has read its operand, and could not write it any more.
	AtStore bool
	// AtCall: the instruction is a call that did not come back. Callers are the calls that
	// led to it, the innermost first.
	AtCall  bool
	Callers []uint64
}

// Outer is the same failure as the failure of a caller: what the program calls to end itself
// may be the program's own code, and decide nothing. It is nil if there is no caller.
func (f *Failure) Outer() *Failure {
	if len(f.Callers) == 0 {
		return nil
	}
	return &Failure{PC: f.Callers[0], Cause: f.Cause, AtCall: true, Callers: f.Callers[1:]}
}

// testFailing puts a test in front of the instruction that failed. All others are without one:
// an access that can fail is nearly every access, and what does not fail needs no test.
func (l *lifter) testFailing() {
	f := l.program.failure
	if f == nil || f.PC != l.inst.pc {
		return
	}
	in := l.inst
	test := func(cond *ir.Expr) { l.emit(&ir.Instr{Op: ir.Test, Cause: f.Cause, Operand: cond}) }
	bad := l.testAddress
	switch {
	case f.AtStore:
		l.testsStore = true
	case f.AtCall:
		test(number(1, 1))
	case f.Cause == ir.DivideByZero && (in.Op == x86.DIV || in.Op == x86.IDIV):
		test(isZero(l.arg(0)))
	case f.Cause != ir.BadAccess:
	case f.Outside:
		bad(l.get(variable(f.Argument)))
	case (in.Op == x86.CALL || in.Op == x86.JMP) && in.Args[0].Place != x86.Relative && f.Cause == ir.BadAccess:
		if in.Args[0].Place == x86.Memory {
			bad(l.address())
		}
		bad(l.arg(0))
	case in.Op.IsString():
		if in.Op != x86.STOS && in.Op != x86.STOSB {
			bad(l.get(variable(x86.RSI)))
		}
		bad(l.get(variable(x86.RDI)))
	default:
		if _, ok := in.HasMemory(); ok {
			bad(l.address())
		}
	}
}

// testAddress puts a test of an address here.
func (l *lifter) testAddress(addr *ir.Expr) {
	l.emit(&ir.Instr{Op: ir.Test, Cause: l.program.failure.Cause, Operand: ir.Unary(ir.OpBadAddress, ir.Unsigned, l.assign(addr, ""))})
}
