package cpu

import (
	"math"
	"math/big"

	"github.com/cofferdam-go/cofferdam/internal/emu/float80"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// An FPU is the x87: eight registers as a stack. It is rare in programs of this
// architecture (long double, and the code that saves it), so it is written for brevity.
// Exceptions are not kept, and precision is that of the registers.
type FPU struct {
	Control uint16
	regs    [8]float80.Number
	top     uint8
	used    uint8  // registers that hold a number, by their place, not by the stack
	codes   uint16 // the condition codes, at their places in the status word
}

func (f *FPU) reset() { *f = FPU{Control: 0x37f} }

func (f *FPU) st(i int) *float80.Number { return &f.regs[(int(f.top)+i)&7] }

func (f *FPU) status() uint16 { return f.codes | uint16(f.top)<<11 }

func (f *FPU) setStatus(v uint16) {
	f.top = uint8(v >> 11 & 7)
	f.codes = v & 0x4700
}

func (f *FPU) push(v float80.Number) {
	f.top = (f.top - 1) & 7
	f.regs[f.top] = v
	f.used |= 1 << f.top
}

func (f *FPU) pop() float80.Number {
	v := f.regs[f.top]
	f.used &^= 1 << f.top
	f.top = (f.top + 1) & 7
	return v
}

func (f *FPU) rounding() uint16 { return f.Control >> 10 & 3 }

// source returns the operand of an x87 instruction.
func (c *CPU) source(o *op, i int, integer bool) float80.Number {
	a := &o.inst.Args[i]
	if a.Place == x86.Stack {
		return *c.FPU.st(int(a.Reg))
	}
	addr := c.addr(o)
	switch {
	case integer:
		up := 64 - 8*a.Size
		return float80.OfInt(int64(c.load(addr, a.Size)<<up) >> up)
	case a.Size == 4:
		return float80.OfFloat(math.Float64frombits(widen(c.Mem.Load32(addr))))
	case a.Size == 8:
		return float80.OfFloat(math.Float64frombits(c.Mem.Load64(addr)))
	default:
		return float80.Number{Mant: c.Mem.Load64(addr), SE: c.Mem.Load16(addr + 8)}
	}
}

func fld(c *CPU, o *op)  { c.FPU.push(c.source(o, 0, false)) }
func fild(c *CPU, o *op) { c.FPU.push(c.source(o, 0, true)) }

// fst stores the top, in the size of the operand.
func fst(c *CPU, o *op) {
	a, v := &o.inst.Args[0], *c.FPU.st(0)
	if a.Place == x86.Stack {
		n := (c.FPU.top + uint8(a.Reg)) & 7
		c.FPU.regs[n] = v
		c.FPU.used |= 1 << n
		return
	}
	addr := c.addr(o)
	switch a.Size {
	case 4:
		c.Mem.Store32(addr, math.Float32bits(v.Float32()))
	case 8:
		c.Mem.Store64(addr, math.Float64bits(v.Float64()))
	default:
		c.Mem.Probe(addr, 10)
		c.Mem.Store64(addr, v.Mant)
		c.Mem.Store16(addr+8, v.SE)
	}
}

func fist(c *CPU, o *op) {
	size := o.inst.Args[0].Size
	c.store(c.addr(o), size, c.FPU.st(0).ToInt(size, c.FPU.rounding()))
}

func fisttp(c *CPU, o *op) {
	size := o.inst.Args[0].Size
	c.store(c.addr(o), size, c.FPU.st(0).ToInt(size, float80.RoundToZero))
	c.FPU.pop()
}

// popping makes a handler that pops after another one.
func popping(h handler) handler {
	return func(c *CPU, o *op) {
		h(c, o)
		c.FPU.pop()
	}
}

// x87arith makes the handlers of an operation: the destination is the top, or the first
// operand if there are two.
func x87arith(operation byte, reversed, integer bool) handler {
	return func(c *CPU, o *op) {
		dst, arg := 0, 0
		if o.inst.Args[1].Place == x86.Stack {
			dst, arg = int(o.inst.Args[0].Reg), 1
		}
		a, b := *c.FPU.st(dst), c.source(o, arg, integer)
		if reversed {
			a, b = b, a
		}
		*c.FPU.st(dst) = float80.Arith(operation, a, b)
	}
}

// fcom makes a comparison with the operand, or with the second of the stack.
func fcom(integer bool) handler {
	return func(c *CPU, o *op) {
		b := *c.FPU.st(1)
		for i := range 2 {
			if p := o.inst.Args[i].Place; p == x86.Memory || p == x86.Stack && (i == 1 || o.inst.Args[1].Place == x86.NoArg) {
				b = c.source(o, i, integer)
			}
		}
		less, equal, unordered := float80.Compare(*c.FPU.st(0), b)
		c.FPU.setCodes(less, equal, unordered)
	}
}

func (f *FPU) setCodes(less, equal, unordered bool) {
	const c0, c2, c3 = 1 << 8, 1 << 10, 1 << 14
	f.codes = uint16(bit(less || unordered, c0) | bit(unordered, c2) | bit(equal || unordered, c3))
}

// fcomi compares into the flags of the processor.
func fcomi(c *CPU, o *op) {
	c.ordered(float80.Compare(*c.FPU.st(0), c.source(o, 1, false)))
}

func ftst(c *CPU, _ *op) { c.FPU.setCodes(float80.Compare(*c.FPU.st(0), float80.Number{})) }

func fxch(c *CPU, o *op) {
	a, b := c.FPU.st(0), c.FPU.st(int(o.dst))
	*a, *b = *b, *a
}

func fchs(c *CPU, _ *op) { c.FPU.st(0).SE ^= 1 << 15 }
func fabs(c *CPU, _ *op) { c.FPU.st(0).SE &^= 1 << 15 }

func fldConst(v float80.Number) handler { return func(c *CPU, _ *op) { c.FPU.push(v) } }

func frndint(c *CPU, _ *op) {
	x := c.FPU.st(0)
	if x.IsNaN() || x.IsInf() || x.IsZero() {
		return
	}
	sign := x.SE & (1 << 15)
	*x = float80.OfBig(new(big.Float).SetPrec(64).SetInt(x.Integer(c.FPU.rounding())))
	x.SE |= sign
}

func fsqrt(c *CPU, _ *op) {
	x := c.FPU.st(0)
	switch {
	case x.IsNaN():
		x.Mant |= 1 << 62
	case x.IsZero() || x.IsInf() && !x.Negative():
	case x.Negative():
		*x = float80.NaN
	default:
		*x = float80.OfBig(new(big.Float).SetPrec(64).Sqrt(x.Big()))
	}
}

// fscale multiplies the top by a power of two.
func fscale(c *CPU, _ *op) {
	x, n := c.FPU.st(0), *c.FPU.st(1)
	if x.IsNaN() || x.IsInf() || x.IsZero() || n.IsNaN() || n.IsInf() {
		return
	}
	shift, _ := n.Big().Int64()
	*x = float80.OfBig(new(big.Float).SetMantExp(x.Big(), int(max(-1<<20, min(1<<20, shift)))))
}

// fprem computes the remainder of a division, in one go.
func fprem(nearest bool) handler {
	return func(c *CPU, o *op) {
		x, y := c.FPU.st(0), *c.FPU.st(1)
		if x.IsNaN() || x.IsInf() || x.IsZero() || y.IsNaN() || y.IsInf() || y.IsZero() {
			*x = float80.Arith('/', float80.Number{}, float80.Number{})
			return
		}
		wide := func(v float80.Number) *big.Float { return new(big.Float).SetPrec(40000).Set(v.Big()) }
		a, b := wide(*x), wide(y)
		q := new(big.Float).SetPrec(40000).Quo(a, b)
		i, _ := q.Int(nil)
		if nearest {
			i = float80.OfBig(q).Integer(float80.RoundNearest)
		}
		sign := x.SE & (1 << 15)
		*x = float80.OfBig(a.Sub(a, b.Mul(b, new(big.Float).SetPrec(40000).SetInt(i))))
		x.SE |= sign * uint16(bit(x.IsZero(), 1))
		c.FPU.codes = uint16(i.Bit(2))<<8 | uint16(i.Bit(0))<<9 | uint16(i.Bit(1))<<14
	}
}

func fxam(c *CPU, _ *op) {
	const c0, c1, c2, c3 = 1 << 8, 1 << 9, 1 << 10, 1 << 14
	x := *c.FPU.st(0)
	code := uint16(c2) // a number
	switch {
	case c.FPU.used>>c.FPU.top&1 == 0:
		code = c0 | c3
	case x.IsNaN():
		code = c0
	case x.IsInf():
		code = c0 | c2
	case x.IsZero():
		code = c3
	case x.SE&0x7fff == 0:
		code = c2 | c3
	}
	if x.Negative() {
		code |= c1
	}
	c.FPU.codes = code
}

func fcmov(cond x86.Cond) handler {
	return func(c *CPU, o *op) {
		if c.lazy.cond(cond) {
			*c.FPU.st(0) = *c.FPU.st(int(o.src))
		}
	}
}

func ffree(c *CPU, o *op)   { c.FPU.used &^= 1 << ((c.FPU.top + o.dst) & 7) }
func fincstp(c *CPU, _ *op) { c.FPU.top = (c.FPU.top + 1) & 7 }
func fdecstp(c *CPU, _ *op) { c.FPU.top = (c.FPU.top - 1) & 7 }
func fninit(c *CPU, _ *op)  { c.FPU.Control, c.FPU.codes, c.FPU.top, c.FPU.used = 0x37f, 0, 0, 0 }
func fnclex(c *CPU, _ *op)  {}
func fldcw(c *CPU, o *op)   { c.FPU.Control = uint16(c.get(o, 0)) | 0x40 }
func fnstcw(c *CPU, o *op)  { c.put(o, 0, uint64(c.FPU.Control)) }
func fnstsw(c *CPU, o *op)  { c.put(o, 0, uint64(c.FPU.status())) }
func fnop(*CPU, *op)        {}

// fnstenv and fldenv keep control, status and which registers are used.
func fnstenv(c *CPU, o *op) {
	addr := c.addr(o)
	c.Mem.Probe(addr, 28)
	tags := uint32(0)
	for i := range 8 {
		if c.FPU.used>>i&1 == 0 {
			tags |= 3 << (2 * i)
		}
	}
	for i, v := range []uint32{0xffff0000 | uint32(c.FPU.Control), 0xffff0000 | uint32(c.FPU.status()), 0xffff0000 | tags, 0, 0, 0, 0xffff0000} {
		c.Mem.Store32(addr+4*uint64(i), v)
	}
	c.FPU.Control |= 0x3f
}

func fldenv(c *CPU, o *op) {
	addr := c.addr(o)
	control, status, tags := c.Mem.Load16(addr), c.Mem.Load16(addr+4), c.Mem.Load16(addr+8)
	c.FPU.Control = control | 0x40
	c.FPU.setStatus(status)
	c.FPU.used = 0
	for i := range 8 {
		if tags>>(2*i)&3 != 3 {
			c.FPU.used |= 1 << i
		}
	}
}

var x87handlers = map[x86.Op]handler{
	x86.FLD: fld, x86.FILD: fild, x86.FST: fst, x86.FSTP: popping(fst), x86.FIST: fist, x86.FISTP: popping(fist), x86.FISTTP: fisttp,
	x86.FADD: x87arith('+', false, false), x86.FSUB: x87arith('-', false, false), x86.FMUL: x87arith('*', false, false), x86.FDIV: x87arith('/', false, false),
	x86.FSUBR: x87arith('-', true, false), x86.FDIVR: x87arith('/', true, false),
	x86.FADDP: popping(x87arith('+', false, false)), x86.FSUBP: popping(x87arith('-', false, false)), x86.FMULP: popping(x87arith('*', false, false)),
	x86.FDIVP: popping(x87arith('/', false, false)), x86.FSUBRP: popping(x87arith('-', true, false)), x86.FDIVRP: popping(x87arith('/', true, false)),
	x86.FIADD: x87arith('+', false, true), x86.FISUB: x87arith('-', false, true), x86.FIMUL: x87arith('*', false, true), x86.FIDIV: x87arith('/', false, true),
	x86.FISUBR: x87arith('-', true, true), x86.FIDIVR: x87arith('/', true, true),
	x86.FCOM: fcom(false), x86.FCOMP: popping(fcom(false)), x86.FUCOM: fcom(false), x86.FUCOMP: popping(fcom(false)),
	x86.FICOM: fcom(true), x86.FICOMP: popping(fcom(true)), x86.FCOMPP: popping(popping(fcom(false))), x86.FUCOMPP: popping(popping(fcom(false))),
	x86.FCOMI: fcomi, x86.FUCOMI: fcomi, x86.FCOMIP: popping(fcomi), x86.FUCOMIP: popping(fcomi), x86.FTST: ftst, x86.FXAM: fxam,
	x86.FXCH: fxch, x86.FCHS: fchs, x86.FABS: fabs, x86.FRNDINT: frndint, x86.FSQRT: fsqrt, x86.FSCALE: fscale, x86.FPREM: fprem(false), x86.FPREM1: fprem(true),
	x86.FLDZ: fldConst(float80.Number{}), x86.FLD1: fldConst(float80.Number{Mant: 1 << 63, SE: float80.Bias}),
	x86.FLDPI: fldConst(float80.Number{Mant: 0xc90fdaa22168c235, SE: float80.Bias + 1}), x86.FLDL2E: fldConst(float80.Number{Mant: 0xb8aa3b295c17f0bc, SE: float80.Bias}),
	x86.FLDL2T: fldConst(float80.Number{Mant: 0xd49a784bcd1b8afe, SE: float80.Bias + 1}), x86.FLDLG2: fldConst(float80.Number{Mant: 0x9a209a84fbcff799, SE: float80.Bias - 2}),
	x86.FLDLN2: fldConst(float80.Number{Mant: 0xb17217f7d1cf79ac, SE: float80.Bias - 1}),
	x86.FCMOVB: fcmov(x86.Below), x86.FCMOVE: fcmov(x86.Equal), x86.FCMOVBE: fcmov(x86.BelowEqual), x86.FCMOVU: fcmov(x86.Parity),
	x86.FCMOVNB: fcmov(x86.AboveEqual), x86.FCMOVNE: fcmov(x86.NotEqual), x86.FCMOVNBE: fcmov(x86.Above), x86.FCMOVNU: fcmov(x86.NotParity),
	x86.FFREE: ffree, x86.FINCSTP: fincstp, x86.FDECSTP: fdecstp, x86.FNINIT: fninit, x86.FNCLEX: fnclex, x86.FLDCW: fldcw, x86.FNSTCW: fnstcw,
	x86.FNSTSW: fnstsw, x86.FNSTENV: fnstenv, x86.FLDENV: fldenv, x86.FNOP: fnop, x86.FWAIT: fnop,
}
