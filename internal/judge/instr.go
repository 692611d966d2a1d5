package judge

import (
	"fmt"
	"go/token"
	"go/types"
	"unicode/utf8"

	"golang.org/x/tools/go/ssa"
)

// instr executes the next instruction of a frame.
func (m *machine) instr(s *state, t *thread, f *frame) {
	switch in := f.block.Instrs[f.pc].(type) {
	case *ssa.DebugRef:
		f.pc++
	case *ssa.Jump:
		m.jump(f, 0)
	case *ssa.If:
		if m.value(f, in.Cond).(bool) {
			m.jump(f, 0)
		} else {
			m.jump(f, 1)
		}
	case *ssa.Return:
		if len(f.defers) > 0 {
			// go/ssa has left out a RunDefers: see resultLoads.
			f.pc = resultLoads(f.block, f.pc)
			m.runDeferred(s, t, f)
			return
		}
		m.finish(s, t, m.result(f, in))
	case *ssa.Panic:
		held := m.value(f, in.X).(iface)
		if held.dynamic == nil {
			panic(programPanic{iface{types.Typ[types.String], "panic called with nil argument (use GODEBUG=panicnil=1 to disable)"}})
		}
		panic(programPanic{held})
	case *ssa.Store:
		s.store(checked(m.value(f, in.Addr)), m.value(f, in.Val))
		f.pc++
	case *ssa.MapUpdate:
		m.mapUpdate(s, f, in)
	case *ssa.Go:
		p := m.pendingOf(f, in.Common())
		f.pc++
		m.spawn(s, t, p)
	case *ssa.Defer:
		p := m.pendingOf(f, in.Common())
		to := f
		if in.DeferStack != nil {
			to = t.frames[m.value(f, in.DeferStack).(stackRef)]
		}
		to.defers = append(to.defers, p)
		f.pc++
	case *ssa.RunDefers:
		if len(f.defers) == 0 {
			f.pc++
			return
		}
		m.runDeferred(s, t, f)
	case *ssa.Call:
		m.invoke(s, t, f, in)
	case ssa.Value:
		m.completed(f, m.compute(s, t, f, in))
	default:
		panic(unsupported(fmt.Sprintf("an instruction %T", in)))
	}
}

// runDeferred makes the last deferred call of the innermost frame.
func (m *machine) runDeferred(s *state, t *thread, f *frame) {
	n := len(f.defers)
	d := f.defers[n-1]
	f.defers = f.defers[:n-1]
	m.begin(s, t, d, deferred)
}

// resultLoads is where the loads begin that give the Return of a block its results. Deferred calls
// are made before them, since they may change the results. A function that defers nothing by
// itself, but by the body of a range over a function, has no RunDefers there.
func resultLoads(b *ssa.BasicBlock, pc int) int {
	for ; pc > 0; pc-- {
		if load, ok := b.Instrs[pc-1].(*ssa.UnOp); !ok || load.Op != token.MUL {
			break
		}
	}
	return pc
}

// jump goes to a block, and computes what its phis come to. A block can be both sides of an
// If: its predecessors are then in the order of the sides.
func (m *machine) jump(f *frame, succ int) {
	to := f.block.Succs[succ]
	again := 0
	for _, b := range f.block.Succs[:succ] {
		if b == to {
			again++
		}
	}
	edge := 0
	for i, p := range to.Preds {
		if p != f.block {
			continue
		}
		if edge = i; again == 0 {
			break
		}
		again--
	}
	info := m.about(f.fn)
	var regs []int
	var now []value
	pc := 0
	for ; pc < len(to.Instrs); pc++ {
		phi, ok := to.Instrs[pc].(*ssa.Phi)
		if !ok {
			break
		}
		regs = append(regs, info.register[phi])
		now = append(now, m.value(f, phi.Edges[edge]))
	}
	for i, r := range regs {
		f.regs[r] = now[i]
	}
	f.block, f.pc = to, pc
}

func (m *machine) result(f *frame, in *ssa.Return) value {
	switch len(in.Results) {
	case 0:
		return nil
	case 1:
		return m.value(f, in.Results[0])
	}
	return aggregate(m.values(f, in.Results))
}

// compute evaluates an instruction that has a value and changes nothing but the heap.
func (m *machine) compute(s *state, t *thread, f *frame, in ssa.Value) value {
	switch in := in.(type) {
	case *ssa.Alloc:
		return address{object: s.allocate(zero(deref(in.Type())))}
	case *ssa.BinOp:
		return operate(in.Op, in.X.Type(), m.value(f, in.X), m.value(f, in.Y), in.Y.Type())
	case *ssa.UnOp:
		x := m.value(f, in.X)
		if in.Op == token.MUL {
			return s.load(checked(x))
		}
		return unary(in.Op, in.X.Type(), x)
	case *ssa.ChangeType:
		return m.value(f, in.X)
	case *ssa.ChangeInterface:
		return m.value(f, in.X)
	case *ssa.Convert:
		return m.convert(s, in.X.Type(), in.Type(), m.value(f, in.X))
	case *ssa.MakeInterface:
		return iface{in.X.Type(), m.value(f, in.X)}
	case *ssa.TypeAssert:
		return m.assert(in, m.value(f, in.X).(iface))
	case *ssa.Extract:
		return m.value(f, in.Tuple).(aggregate)[in.Index]
	case *ssa.Field:
		return m.value(f, in.X).(aggregate)[in.Field]
	case *ssa.FieldAddr:
		return checked(m.value(f, in.X)).part(in.Field)
	case *ssa.Index:
		i := m.value(f, in.Index).(int64)
		if text, ok := m.value(f, in.X).(string); ok {
			return int64(text[inRange(i, len(text))])
		}
		all := m.value(f, in.X).(aggregate)
		return all[inRange(i, len(all))]
	case *ssa.IndexAddr:
		return m.indexAddr(s, m.value(f, in.X), m.value(f, in.Index).(int64), in.X.Type())
	case *ssa.Slice:
		return m.slice(s, f, in)
	case *ssa.SliceToArrayPointer:
		return m.arrayPointer(in, m.value(f, in.X).(slice))
	case *ssa.MakeSlice:
		return m.makeSlice(s, in, m.value(f, in.Len).(int64), m.value(f, in.Cap).(int64))
	case *ssa.MakeMap:
		return mapRef(s.allocate(mapping(nil)))
	case *ssa.MakeChan:
		n := m.value(f, in.Size).(int64)
		if n < 0 {
			panic(programPanic{iface{types.Typ[types.String], "makechan: size out of range"}})
		}
		return chanRef(s.allocate(channel{room: int(n)}))
	case *ssa.MakeClosure:
		return &closure{fn: in.Fn.(*ssa.Function), captured: m.values(f, in.Bindings)}
	case *ssa.Lookup:
		return m.lookup(s, f, in)
	case *ssa.Range:
		return m.iterate(s, m.value(f, in.X))
	case *ssa.Next:
		return m.advance(s, in, m.value(f, in.Iter).(iterator))
	}
	panic(unsupported(fmt.Sprintf("an instruction %T", in)))
}

func inRange(i int64, n int) int {
	if i < 0 || i >= int64(n) {
		panic(runtimeError(fmt.Sprintf("index out of range [%d] with length %d", i, n)))
	}
	return int(i)
}

func (m *machine) indexAddr(s *state, x value, i int64, t types.Type) value {
	if x, ok := x.(slice); ok {
		return x.element(inRange(i, x.n))
	}
	n := deref(t).Underlying().(*types.Array).Len()
	return checked(x).part(inRange(i, int(n)))
}

func (m *machine) slice(s *state, f *frame, in *ssa.Slice) value {
	bound := func(v ssa.Value, otherwise int) int {
		if v == nil {
			return otherwise
		}
		return int(m.value(f, v).(int64))
	}
	x := m.value(f, in.X)
	if text, ok := x.(string); ok {
		low, high := bound(in.Low, 0), bound(in.High, len(text))
		if low < 0 || high < low || high > len(text) {
			panic(runtimeError("slice bounds out of range"))
		}
		return text[low:high]
	}
	whole, ok := x.(slice)
	if !ok {
		n := int(deref(in.X.Type()).Underlying().(*types.Array).Len())
		whole = slice{array: checked(x), n: n, room: n}
	}
	low, high := bound(in.Low, 0), bound(in.High, whole.n)
	most := bound(in.Max, whole.room)
	if low < 0 || high < low || most < high || most > whole.room {
		panic(runtimeError("slice bounds out of range"))
	}
	return slice{whole.array, whole.from + low, high - low, most - low}
}

func (m *machine) arrayPointer(in *ssa.SliceToArrayPointer, x slice) value {
	n := int(deref(in.Type()).Underlying().(*types.Array).Len())
	switch {
	case n > x.n:
		panic(runtimeError(fmt.Sprintf("cannot convert slice with length %d to array or pointer to array with length %d", x.n, n)))
	case x.array.object == 0:
		return address{}
	case x.from != 0:
		panic(unsupported("a pointer to an array in the middle of another"))
	}
	return x.array
}

func (m *machine) makeSlice(s *state, in *ssa.MakeSlice, n, room int64) value {
	const most = 1 << 20
	if n < 0 || n > most {
		panic(runtimeError("makeslice: len out of range"))
	}
	if room < n || room > most {
		panic(runtimeError("makeslice: cap out of range"))
	}
	return s.newSlice(in.Type(), nil, int(n), int(room))
}

// newSlice makes a slice with its array, which begins with some elements.
func (s *state) newSlice(t types.Type, elements []value, n, room int) slice {
	all := make(aggregate, max(room, len(elements)))
	none := zero(t.Underlying().(*types.Slice).Elem())
	for i := copy(all, elements); i < len(all); i++ {
		all[i] = none
	}
	return slice{array: address{object: s.allocate(all)}, n: n, room: len(all)}
}

func (m *machine) assert(in *ssa.TypeAssert, x iface) value {
	_, toInterface := in.AssertedType.Underlying().(*types.Interface)
	ok := x.dynamic != nil
	if ok && toInterface {
		ok = types.Implements(x.dynamic, in.AssertedType.Underlying().(*types.Interface))
	} else if ok {
		ok = types.Identical(x.dynamic, in.AssertedType)
	}
	var v value
	switch {
	case !ok:
		v = zero(in.AssertedType)
	case toInterface:
		v = x
	default:
		v = x.held
	}
	if in.CommaOk {
		return aggregate{v, ok}
	}
	if !ok {
		panic(programPanic{iface{types.Typ[types.String], "interface conversion: the dynamic type is another"}})
	}
	return v
}

func (m *machine) lookup(s *state, f *frame, in *ssa.Lookup) value {
	x := m.value(f, in.X)
	if text, ok := x.(string); ok {
		return int64(text[inRange(m.value(f, in.Index).(int64), len(text))])
	}
	key := m.value(f, in.Index)
	hashable(key)
	v, ok := zero(in.X.Type().Underlying().(*types.Map).Elem()), false
	if r := x.(mapRef); r != 0 {
		all := s.object(int(r)).(mapping)
		if i := all.find(key); i >= 0 {
			v, ok = all[i].held, true
		}
	}
	if in.CommaOk {
		return aggregate{v, ok}
	}
	return v
}

func (m *machine) mapUpdate(s *state, f *frame, in *ssa.MapUpdate) {
	r := m.value(f, in.Map).(mapRef)
	if r == 0 {
		panic(programPanic{iface{types.Typ[types.String], "assignment to entry in nil map"}})
	}
	key := m.value(f, in.Key)
	hashable(key)
	s.setObject(int(r), s.object(int(r)).(mapping).set(key, m.value(f, in.Value)))
	f.pc++
}

// iterate begins a range over a map or a string.
func (m *machine) iterate(s *state, x value) value {
	var it iteration
	switch x := x.(type) {
	case string:
		it.text = x
	case mapRef:
		if it.over = x; x != 0 {
			for _, e := range s.object(int(x)).(mapping) {
				it.keys = append(it.keys, e.key)
			}
		}
	}
	return iterator(s.allocate(it))
}

// advance is the next element of an iteration. Keys that are gone are passed over.
func (m *machine) advance(s *state, in *ssa.Next, i iterator) value {
	it := s.object(int(i)).(iteration)
	none := zero(in.Type()).(aggregate)
	if in.IsString {
		if it.at >= len(it.text) {
			return none
		}
		r, n := utf8.DecodeRuneInString(it.text[it.at:])
		at := it.at
		it.at += n
		s.setObject(int(i), it)
		return aggregate{true, int64(at), int64(r)}
	}
	for len(it.keys) > 0 {
		key := it.keys[0]
		it.keys = it.keys[1:]
		all := s.object(int(it.over)).(mapping)
		if k := all.find(key); k >= 0 {
			s.setObject(int(i), it)
			return aggregate{true, key, all[k].held}
		}
	}
	s.setObject(int(i), it)
	return none
}
