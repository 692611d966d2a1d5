package gossa

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

func (l *lifter) builtin(in ssa.CallInstruction, b *ssa.Builtin, op ir.Op) {
	args := in.Common().Args
	var dst ssa.Value
	size := 0
	if v, ok := in.(*ssa.Call); ok {
		if size = l.p.size(v.Type()); size > 0 {
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
		l.length(in, b.Name(), args[0], dst)
	case "append":
		l.grow(in, args, dst)
	case "copy":
		l.emit(&ir.Instr{Op: ir.Call, Extern: "copy", Dst: l.dst(dst), Size: size, Args: l.values(args), Pos: l.site(in, "store")})
	case "delete":
		l.emit(&ir.Instr{Op: ir.Store, X: l.value(args[0]), Key: l.value(args[1]), Pos: l.mapSite(in, args[0], "map write"), Data: l.p.element(args[0]).String()})
	case "clear":
		if _, ok := args[0].Type().Underlying().(*types.Map); ok {
			l.emit(&ir.Instr{Op: ir.Store, X: l.value(args[0]), Key: ir.AnyKey, Pos: l.mapSite(in, args[0], "map write"), Data: l.p.element(args[0]).String()})
			return
		}
		l.emit(&ir.Instr{Op: ir.Call, Extern: "clear", Args: l.values(args), Pos: l.site(in, "store")})
	case "close":
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncClose, Args: l.values(args), Pos: l.site(in, "close")})
	case "ssa:wrapnilchk":
		l.notNil(args[0])
		l.assign(dst, l.value(args[0]))
	default: // print, min, max, recover, real, ...
		out := &ir.Instr{Op: ir.Call, Extern: b.Name(), Dst: l.dst(dst), Size: size, Args: l.values(args)}
		l.emit(out)
	}
}

func (l *lifter) dst(v ssa.Value) ir.Reg {
	if v == nil {
		return 0
	}
	return l.reg(v)
}

func (l *lifter) length(in ssa.CallInstruction, name string, x ssa.Value, dst ssa.Value) {
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
		l.assign(dst, ir.Num(8, uint64(t.Elem().Underlying().(*types.Array).Len())))
	case *types.Array:
		l.assign(dst, ir.Num(8, uint64(t.Len())))
	case *types.Map:
		l.emit(&ir.Instr{
			Op: ir.Load, Dst: l.reg(dst), Size: 8, X: l.value(x), Key: ir.LengthKey,
			Pos: l.mapSite(in, x, "map read"), Data: l.p.element(x).String(),
		})
	default:
		l.emit(&ir.Instr{Op: ir.Sync, Sync: ir.SyncChannelLength, Dst: l.reg(dst), Size: 8, Args: []*ir.Expr{l.value(x)}, Pos: l.site(in, "channel length")})
	}
}

// grow lifts append. Where the elements go is the host's business, how many there
// are afterwards is not.
func (l *lifter) grow(in ssa.CallInstruction, args []ssa.Value, dst ssa.Value) {
	if len(args) < 2 {
		l.assign(dst, l.value(args[0]))
		return
	}
	t := l.temp(24)
	x, y := l.value(args[0]), l.value(args[1])
	elem := uint64(1)
	if s, ok := args[0].Type().Underlying().(*types.Slice); ok {
		elem = uint64(l.p.size(s.Elem()))
	}
	l.emit(&ir.Instr{Op: ir.Call, Extern: "append", Dst: t, Size: 24, Args: []*ir.Expr{x, y, ir.Num(8, elem)}, Pos: l.site(in, "store")})
	r := ir.R(t, 24)
	n := ir.Binary(ir.OpAdd, ir.Unsigned, ir.Extract(x, 8, 8), ir.Extract(y, 8, 8))
	if dst != nil {
		l.assign(dst, ir.Concat(ir.Extract(r, 0, 8), n, ir.Extract(r, 16, 8)))
	}
}
