package ir

import "math"

// An Environment gives an expression's leaves their values.
type Environment interface {
	Reg(e *Expr) Value
	Load(e *Expr, addr, key Value) Value
	Symbol(name string) Value
	Closure(name string, captured []Value) Value
	Captured(closure Value, i, size int) Value
	Text(addr uint64, n int) ([]byte, bool)
	// BadAddress is whether a program cannot use an address.
	BadAddress(addr uint64) Value
}

// emptyEnvironment knows nothing: with it, an expression has a value if it is constant.
type emptyEnvironment struct{}

func (emptyEnvironment) Reg(e *Expr) Value                      { return Unknown(e.Size) }
func (emptyEnvironment) Load(e *Expr, _, _ Value) Value         { return Unknown(e.Size) }
func (emptyEnvironment) Symbol(string) Value                    { return Unknown(8) }
func (emptyEnvironment) Closure(string, []Value) Value          { return Unknown(8) }
func (emptyEnvironment) Captured(_ Value, _, size int) Value    { return Unknown(size) }
func (emptyEnvironment) Text(addr uint64, n int) ([]byte, bool) { return nil, false }
func (emptyEnvironment) BadAddress(addr uint64) Value {
	if addr < FirstPage {
		return boolValue(true)
	}
	return Unknown(1)
}

// Eval is the value of an expression: unknown if something that it depends on is; a zero
// decides a conjunction whatever the other side is.
func Eval(e *Expr, s Environment) Value {
	switch e.Op {
	case OpConst:
		return e.Value
	case OpRegister:
		return s.Reg(e)
	case OpSymbol:
		return s.Symbol(e.Name)
	case OpOpaque:
		return Unknown(e.Size)
	}
	return evalOperator(e, s)
}

// evalOperator is the value of an expression with arguments. It is apart from Eval because most
// expressions are leaves, which need no room for arguments.
func evalOperator(e *Expr, s Environment) Value {
	var small [4]Value
	args, known := small[:0], true
	for _, a := range e.Args {
		value := Eval(a, s)
		known = known && value.Known
		args = append(args, value)
	}
	switch e.Op {
	case OpLoad:
		key := Value{}
		if len(args) > 1 {
			key = args[1]
		}
		return s.Load(e, args[0], key)
	case OpClosure:
		return s.Closure(e.Name, append([]Value(nil), args...))
	case OpCaptured:
		return s.Captured(args[0], e.Offset, e.Size)
	case OpRaced:
		return boolValue(false) // but what it looks at was looked at
	case OpSelect:
		switch {
		case !args[0].Known && args[1] == args[2]:
			return args[1]
		case !args[0].Known:
			return Unknown(e.Size)
		case args[0].word != 0:
			return args[1]
		}
		return args[2]
	case OpAnd:
		// A zero decides, whatever the other is.
		for i := range args {
			if args[i].Known && args[i].Size <= 8 && args[i].word == 0 {
				return args[i]
			}
		}
	}
	if !known {
		return Unknown(e.Size)
	}
	switch e.Op {
	case OpExtract:
		return args[0].Slice(e.Offset, e.Size)
	case OpConcat:
		var b []byte
		for _, a := range args {
			b = a.Append(b)
		}
		return Bytes(b)
	case OpBadAddress:
		return s.BadAddress(args[0].word)
	case OpConvert:
		return convert(args[0], e.Class, e.ResultClass, e.Size)
	case OpTrailingZeros, OpLeadingZeros, OpOnesCount:
		return countBits(e.Op, args[0])
	case OpSquareRoot:
		return floatValue(e.Size, math.Sqrt(args[0].Float()))
	case OpNeg:
		if e.Class == Float {
			return floatValue(e.Size, -args[0].Float())
		}
		return Word(e.Size, -args[0].word)
	case OpInvert:
		if e.Size > 8 {
			return wideInvert(args[0])
		}
		return Word(e.Size, ^args[0].word)
	case OpNot:
		return boolValue(args[0].word == 0)
	case OpSameText:
		return sameText(args[0], args[1], s)
	}
	return arithmetic(e.Op, e.Class, args[0], args[1])
}

// sameText compares texts, each an address and a length, by their bytes.
func sameText(x, y Value, s Environment) Value {
	xn, yn := x.Slice(8, 8), y.Slice(8, 8)
	if xn.word != yn.word {
		return boolValue(false)
	}
	if xn.word == 0 || x == y {
		return boolValue(true)
	}
	const most = 1 << 20
	if xn.word > most {
		return Unknown(1)
	}
	xb, ok := s.Text(x.Slice(0, 8).word, int(xn.word))
	yb, ok2 := s.Text(y.Slice(0, 8).word, int(yn.word))
	if !ok || !ok2 {
		return Unknown(1)
	}
	return boolValue(string(xb) == string(yb))
}

func convert(x Value, from, to Class, size int) Value {
	switch {
	case from == Float && to == Float:
		return floatValue(size, x.Float())
	case from == Float && to == Signed:
		return Word(size, uint64(int64(x.Float())))
	case from == Float:
		return Word(size, uint64(x.Float()))
	case to == Float && from == Signed:
		if size == 4 {
			return Word(4, uint64(math.Float32bits(float32(x.Int()))))
		}
		return floatValue(size, float64(x.Int()))
	case to == Float:
		if size == 4 {
			return Word(4, uint64(math.Float32bits(float32(x.word))))
		}
		return floatValue(size, float64(x.word))
	case size > 8 || x.Size > 8:
		return fromBig(size, toBig(x, from))
	case from == Signed:
		return Word(size, uint64(x.Int()))
	}
	return Word(size, x.word)
}

func arithmetic(op Operator, c Class, x, y Value) Value {
	if op == OpEq || op == OpNe {
		if c != Float && !canCompare(x, y) {
			return Unknown(1)
		}
		return boolValue(equal(c, x, y) == (op == OpEq))
	}
	if c == Float {
		return floatArithmetic(op, x, y)
	}
	if x.Size > 8 {
		return wideArithmetic(op, c, x, y)
	}
	size := x.Size
	a, b := x.word, y.word
	switch op {
	case OpAdd:
		return Word(size, a+b)
	case OpSub:
		return Word(size, a-b)
	case OpMul:
		return Word(size, a*b)
	case OpDiv, OpRem:
		if b == 0 {
			return Unknown(size) // a test before it has crashed
		}
		return divide(op, c, x, y)
	case OpAnd:
		return Word(size, a&b)
	case OpOr:
		return Word(size, a|b)
	case OpXor:
		return Word(size, a^b)
	case OpAndNot:
		return Word(size, a&^b)
	case OpShl:
		return Word(size, a<<b)
	case OpShr:
		if c == Signed {
			return Word(size, uint64(x.Int()>>b))
		}
		return Word(size, a>>b)
	case OpLt:
		if c == Signed {
			return boolValue(x.Int() < y.Int())
		}
		return boolValue(a < b)
	case OpLe:
		if c == Signed {
			return boolValue(x.Int() <= y.Int())
		}
		return boolValue(a <= b)
	}
	return Unknown(size)
}

// canCompare reports whether it can be told if two values are the same: not, if an
// address that was invented meets one of the trace, which may be what it stands for.
func canCompare(x, y Value) bool {
	for off := 0; off+8 <= x.Size && off+8 <= y.Size; off += 8 {
		a, b := x.Slice(off, 8).word, y.Slice(off, 8).word
		if (a >= FirstInvented) != (b >= FirstInvented) && a >= FirstPage && b >= FirstPage && a>>56 <= 1 && b>>56 <= 1 {
			return false
		}
	}
	return true
}

func equal(c Class, x, y Value) bool {
	if c == Float {
		return x.Float() == y.Float()
	}
	return x.word == y.word && x.wide == y.wide
}

// divide divides integers. The smallest number divided by -1 overflows to itself, which Go
// defines and the machine's instruction does not do.
func divide(op Operator, c Class, x, y Value) Value {
	switch {
	case c == Signed && y.Int() == -1: // the smallest number has no negative
		if op == OpDiv {
			return Word(x.Size, -x.word)
		}
		return Word(x.Size, 0)
	case c == Signed && op == OpDiv:
		return Word(x.Size, uint64(x.Int()/y.Int()))
	case c == Signed:
		return Word(x.Size, uint64(x.Int()%y.Int()))
	case op == OpDiv:
		return Word(x.Size, x.word/y.word)
	}
	return Word(x.Size, x.word%y.word)
}

func floatArithmetic(op Operator, x, y Value) Value {
	a, b := x.Float(), y.Float()
	switch op {
	case OpAdd:
		a += b
	case OpSub:
		a -= b
	case OpMul:
		a *= b
	case OpDiv:
		a /= b
	case OpLt:
		return boolValue(a < b)
	case OpLe:
		return boolValue(a <= b)
	default:
		return Unknown(x.Size)
	}
	return floatValue(x.Size, a)
}
