package ir

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
)

// An Operator is what an expression does with its arguments.
type Operator uint8

const (
	opNone Operator = iota
	OpConst
	OpRegister // a register, in a context
	OpLoad     // what memory at Args[0] held at the point Label; of the element Args[1] if that is there
	OpSymbol   // the address of something that the program names
	OpOpaque   // a value that nothing is known about
	OpExtract  // Size bytes of Args[0] at Off
	OpConcat   // Args, one after the other

	OpAdd
	OpSub
	OpMul
	OpDiv
	OpRem
	OpAnd
	OpOr
	OpXor
	OpAndNot
	OpShl
	OpShr
	OpEq
	OpNe
	OpLt
	OpLe
	OpNeg
	OpInvert  // every bit
	OpNot     // of a truth value
	OpConvert // between numbers; Of is what Args[0] is, To what the result is

	OpSelect        // Args[1] if the truth value Args[0] holds, else Args[2]
	OpTrailingZeros // how many zero bits are below the lowest one; all, if there is none
	OpLeadingZeros  // how many zero bits are above the highest one; all, if there is none
	OpOnesCount     // how many bits are one
	OpSquareRoot    // of a floating-point number

	OpBadAddress // whether the address Args[0] cannot be used
	OpClosure    // the function Name with its captured values Args
	OpCaptured   // the value number Off that the closure Args[0] captured
	OpSameText   // whether two texts (address, length) are the same
	OpRaced      // whether another goroutine changed what is used here meanwhile. Never, run alone
)

var operators = map[Operator]string{
	OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpRem: "%", OpAnd: "&", OpOr: "|", OpXor: "^", OpAndNot: "&^",
	OpShl: "<<", OpShr: ">>", OpEq: "==", OpNe: "!=", OpLt: "<", OpLe: "<=", OpSameText: "=~",
	OpNeg: "-", OpInvert: "^", OpNot: "!",
}

// functions are the operators that are written as one.
var functions = map[Operator]string{
	OpTrailingZeros: "TrailingZeros", OpLeadingZeros: "LeadingZeros", OpOnesCount: "OnesCount", OpSquareRoot: "SquareRoot",
}

// Symbol is the operator as it stands between or before its arguments; empty if it is
// written as a function.
func (o Operator) Symbol() string { return operators[o] }

// A Class says how an operator reads bits.
type Class uint8

const (
	Unsigned Class = iota
	Signed
	Float
)

// A Reg is a register of a function; 0 is none.
type Reg int

// An Expr is an expression over registers and loaded values. Expressions are made
// by the functions below alone and never change.
//
// In a function's instructions registers have no context: they are the function's
// own. In a machine each has the context of the call it belongs to.
type Expr struct {
	Op                 Operator
	Size               int
	Args               []*Expr
	Value              Value  // OpConst
	Name               string // OpSymbol, OpOpaque, OpClosure
	Reg                Reg
	Context            *Context
	Label              *Label
	Offset             int
	Class, ResultClass Class
	nodes              int
	key                string
	registers          RegisterSet
	hasLoads           bool // holds loads
}

// maxExprNodes bounds an expression. What grows beyond is not what a person would call
// one read operation; it becomes opaque.
const maxExprNodes = 2000

// sealExpr computes what is asked of an expression again and again: its key, its size, and
// whether it has registers or loads.
func sealExpr(e *Expr) *Expr {
	e.nodes = 1
	// Millions of expressions are made, so the key is written without package fmt.
	var room [192]byte
	b := append(room[:0], byte(e.Op), '.')
	b = strconv.AppendInt(b, int64(e.Size), 10)
	switch e.Op {
	case OpConst:
		b = append(b, '=')
		b = e.Value.Append(b)
	case OpRegister:
		b = append(b, 'r')
		b = strconv.AppendInt(b, int64(e.Reg), 10)
		if e.Context != nil {
			b = append(b, 'c')
			b = strconv.AppendInt(b, int64(e.Context.ID), 10)
		}
		e.registers = RegistersOf(e.Context, e.Reg)
	case OpSymbol, OpOpaque, OpClosure:
		b = append(b, e.Name...)
	case OpLoad:
		b = append(b, '@')
		b = append(b, e.Label.Key()...)
		e.hasLoads = true
	case OpExtract, OpCaptured:
		b = append(b, 'o')
		b = strconv.AppendInt(b, int64(e.Offset), 10)
	default:
		b = append(b, 'k', '0'+byte(e.Class), '0'+byte(e.ResultClass))
	}
	if len(e.Args) > 0 {
		b = append(b, '(')
		for _, a := range e.Args {
			e.nodes += a.nodes
			e.registers |= a.registers
			e.hasLoads = e.hasLoads || a.hasLoads
			b = append(b, a.key...)
			b = append(b, ',')
		}
		b = append(b, ')')
	}
	if e.nodes > maxExprNodes {
		return Opaque("too large", e.Size)
	}
	e.key = digest(b)
	return e
}

// Key is the same for expressions that have the same value wherever both have one.
func (e *Expr) Key() string { return e.key }

// HasRegisters reports whether the value depends on registers.
func (e *Expr) HasRegisters() bool { return e.registers != 0 }

// Registers are those that the value depends on.
func (e *Expr) Registers() RegisterSet { return e.registers }

// HasLoads reports whether the value depends on memory.
func (e *Expr) HasLoads() bool { return e.hasLoads }

// Digest keeps a key short: keys are compared often, and hold the keys of their parts.
func Digest(key string) string { return digest([]byte(key)) }

func digest(key []byte) string {
	if len(key) <= 48 {
		return string(key)
	}
	h := sha256.Sum256(key)
	return string(h[:16])
}

// Const is a constant.
func Const(value Value) *Expr { return sealExpr(&Expr{Op: OpConst, Size: value.Size, Value: value}) }

// Number is a constant number.
func Number(size int, n uint64) *Expr { return Const(Word(size, n)) }

// Register is a register of the function itself.
func Register(r Reg, size int) *Expr { return sealExpr(&Expr{Op: OpRegister, Size: size, Reg: r}) }

// Symbol is the address of what the program calls name.
func Symbol(name string) *Expr { return sealExpr(&Expr{Op: OpSymbol, Size: 8, Name: name}) }

// Opaque is a value that the engine cannot compute, with a word on why.
func Opaque(why string, size int) *Expr { return sealExpr(&Expr{Op: OpOpaque, Size: size, Name: why}) }

// AnyKey stands for the key of an element of which nothing is known, or for all keys:
// iterating over a map loads AnyKey, removing everything stores there. LengthKey stands
// for how many elements there are, and NextKey for whether an iteration has one more: a
// load of it makes an event only if there is one.
var (
	AnyKey    = Opaque("any", 8)
	LengthKey = Opaque("len", 8)
	NextKey   = Opaque("next", 8)
)

// FuncSymbol names the address of a function's code.
func FuncSymbol(name string) string { return "func " + name }

// Closure is the function name with what it captured.
func Closure(name string, captured ...*Expr) *Expr {
	return sealExpr(&Expr{Op: OpClosure, Size: 8, Name: name, Args: captured})
}

// CapturedValue is what the closure f captured as number i.
func CapturedValue(f *Expr, i, size int) *Expr {
	if f.Op == OpClosure && i < len(f.Args) {
		return f.Args[i]
	}
	return sealExpr(&Expr{Op: OpCaptured, Size: size, Offset: i, Args: []*Expr{f}})
}

// Concat puts values together, the first at the lowest address.
func Concat(parts ...*Expr) *Expr {
	size, known := 0, true
	for _, p := range parts {
		size += p.Size
		known = known && p.Op == OpConst
	}
	if len(parts) == 1 {
		return parts[0]
	}
	e := &Expr{Op: OpConcat, Size: size, Args: parts}
	if known {
		return foldConstants(e)
	}
	return sealExpr(e)
}

// Extract is the size bytes of x at off.
func Extract(x *Expr, off, size int) *Expr {
	if off == 0 && size == x.Size {
		return x
	}
	switch x.Op {
	case OpConst:
		return Const(x.Value.Slice(off, size))
	case OpExtract:
		return Extract(x.Args[0], x.Offset+off, size)
	case OpConcat:
		at := 0
		for _, p := range x.Args {
			if off >= at && off+size <= at+p.Size {
				return Extract(p, off-at, size)
			}
			at += p.Size
		}
	case OpConvert:
		// The low bytes of a widened integer are the integer's.
		if x.Class != Float && x.ResultClass != Float && off+size <= x.Args[0].Size {
			return Extract(x.Args[0], off, size)
		}
	case OpOpaque:
		return Opaque(x.Name, size)
	}
	return sealExpr(&Expr{Op: OpExtract, Size: size, Offset: off, Args: []*Expr{x}})
}

// Binary is x op y.
func Binary(op Operator, c Class, x, y *Expr) *Expr {
	e := &Expr{Op: op, Size: x.Size, Class: c, Args: []*Expr{x, y}}
	switch op {
	case OpEq, OpNe, OpLt, OpLe, OpSameText:
		e.Size = 1
	}
	if x.Op == OpConst && y.Op == OpConst {
		return foldConstants(e)
	}
	switch {
	case (op == OpAdd || op == OpSub) && c != Float && y.Op == OpConst && y.Value.Uint() == 0 && y.Size <= 8:
		return x
	case op == OpAdd && c != Float && y.Op == OpConst && x.Op == OpAdd && x.Class == c && x.Args[1].Op == OpConst:
		return Binary(OpAdd, c, x.Args[0], Binary(OpAdd, c, x.Args[1], y))
	case (op == OpAnd || op == OpOr) && x.key == y.key:
		return x
	case (op == OpEq || op == OpNe) && c != Float && x.key == y.key:
		return Const(boolValue(op == OpEq))
	case (op == OpEq || op == OpNe) && y.Op == OpConst && neverNil(x) && y.Value.Uint() == 0 && y.Size <= 8:
		return Const(boolValue(op == OpNe))
	}
	return sealExpr(e)
}

// neverNil reports whether e is the address of something.
func neverNil(e *Expr) bool {
	if e.Op == OpAdd && e.Args[1].Op == OpConst {
		return neverNil(e.Args[0])
	}
	return e.Op == OpSymbol || e.Op == OpClosure
}

// Unary is op x.
func Unary(op Operator, c Class, x *Expr) *Expr {
	e := &Expr{Op: op, Size: x.Size, Class: c, Args: []*Expr{x}}
	if op == OpBadAddress {
		e.Size = 1
		if neverNil(x) {
			return Number(1, 0)
		}
	}
	if op == OpNot {
		switch x.Op {
		case OpNot:
			return x.Args[0]
		case OpEq:
			return Binary(OpNe, x.Class, x.Args[0], x.Args[1])
		case OpNe:
			return Binary(OpEq, x.Class, x.Args[0], x.Args[1])
		}
	}
	if x.Op == OpConst {
		return foldConstants(e)
	}
	return sealExpr(e)
}

// Convert turns a number of class from into one of class to of the given size.
func Convert(x *Expr, from, to Class, size int) *Expr {
	if size == x.Size && (from == to || from != Float && to != Float) {
		return x
	}
	e := &Expr{Op: OpConvert, Size: size, Class: from, ResultClass: to, Args: []*Expr{x}}
	if x.Op == OpConst {
		return foldConstants(e)
	}
	return sealExpr(e)
}

// Raced is whether the values that were read are out of date. See OpRaced.
func Raced(values ...*Expr) *Expr { return sealExpr(&Expr{Op: OpRaced, Size: 1, Args: values}) }

// LoadExpr is what is read at a point from the address args[0], or from the element
// args[1] of the map there.
func LoadExpr(label *Label, size int, args ...*Expr) *Expr {
	return sealExpr(&Expr{Op: OpLoad, Size: size, Label: label, Args: args})
}

// foldConstants replaces an expression of constants by its value.
func foldConstants(e *Expr) *Expr {
	sealExpr(e)
	value := Eval(e, emptyEnvironment{})
	if !value.Known {
		return e
	}
	return Const(value)
}

// withArgs is e with other arguments.
func (e *Expr) withArgs(args []*Expr) *Expr {
	switch e.Op {
	case OpConcat:
		return Concat(args...)
	case OpExtract:
		return Extract(args[0], e.Offset, e.Size)
	case OpCaptured:
		return CapturedValue(args[0], e.Offset, e.Size)
	case OpConvert:
		return Convert(args[0], e.Class, e.ResultClass, e.Size)
	case OpNeg, OpInvert, OpNot, OpBadAddress, OpTrailingZeros, OpLeadingZeros, OpOnesCount, OpSquareRoot:
		return Unary(e.Op, e.Class, args[0])
	case OpSelect:
		return Select(args[0], args[1], args[2])
	case OpLoad, OpClosure, OpRaced:
		c := *e
		c.Args, c.registers, c.hasLoads = args, 0, false
		return sealExpr(&c)
	}
	return Binary(e.Op, e.Class, args[0], args[1])
}

// Walk calls f for e and everything in it, each once.
func (e *Expr) Walk(seen map[*Expr]bool, f func(*Expr)) {
	if seen[e] {
		return
	}
	seen[e] = true
	f(e)
	for _, a := range e.Args {
		a.Walk(seen, f)
	}
}

// Loads are the loads in e, in the order of their labels.
func (e *Expr) Loads() []*Expr { return e.LoadsBeside(map[*Expr]bool{}) }

// LoadsBeside is Loads without what is in expressions that were seen before.
func (e *Expr) LoadsBeside(seen map[*Expr]bool) []*Expr {
	var all []*Expr
	var walk func(x *Expr)
	walk = func(x *Expr) {
		if !x.hasLoads || seen[x] {
			return
		}
		seen[x] = true
		if x.Op == OpLoad {
			all = append(all, x)
		}
		for _, a := range x.Args {
			walk(a)
		}
	}
	walk(e)
	if len(all) > 1 {
		slices.SortStableFunc(all, func(a, b *Expr) int { return strings.Compare(a.Label.Key(), b.Label.Key()) })
	}
	return all
}

// EachRegister calls f for every register in e, each expression once.
func (e *Expr) EachRegister(f func(*Expr)) {
	seen := map[*Expr]bool{}
	var walk func(x *Expr)
	walk = func(x *Expr) {
		if x.Op == OpRegister {
			f(x)
		}
		if !x.HasRegisters() || len(x.Args) == 0 || seen[x] {
			return
		}
		seen[x] = true
		for _, a := range x.Args {
			walk(a)
		}
	}
	walk(e)
}
