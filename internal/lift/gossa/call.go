package gossa

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// locking maps the methods of package sync, and what else decides which goroutine may
// run, to the engine's operations.
var locking = map[string]ir.SyncKind{
	"(*sync.Mutex).Lock":       ir.SyncLock,
	"(*sync.Mutex).Unlock":     ir.SyncUnlock,
	"(*sync.Mutex).TryLock":    ir.SyncTryLock,
	"(*sync.RWMutex).Lock":     ir.SyncLock,
	"(*sync.RWMutex).Unlock":   ir.SyncUnlock,
	"(*sync.RWMutex).TryLock":  ir.SyncTryLock,
	"(*sync.RWMutex).RLock":    ir.SyncReadLock,
	"(*sync.RWMutex).RUnlock":  ir.SyncReadUnlock,
	"(*sync.RWMutex).TryRLock": ir.SyncTryReadLock,
	"(*sync.WaitGroup).Add":    ir.SyncGroupAdd,
	"(*sync.WaitGroup).Done":   ir.SyncGroupDone,
	"(*sync.WaitGroup).Wait":   ir.SyncGroupWait,
	"(*sync.Cond).Wait":        ir.SyncConditionWait,
	"(*sync.Cond).Signal":      ir.SyncConditionWake,
	"(*sync.Cond).Broadcast":   ir.SyncConditionWake,
	"runtime.Gosched":          ir.SyncYield,
	"time.Sleep":               ir.SyncSleep,
}

// ending are calls that do not return.
var ending = map[string]bool{
	"os.Exit": true, "runtime.Goexit": true, "log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true,
	"(*testing.common).FailNow": true, "(*testing.common).Fatal": true, "(*testing.common).Fatalf": true,
	"(*testing.common).SkipNow": true, "(*testing.common).Skip": true, "(*testing.common).Skipf": true,
}

// failing are the calls with which a test says that it failed.
var failing = map[string]bool{
	"(*testing.common).Fail": true, "(*testing.common).FailNow": true,
	"(*testing.common).Error": true, "(*testing.common).Errorf": true,
	"(*testing.common).Fatal": true, "(*testing.common).Fatalf": true,
}

func (l *lifter) call(in ssa.CallInstruction, op ir.Op) {
	c := in.Common()
	if b, ok := c.Value.(*ssa.Builtin); ok {
		l.builtin(in, b, op)
		return
	}
	out := &ir.Instr{Op: op, Args: l.values(c.Args), Pos: l.site(in, "")}
	if op == ir.Spawn {
		out.Pos = l.site(in, "go")
	}
	var dst ssa.Value
	if v, ok := in.(*ssa.Call); ok && l.p.size(v.Type()) > 0 {
		dst = v
		out.Size = l.p.size(v.Type())
	}
	name := ""
	switch f := c.StaticCallee(); {
	case c.IsInvoke():
		v := l.value(c.Value)
		if op == ir.Call {
			l.emit(&ir.Instr{Op: ir.Test, Why: ir.BadAddress, X: ir.Unary(ir.OpBadAddr, ir.Unsigned, ir.Extract(v, 0, 8)), Pos: l.site(in, "")})
		}
		out.Fn, out.Method = ir.Extract(v, 0, 8), c.Method.Name()
		out.Args = append([]*ir.Expr{ir.Extract(v, 8, 8)}, out.Args...)
		name = c.Method.FullName()
		if m := c.Method.Name(); isTesting(c.Method) && failing["(*testing.common)."+m] {
			name = "(*testing.common)." + m
			out.Fn, out.Method = nil, ""
		}
	case f == nil:
		out.Fn = l.value(c.Value)
		if op == ir.Call {
			l.emit(&ir.Instr{Op: ir.Test, Why: ir.BadAddress, X: ir.Unary(ir.OpBadAddr, ir.Unsigned, out.Fn), Pos: l.site(in, "")})
		}
	default:
		name = f.String()
		if o := f.Origin(); o != nil {
			name = o.String()
		}
		out.Callee = l.p.funcs[f]
		if _, ok := c.Value.(*ssa.MakeClosure); ok && out.Callee != nil {
			out.Fn = l.value(c.Value)
		}
	}
	if out.Callee == nil {
		out.Extern = name
		if l.special(in, c, out, dst, name, op) {
			return
		}
	}
	if dst != nil {
		out.Dst = l.reg(dst)
	}
	l.emit(out)
	if op == ir.Call && ending[name] {
		l.emit(&ir.Instr{Op: ir.Stop})
		l.block()
	}
}

func isTesting(m *types.Func) bool { return m.Pkg() != nil && m.Pkg().Path() == "testing" }

// special lifts calls of the standard library that mean something to the engine.
func (l *lifter) special(in ssa.CallInstruction, c *ssa.CallCommon, out *ir.Instr, dst ssa.Value, name string, op ir.Op) bool {
	kind, sync := locking[name]
	if !sync && strings.Contains(name, "sync/atomic.") {
		if op == ir.Call && l.atomic(in, c, dst, name) {
			return true
		}
	}
	switch {
	case failing[name] && op == ir.Call:
		l.emit(&ir.Instr{Op: ir.Test, Why: ir.Assertion, X: ir.Num(1, 1), Pos: l.site(in, "")})
		if ending[name] {
			l.emit(&ir.Instr{Op: ir.Stop})
			l.block()
		}
		return true
	case !sync:
		return false
	}
	out.Sync, out.Extern = kind, ""
	if op == ir.Call {
		out.Op = ir.Sync
		if dst != nil {
			out.Dst = l.reg(dst)
		}
	}
	l.emit(out)
	return true
}

// atomicUpdates are the operations of sync/atomic that load and store in one, by how
// their names begin.
var atomicUpdates = []struct {
	prefix string
	kind   ir.SyncKind
}{
	{"Add", ir.SyncAtomicAdd},
	{"CompareAndSwap", ir.SyncCompareSwap},
	{"Swap", ir.SyncAtomicSwap},
	{"And", ir.SyncAtomicAnd},
	{"Or", ir.SyncAtomicOr},
}

// atomic lifts an operation of sync/atomic on memory. Loads and stores are the
// engine's own, the rest does both in one.
func (l *lifter) atomic(in ssa.CallInstruction, c *ssa.CallCommon, dst ssa.Value, name string) bool {
	verb := name[strings.LastIndexByte(name, '.')+1:]
	if len(c.Args) == 0 {
		return false
	}
	addr := l.value(c.Args[0])
	isBool := strings.Contains(name, "atomic.Bool)")
	l.emit(&ir.Instr{Op: ir.Test, Why: ir.BadAddress, X: ir.Unary(ir.OpBadAddr, ir.Unsigned, addr), Pos: l.site(in, "")})
	data := l.p.data(c.Args[0]).String()
	switch {
	case strings.HasPrefix(verb, "Load") && dst != nil:
		if isBool {
			t := l.temp(4)
			l.emit(&ir.Instr{Op: ir.Load, Atomic: true, Dst: t, Size: 4, X: addr, Pos: l.site(in, "atomic load"), Data: data})
			l.assign(dst, ir.Binary(ir.OpNe, ir.Unsigned, ir.R(t, 4), ir.Num(4, 0)))
			return true
		}
		l.emit(&ir.Instr{Op: ir.Load, Atomic: true, Dst: l.reg(dst), Size: l.p.size(dst.Type()), X: addr, Pos: l.site(in, "atomic load"), Data: data})
	case strings.HasPrefix(verb, "Store") && len(c.Args) == 2:
		v := l.value(c.Args[1])
		if isBool {
			v = ir.Convert(v, ir.Unsigned, ir.Unsigned, 4)
		}
		l.emit(&ir.Instr{Op: ir.Store, Atomic: true, Size: v.Size, X: addr, Val: v, Pos: l.site(in, "atomic store"), Data: data})
	default:
		update := ir.SyncNone
		for _, u := range atomicUpdates {
			if strings.HasPrefix(verb, u.prefix) {
				update = u.kind
			}
		}
		if update == ir.SyncNone {
			return false
		}
		site := "atomic update"
		if update == ir.SyncCompareSwap {
			site = "compare and swap"
		}
		out := &ir.Instr{Op: ir.Sync, Sync: update, Args: l.values(c.Args), Pos: l.site(in, site), Data: data}
		if dst != nil {
			out.Dst, out.Size = l.reg(dst), l.p.size(dst.Type())
		}
		l.emit(out)
	}
	return true
}
