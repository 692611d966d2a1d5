package judge

import (
	"fmt"
	"go/token"
	"go/types"
	"math"
	"unicode/utf8"
)

// integer describes an integer type.
func integer(t types.Type) (bits uint, unsigned, ok bool) {
	b, isBasic := t.Underlying().(*types.Basic)
	if !isBasic || b.Info()&types.IsInteger == 0 {
		return 0, false, false
	}
	switch b.Kind() {
	case types.Int8, types.Uint8:
		bits = 8
	case types.Int16, types.Uint16:
		bits = 16
	case types.Int32, types.Uint32, types.UntypedRune:
		bits = 32
	default:
		bits = 64
	}
	return bits, b.Info()&types.IsUnsigned != 0, true
}

// wrap cuts an integer to the bits of its type.
func wrap(t types.Type, x int64) int64 {
	bits, unsigned, _ := integer(t)
	shift := 64 - bits
	if unsigned {
		return int64(uint64(x) << shift >> shift)
	}
	return x << shift >> shift
}

func operate(op token.Token, t types.Type, x, y value, ty types.Type) value {
	switch op {
	case token.EQL:
		return equal(x, y)
	case token.NEQ:
		return !equal(x, y)
	}
	switch x := x.(type) {
	case int64:
		return integers(op, t, x, y.(int64), ty)
	case float64:
		return floats(op, t, x, y.(float64))
	case complex128:
		return complexes(op, x, y.(complex128))
	case string:
		return texts(op, x, y.(string))
	case bool:
		y := y.(bool)
		switch op {
		case token.AND:
			return x && y
		case token.OR:
			return x || y
		}
	}
	panic(unsupported(fmt.Sprintf("%v of %T", op, x)))
}

func integers(op token.Token, t types.Type, x, y int64, ty types.Type) value {
	bits, unsigned, _ := integer(t)
	less := x < y
	if unsigned {
		less = uint64(x) < uint64(y)
	}
	switch op {
	case token.LSS:
		return less
	case token.LEQ:
		return less || x == y
	case token.GTR:
		return !less && x != y
	case token.GEQ:
		return !less
	case token.ADD:
		return wrap(t, x+y)
	case token.SUB:
		return wrap(t, x-y)
	case token.MUL:
		return wrap(t, x*y)
	case token.AND:
		return x & y
	case token.OR:
		return x | y
	case token.XOR:
		return x ^ y
	case token.AND_NOT:
		return x &^ y
	case token.QUO, token.REM:
		if y == 0 {
			panic(runtimeError("integer divide by zero"))
		}
		return divide(op, t, unsigned, x, y)
	case token.SHL, token.SHR:
		if _, unsignedCount, _ := integer(ty); !unsignedCount && y < 0 {
			panic(runtimeError("negative shift amount"))
		}
		return shift(op, t, unsigned, bits, x, uint64(y))
	}
	panic(unsupported("integers " + op.String()))
}

func divide(op token.Token, t types.Type, unsigned bool, x, y int64) value {
	switch {
	case unsigned && op == token.QUO:
		return wrap(t, int64(uint64(x)/uint64(y)))
	case unsigned:
		return wrap(t, int64(uint64(x)%uint64(y)))
	case op == token.QUO:
		return wrap(t, x/y)
	}
	return wrap(t, x%y)
}

func shift(op token.Token, t types.Type, unsigned bool, bits uint, x int64, by uint64) value {
	switch {
	case op == token.SHL && by >= uint64(bits):
		return int64(0)
	case op == token.SHL:
		return wrap(t, x<<by)
	case unsigned && by >= uint64(bits):
		return int64(0)
	case unsigned:
		return int64(uint64(x) >> by)
	}
	return x >> min(by, 63)
}

func floats(op token.Token, t types.Type, x, y float64) value {
	round := func(f float64) value {
		if b := t.Underlying().(*types.Basic); b.Kind() == types.Float32 {
			return float64(float32(f))
		}
		return f
	}
	switch op {
	case token.LSS:
		return x < y
	case token.LEQ:
		return x <= y
	case token.GTR:
		return x > y
	case token.GEQ:
		return x >= y
	case token.ADD:
		return round(x + y)
	case token.SUB:
		return round(x - y)
	case token.MUL:
		return round(x * y)
	case token.QUO:
		return round(x / y)
	}
	panic(unsupported("floating-point " + op.String()))
}

func complexes(op token.Token, x, y complex128) value {
	switch op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return x * y
	case token.QUO:
		return x / y
	}
	panic(unsupported("complex " + op.String()))
}

func texts(op token.Token, x, y string) value {
	switch op {
	case token.ADD:
		return x + y
	case token.LSS:
		return x < y
	case token.LEQ:
		return x <= y
	case token.GTR:
		return x > y
	case token.GEQ:
		return x >= y
	}
	panic(unsupported("strings " + op.String()))
}

func unary(op token.Token, t types.Type, x value) value {
	switch x := x.(type) {
	case bool:
		if op == token.NOT {
			return !x
		}
	case int64:
		switch op {
		case token.SUB:
			return wrap(t, -x)
		case token.XOR:
			return wrap(t, ^x)
		}
	case float64:
		if op == token.SUB {
			return -x
		}
	case complex128:
		if op == token.SUB {
			return -x
		}
	}
	panic(unsupported(fmt.Sprintf("%v of %T", op, x)))
}

// convert is the conversion of a value to another type.
func (m *machine) convert(s *state, from, to types.Type, x value) value {
	switch x := x.(type) {
	case int64:
		return convertInteger(from, to, x)
	case float64:
		return convertFloat(to, x)
	case string:
		if t, ok := to.Underlying().(*types.Slice); ok {
			return m.characters(s, to, t, x)
		}
		return x
	case slice:
		return m.text(s, from, x)
	}
	return x
}

func convertInteger(from, to types.Type, x int64) value {
	_, unsigned, _ := integer(from)
	if _, _, ok := integer(to); ok {
		return wrap(to, x)
	}
	b := to.Underlying().(*types.Basic)
	switch {
	case b.Info()&types.IsString != 0:
		return string(rune(x))
	case b.Info()&types.IsFloat != 0 && unsigned:
		return convertFloat(to, float64(uint64(x)))
	case b.Info()&types.IsFloat != 0:
		return convertFloat(to, float64(x))
	}
	panic(unsupported("a conversion to " + to.String()))
}

func convertFloat(to types.Type, x float64) value {
	b := to.Underlying().(*types.Basic)
	switch {
	case b.Kind() == types.Float32:
		return float64(float32(x))
	case b.Info()&types.IsFloat != 0:
		return x
	case b.Info()&types.IsUnsigned != 0 && x >= math.MaxInt64:
		return wrap(to, int64(uint64(x)))
	}
	return wrap(to, int64(x))
}

// characters converts a string to its bytes or runes.
func (m *machine) characters(s *state, to types.Type, t *types.Slice, x string) value {
	var all []value
	if bits, _, _ := integer(t.Elem()); bits == 8 {
		for i := range len(x) {
			all = append(all, int64(x[i]))
		}
	} else {
		for _, r := range x {
			all = append(all, int64(r))
		}
	}
	return s.newSlice(to, all, len(all), len(all))
}

// text converts bytes or runes to a string.
func (m *machine) text(s *state, from types.Type, x slice) value {
	var out []byte
	bits, _, _ := integer(from.Underlying().(*types.Slice).Elem())
	for _, e := range s.elements(x) {
		if c := e.(int64); bits == 8 {
			out = append(out, byte(c))
		} else {
			out = utf8.AppendRune(out, rune(c))
		}
	}
	return string(out)
}
