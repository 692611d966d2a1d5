package gossa

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// liftInstr lifts one instruction of go/ssa.
func (l *lifter) liftInstr(in ssa.Instruction) {
	switch in := in.(type) {
	case *ssa.DebugRef:
	case *ssa.Phi:
		l.emit(&ir.Instr{Op: ir.Phi, Dst: l.registerOf(in), Args: l.values(in.Edges)})
	case *ssa.BinOp:
		l.liftBinary(in)
	case *ssa.UnOp:
		l.liftUnary(in)
	case *ssa.ChangeType:
		l.assign(in, l.value(in.X))
	case *ssa.Convert:
		l.liftConvert(in)
	case *ssa.MultiConvert:
		l.assign(in, ir.Opaque("conversion", l.program.size(in.Type())))
	case *ssa.Extract:
		t := in.Tuple.Type().(*types.Tuple)
		l.assign(in, ir.Extract(l.value(in.Tuple), l.program.tupleOffset(t, in.Index), l.program.size(in.Type())))
	case *ssa.Field:
		s := in.X.Type().Underlying().(*types.Struct)
		l.assign(in, ir.Extract(l.value(in.X), l.program.offset(s, in.Field), l.program.size(in.Type())))
	case *ssa.Index:
		l.liftIndex(in)
	case *ssa.FieldAddr:
		l.testNotNil(in.X)
		s := pointee(in.X.Type()).Underlying().(*types.Struct)
		l.assign(in, addOffset(l.value(in.X), l.program.offset(s, in.Field)))
	case *ssa.IndexAddr:
		l.indexAddr(in)
	case *ssa.Slice:
		l.liftSlice(in)
	case *ssa.SliceToArrayPointer:
		n := uint64(pointee(in.Type()).Underlying().(*types.Array).Len())
		x := l.value(in.X)
		l.test(ir.OutOfRange, ir.Binary(ir.OpLt, ir.Unsigned, ir.Extract(x, 8, 8), ir.Number(8, n)))
		l.assign(in, ir.Extract(x, 0, 8))
	case *ssa.Store:
		l.liftStore(in)
	case *ssa.Alloc:
		l.liftAlloc(in)
	case *ssa.MakeSlice:
		l.liftMakeSlice(in)
	case *ssa.MakeMap:
		l.emit(&ir.Instr{Op: ir.Alloc, Dst: l.registerOf(in), Operand: ir.Number(8, 8), Origin: l.siteOrigin(in, event.Alloc)})
	case *ssa.MakeChan:
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncNewChannel, Dst: l.registerOf(in), Size: 8, Args: []*ir.Expr{l.word64(in.Size)}, Origin: l.siteOrigin(in, event.Alloc)})
	case *ssa.MakeClosure:
		fn := in.Fn.(*ssa.Function)
		if lf := l.program.lifted[fn]; lf != nil {
			l.assign(in, ir.Closure(lf.Name, l.values(in.Bindings)...))
		} else {
			l.assign(in, ir.Opaque(fn.String(), 8))
		}
	case *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.TypeAssert:
		l.liftInterface(in)
	case *ssa.Lookup:
		l.liftLookup(in)
	case *ssa.MapUpdate:
		l.liftMapUpdate(in)
	case *ssa.Range:
		l.liftRange(in)
	case *ssa.Next:
		l.liftNext(in)
	case *ssa.Call:
		l.liftCall(in, ir.Call)
	case *ssa.Go:
		l.liftCall(in, ir.Spawn)
	case *ssa.Defer:
		l.liftCall(in, ir.Defer)
	case *ssa.RunDefers:
		l.emit(&ir.Instr{Op: ir.RunDefers})
	case *ssa.Send:
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncSend, Args: []*ir.Expr{l.value(in.Chan), l.value(in.X)}, Origin: l.siteOrigin(in, event.Send)})
	case *ssa.Select:
		l.liftSelect(in)
	case *ssa.Jump:
		l.emit(&ir.Instr{Op: ir.Jump})
	case *ssa.If:
		l.emit(&ir.Instr{Op: ir.Branch, Operand: l.value(in.Cond)})
	case *ssa.Return:
		l.liftReturn(in)
	case *ssa.Panic:
		l.emit(&ir.Instr{Op: ir.Test, Cause: ir.Panic, Operand: ir.Number(1, 1)})
		l.emit(&ir.Instr{Op: ir.Stop})
	default:
		panic(fmt.Sprintf("gossa: cannot lift %T", in))
	}
}

// liftReturn returns all results as one value, one after the other.
func (l *lifter) liftReturn(in *ssa.Return) {
	var x *ir.Expr
	if len(in.Results) > 0 {
		x = ir.Concat(l.values(in.Results)...)
	}
	l.emit(&ir.Instr{Op: ir.Return, Operand: x})
}

func addOffset(x *ir.Expr, n int) *ir.Expr {
	return ir.Binary(ir.OpAdd, ir.Unsigned, x, ir.Number(8, uint64(int64(n))))
}

var arithmetic = map[token.Token]ir.Operator{
	token.ADD: ir.OpAdd, token.SUB: ir.OpSub, token.MUL: ir.OpMul, token.QUO: ir.OpDiv, token.REM: ir.OpRem,
	token.AND: ir.OpAnd, token.OR: ir.OpOr, token.XOR: ir.OpXor, token.AND_NOT: ir.OpAndNot, token.SHL: ir.OpShl, token.SHR: ir.OpShr,
}

// liftBinary lifts an operator with two operands. What can fail is tested first:
//
//	x / y                test "division by zero" if r2 == 0; r3:8 = r1 / r2
//	x << y               test "panic" if r2 < 0; r3:8 = r1 << r2
func (l *lifter) liftBinary(in *ssa.BinOp) {
	t := in.X.Type()
	size := l.program.size(in.Type())
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
	x, y, c := l.value(in.X), l.value(in.Y), classOf(t)
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
		if classOf(in.Y.Type()) == ir.Signed {
			l.test(ir.Panic, ir.Binary(ir.OpLt, ir.Signed, y, ir.Number(y.Size, 0)))
		}
		y = l.word64(in.Y)
	case token.QUO, token.REM:
		if c != ir.Float {
			l.test(ir.DivideByZero, ir.Binary(ir.OpEq, ir.Unsigned, y, ir.Number(y.Size, 0)))
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
		return ir.Binary(ir.OpEq, ir.Unsigned, ir.Extract(l.value(x), 0, 8), ir.Number(8, 0))
	case xi && yi:
		return ir.Binary(ir.OpEq, ir.Unsigned, l.value(x), l.value(y))
	case xi || yi:
		return ir.Opaque("comparison", 1)
	case isString(t):
		return ir.Binary(ir.OpSameText, ir.Unsigned, l.value(x), l.value(y))
	case isNumber(t) || l.program.bytewise(t):
		return ir.Binary(ir.OpEq, classOf(t), l.value(x), l.value(y))
	}
	return ir.Opaque("comparison", 1)
}

// liftUnary lifts an operator with one operand; a load and a receive are such operators in
// go/ssa.
func (l *lifter) liftUnary(in *ssa.UnOp) {
	x := l.value(in.X)
	switch in.Op {
	case token.MUL:
		l.liftLoad(in)
	case token.ARROW:
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncReceive, Dst: l.registerOf(in), Size: l.program.size(in.Type()), Args: []*ir.Expr{x}, Origin: l.siteOrigin(in, event.Recv)})
	case token.NOT:
		l.assign(in, ir.Unary(ir.OpNot, ir.Unsigned, x))
	case token.SUB:
		if isComplex(in.Type()) {
			l.assign(in, ir.Opaque("complex number", l.program.size(in.Type())))
			return
		}
		l.assign(in, ir.Unary(ir.OpNeg, classOf(in.Type()), x))
	case token.XOR:
		l.assign(in, ir.Unary(ir.OpInvert, classOf(in.Type()), x))
	default:
		panic(fmt.Sprintf("gossa: unary operator %v", in.Op))
	}
}

// liftConvert lifts conversions between numbers, and those of pointers that change nothing.
func (l *lifter) liftConvert(in *ssa.Convert) {
	from, to := in.X.Type(), in.Type()
	size := l.program.size(to)
	switch {
	case isNumber(from) && isNumber(to):
		l.assign(in, ir.Convert(l.value(in.X), classOf(from), classOf(to), size))
	case l.program.size(from) == size && size == 8 && !isNumber(from):
		l.assign(in, l.value(in.X)) // unsafe.Pointer and back
	default:
		l.assign(in, ir.Opaque("conversion", size))
	}
}

// liftSelect lifts a select statement. Which case is taken, and what is received, is unknown:
// it is the work of other goroutines.
func (l *lifter) liftSelect(in *ssa.Select) {
	var args []*ir.Expr
	for _, s := range in.States {
		args = append(args, l.value(s.Chan))
	}
	kind := ir.SyncSelect
	if !in.Blocking {
		kind = ir.SyncPoll
	}
	l.emit(&ir.Instr{Op: ir.Sync, Sync: kind, Dst: l.registerOf(in), Size: l.program.size(in.Type()), Args: args, Origin: l.siteOrigin(in, event.Select)})
}
