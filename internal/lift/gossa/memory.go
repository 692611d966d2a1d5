package gossa

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// notNil is the check of a pointer before it is used. What was computed from a
// pointer that was checked needs none.
func (l *lifter) notNil(v ssa.Value) {
	switch v.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Alloc, *ssa.Global, *ssa.FreeVar:
		return
	}
	l.emit(&ir.Instr{Op: ir.Test, Why: ir.BadAddress, X: ir.Unary(ir.OpBadAddr, ir.Unsigned, l.value(v)), Pos: l.site(l.at, "")})
}

// private reports whether memory is a local variable that only its function uses.
func private(addr ssa.Value) bool {
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

func (l *lifter) load(in *ssa.UnOp) {
	l.notNil(in.X)
	l.emit(&ir.Instr{
		Op: ir.Load, Dst: l.reg(in), Size: l.p.size(in.Type()), X: l.value(in.X), Private: private(in.X),
		Pos: l.access(in, in.X, "load"), Data: l.p.data(in.X).String(),
	})
}

func (l *lifter) store(in *ssa.Store) {
	l.notNil(in.Addr)
	v := l.value(in.Val)
	l.emit(&ir.Instr{
		Op: ir.Store, Size: v.Size, X: l.value(in.Addr), Val: v, Private: private(in.Addr),
		Pos: l.access(in, in.Addr, "store"), Data: l.p.data(in.Addr).String(),
	})
}

func (l *lifter) alloc(in *ssa.Alloc) {
	l.emit(&ir.Instr{
		Op: ir.Alloc, Dst: l.reg(in), X: ir.Num(8, uint64(l.p.size(pointee(in.Type())))), Private: !in.Heap,
		Pos: l.site(in, "alloc"), Data: in.Comment,
	})
}

func (l *lifter) makeSlice(in *ssa.MakeSlice) {
	n, c := l.word(in.Len), l.word(in.Cap)
	const most = 1 << 47
	l.test(ir.OutOfRange, ir.Binary(ir.OpLt, ir.Unsigned, ir.Num(8, most), n))
	l.test(ir.OutOfRange, ir.Binary(ir.OpLt, ir.Unsigned, c, n))
	elem := uint64(l.p.size(in.Type().Underlying().(*types.Slice).Elem()))
	a := l.temp(8)
	l.emit(&ir.Instr{Op: ir.Alloc, Dst: a, X: ir.Binary(ir.OpMul, ir.Unsigned, c, ir.Num(8, elem)), Pos: l.site(in, "alloc")})
	l.assign(in, ir.Concat(ir.R(a, 8), n, c))
}

// outside is whether index i is not below n.
func outside(i, n *ir.Expr) *ir.Expr { return ir.Binary(ir.OpLe, ir.Unsigned, n, i) }

func scaled(base, i *ir.Expr, size int) *ir.Expr {
	return ir.Binary(ir.OpAdd, ir.Unsigned, base, ir.Binary(ir.OpMul, ir.Unsigned, i, ir.Num(8, uint64(size))))
}

func (l *lifter) indexAddr(in *ssa.IndexAddr) {
	i := l.word(in.Index)
	base := l.value(in.X)
	if p, ok := in.X.Type().Underlying().(*types.Pointer); ok {
		l.notNil(in.X)
		l.outOfRange(outside(i, ir.Num(8, uint64(p.Elem().Underlying().(*types.Array).Len()))))
	} else {
		l.outOfRange(outside(i, ir.Extract(base, 8, 8)))
		base = ir.Extract(base, 0, 8)
	}
	l.assign(in, scaled(base, i, l.p.size(pointee(in.Type()))))
}

func (l *lifter) outOfRange(x *ir.Expr) {
	if x.Op == ir.OpConst && x.Val.Uint() == 0 {
		return
	}
	l.emit(&ir.Instr{Op: ir.Test, Why: ir.OutOfRange, X: x, Pos: l.site(l.at, "")})
}

func (l *lifter) index(in *ssa.Index) {
	i, x := l.word(in.Index), l.value(in.X)
	size := l.p.size(in.Type())
	switch t := in.X.Type().Underlying().(type) {
	case *types.Array:
		l.outOfRange(outside(i, ir.Num(8, uint64(t.Len()))))
		if i.Op == ir.OpConst {
			l.assign(in, ir.Extract(x, int(i.Val.Uint())*size, size))
		} else {
			l.assign(in, ir.Opaque("element", size))
		}
	default: // a string
		l.outOfRange(outside(i, ir.Extract(x, 8, 8)))
		l.emit(&ir.Instr{Op: ir.Load, Dst: l.reg(in), Size: 1, X: scaled(ir.Extract(x, 0, 8), i, 1), Private: true})
	}
}

func (l *lifter) slice(in *ssa.Slice) {
	x := l.value(in.X)
	var base, length, room *ir.Expr
	elem := 1
	text := false
	switch t := in.X.Type().Underlying().(type) {
	case *types.Pointer:
		l.notNil(in.X)
		a := t.Elem().Underlying().(*types.Array)
		base, elem = x, l.p.size(a.Elem())
		length = ir.Num(8, uint64(a.Len()))
		room = length
	case *types.Slice:
		base, length, room = ir.Extract(x, 0, 8), ir.Extract(x, 8, 8), ir.Extract(x, 16, 8)
		elem = l.p.size(t.Elem())
	default:
		base, length = ir.Extract(x, 0, 8), ir.Extract(x, 8, 8)
		room, text = length, true
	}
	low, high, top := ir.Num(8, 0), length, room
	if in.Low != nil {
		low = l.word(in.Low)
	}
	if in.High != nil {
		high = l.word(in.High)
	}
	if in.Max != nil {
		top = l.word(in.Max)
	}
	above := func(x, y *ir.Expr) *ir.Expr { return ir.Binary(ir.OpLt, ir.Unsigned, y, x) }
	if in.Max != nil {
		l.outOfRange(above(top, room))
	}
	if in.High != nil || in.Max != nil {
		l.outOfRange(above(high, top))
	}
	if in.Low != nil {
		l.outOfRange(above(low, high))
	}
	n := ir.Binary(ir.OpSub, ir.Unsigned, high, low)
	if text {
		l.assign(in, ir.Concat(scaled(base, low, 1), n))
		return
	}
	l.assign(in, ir.Concat(scaled(base, low, elem), n, ir.Binary(ir.OpSub, ir.Unsigned, top, low)))
}

func (l *lifter) lookup(in *ssa.Lookup) {
	if _, ok := in.X.Type().Underlying().(*types.Map); !ok { // a string
		i := l.word(in.Index)
		x := l.value(in.X)
		l.outOfRange(outside(i, ir.Extract(x, 8, 8)))
		l.emit(&ir.Instr{Op: ir.Load, Dst: l.reg(in), Size: 1, X: scaled(ir.Extract(x, 0, 8), i, 1), Private: true})
		return
	}
	l.emit(&ir.Instr{
		Op: ir.Load, Dst: l.reg(in), Size: l.p.size(in.Type()), X: l.value(in.X), Key: l.value(in.Index),
		Pos: l.mapSite(in, in.X, "map read"), Data: l.p.element(in.X).String(),
	})
}

func (l *lifter) mapUpdate(in *ssa.MapUpdate) {
	m := l.value(in.Map)
	l.test(ir.Panic, ir.Binary(ir.OpEq, ir.Unsigned, m, ir.Num(8, 0)))
	v := l.value(in.Value)
	l.emit(&ir.Instr{
		Op: ir.Store, Size: v.Size, X: m, Key: l.value(in.Key), Val: v,
		Pos: l.mapSite(in, in.Map, "map write"), Data: l.p.element(in.Map).String(),
	})
}

// next is a step of a range over a map or a string.
func (l *lifter) next(in *ssa.Next) {
	size := l.p.size(in.Type())
	r, ok := in.Iter.(*ssa.Range)
	if in.IsString || !ok {
		l.assign(in, ir.Opaque("iteration", size))
		return
	}
	l.emit(&ir.Instr{
		Op: ir.Load, Dst: l.reg(in), Size: size, X: l.value(r.X), Key: ir.AnyKey,
		Pos: l.mapSite(r, r.X, "map read"), Data: l.p.element(r.X).String(),
	})
}
