package gossa

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// testNotNil is the check of a pointer before it is used. What was computed from a
// pointer that was checked needs none.
func (l *lifter) testNotNil(v ssa.Value) {
	switch v.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Alloc, *ssa.Global, *ssa.FreeVar:
		return
	}
	l.emit(&ir.Instr{Op: ir.Test, Cause: ir.NilDereference, Operand: ir.Unary(ir.OpBadAddress, ir.Unsigned, l.value(v)), Origin: l.siteOrigin(l.current, event.None)})
}

// isPrivate reports whether memory is a local variable that only its function uses.
func isPrivate(addr ssa.Value) bool {
	for {
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			addr = a.X
		case *ssa.IndexAddr:
			if _, ok := a.X.Type().Underlying().(*types.Pointer); !ok {
				return false
			}
			addr = a.X
		case *ssa.Alloc:
			return !a.Heap
		default:
			return false
		}
	}
}

// liftLoad lifts a load through a pointer:
//
//	x := p.n             test "nil dereference" if BadAddr(r1); r2:8 = load r1 + 16
func (l *lifter) liftLoad(in *ssa.UnOp) {
	l.testNotNil(in.X)
	l.emit(&ir.Instr{
		Op: ir.Load, Dst: l.registerOf(in), Size: l.program.size(in.Type()), Operand: l.value(in.X), Private: isPrivate(in.X),
		Origin: l.accessOrigin(in, in.X, event.Load), Data: l.program.dataAt(in.X).String(),
	})
}

// liftStore lifts a store through a pointer, tested like a load.
func (l *lifter) liftStore(in *ssa.Store) {
	l.testNotNil(in.Addr)
	v := l.value(in.Val)
	l.emit(&ir.Instr{
		Op: ir.Store, Size: v.Size, Operand: l.value(in.Addr), Value: v, Private: isPrivate(in.Addr),
		Origin: l.accessOrigin(in, in.Addr, event.Store), Data: l.program.dataAt(in.Addr).String(),
	})
}

// liftAlloc lifts a new variable. One that does not escape is private: no other goroutine
// can reach it, and accesses to it make no events.
func (l *lifter) liftAlloc(in *ssa.Alloc) {
	l.emit(&ir.Instr{
		Op: ir.Alloc, Dst: l.registerOf(in), Operand: ir.Number(8, uint64(l.program.size(pointee(in.Type())))), Private: !in.Heap,
		Origin: l.siteOrigin(in, event.Alloc), Data: in.Comment,
	})
}

// liftMakeSlice lifts make of a slice. Lengths that no memory has fail, negative ones among
// them, because they are large unsigned numbers.
func (l *lifter) liftMakeSlice(in *ssa.MakeSlice) {
	n, c := l.word64(in.Len), l.word64(in.Cap)
	const most = 1 << 47
	l.test(ir.OutOfRange, ir.Binary(ir.OpLt, ir.Unsigned, ir.Number(8, most), n))
	if in.Cap != in.Len {
		l.test(ir.OutOfRange, ir.Binary(ir.OpLt, ir.Unsigned, ir.Number(8, most), c))
		l.test(ir.OutOfRange, ir.Binary(ir.OpLt, ir.Unsigned, c, n))
	}
	elem := uint64(l.program.size(in.Type().Underlying().(*types.Slice).Elem()))
	a := l.newTemp(8)
	l.emit(&ir.Instr{Op: ir.Alloc, Dst: a, Operand: ir.Binary(ir.OpMul, ir.Unsigned, c, ir.Number(8, elem)), Origin: l.siteOrigin(in, event.Alloc)})
	l.assign(in, ir.Concat(ir.Register(a, 8), n, c))
}

// indexOutside is the condition that an index is out of range: not below n.
func indexOutside(i, n *ir.Expr) *ir.Expr { return ir.Binary(ir.OpLe, ir.Unsigned, n, i) }

// elementAddress is the address of element i.
func elementAddress(base, i *ir.Expr, size int) *ir.Expr {
	return ir.Binary(ir.OpAdd, ir.Unsigned, base, ir.Binary(ir.OpMul, ir.Unsigned, i, ir.Number(8, uint64(size))))
}

// indexAddr lifts the address of an element, behind a test of the index:
//
//	&s[i]                test "index out of range" if r1[8:16] <= r2; r3:8 = r1[0:8] + r2 * 8
func (l *lifter) indexAddr(in *ssa.IndexAddr) {
	i := l.word64(in.Index)
	base := l.value(in.X)
	if p, ok := in.X.Type().Underlying().(*types.Pointer); ok {
		l.testNotNil(in.X)
		l.testRange(indexOutside(i, ir.Number(8, uint64(p.Elem().Underlying().(*types.Array).Len()))))
	} else {
		l.testRange(indexOutside(i, ir.Extract(base, 8, 8)))
		base = ir.Extract(base, 0, 8)
	}
	l.assign(in, elementAddress(base, i, l.program.size(pointee(in.Type()))))
}

// testRange fails with an index out of range if x holds.
func (l *lifter) testRange(x *ir.Expr) {
	if x.Op == ir.OpConst && x.Value.Uint() == 0 {
		return
	}
	l.emit(&ir.Instr{Op: ir.Test, Cause: ir.OutOfRange, Operand: x, Origin: l.siteOrigin(l.current, event.None)})
}

// liftIndex lifts an element of an array value or of a string. An array value is a register,
// of which only constant parts can be taken.
func (l *lifter) liftIndex(in *ssa.Index) {
	i, x := l.word64(in.Index), l.value(in.X)
	size := l.program.size(in.Type())
	switch t := in.X.Type().Underlying().(type) {
	case *types.Array:
		l.testRange(indexOutside(i, ir.Number(8, uint64(t.Len()))))
		if i.Op == ir.OpConst {
			l.assign(in, ir.Extract(x, int(i.Value.Uint())*size, size))
		} else {
			l.assign(in, ir.Opaque("element", size))
		}
	default: // a string
		l.testRange(indexOutside(i, ir.Extract(x, 8, 8)))
		l.emit(&ir.Instr{Op: ir.Load, Dst: l.registerOf(in), Size: 1, Operand: elementAddress(ir.Extract(x, 0, 8), i, 1), Private: true})
	}
}

// liftSlice lifts s[low:high:max] of slices, strings and arrays behind a pointer. The bounds
// are tested from the outside in, as Go does: max against the capacity, high against max,
// low against high.
func (l *lifter) liftSlice(in *ssa.Slice) {
	x := l.value(in.X)
	var base, length, room *ir.Expr
	elem := 1
	text := false
	switch t := in.X.Type().Underlying().(type) {
	case *types.Pointer:
		l.testNotNil(in.X)
		a := t.Elem().Underlying().(*types.Array)
		base, elem = x, l.program.size(a.Elem())
		length = ir.Number(8, uint64(a.Len()))
		room = length
	case *types.Slice:
		base, length, room = ir.Extract(x, 0, 8), ir.Extract(x, 8, 8), ir.Extract(x, 16, 8)
		elem = l.program.size(t.Elem())
	default:
		base, length = ir.Extract(x, 0, 8), ir.Extract(x, 8, 8)
		room, text = length, true
	}
	low, high, top := ir.Number(8, 0), length, room
	if in.Low != nil {
		low = l.word64(in.Low)
	}
	if in.High != nil {
		high = l.word64(in.High)
	}
	if in.Max != nil {
		top = l.word64(in.Max)
	}
	above := func(x, y *ir.Expr) *ir.Expr { return ir.Binary(ir.OpLt, ir.Unsigned, y, x) }
	if in.Max != nil {
		l.testRange(above(top, room))
	}
	if in.High != nil || in.Max != nil {
		l.testRange(above(high, top))
	}
	if in.Low != nil {
		l.testRange(above(low, high))
	}
	n := ir.Binary(ir.OpSub, ir.Unsigned, high, low)
	if text {
		l.assign(in, ir.Concat(elementAddress(base, low, 1), n))
		return
	}
	l.assign(in, ir.Concat(elementAddress(base, low, elem), n, ir.Binary(ir.OpSub, ir.Unsigned, top, low)))
}

// liftLookup lifts an element of a map, or of a string.
func (l *lifter) liftLookup(in *ssa.Lookup) {
	if _, ok := in.X.Type().Underlying().(*types.Map); !ok { // a string
		i := l.word64(in.Index)
		x := l.value(in.X)
		l.testRange(indexOutside(i, ir.Extract(x, 8, 8)))
		l.emit(&ir.Instr{Op: ir.Load, Dst: l.registerOf(in), Size: 1, Operand: elementAddress(ir.Extract(x, 0, 8), i, 1), Private: true})
		return
	}
	l.emit(&ir.Instr{
		Op: ir.Load, Dst: l.registerOf(in), Size: l.program.size(in.Type()), Operand: l.value(in.X), Key: l.value(in.Index),
		Origin: l.mapOrigin(in, in.X, event.MapRead), Data: l.program.elementOf(in.X).String(),
	})
}

// liftMapUpdate lifts a store to an element of a map. A nil map fails.
func (l *lifter) liftMapUpdate(in *ssa.MapUpdate) {
	m := l.value(in.Map)
	l.test(ir.Panic, ir.Binary(ir.OpEq, ir.Unsigned, m, ir.Number(8, 0)))
	v := l.value(in.Value)
	l.emit(&ir.Instr{
		Op: ir.Store, Size: v.Size, Operand: m, Key: l.value(in.Key), Value: v,
		Origin: l.mapOrigin(in, in.Map, event.MapWrite), Data: l.program.elementOf(in.Map).String(),
	})
}

// liftRange is the beginning of a range over a map or a string. An iteration over a map reads it
// at its beginning and for each element, as its hooks say:
//
//	for k := range m { B }     r1 = load m[<any>]
//	                           loop: r2 = load m[<next>]; if r2 { k = load m[<any>]; B; again }
func (l *lifter) liftRange(in *ssa.Range) {
	if _, ok := in.X.Type().Underlying().(*types.Map); !ok {
		l.assign(in, ir.Opaque("iteration", 8))
		return
	}
	l.emit(&ir.Instr{
		Op: ir.Load, Dst: l.registerOf(in), Size: 8, Operand: l.value(in.X), Key: ir.AnyKey,
		Origin: l.mapOrigin(in, in.X, event.MapRead), Data: l.program.elementOf(in.X).String(),
	})
}

// liftNext is a step of a range over a map or a string. What it has found is the iteration's own.
func (l *lifter) liftNext(in *ssa.Next) {
	size := l.program.size(in.Type())
	r, ok := in.Iter.(*ssa.Range)
	if in.IsString || !ok {
		l.assign(in, ir.Opaque("iteration", size))
		return
	}
	m, found, element := l.value(r.X), l.newTemp(1), l.newTemp(size-1)
	data := l.program.elementOf(r.X).String()
	l.emit(&ir.Instr{Op: ir.Load, Dst: found, Size: 1, Operand: m, Key: ir.NextKey, Origin: l.mapOrigin(r, r.X, event.MapRead), Data: data})
	l.emit(&ir.Instr{Op: ir.Load, Dst: element, Size: size - 1, Operand: m, Key: ir.AnyKey, Data: data, Private: true})
	l.assign(in, ir.Concat(ir.Register(found, 1), ir.Register(element, size-1)))
}
