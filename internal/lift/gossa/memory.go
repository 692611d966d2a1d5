package gossa

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli"
)

// notNil is the check of a pointer before it is used. What was computed from a
// pointer that was checked needs none.
func (l *lifter) notNil(v ssa.Value) {
	switch v.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Alloc, *ssa.Global, *ssa.FreeVar:
		return
	}
	l.emit(&sli.Instr{Op: sli.Test, Why: sli.BadAddress, X: sli.Unary(sli.OpBadAddr, sli.Unsigned, l.value(v)), Pos: l.site(l.at, "")})
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
	l.emit(&sli.Instr{
		Op: sli.Load, Dst: l.reg(in), Size: l.p.size(in.Type()), X: l.value(in.X), Private: private(in.X),
		Pos: l.access(in, in.X, "load"), Data: l.p.data(in.X).String(),
	})
}

func (l *lifter) store(in *ssa.Store) {
	l.notNil(in.Addr)
	v := l.value(in.Val)
	l.emit(&sli.Instr{
		Op: sli.Store, Size: v.Size, X: l.value(in.Addr), Val: v, Private: private(in.Addr),
		Pos: l.access(in, in.Addr, "store"), Data: l.p.data(in.Addr).String(),
	})
}

func (l *lifter) alloc(in *ssa.Alloc) {
	l.emit(&sli.Instr{
		Op: sli.Alloc, Dst: l.reg(in), X: sli.Num(8, uint64(l.p.size(pointee(in.Type())))), Private: !in.Heap,
		Pos: l.site(in, "alloc"), Data: in.Comment,
	})
}

func (l *lifter) makeSlice(in *ssa.MakeSlice) {
	n, c := l.word(in.Len), l.word(in.Cap)
	const most = 1 << 47
	l.test(sli.OutOfRange, sli.Binary(sli.OpLt, sli.Unsigned, sli.Num(8, most), n))
	l.test(sli.OutOfRange, sli.Binary(sli.OpLt, sli.Unsigned, c, n))
	elem := uint64(l.p.size(in.Type().Underlying().(*types.Slice).Elem()))
	a := l.temp(8)
	l.emit(&sli.Instr{Op: sli.Alloc, Dst: a, X: sli.Binary(sli.OpMul, sli.Unsigned, c, sli.Num(8, elem)), Pos: l.site(in, "alloc")})
	l.assign(in, sli.Concat(sli.R(a, 8), n, c))
}

// outside is whether index i is not below n.
func outside(i, n *sli.Expr) *sli.Expr { return sli.Binary(sli.OpLe, sli.Unsigned, n, i) }

func scaled(base, i *sli.Expr, size int) *sli.Expr {
	return sli.Binary(sli.OpAdd, sli.Unsigned, base, sli.Binary(sli.OpMul, sli.Unsigned, i, sli.Num(8, uint64(size))))
}

func (l *lifter) indexAddr(in *ssa.IndexAddr) {
	i := l.word(in.Index)
	base := l.value(in.X)
	if p, ok := in.X.Type().Underlying().(*types.Pointer); ok {
		l.notNil(in.X)
		l.outOfRange(outside(i, sli.Num(8, uint64(p.Elem().Underlying().(*types.Array).Len()))))
	} else {
		l.outOfRange(outside(i, sli.Extract(base, 8, 8)))
		base = sli.Extract(base, 0, 8)
	}
	l.assign(in, scaled(base, i, l.p.size(pointee(in.Type()))))
}

func (l *lifter) outOfRange(x *sli.Expr) {
	if x.Op == sli.OpConst && x.Val.Uint() == 0 {
		return
	}
	l.emit(&sli.Instr{Op: sli.Test, Why: sli.OutOfRange, X: x, Pos: l.site(l.at, "")})
}

func (l *lifter) index(in *ssa.Index) {
	i, x := l.word(in.Index), l.value(in.X)
	size := l.p.size(in.Type())
	switch t := in.X.Type().Underlying().(type) {
	case *types.Array:
		l.outOfRange(outside(i, sli.Num(8, uint64(t.Len()))))
		if i.Op == sli.OpConst {
			l.assign(in, sli.Extract(x, int(i.Val.Uint())*size, size))
		} else {
			l.assign(in, sli.Opaque("element", size))
		}
	default: // a string
		l.outOfRange(outside(i, sli.Extract(x, 8, 8)))
		l.emit(&sli.Instr{Op: sli.Load, Dst: l.reg(in), Size: 1, X: scaled(sli.Extract(x, 0, 8), i, 1), Private: true})
	}
}

func (l *lifter) slice(in *ssa.Slice) {
	x := l.value(in.X)
	var base, length, room *sli.Expr
	elem := 1
	text := false
	switch t := in.X.Type().Underlying().(type) {
	case *types.Pointer:
		l.notNil(in.X)
		a := t.Elem().Underlying().(*types.Array)
		base, elem = x, l.p.size(a.Elem())
		length = sli.Num(8, uint64(a.Len()))
		room = length
	case *types.Slice:
		base, length, room = sli.Extract(x, 0, 8), sli.Extract(x, 8, 8), sli.Extract(x, 16, 8)
		elem = l.p.size(t.Elem())
	default:
		base, length = sli.Extract(x, 0, 8), sli.Extract(x, 8, 8)
		room, text = length, true
	}
	low, high, top := sli.Num(8, 0), length, room
	if in.Low != nil {
		low = l.word(in.Low)
	}
	if in.High != nil {
		high = l.word(in.High)
	}
	if in.Max != nil {
		top = l.word(in.Max)
	}
	above := func(x, y *sli.Expr) *sli.Expr { return sli.Binary(sli.OpLt, sli.Unsigned, y, x) }
	if in.Max != nil {
		l.outOfRange(above(top, room))
	}
	if in.High != nil || in.Max != nil {
		l.outOfRange(above(high, top))
	}
	if in.Low != nil {
		l.outOfRange(above(low, high))
	}
	n := sli.Binary(sli.OpSub, sli.Unsigned, high, low)
	if text {
		l.assign(in, sli.Concat(scaled(base, low, 1), n))
		return
	}
	l.assign(in, sli.Concat(scaled(base, low, elem), n, sli.Binary(sli.OpSub, sli.Unsigned, top, low)))
}

func (l *lifter) lookup(in *ssa.Lookup) {
	if _, ok := in.X.Type().Underlying().(*types.Map); !ok { // a string
		i := l.word(in.Index)
		x := l.value(in.X)
		l.outOfRange(outside(i, sli.Extract(x, 8, 8)))
		l.emit(&sli.Instr{Op: sli.Load, Dst: l.reg(in), Size: 1, X: scaled(sli.Extract(x, 0, 8), i, 1), Private: true})
		return
	}
	l.emit(&sli.Instr{
		Op: sli.Load, Dst: l.reg(in), Size: l.p.size(in.Type()), X: l.value(in.X), Key: l.value(in.Index),
		Pos: l.mapSite(in, in.X, "map read"), Data: l.p.element(in.X).String(),
	})
}

func (l *lifter) mapUpdate(in *ssa.MapUpdate) {
	m := l.value(in.Map)
	l.test(sli.Panic, sli.Binary(sli.OpEq, sli.Unsigned, m, sli.Num(8, 0)))
	v := l.value(in.Value)
	l.emit(&sli.Instr{
		Op: sli.Store, Size: v.Size, X: m, Key: l.value(in.Key), Val: v,
		Pos: l.mapSite(in, in.Map, "map write"), Data: l.p.element(in.Map).String(),
	})
}

// next is a step of a range over a map or a string.
func (l *lifter) next(in *ssa.Next) {
	size := l.p.size(in.Type())
	r, ok := in.Iter.(*ssa.Range)
	if in.IsString || !ok {
		l.assign(in, sli.Opaque("iteration", size))
		return
	}
	l.emit(&sli.Instr{
		Op: sli.Load, Dst: l.reg(in), Size: size, X: l.value(r.X), Key: sli.Opaque("any", 8),
		Pos: l.mapSite(r, r.X, "map read"), Data: l.p.element(r.X).String(),
	})
}
