package ir_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// world is an Environment with given registers, memory and texts.
type world struct {
	registers map[ir.Reg]ir.Value
	memory    map[uint64]ir.Value
	texts     map[uint64]string
	closures  map[uint64][]ir.Value
}

func (w *world) Reg(e *ir.Expr) ir.Value { return w.registers[e.Reg] }
func (w *world) Load(e *ir.Expr, addr, key ir.Value) ir.Value {
	if v, ok := w.memory[addr.Uint()+key.Uint()]; ok && addr.Known {
		return v
	}
	return ir.Unknown(e.Size)
}
func (w *world) Symbol(name string) ir.Value { return ir.Word(8, uint64(len(name))<<20) }
func (w *world) Closure(name string, captured []ir.Value) ir.Value {
	w.closures[0x7000] = captured
	return ir.Word(8, 0x7000)
}
func (w *world) Captured(closure ir.Value, i, size int) ir.Value {
	return w.closures[closure.Uint()][i]
}
func (w *world) BadAddress(addr uint64) ir.Value {
	if addr < ir.FirstPage {
		return ir.Word(1, 1)
	}
	return ir.Word(1, 0)
}

func (w *world) Text(addr uint64, n int) ([]byte, bool) {
	s, ok := w.texts[addr]
	return []byte(s), ok && len(s) == n
}

var nowhere = &world{}

// integers compares every operator on the edge values of a type with what Go computes.
func integers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](t *testing.T, class ir.Class, edges ...T) {
	t.Helper()
	var zero T
	size := map[string]int{"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8}[fmt.Sprintf("%T", zero)]
	// A variable, so that the expression is evaluated and not folded.
	value := func(op ir.Operator, x, y T) ir.Value {
		w := &world{registers: map[ir.Reg]ir.Value{1: ir.Word(size, uint64(x))}}
		return ir.Eval(ir.Binary(op, class, ir.Register(1, size), ir.Number(size, uint64(y))), w)
	}
	for _, x := range edges {
		for _, y := range edges {
			want := map[ir.Operator]T{ir.OpAdd: x + y, ir.OpSub: x - y, ir.OpMul: x * y, ir.OpAnd: x & y, ir.OpOr: x | y, ir.OpXor: x ^ y, ir.OpAndNot: x &^ y}
			if y != 0 {
				want[ir.OpDiv], want[ir.OpRem] = x/y, x%y
			}
			for op, w := range want {
				if got := value(op, x, y); !got.Known || got != ir.Word(size, uint64(w)) {
					t.Errorf("%T: %d %s %d is %v, Go says %d", x, x, op.Symbol(), y, got, w)
				}
			}
			truth := map[ir.Operator]bool{ir.OpEq: x == y, ir.OpNe: x != y, ir.OpLt: x < y, ir.OpLe: x <= y}
			for op, w := range truth {
				if got := value(op, x, y); (got.Uint() != 0) != w || got.Size != 1 {
					t.Errorf("%T: %d %s %d is %v, Go says %v", x, x, op.Symbol(), y, got, w)
				}
			}
		}
		for _, shift := range []uint64{0, 1, 7, 8, 31, 63, 64, 200} {
			for op, w := range map[ir.Operator]T{ir.OpShl: x << shift, ir.OpShr: x >> shift} {
				if got := ir.Eval(ir.Binary(op, class, ir.Number(size, uint64(x)), ir.Number(8, shift)), nowhere); got != ir.Word(size, uint64(w)) {
					t.Errorf("%T: %d %s %d is %v, Go says %d", x, x, op.Symbol(), shift, got, w)
				}
			}
		}
		if got := ir.Eval(ir.Unary(ir.OpNeg, class, ir.Number(size, uint64(x))), nowhere); got != ir.Word(size, uint64(-x)) {
			t.Errorf("%T: -%d is %v", x, x, got)
		}
		if got := ir.Eval(ir.Unary(ir.OpInvert, class, ir.Number(size, uint64(x))), nowhere); got != ir.Word(size, uint64(^x)) {
			t.Errorf("%T: ^%d is %v", x, x, got)
		}
		for _, to := range []struct {
			class ir.Class
			size  int
			want  uint64
		}{
			{ir.Signed, 1, uint64(int8(x))}, {ir.Unsigned, 2, uint64(uint16(x))}, {ir.Signed, 8, uint64(int64(x))}, {ir.Unsigned, 8, uint64(x)},
			{ir.Float, 4, uint64(math.Float32bits(float32(x)))}, {ir.Float, 8, math.Float64bits(float64(x))},
		} {
			if got := ir.Eval(ir.Convert(ir.Number(size, uint64(x)), class, to.class, to.size), nowhere); got != ir.Word(to.size, to.want) {
				t.Errorf("%T: %d converted to %d bytes of class %d is %v, Go says %#x", x, x, to.size, to.class, got, to.want)
			}
		}
	}
	if got := value(ir.OpDiv, 1, 0); got.Known {
		t.Errorf("%T: a division by zero is %v", zero, got)
	}
}

func TestIntegersAreThoseOfGo(t *testing.T) {
	integers[int8](t, ir.Signed, 0, 1, -1, 100, math.MinInt8, math.MaxInt8)
	integers[int16](t, ir.Signed, 0, 1, -1, 300, math.MinInt16, math.MaxInt16)
	integers[int32](t, ir.Signed, 0, 1, -1, 70000, math.MinInt32, math.MaxInt32)
	integers[int64](t, ir.Signed, 0, 1, -1, 1<<40, math.MinInt64, math.MaxInt64)
	integers[uint8](t, ir.Unsigned, 0, 1, 2, 128, math.MaxUint8)
	integers[uint16](t, ir.Unsigned, 0, 1, 2, 1<<15, math.MaxUint16)
	integers[uint32](t, ir.Unsigned, 0, 1, 2, 1<<31, math.MaxUint32)
	// The largest numbers of 8 bytes are the invented addresses, of which it cannot be
	// told what they equal.
	integers[uint64](t, ir.Unsigned, 0, 1, 2, 1<<40)
}

func TestFloatsAreThoseOfGo(t *testing.T) {
	for _, x := range []float64{0, 1.5, -2.25, math.Inf(1), math.NaN(), 1e300} {
		for _, y := range []float64{0, 3, -0.5, math.NaN()} {
			for op, want := range map[ir.Operator]float64{ir.OpAdd: x + y, ir.OpSub: x - y, ir.OpMul: x * y, ir.OpDiv: x / y} {
				for _, size := range []int{4, 8} {
					a, b, w := float64Value(size, x), float64Value(size, y), float64Value(size, want)
					if size == 4 {
						w = float32Value(op, float32(x), float32(y))
					}
					got := ir.Eval(ir.Binary(op, ir.Float, a, b), nowhere)
					if got != w.Value && !(math.IsNaN(got.Float()) && math.IsNaN(w.Value.Float())) {
						t.Errorf("%d bytes: %v %s %v is %v, Go says %v", size, x, op.Symbol(), y, got.Float(), w.Value.Float())
					}
				}
			}
			for op, want := range map[ir.Operator]bool{ir.OpEq: x == y, ir.OpNe: x != y, ir.OpLt: x < y, ir.OpLe: x <= y} {
				if got := ir.Eval(ir.Binary(op, ir.Float, float64Value(8, x), float64Value(8, y)), nowhere); (got.Uint() != 0) != want {
					t.Errorf("%v %s %v is %v, Go says %v", x, op.Symbol(), y, got, want)
				}
			}
		}
	}
	if got := ir.Eval(ir.Unary(ir.OpNeg, ir.Float, float64Value(8, 2.5)), nowhere).Float(); got != -2.5 {
		t.Errorf("-(2.5) is %v", got)
	}
	if got := ir.Eval(ir.Convert(float64Value(8, -3.9), ir.Float, ir.Signed, 4), nowhere).Int(); got != -3 {
		t.Errorf("int32(-3.9) is %v", got)
	}
	if got := ir.Eval(ir.Convert(float64Value(8, 3.9), ir.Float, ir.Unsigned, 2), nowhere).Uint(); got != 3 {
		t.Errorf("uint16(3.9) is %v", got)
	}
	if got := ir.Eval(ir.Convert(float64Value(8, 0.1), ir.Float, ir.Float, 4), nowhere); got.Float() != float64(float32(0.1)) {
		t.Errorf("float32(0.1) is %v", got)
	}
	if got := ir.Eval(ir.Binary(ir.OpAnd, ir.Float, float64Value(8, 1), float64Value(8, 1)), nowhere); got.Known {
		t.Errorf("floats have bits: %v", got)
	}
}

func float64Value(size int, x float64) *ir.Expr {
	if size == 4 {
		return ir.Number(4, uint64(math.Float32bits(float32(x))))
	}
	return ir.Number(8, math.Float64bits(x))
}

func float32Value(op ir.Operator, x, y float32) *ir.Expr {
	z := map[ir.Operator]float32{ir.OpAdd: x + y, ir.OpSub: x - y, ir.OpMul: x * y, ir.OpDiv: x / y}[op]
	return ir.Number(4, uint64(math.Float32bits(z)))
}

func TestLeavesAreTheEnvironments(t *testing.T) {
	w := &world{
		registers: map[ir.Reg]ir.Value{1: ir.Word(8, 8192), 2: ir.Word(8, 5), 3: ir.Word(8, 0x7000)},
		memory:    map[uint64]ir.Value{8192: ir.Word(8, 77), 8197: ir.Word(8, 78)},
		closures:  map[uint64][]ir.Value{},
	}
	label := &ir.Label{Point: ir.Point{Context: ir.NewContexts().Get(nil, nil, &ir.Func{Name: "f"}), Instr: &ir.Instr{}}}
	for _, test := range []struct {
		e    *ir.Expr
		want uint64
	}{
		{ir.LoadExpr(label, 8, ir.Register(1, 8)), 77},
		{ir.LoadExpr(label, 8, ir.Register(1, 8), ir.Register(2, 8)), 78},
		{ir.Symbol("abc"), 3 << 20},
		{ir.Closure("f", ir.Register(2, 8)), 0x7000},
		{ir.CapturedValue(ir.Register(3, 8), 0, 8), 5},
		{ir.Raced(ir.Register(1, 8)), 0},
		{ir.Unary(ir.OpBadAddress, ir.Unsigned, ir.Register(2, 8)), 1},
		{ir.Unary(ir.OpBadAddress, ir.Unsigned, ir.Register(1, 8)), 0},
		{ir.Extract(ir.Concat(ir.Register(1, 8), ir.Register(2, 8)), 4, 8), 5 << 32},
		{ir.Unary(ir.OpNot, ir.Unsigned, ir.Extract(ir.Register(2, 8), 0, 1)), 0},
	} {
		if got := ir.Eval(test.e, w); !got.Known || got.Uint() != test.want {
			t.Errorf("%v is %v, want %d", test.e, got, test.want)
		}
	}
}

func TestUnknownStaysUnknownUnlessItDoesNotMatter(t *testing.T) {
	w := &world{registers: map[ir.Reg]ir.Value{1: ir.Unknown(8), 2: ir.Word(8, 0)}}
	unknown, zero := ir.Register(1, 8), ir.Register(2, 8)
	for _, e := range []*ir.Expr{
		ir.Binary(ir.OpAdd, ir.Unsigned, unknown, zero), ir.Unary(ir.OpNeg, ir.Signed, unknown), ir.Opaque("anything", 8),
		ir.Binary(ir.OpOr, ir.Unsigned, unknown, zero), ir.Concat(unknown, zero), ir.Binary(ir.OpEq, ir.Unsigned, unknown, zero),
	} {
		if got := ir.Eval(e, w); got.Known || got.Size != e.Size {
			t.Errorf("%v is %v of %d bytes", e, got, got.Size)
		}
	}
	if got := ir.Eval(ir.Binary(ir.OpAnd, ir.Unsigned, unknown, zero), w); !got.Known || got.Uint() != 0 {
		t.Errorf("a zero does not decide: %v", got)
	}
}

func TestTextsAreComparedByWhatTheySay(t *testing.T) {
	w := &world{texts: map[uint64]string{0x5000: "lock", 0x6000: "lock", 0x8000: "look"}}
	text := func(addr, n uint64) *ir.Expr { return ir.Concat(ir.Number(8, addr), ir.Number(8, n)) }
	for _, test := range []struct {
		x, y *ir.Expr
		want string
	}{
		{text(0x5000, 4), text(0x6000, 4), "1"}, {text(0x5000, 4), text(0x8000, 4), "0"}, {text(0x5000, 4), text(0x6000, 3), "0"},
		{text(0x5000, 0), text(0x9000, 0), "1"}, {text(0x9000, 4), text(0x9000, 4), "1"}, {text(0x5000, 4), text(0x9000, 4), "?"},
		{text(0x5000, 1<<21), text(0x9000, 1<<21), "?"},
	} {
		e := ir.Binary(ir.OpSameText, ir.Unsigned, test.x, test.y)
		if got := ir.Eval(e, w).String(); got != test.want {
			t.Errorf("%v: %s, want %s", e, got, test.want)
		}
	}
}

// TestInventedAddressesMayBeReal: an address that stands for an object whose place is not
// known may be any address of the program, but is not nil and not another invented one.
func TestInventedAddressesMayBeReal(t *testing.T) {
	const invented = ir.FirstInvented + 1<<24
	for _, test := range []struct {
		x, y uint64
		want string
	}{{invented, 0xc000010000, "?"}, {0xc000010000, invented, "?"}, {invented, 0, "0"}, {invented, invented, "1"}, {invented, invented + 1<<24, "0"}} {
		w := &world{registers: map[ir.Reg]ir.Value{1: ir.Word(8, test.x)}}
		if got := ir.Eval(ir.Binary(ir.OpEq, ir.Unsigned, ir.Register(1, 8), ir.Number(8, test.y)), w).String(); got != test.want {
			t.Errorf("%#x == %#x is %s, want %s", test.x, test.y, got, test.want)
		}
	}
}
