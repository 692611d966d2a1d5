package judge

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// touchedByBuiltin notes what memory a call of a built-in function touches.
func (m *machine) touchedByBuiltin(s *state, op *operation) {
	arg := func(i int) slice {
		x, _ := op.args[i].(slice) // a string has no elements that change
		return x
	}
	switch op.callee.builtin.Name() {
	case "append":
		x, y := arg(0), arg(1)
		op.elements(y, false)
		n := y.n
		if text, ok := op.args[1].(string); ok {
			n = len(text)
		}
		if x.n+n > x.room {
			op.elements(x, false)
		} else {
			op.elements(slice{x.array, x.from + x.n, n, n}, true)
		}
	case "copy":
		x, y := arg(0), arg(1)
		n := x.n
		if text, ok := op.args[1].(string); ok {
			n = min(n, len(text))
		} else {
			n = min(n, y.n)
		}
		x.n, y.n = n, min(n, y.n)
		op.elements(y, false)
		op.elements(x, true)
	case "clear":
		op.elements(arg(0), true)
		op.touchMap(true)
	case "delete":
		op.touchMap(true)
	case "len", "cap":
		op.touchMap(false)
		if c, ok := op.args[0].(chanRef); ok && c != 0 {
			op.kind = memory
		}
	case "close":
		op.kind = memory
	}
}

// touchMap notes an access to the map that is the first argument, if that is one.
func (op *operation) touchMap(stores bool) {
	if a := mapAddress(op.args[0]); a.object != 0 {
		op.kind = memory
		op.accesses = append(op.accesses, access{at: a, stores: stores})
	}
}

// builtin calls a built-in function.
func (m *machine) builtin(s *state, t *thread, op operation) value {
	args := op.args
	switch name := op.callee.builtin.Name(); name {
	case "append":
		return m.append(s, op.instr.(*ssa.Call).Type(), args[0].(slice), args[1])
	case "copy":
		return int64(m.copy(s, args[0].(slice), args[1]))
	case "len":
		return int64(length(s, args[0]))
	case "cap":
		return int64(capacity(s, args[0]))
	case "clear":
		m.clear(s, op)
	case "delete":
		if r := args[0].(mapRef); r != 0 {
			s.setObject(int(r), s.object(int(r)).(mapping).without(args[1]))
		}
	case "close":
		m.closeChannel(s, args[0].(chanRef))
	case "recover":
		return m.recoverPanic(t)
	case "panic":
		panic(programPanic{args[0]})
	case "min", "max":
		return extreme(name, op.instr.(*ssa.Call).Type(), args)
	case "real":
		return real(args[0].(complex128))
	case "imag":
		return imag(args[0].(complex128))
	case "complex":
		return complex(args[0].(float64), args[1].(float64))
	case "print", "println":
	case "ssa:wrapnilchk":
		return checked(args[0])
	case "ssa:deferstack":
		return stackRef(len(t.frames) - 1)
	default:
		panic(unsupported("the built-in function " + name))
	}
	return nil
}

func (m *machine) append(s *state, t types.Type, x slice, more value) value {
	var added []value
	switch more := more.(type) {
	case slice:
		added = s.elements(more)
	case string:
		for i := range len(more) {
			added = append(added, int64(more[i]))
		}
	}
	n := x.n + len(added)
	if len(added) == 0 {
		return x
	}
	if n <= x.room {
		for i, v := range added {
			s.store(x.element(x.n+i), v)
		}
		return slice{x.array, x.from, n, x.room}
	}
	all := make([]value, 0, n)
	all = append(append(all, s.elements(x)...), added...)
	return s.newSlice(t, all, n, max(n, 2*x.room))
}

func (m *machine) copy(s *state, to slice, from value) int {
	var all []value
	switch from := from.(type) {
	case slice:
		all = s.elements(from)
	case string:
		for i := range len(from) {
			all = append(all, int64(from[i]))
		}
	}
	n := min(to.n, len(all))
	for i, v := range all[:n] {
		s.store(to.element(i), v)
	}
	return n
}

func (m *machine) clear(s *state, op operation) {
	switch x := op.args[0].(type) {
	case mapRef:
		if x != 0 {
			s.setObject(int(x), mapping(nil))
		}
	case slice:
		call := op.callee.builtin.Type().(*types.Signature).Params().At(0).Type()
		none := zero(call.Underlying().(*types.Slice).Elem())
		for i := range x.n {
			s.store(x.element(i), none)
		}
	}
}

func length(s *state, x value) int {
	switch x := x.(type) {
	case string:
		return len(x)
	case slice:
		return x.n
	case aggregate:
		return len(x)
	case mapRef:
		if x == 0 {
			return 0
		}
		return len(s.object(int(x)).(mapping))
	case chanRef:
		if x == 0 {
			return 0
		}
		return len(s.object(int(x)).(channel).buffer)
	}
	panic(unsupported("len of a pointer to an array"))
}

func capacity(s *state, x value) int {
	switch x := x.(type) {
	case slice:
		return x.room
	case aggregate:
		return len(x)
	case chanRef:
		if x == 0 {
			return 0
		}
		return s.object(int(x)).(channel).room
	}
	panic(unsupported("cap of a pointer to an array"))
}

func extreme(name string, t types.Type, args []value) value {
	best := args[0]
	for _, x := range args[1:] {
		if less := operate(token.LSS, t, x, best, t).(bool); less == (name == "min") {
			best = x
		}
	}
	return best
}
