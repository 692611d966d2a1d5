package gossa

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// liftBuiltin lifts a call of a built-in function. What computes from lengths becomes
// expressions, what changes a map becomes a store, closing a channel an operation of
// synchronisation; the rest is a call outside the program.
//
//	n := len(s)          r2:8 = r1[8:16]
//	delete(m, k)         store m[k]
//	close(c)             sync close(c)
func (l *lifter) liftBuiltin(in ssa.CallInstruction, b *ssa.Builtin, op ir.Op) {
	args := in.Common().Args
	var dst ssa.Value
	size := 0
	if v, ok := in.(*ssa.Call); ok {
		if size = l.program.size(v.Type()); size > 0 {
			dst = v
		}
	}
	if op != ir.Call {
		out := &ir.Instr{Op: op, Args: l.values(args)}
		if b.Name() == "close" {
			out.Sync = ir.SyncClose
		} else {
			out.Extern = b.Name()
		}
		l.emit(out)
		return
	}
	switch b.Name() {
	case "len", "cap":
		l.liftLength(in, b.Name(), args[0], dst)
	case "append":
		l.liftAppend(in, args, dst)
	case "copy":
		l.emit(&ir.Instr{Op: ir.Call, Extern: "copy", Dst: l.resultRegister(dst), Size: size, Args: append(l.values(args), ir.Number(8, l.elementSize(args[0]))), Origin: l.siteOrigin(in, event.Store)})
	case "delete":
		l.emit(&ir.Instr{Op: ir.Store, Operand: l.value(args[0]), Key: l.value(args[1]), Origin: l.mapOrigin(in, args[0], event.MapWrite), Data: l.program.elementOf(args[0]).String()})
	case "clear":
		if _, ok := args[0].Type().Underlying().(*types.Map); ok {
			l.emit(&ir.Instr{Op: ir.Store, Operand: l.value(args[0]), Key: ir.AnyKey, Origin: l.mapOrigin(in, args[0], event.MapWrite), Data: l.program.elementOf(args[0]).String()})
			return
		}
		l.emit(&ir.Instr{Op: ir.Call, Extern: "clear", Args: l.values(args), Origin: l.siteOrigin(in, event.Store)})
	case "close":
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncClose, Args: l.values(args), Origin: l.siteOrigin(in, event.Close)})
	case "ssa:wrapnilchk":
		l.testNotNil(args[0])
		l.assign(dst, l.value(args[0]))
	default: // print, min, max, recover, real, ...
		out := &ir.Instr{Op: ir.Call, Extern: b.Name(), Dst: l.resultRegister(dst), Size: size, Args: l.values(args), Catches: b.Name() == "recover"}
		l.emit(out)
	}
}

// resultRegister is the register of a result; 0, which is none, if nothing uses it.
func (l *lifter) resultRegister(v ssa.Value) ir.Reg {
	if v == nil {
		return 0
	}
	return l.registerOf(v)
}

// liftLength lifts len and cap. The length of a map is what a load of LengthKey gives, so
// that it conflicts with every change of the map.
func (l *lifter) liftLength(in ssa.CallInstruction, name string, x ssa.Value, dst ssa.Value) {
	switch t := x.Type().Underlying().(type) {
	case *types.Slice:
		off := 8
		if name == "cap" {
			off = 16
		}
		l.assign(dst, ir.Extract(l.value(x), off, 8))
	case *types.Basic:
		l.assign(dst, ir.Extract(l.value(x), 8, 8))
	case *types.Pointer:
		l.assign(dst, ir.Number(8, uint64(t.Elem().Underlying().(*types.Array).Len())))
	case *types.Array:
		l.assign(dst, ir.Number(8, uint64(t.Len())))
	case *types.Map:
		l.emit(&ir.Instr{
			Op: ir.Load, Dst: l.registerOf(dst), Size: 8, Operand: l.value(x), Key: ir.LengthKey,
			Origin: l.mapOrigin(in, x, event.MapRead), Data: l.program.elementOf(x).String(),
		})
	default:
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncChannelLength, Dst: l.registerOf(dst), Size: 8, Args: []*ir.Expr{l.value(x)}, Origin: l.siteOrigin(in, event.ChanLen)})
	}
}

// elementSize is how many bytes an element of a slice has. A value of a type parameter
// whose types are not all slices counts in bytes.
func (l *lifter) elementSize(slice ssa.Value) uint64 {
	if s, ok := slice.Type().Underlying().(*types.Slice); ok {
		return uint64(l.program.size(s.Elem()))
	}
	return 1
}

// liftAppend lifts append. Where the elements go is the host's business, how many there
// are afterwards is not.
func (l *lifter) liftAppend(in ssa.CallInstruction, args []ssa.Value, dst ssa.Value) {
	if len(args) < 2 {
		l.assign(dst, l.value(args[0]))
		return
	}
	t := l.newTemp(24)
	x, y := l.value(args[0]), l.value(args[1])
	l.emit(&ir.Instr{Op: ir.Call, Extern: "append", Dst: t, Size: 24, Args: []*ir.Expr{x, y, ir.Number(8, l.elementSize(args[0]))}, Origin: l.siteOrigin(in, event.Store)})
	r := ir.Register(t, 24)
	n := ir.Binary(ir.OpAdd, ir.Unsigned, ir.Extract(x, 8, 8), ir.Extract(y, 8, 8))
	if dst != nil {
		l.assign(dst, ir.Concat(ir.Extract(r, 0, 8), n, ir.Extract(r, 16, 8)))
	}
}
