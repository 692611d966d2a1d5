package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A vector is lifted as its elements, one after the other: paddd of two registers is
// {a[0:4] + b[0:4], a[4:8] + b[4:8], ...}.

// vector lifts the instructions on vector registers. It reports whether it knows the
// instruction.
func (l *lifter) vector() bool {
	in := l.inst
	if f, ok := lanes[in.Op]; ok {
		l.packed(f.size, f.f)
		return true
	}
	if op, ok := bitwise[in.Op]; ok {
		l.bitwise(op)
		return true
	}
	if f, ok := floats[in.Op]; ok {
		l.float(f)
		return true
	}
	switch in.Op {
	case x86.MOVUPS, x86.MOVUPD, x86.MOVAPS, x86.MOVAPD, x86.MOVDQA, x86.MOVDQU, x86.MOVNTPS, x86.MOVNTPD, x86.MOVNTDQ:
		l.putVector(0, l.arg(1))
	case x86.MOVSS, x86.MOVSD, x86.MOVQ, x86.MOVD:
		l.moveLow()
	case x86.MOVLPS, x86.MOVLPD, x86.MOVHPS, x86.MOVHPD, x86.MOVHLPS, x86.MOVLHPS:
		l.moveHalf()
	case x86.UCOMISD, x86.COMISD, x86.UCOMISS, x86.COMISS:
		l.compareFloats()
	case x86.CVTSI2SD, x86.CVTSI2SS, x86.CVTSS2SD, x86.CVTSD2SS:
		from := ir.Signed
		if in.Op == x86.CVTSS2SD || in.Op == x86.CVTSD2SS {
			from = ir.Float
		}
		l.putLow(ir.Convert(l.arg(1), from, ir.Float, int(in.Args[0].Size)))
	case x86.CVTTSD2SI, x86.CVTTSS2SI:
		l.truncate()
	case x86.CMPSS, x86.CMPSD, x86.CMPPS, x86.CMPPD:
		l.compareLanes()
	case x86.PSADBW:
		l.sumDifferences()
	case x86.CVTDQ2PD, x86.CVTDQ2PS, x86.CVTPS2PD:
		l.convertAll()
	case x86.PMOVMSKB, x86.MOVMSKPS, x86.MOVMSKPD:
		l.signMask()
	case x86.PSHUFD, x86.PSHUFLW, x86.PSHUFHW, x86.SHUFPS, x86.SHUFPD:
		l.shuffle()
	case x86.PINSRW, x86.PEXTRW:
		l.insert()
	case x86.PSLLDQ, x86.PSRLDQ:
		l.shiftBytes()
	case x86.PSLLW, x86.PSLLD, x86.PSLLQ, x86.PSRLW, x86.PSRLD, x86.PSRLQ, x86.PSRAW, x86.PSRAD:
		l.shiftLanes()
	case x86.PUNPCKLBW, x86.PUNPCKLWD, x86.PUNPCKLDQ, x86.PUNPCKLQDQ, x86.UNPCKLPS, x86.UNPCKLPD,
		x86.PUNPCKHBW, x86.PUNPCKHWD, x86.PUNPCKHDQ, x86.PUNPCKHQDQ, x86.UNPCKHPS, x86.UNPCKHPD:
		l.interleave()
	case x86.PACKSSWB, x86.PACKUSWB, x86.PACKSSDW:
		l.pack()
	case x86.MOVDDUP, x86.MOVSLDUP, x86.MOVSHDUP:
		l.duplicate()
	case x86.LDMXCSR, x86.STMXCSR, x86.FNSTCW, x86.FLDCW:
		return l.controlWord()
	default:
		return false
	}
	return true
}

// controlWord lifts the loading and storing of modes of floating point, which are always the
// usual ones here.
func (l *lifter) controlWord() bool {
	switch l.inst.Op {
	case x86.LDMXCSR, x86.FLDCW:
		l.arg(0)
	case x86.STMXCSR:
		l.put(0, number(4, 0x1f80))
	case x86.FNSTCW:
		l.put(0, number(2, 0x37f))
	}
	return true
}

// putVector gives a vector operand all its bytes.
func (l *lifter) putVector(i int, value *ir.Expr) {
	a := &l.inst.Args[i]
	if a.Place == x86.Memory {
		l.store(l.address(), value)
		return
	}
	l.set(vectorVar(a.Reg), l.assign(value, ""))
}

// putLow gives the low bytes of the first operand a value, and keeps the others.
func (l *lifter) putLow(value *ir.Expr) {
	old := l.get(vectorVar(l.inst.Args[0].Reg))
	l.putVector(0, ir.Concat(value, ir.Extract(old, value.Size, 16-value.Size)))
}

// moveLow lifts the moves of one element. From memory, and between general registers and
// vectors, the rest becomes zero; between vectors movss and movsd keep it.
func (l *lifter) moveLow() {
	in := l.inst
	to, from := &in.Args[0], &in.Args[1]
	if to.Place != x86.Vector {
		size := int(to.Size)
		l.put(0, ir.Extract(l.get(vectorVar(from.Reg)), 0, size))
		return
	}
	value := l.arg(1)
	if from.Place == x86.Vector && (in.Op == x86.MOVSS || in.Op == x86.MOVSD) {
		l.putLow(value)
		return
	}
	if value.Size < 16 {
		value = ir.Concat(value, ir.Const(ir.Zero(16-value.Size)))
	}
	l.putVector(0, value)
}

func (l *lifter) moveHalf() {
	in := l.inst
	to, from := &in.Args[0], &in.Args[1]
	high := in.Op == x86.MOVHPS || in.Op == x86.MOVHPD
	half := func(r x86.Reg, n int) *ir.Expr { return ir.Extract(l.get(vectorVar(r)), 8*n, 8) }
	switch {
	case in.Op == x86.MOVHLPS:
		l.putVector(0, ir.Concat(half(from.Reg, 1), half(to.Reg, 1)))
	case in.Op == x86.MOVLHPS:
		l.putVector(0, ir.Concat(half(to.Reg, 0), half(from.Reg, 0)))
	case to.Place == x86.Memory && high:
		l.store(l.address(), half(from.Reg, 1))
	case to.Place == x86.Memory:
		l.store(l.address(), half(from.Reg, 0))
	case high:
		value := l.arg(1)
		l.putVector(0, ir.Concat(half(to.Reg, 0), value))
	default:
		value := l.arg(1)
		l.putVector(0, ir.Concat(value, half(to.Reg, 1)))
	}
}

// A lane combines an element of each operand.
type lane struct {
	size int
	f    func(a, b *ir.Expr) *ir.Expr
}

func all(size int, yes *ir.Expr) *ir.Expr {
	return ir.Select(yes, number(size, ^uint64(0)), number(size, 0))
}

func laneOf(size int, op ir.Operator) lane {
	return lane{size, func(a, b *ir.Expr) *ir.Expr { return unsigned(op, a, b) }}
}

func equalLane(size int) lane {
	return lane{size, func(a, b *ir.Expr) *ir.Expr { return all(size, unsigned(ir.OpEq, a, b)) }}
}

func greaterLane(size int) lane {
	return lane{size, func(a, b *ir.Expr) *ir.Expr { return all(size, signed(ir.OpLt, b, a)) }}
}

func smaller(class ir.Class, size int) lane {
	return lane{size, func(a, b *ir.Expr) *ir.Expr { return ir.Select(ir.Binary(ir.OpLt, class, a, b), a, b) }}
}

func larger(class ir.Class, size int) lane {
	return lane{size, func(a, b *ir.Expr) *ir.Expr { return ir.Select(ir.Binary(ir.OpLt, class, a, b), b, a) }}
}

// saturating computes with twice the size and cuts what is too large or too small.
func saturating(op ir.Operator, class ir.Class, size int) lane {
	return lane{size, func(a, b *ir.Expr) *ir.Expr {
		r := signed(op, ir.Convert(a, class, class, 2*size), ir.Convert(b, class, class, 2*size))
		return saturate(r, class, size)
	}}
}

// saturate is a signed number as one of half its size, or as the nearest to it.
func saturate(r *ir.Expr, class ir.Class, size int) *ir.Expr {
	lowest, highest := uint64(0), uint64(1)<<(8*uint(size))-1
	if class == ir.Signed {
		highest = 1<<(8*uint(size)-1) - 1
		lowest = -highest - 1
	}
	low, high := number(r.Size, lowest), number(r.Size, highest)
	cut := ir.Select(signed(ir.OpLt, r, low), low, ir.Select(signed(ir.OpLt, high, r), high, r))
	return ir.Extract(cut, 0, size)
}

func highProduct(class ir.Class) lane {
	return lane{2, func(a, b *ir.Expr) *ir.Expr {
		return ir.Extract(ir.Binary(ir.OpMul, class, ir.Convert(a, class, class, 4), ir.Convert(b, class, class, 4)), 2, 2)
	}}
}

func average(size int) lane {
	return lane{size, func(a, b *ir.Expr) *ir.Expr {
		wide := func(e *ir.Expr) *ir.Expr { return ir.Convert(e, ir.Unsigned, ir.Unsigned, 2*size) }
		return ir.Extract(unsigned(ir.OpShr, plus(plus(wide(a), wide(b)), number(2*size, 1)), number(2*size, 1)), 0, size)
	}}
}

var lanes = map[x86.Op]lane{
	x86.PADDB: laneOf(1, ir.OpAdd), x86.PADDW: laneOf(2, ir.OpAdd), x86.PADDD: laneOf(4, ir.OpAdd), x86.PADDQ: laneOf(8, ir.OpAdd),
	x86.PSUBB: laneOf(1, ir.OpSub), x86.PSUBW: laneOf(2, ir.OpSub), x86.PSUBD: laneOf(4, ir.OpSub), x86.PSUBQ: laneOf(8, ir.OpSub),
	x86.PMULLW: laneOf(2, ir.OpMul), x86.PMULHUW: highProduct(ir.Unsigned), x86.PMULHW: highProduct(ir.Signed),
	x86.PCMPEQB: equalLane(1), x86.PCMPEQW: equalLane(2), x86.PCMPEQD: equalLane(4),
	x86.PCMPGTB: greaterLane(1), x86.PCMPGTW: greaterLane(2), x86.PCMPGTD: greaterLane(4),
	x86.PMINUB: smaller(ir.Unsigned, 1), x86.PMAXUB: larger(ir.Unsigned, 1), x86.PMINSW: smaller(ir.Signed, 2), x86.PMAXSW: larger(ir.Signed, 2),
	x86.PADDSB: saturating(ir.OpAdd, ir.Signed, 1), x86.PADDSW: saturating(ir.OpAdd, ir.Signed, 2), x86.PADDUSB: saturating(ir.OpAdd, ir.Unsigned, 1), x86.PADDUSW: saturating(ir.OpAdd, ir.Unsigned, 2),
	x86.PSUBSB: saturating(ir.OpSub, ir.Signed, 1), x86.PSUBSW: saturating(ir.OpSub, ir.Signed, 2), x86.PSUBUSB: saturating(ir.OpSub, ir.Unsigned, 1), x86.PSUBUSW: saturating(ir.OpSub, ir.Unsigned, 2),
	x86.PAVGB: average(1), x86.PAVGW: average(2),
	x86.PMULUDQ: {8, func(a, b *ir.Expr) *ir.Expr {
		low := func(e *ir.Expr) *ir.Expr { return ir.Convert(ir.Extract(e, 0, 4), ir.Unsigned, ir.Unsigned, 8) }
		return unsigned(ir.OpMul, low(a), low(b))
	}},
	x86.PMADDWD: {4, func(a, b *ir.Expr) *ir.Expr {
		product := func(n int) *ir.Expr {
			wide := func(e *ir.Expr) *ir.Expr { return ir.Convert(ir.Extract(e, n, 2), ir.Signed, ir.Signed, 4) }
			return unsigned(ir.OpMul, wide(a), wide(b))
		}
		return plus(product(0), product(2))
	}},
}

// packed combines the operands element by element.
func (l *lifter) packed(size int, f func(a, b *ir.Expr) *ir.Expr) {
	b, a := l.assign(l.arg(1), ""), l.get(vectorVar(l.inst.Args[0].Reg))
	var parts []*ir.Expr
	for at := 0; at < 16; at += size {
		parts = append(parts, f(ir.Extract(a, at, size), ir.Extract(b, at, size)))
	}
	l.putVector(0, ir.Concat(parts...))
}

var bitwise = map[x86.Op]ir.Operator{
	x86.PAND: ir.OpAnd, x86.ANDPS: ir.OpAnd, x86.ANDPD: ir.OpAnd, x86.POR: ir.OpOr, x86.ORPS: ir.OpOr, x86.ORPD: ir.OpOr,
	x86.PXOR: ir.OpXor, x86.XORPS: ir.OpXor, x86.XORPD: ir.OpXor, x86.PANDN: ir.OpAndNot, x86.ANDNPS: ir.OpAndNot, x86.ANDNPD: ir.OpAndNot,
}

// bitwise combines whole registers. A register with itself is how compilers make zero.
func (l *lifter) bitwise(op ir.Operator) {
	if op == ir.OpXor && l.inst.Args[0] == l.inst.Args[1] {
		l.putVector(0, ir.Const(ir.Zero(16)))
		return
	}
	b, a := l.arg(1), l.get(vectorVar(l.inst.Args[0].Reg))
	if op == ir.OpAndNot {
		a, b = b, a
	}
	l.putVector(0, unsigned(op, a, b))
}

// signMask gathers the highest bits of all elements.
func (l *lifter) signMask() {
	size := map[x86.Op]int{x86.PMOVMSKB: 1, x86.MOVMSKPS: 4, x86.MOVMSKPD: 8}[l.inst.Op]
	v := l.get(vectorVar(l.inst.Args[1].Reg))
	mask := number(4, 0)
	for i := 0; i*size < 16; i++ {
		bit := ir.Convert(isNegative(ir.Extract(v, i*size, size)), ir.Unsigned, ir.Unsigned, 4)
		bit = unsigned(ir.OpShl, bit, number(4, uint64(i)))
		if i == 0 {
			mask = bit
		} else {
			mask = unsigned(ir.OpOr, mask, bit)
		}
	}
	l.putGeneral(l.inst.Args[0].Reg, mask)
}

// shuffle puts elements in the order that the immediate says.
func (l *lifter) shuffle() {
	b, a := l.assign(l.arg(1), ""), l.get(vectorVar(l.inst.Args[0].Reg))
	n := func(i int) int { return int(l.inst.Imm>>(2*uint(i))) & 3 }
	var parts []*ir.Expr
	switch l.inst.Op {
	case x86.PSHUFD:
		for i := range 4 {
			parts = append(parts, ir.Extract(b, 4*n(i), 4))
		}
	case x86.SHUFPS:
		for i := range 4 {
			from := a
			if i >= 2 {
				from = b
			}
			parts = append(parts, ir.Extract(from, 4*n(i), 4))
		}
	case x86.SHUFPD:
		parts = append(parts, ir.Extract(a, 8*(int(l.inst.Imm)&1), 8), ir.Extract(b, 8*(int(l.inst.Imm)>>1&1), 8))
	case x86.PSHUFLW:
		for i := range 4 {
			parts = append(parts, ir.Extract(b, 2*n(i), 2))
		}
		parts = append(parts, ir.Extract(b, 8, 8))
	case x86.PSHUFHW:
		parts = append(parts, ir.Extract(b, 0, 8))
		for i := range 4 {
			parts = append(parts, ir.Extract(b, 8+2*n(i), 2))
		}
	}
	l.putVector(0, ir.Concat(parts...))
}

func (l *lifter) insert() {
	at := 2 * (int(l.inst.Imm) & 7)
	if l.inst.Op == x86.PEXTRW {
		v := ir.Extract(l.get(vectorVar(l.inst.Args[1].Reg)), at, 2)
		l.putGeneral(l.inst.Args[0].Reg, ir.Convert(v, ir.Unsigned, ir.Unsigned, 4))
		return
	}
	value := ir.Extract(l.arg(1), 0, 2)
	old := l.get(vectorVar(l.inst.Args[0].Reg))
	var parts []*ir.Expr
	if at > 0 {
		parts = append(parts, ir.Extract(old, 0, at))
	}
	parts = append(parts, value)
	if at < 14 {
		parts = append(parts, ir.Extract(old, at+2, 14-at))
	}
	l.putVector(0, ir.Concat(parts...))
}

func (l *lifter) shiftBytes() {
	n := min(int(l.inst.Imm&0xff), 16)
	old := l.get(vectorVar(l.inst.Args[0].Reg))
	zeros := ir.Const(ir.Zero(n))
	switch {
	case n == 0:
	case n == 16:
		l.putVector(0, ir.Const(ir.Zero(16)))
	case l.inst.Op == x86.PSLLDQ:
		l.putVector(0, ir.Concat(zeros, ir.Extract(old, 0, 16-n)))
	default:
		l.putVector(0, ir.Concat(ir.Extract(old, n, 16-n), zeros))
	}
}

// shiftLanes shifts all elements by the same number, which may be too large for them.
func (l *lifter) shiftLanes() {
	sizes := map[x86.Op]int{x86.PSLLW: 2, x86.PSRLW: 2, x86.PSRAW: 2, x86.PSLLD: 4, x86.PSRLD: 4, x86.PSRAD: 4, x86.PSLLQ: 8, x86.PSRLQ: 8}
	size := sizes[l.inst.Op]
	by := number(8, uint64(l.inst.Imm)&0xff)
	if l.inst.Args[1].Place != x86.Immediate {
		by = ir.Extract(l.assign(l.arg(1), ""), 0, 8)
	}
	op, class := ir.OpShl, ir.Unsigned
	switch l.inst.Op {
	case x86.PSRLW, x86.PSRLD, x86.PSRLQ:
		op = ir.OpShr
	case x86.PSRAW, x86.PSRAD:
		op, class = ir.OpShr, ir.Signed
	}
	most := number(8, uint64(8*size))
	by = l.assign(ir.Extract(ir.Select(unsigned(ir.OpLt, by, most), by, most), 0, size), "")
	old := l.get(vectorVar(l.inst.Args[0].Reg))
	var parts []*ir.Expr
	for at := 0; at < 16; at += size {
		parts = append(parts, ir.Binary(op, class, ir.Extract(old, at, size), by))
	}
	l.putVector(0, ir.Concat(parts...))
}

// sumDifferences adds up how far the bytes of each half are apart.
func (l *lifter) sumDifferences() {
	b, a := l.assign(l.arg(1), ""), l.get(vectorVar(l.inst.Args[0].Reg))
	var parts []*ir.Expr
	for half := 0; half < 16; half += 8 {
		sum := number(8, 0)
		for i := half; i < half+8; i++ {
			x, y := ir.Extract(a, i, 1), ir.Extract(b, i, 1)
			apart := ir.Select(unsigned(ir.OpLt, x, y), minus(y, x), minus(x, y))
			sum = plus(sum, ir.Convert(apart, ir.Unsigned, ir.Unsigned, 8))
		}
		parts = append(parts, sum)
	}
	l.putVector(0, ir.Concat(parts...))
}

// interleave takes elements of both operands in turn.
func (l *lifter) interleave() {
	size, from := 8, 0
	switch l.inst.Op {
	case x86.PUNPCKLBW, x86.PUNPCKHBW:
		size = 1
	case x86.PUNPCKLWD, x86.PUNPCKHWD:
		size = 2
	case x86.PUNPCKLDQ, x86.PUNPCKHDQ, x86.UNPCKLPS, x86.UNPCKHPS:
		size = 4
	}
	switch l.inst.Op {
	case x86.PUNPCKHBW, x86.PUNPCKHWD, x86.PUNPCKHDQ, x86.PUNPCKHQDQ, x86.UNPCKHPS, x86.UNPCKHPD:
		from = 8
	}
	b, a := l.assign(l.arg(1), ""), l.get(vectorVar(l.inst.Args[0].Reg))
	var parts []*ir.Expr
	for at := from; at < from+8; at += size {
		parts = append(parts, ir.Extract(a, at, size), ir.Extract(b, at, size))
	}
	l.putVector(0, ir.Concat(parts...))
}

func (l *lifter) pack() {
	size, class := 1, ir.Signed
	switch l.inst.Op {
	case x86.PACKUSWB:
		class = ir.Unsigned
	case x86.PACKSSDW:
		size = 2
	}
	b, a := l.assign(l.arg(1), ""), l.get(vectorVar(l.inst.Args[0].Reg))
	var parts []*ir.Expr
	for _, v := range []*ir.Expr{a, b} {
		for at := 0; at < 16; at += 2 * size {
			parts = append(parts, saturate(ir.Extract(v, at, 2*size), class, size))
		}
	}
	l.putVector(0, ir.Concat(parts...))
}

func (l *lifter) duplicate() {
	b := l.assign(l.arg(1), "")
	part := func(at, size int) *ir.Expr { return ir.Extract(b, at, size) }
	switch l.inst.Op {
	case x86.MOVDDUP:
		l.putVector(0, ir.Concat(part(0, 8), part(0, 8)))
	case x86.MOVSLDUP:
		l.putVector(0, ir.Concat(part(0, 4), part(0, 4), part(8, 4), part(8, 4)))
	case x86.MOVSHDUP:
		l.putVector(0, ir.Concat(part(4, 4), part(4, 4), part(12, 4), part(12, 4)))
	}
}
