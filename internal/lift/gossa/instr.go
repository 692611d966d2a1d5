package gossa

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli"
)

func (l *lifter) instr(in ssa.Instruction) {
	switch in := in.(type) {
	case *ssa.DebugRef:
	case *ssa.Phi:
		l.emit(&sli.Instr{Op: sli.Phi, Dst: l.reg(in), Args: l.values(in.Edges)})
	case *ssa.BinOp:
		l.binary(in)
	case *ssa.UnOp:
		l.unary(in)
	case *ssa.ChangeType:
		l.assign(in, l.value(in.X))
	case *ssa.Convert:
		l.convert(in)
	case *ssa.MultiConvert:
		l.assign(in, sli.Opaque("conversion", l.p.size(in.Type())))
	case *ssa.Extract:
		t := in.Tuple.Type().(*types.Tuple)
		l.assign(in, sli.Extract(l.value(in.Tuple), l.p.tupleOffset(t, in.Index), l.p.size(in.Type())))
	case *ssa.Field:
		s := in.X.Type().Underlying().(*types.Struct)
		l.assign(in, sli.Extract(l.value(in.X), l.p.offset(s, in.Field), l.p.size(in.Type())))
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
		l.test(sli.OutOfRange, sli.Binary(sli.OpLt, sli.Unsigned, sli.Extract(x, 8, 8), sli.Num(8, n)))
		l.assign(in, sli.Extract(x, 0, 8))
	case *ssa.Store:
		l.store(in)
	case *ssa.Alloc:
		l.alloc(in)
	case *ssa.MakeSlice:
		l.makeSlice(in)
	case *ssa.MakeMap:
		l.emit(&sli.Instr{Op: sli.Alloc, Dst: l.reg(in), X: sli.Num(8, 8), Word: "map", Pos: l.site(in, "alloc")})
	case *ssa.MakeChan:
		l.emit(&sli.Instr{Op: sli.Sync, Word: "makechan", Dst: l.reg(in), Size: 8, Args: []*sli.Expr{l.word(in.Size)}, Pos: l.site(in, "alloc")})
	case *ssa.MakeClosure:
		f := in.Fn.(*ssa.Function)
		if lf := l.p.funcs[f]; lf != nil {
			l.assign(in, sli.Closure(lf.Name, l.values(in.Bindings)...))
		} else {
			l.assign(in, sli.Opaque(f.String(), 8))
		}
	case *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.TypeAssert:
		l.iface(in)
	case *ssa.Lookup:
		l.lookup(in)
	case *ssa.MapUpdate:
		l.mapUpdate(in)
	case *ssa.Range:
		l.assign(in, sli.Opaque("iteration", 8))
	case *ssa.Next:
		l.next(in)
	case *ssa.Call:
		l.call(in, sli.Call)
	case *ssa.Go:
		l.call(in, sli.Spawn)
	case *ssa.Defer:
		l.call(in, sli.Defer)
	case *ssa.RunDefers:
		l.emit(&sli.Instr{Op: sli.RunDefers})
	case *ssa.Send:
		l.emit(&sli.Instr{Op: sli.Sync, Word: "send", Args: []*sli.Expr{l.value(in.Chan), l.value(in.X)}, Pos: l.site(in, "send")})
	case *ssa.Select:
		l.selects(in)
	case *ssa.Jump:
		l.emit(&sli.Instr{Op: sli.Jump})
	case *ssa.If:
		l.emit(&sli.Instr{Op: sli.Branch, X: l.value(in.Cond)})
	case *ssa.Return:
		l.ret(in)
	case *ssa.Panic:
		l.emit(&sli.Instr{Op: sli.Test, Why: sli.Panic, X: sli.Num(1, 1)})
		l.emit(&sli.Instr{Op: sli.Stop})
	default:
		panic(fmt.Sprintf("gossa: cannot lift %T", in))
	}
}

func (l *lifter) ret(in *ssa.Return) {
	var x *sli.Expr
	if len(in.Results) > 0 {
		x = sli.Concat(l.values(in.Results)...)
	}
	l.emit(&sli.Instr{Op: sli.Return, X: x})
}

func plus(x *sli.Expr, n int) *sli.Expr {
	return sli.Binary(sli.OpAdd, sli.Unsigned, x, sli.Num(8, uint64(int64(n))))
}

var arithmetic = map[token.Token]sli.Operator{
	token.ADD: sli.OpAdd, token.SUB: sli.OpSub, token.MUL: sli.OpMul, token.QUO: sli.OpDiv, token.REM: sli.OpRem,
	token.AND: sli.OpAnd, token.OR: sli.OpOr, token.XOR: sli.OpXor, token.AND_NOT: sli.OpAndNot, token.SHL: sli.OpShl, token.SHR: sli.OpShr,
}

func (l *lifter) binary(in *ssa.BinOp) {
	t := in.X.Type()
	size := l.p.size(in.Type())
	switch in.Op {
	case token.EQL:
		l.assign(in, l.equal(in.X, in.Y))
		return
	case token.NEQ:
		l.assign(in, sli.Unary(sli.OpNot, sli.Unsigned, l.equal(in.X, in.Y)))
		return
	}
	if !isNumber(t) {
		l.assign(in, sli.Opaque(in.Op.String(), size))
		return
	}
	x, y, c := l.value(in.X), l.value(in.Y), class(t)
	switch in.Op {
	case token.LSS:
		l.assign(in, sli.Binary(sli.OpLt, c, x, y))
		return
	case token.LEQ:
		l.assign(in, sli.Binary(sli.OpLe, c, x, y))
		return
	case token.GTR:
		l.assign(in, sli.Binary(sli.OpLt, c, y, x))
		return
	case token.GEQ:
		l.assign(in, sli.Binary(sli.OpLe, c, y, x))
		return
	case token.SHL, token.SHR:
		y = l.word(in.Y)
	case token.QUO, token.REM:
		if c != sli.Float {
			l.test(sli.DivideByZero, sli.Binary(sli.OpEq, sli.Unsigned, y, sli.Num(y.Size, 0)))
		}
	}
	l.assign(in, sli.Binary(arithmetic[in.Op], c, x, y))
}

// equal is x == y. Of what is not decided by bytes alone, texts are compared, an
// interface is compared with nil, and two interfaces by type and data word, which
// is right for pointers.
func (l *lifter) equal(x, y ssa.Value) *sli.Expr {
	t := x.Type()
	_, xi := t.Underlying().(*types.Interface)
	_, yi := y.Type().Underlying().(*types.Interface)
	switch {
	case isNil(x) || isNil(y):
		if isNil(x) {
			x = y
		}
		return sli.Binary(sli.OpEq, sli.Unsigned, sli.Extract(l.value(x), 0, 8), sli.Num(8, 0))
	case xi && yi:
		return sli.Binary(sli.OpEq, sli.Unsigned, l.value(x), l.value(y))
	case xi || yi:
		return sli.Opaque("comparison", 1)
	case isString(t):
		return sli.Binary(sli.OpText, sli.Unsigned, l.value(x), l.value(y))
	case isNumber(t) || l.p.bytewise(t):
		return sli.Binary(sli.OpEq, class(t), l.value(x), l.value(y))
	}
	return sli.Opaque("comparison", 1)
}

func (l *lifter) unary(in *ssa.UnOp) {
	x := l.value(in.X)
	switch in.Op {
	case token.MUL:
		l.load(in)
	case token.ARROW:
		l.emit(&sli.Instr{Op: sli.Sync, Word: "recv", Dst: l.reg(in), Size: l.p.size(in.Type()), Args: []*sli.Expr{x}, Pos: l.site(in, "receive")})
	case token.NOT:
		l.assign(in, sli.Unary(sli.OpNot, sli.Unsigned, x))
	case token.SUB:
		if isComplex(in.Type()) {
			l.assign(in, sli.Opaque("complex number", l.p.size(in.Type())))
			return
		}
		l.assign(in, sli.Unary(sli.OpNeg, class(in.Type()), x))
	case token.XOR:
		l.assign(in, sli.Unary(sli.OpInvert, class(in.Type()), x))
	default:
		panic(fmt.Sprintf("gossa: unary operator %v", in.Op))
	}
}

func (l *lifter) convert(in *ssa.Convert) {
	from, to := in.X.Type(), in.Type()
	size := l.p.size(to)
	switch {
	case isNumber(from) && isNumber(to):
		l.assign(in, sli.Convert(l.value(in.X), class(from), class(to), size))
	case l.p.size(from) == size && size == 8 && !isNumber(from):
		l.assign(in, l.value(in.X)) // unsafe.Pointer and back
	default:
		l.assign(in, sli.Opaque("conversion", size))
	}
}

func (l *lifter) selects(in *ssa.Select) {
	var args []*sli.Expr
	for _, s := range in.States {
		args = append(args, l.value(s.Chan))
	}
	word := "select"
	if !in.Blocking {
		word = "poll"
	}
	l.emit(&sli.Instr{Op: sli.Sync, Word: word, Dst: l.reg(in), Size: l.p.size(in.Type()), Args: args, Pos: l.site(in, "select")})
}
