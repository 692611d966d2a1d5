package gossa

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

func (l *lifter) instr(in ssa.Instruction) {
	switch in := in.(type) {
	case *ssa.DebugRef:
	case *ssa.Phi:
		l.emit(&ir.Instr{Op: ir.Phi, Dst: l.reg(in), Args: l.values(in.Edges)})
	case *ssa.BinOp:
		l.binary(in)
	case *ssa.UnOp:
		l.unary(in)
	case *ssa.ChangeType:
		l.assign(in, l.value(in.X))
	case *ssa.Convert:
		l.convert(in)
	case *ssa.MultiConvert:
		l.assign(in, ir.Opaque("conversion", l.p.size(in.Type())))
	case *ssa.Extract:
		t := in.Tuple.Type().(*types.Tuple)
		l.assign(in, ir.Extract(l.value(in.Tuple), l.p.tupleOffset(t, in.Index), l.p.size(in.Type())))
	case *ssa.Field:
		s := in.X.Type().Underlying().(*types.Struct)
		l.assign(in, ir.Extract(l.value(in.X), l.p.offset(s, in.Field), l.p.size(in.Type())))
	case *ssa.Index:
		l.index(in)
	case *ssa.FieldAddr:
		l.notNil(in.X)
		s := pointee(in.X.Type()).Underlying().(*types.Struct)
		l.assign(in, plus(l.value(in.X), l.p.offset(s, in.Field)))
	case *ssa.IndexAddr:
		l.indexAddr(in)
	case *ssa.Slice:
		l.slice(in)
	case *ssa.SliceToArrayPointer:
		n := uint64(pointee(in.Type()).Underlying().(*types.Array).Len())
		x := l.value(in.X)
		l.test(ir.OutOfRange, ir.Binary(ir.OpLt, ir.Unsigned, ir.Extract(x, 8, 8), ir.Num(8, n)))
		l.assign(in, ir.Extract(x, 0, 8))
	case *ssa.Store:
		l.store(in)
	case *ssa.Alloc:
		l.alloc(in)
	case *ssa.MakeSlice:
		l.makeSlice(in)
	case *ssa.MakeMap:
		l.emit(&ir.Instr{Op: ir.Alloc, Dst: l.reg(in), X: ir.Num(8, 8), Pos: l.site(in, "alloc")})
	case *ssa.MakeChan:
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncNewChannel, Dst: l.reg(in), Size: 8, Args: []*ir.Expr{l.word(in.Size)}, Pos: l.site(in, "alloc")})
	case *ssa.MakeClosure:
		f := in.Fn.(*ssa.Function)
		if lf := l.p.funcs[f]; lf != nil {
			l.assign(in, ir.Closure(lf.Name, l.values(in.Bindings)...))
		} else {
			l.assign(in, ir.Opaque(f.String(), 8))
		}
	case *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.TypeAssert:
		l.iface(in)
	case *ssa.Lookup:
		l.lookup(in)
	case *ssa.MapUpdate:
		l.mapUpdate(in)
	case *ssa.Range:
		l.assign(in, ir.Opaque("iteration", 8))
	case *ssa.Next:
		l.next(in)
	case *ssa.Call:
		l.call(in, ir.Call)
	case *ssa.Go:
		l.call(in, ir.Spawn)
	case *ssa.Defer:
		l.call(in, ir.Defer)
	case *ssa.RunDefers:
		l.emit(&ir.Instr{Op: ir.RunDefers})
	case *ssa.Send:
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncSend, Args: []*ir.Expr{l.value(in.Chan), l.value(in.X)}, Pos: l.site(in, "send")})
	case *ssa.Select:
		l.selects(in)
	case *ssa.Jump:
		l.emit(&ir.Instr{Op: ir.Jump})
	case *ssa.If:
		l.emit(&ir.Instr{Op: ir.Branch, X: l.value(in.Cond)})
	case *ssa.Return:
		l.ret(in)
	case *ssa.Panic:
		l.emit(&ir.Instr{Op: ir.Test, Why: ir.Panic, X: ir.Num(1, 1)})
		l.emit(&ir.Instr{Op: ir.Stop})
	default:
		panic(fmt.Sprintf("gossa: cannot lift %T", in))
	}
}

func (l *lifter) ret(in *ssa.Return) {
	var x *ir.Expr
	if len(in.Results) > 0 {
		x = ir.Concat(l.values(in.Results)...)
	}
	l.emit(&ir.Instr{Op: ir.Return, X: x})
}

func plus(x *ir.Expr, n int) *ir.Expr {
	return ir.Binary(ir.OpAdd, ir.Unsigned, x, ir.Num(8, uint64(int64(n))))
}

var arithmetic = map[token.Token]ir.Operator{
	token.ADD: ir.OpAdd, token.SUB: ir.OpSub, token.MUL: ir.OpMul, token.QUO: ir.OpDiv, token.REM: ir.OpRem,
	token.AND: ir.OpAnd, token.OR: ir.OpOr, token.XOR: ir.OpXor, token.AND_NOT: ir.OpAndNot, token.SHL: ir.OpShl, token.SHR: ir.OpShr,
}

func (l *lifter) binary(in *ssa.BinOp) {
	t := in.X.Type()
	size := l.p.size(in.Type())
	switch in.Op {
	case token.EQL:
		l.assign(in, l.equal(in.X, in.Y))
		return
	case token.NEQ:
		l.assign(in, ir.Unary(ir.OpNot, ir.Unsigned, l.equal(in.X, in.Y)))
		return
	}
	if !isNumber(t) {
		l.assign(in, ir.Opaque(in.Op.String(), size))
		return
	}
	x, y, c := l.value(in.X), l.value(in.Y), class(t)
	switch in.Op {
	case token.LSS:
		l.assign(in, ir.Binary(ir.OpLt, c, x, y))
		return
	case token.LEQ:
		l.assign(in, ir.Binary(ir.OpLe, c, x, y))
		return
	case token.GTR:
		l.assign(in, ir.Binary(ir.OpLt, c, y, x))
		return
	case token.GEQ:
		l.assign(in, ir.Binary(ir.OpLe, c, y, x))
		return
	case token.SHL, token.SHR:
		y = l.word(in.Y)
	case token.QUO, token.REM:
		if c != ir.Float {
			l.test(ir.DivideByZero, ir.Binary(ir.OpEq, ir.Unsigned, y, ir.Num(y.Size, 0)))
		}
	}
	l.assign(in, ir.Binary(arithmetic[in.Op], c, x, y))
}

// equal is x == y. Of what is not decided by bytes alone, texts are compared, an
// interface is compared with nil, and two interfaces by type and data word, which
// is right for pointers.
func (l *lifter) equal(x, y ssa.Value) *ir.Expr {
	t := x.Type()
	_, xi := t.Underlying().(*types.Interface)
	_, yi := y.Type().Underlying().(*types.Interface)
	switch {
	case isNil(x) || isNil(y):
		if isNil(x) {
			x = y
		}
		return ir.Binary(ir.OpEq, ir.Unsigned, ir.Extract(l.value(x), 0, 8), ir.Num(8, 0))
	case xi && yi:
		return ir.Binary(ir.OpEq, ir.Unsigned, l.value(x), l.value(y))
	case xi || yi:
		return ir.Opaque("comparison", 1)
	case isString(t):
		return ir.Binary(ir.OpText, ir.Unsigned, l.value(x), l.value(y))
	case isNumber(t) || l.p.bytewise(t):
		return ir.Binary(ir.OpEq, class(t), l.value(x), l.value(y))
	}
	return ir.Opaque("comparison", 1)
}

func (l *lifter) unary(in *ssa.UnOp) {
	x := l.value(in.X)
	switch in.Op {
	case token.MUL:
		l.load(in)
	case token.ARROW:
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncReceive, Dst: l.reg(in), Size: l.p.size(in.Type()), Args: []*ir.Expr{x}, Pos: l.site(in, "receive")})
	case token.NOT:
		l.assign(in, ir.Unary(ir.OpNot, ir.Unsigned, x))
	case token.SUB:
		if isComplex(in.Type()) {
			l.assign(in, ir.Opaque("complex number", l.p.size(in.Type())))
			return
		}
		l.assign(in, ir.Unary(ir.OpNeg, class(in.Type()), x))
	case token.XOR:
		l.assign(in, ir.Unary(ir.OpInvert, class(in.Type()), x))
	default:
		panic(fmt.Sprintf("gossa: unary operator %v", in.Op))
	}
}

func (l *lifter) convert(in *ssa.Convert) {
	from, to := in.X.Type(), in.Type()
	size := l.p.size(to)
	switch {
	case isNumber(from) && isNumber(to):
		l.assign(in, ir.Convert(l.value(in.X), class(from), class(to), size))
	case l.p.size(from) == size && size == 8 && !isNumber(from):
		l.assign(in, l.value(in.X)) // unsafe.Pointer and back
	default:
		l.assign(in, ir.Opaque("conversion", size))
	}
}

func (l *lifter) selects(in *ssa.Select) {
	var args []*ir.Expr
	for _, s := range in.States {
		args = append(args, l.value(s.Chan))
	}
	kind := ir.SyncSelect
	if !in.Blocking {
		kind = ir.SyncPoll
	}
	l.emit(&ir.Instr{Op: ir.Sync, Sync: kind, Dst: l.reg(in), Size: l.p.size(in.Type()), Args: args, Pos: l.site(in, "select")})
}
