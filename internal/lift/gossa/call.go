package gossa

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// syncKinds maps the methods of package sync, and what else decides which goroutine may
// run, to the engine's operations.
var syncKinds = map[string]ir.SyncKind{
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

// neverReturn are calls that do not return.
var neverReturn = map[string]bool{
	"os.Exit": true, "runtime.Goexit": true, "log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true,
	"(*testing.common).FailNow": true, "(*testing.common).Fatal": true, "(*testing.common).Fatalf": true,
	"(*testing.common).SkipNow": true, "(*testing.common).Skip": true, "(*testing.common).Skipf": true,
}

// failTest are the calls with which a test says that it failed.
var failTest = map[string]bool{
	"(*testing.common).Fail": true, "(*testing.common).FailNow": true,
	"(*testing.common).Error": true, "(*testing.common).Errorf": true,
	"(*testing.common).Fatal": true, "(*testing.common).Fatalf": true,
}

// liftCall lifts a call, a go statement or a defer statement, by what is called:
//
//	f(x)                 call f(r1)
//	v()                  test "nil dereference" if BadAddr(r1); call r1()
//	i.Close()            test "nil dereference" if BadAddr(r1[0:8]); call r1[0:8].Close(r1[8:16])
//	mu.Lock()            sync lock(mu)
//	t.Fatal()            test "failed assertion" if 1; stop
//	fmt.Println()        call fmt.Println()
func (l *lifter) liftCall(in ssa.CallInstruction, op ir.Op) {
	common := in.Common()
	if b, ok := common.Value.(*ssa.Builtin); ok {
		l.liftBuiltin(in, b, op)
		return
	}
	out := &ir.Instr{Op: op, Args: l.values(common.Args), Origin: l.siteOrigin(in, event.None)}
	if op == ir.Spawn {
		out.Origin = l.siteOrigin(in, event.Go)
	}
	var dst ssa.Value
	if v, ok := in.(*ssa.Call); ok && l.program.size(v.Type()) > 0 {
		dst = v
		out.Size = l.program.size(v.Type())
	}
	name := ""
	switch fn := common.StaticCallee(); {
	case common.IsInvoke():
		v := l.value(common.Value)
		if op == ir.Call {
			l.emit(&ir.Instr{Op: ir.Test, Cause: ir.NilDereference, Operand: ir.Unary(ir.OpBadAddress, ir.Unsigned, ir.Extract(v, 0, 8)), Origin: l.siteOrigin(in, event.None)})
		}
		out.Target, out.Method = ir.Extract(v, 0, 8), common.Method.Name()
		out.Args = append([]*ir.Expr{ir.Extract(v, 8, 8)}, out.Args...)
		name = common.Method.FullName()
		if m := common.Method.Name(); isTesting(common.Method) && failTest["(*testing.common)."+m] {
			name = "(*testing.common)." + m
			out.Target, out.Method = nil, ""
		}
	case fn == nil:
		out.Target = l.value(common.Value)
		if op == ir.Call {
			l.emit(&ir.Instr{Op: ir.Test, Cause: ir.NilDereference, Operand: ir.Unary(ir.OpBadAddress, ir.Unsigned, out.Target), Origin: l.siteOrigin(in, event.None)})
		}
	default:
		name = fn.String()
		if o := fn.Origin(); o != nil {
			name = o.String()
		}
		out.Callee = l.program.lifted[fn]
		if _, ok := common.Value.(*ssa.MakeClosure); ok && out.Callee != nil {
			out.Target = l.value(common.Value)
		}
	}
	if out.Callee == nil {
		out.Extern = name
		if l.liftSpecial(in, common, out, dst, name, op) {
			return
		}
	}
	if dst != nil {
		out.Dst = l.registerOf(dst)
	}
	l.emit(out)
	if op == ir.Call && neverReturn[name] {
		l.emit(&ir.Instr{Op: ir.Stop})
		l.startBlock()
	}
}

// rangesIn is the function that has a range over a function in it, of whose body go/ssa makes a
// function. What the body defers is for the call of that one:
//
//	func f() {                           func f() {
//		for x := range seq {                 seq(func(x int) bool {
//			defer g(x)           ->          defer g(x), in f
//		}                                        return true
//	}                                        })
//	                                     }
func rangesIn(fn *ssa.Function) *ssa.Function {
	for fn.Synthetic == "range-over-func yield" && fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn
}

func isTesting(m *types.Func) bool { return m.Pkg() != nil && m.Pkg().Path() == "testing" }

// liftSpecial lifts calls of the standard library that mean something to the engine.
func (l *lifter) liftSpecial(in ssa.CallInstruction, common *ssa.CallCommon, out *ir.Instr, dst ssa.Value, name string, op ir.Op) bool {
	kind, sync := syncKinds[name]
	if !sync && strings.Contains(name, "sync/atomic.") {
		if op == ir.Call && l.liftAtomic(in, common, dst, name) {
			return true
		}
	}
	switch {
	case failTest[name] && op == ir.Call:
		l.emit(&ir.Instr{Op: ir.Test, Cause: ir.Assertion, Operand: ir.Number(1, 1), Origin: l.siteOrigin(in, event.None)})
		if neverReturn[name] {
			l.emit(&ir.Instr{Op: ir.Stop})
			l.startBlock()
		}
		return true
	case !sync:
		return false
	}
	out.Sync, out.Extern = kind, ""
	if op == ir.Call {
		out.Op = ir.Sync
		if dst != nil {
			out.Dst = l.registerOf(dst)
		}
	}
	l.emit(out)
	return true
}

// An atomicUpdate is an operation of sync/atomic that loads and stores in one.
type atomicUpdate struct {
	prefix string // how its name begins
	// left is what it leaves of what it finds, and gives is what it returns.
	left, gives func(old *ir.Expr, args []*ir.Expr) *ir.Expr
}

func foundValue(old *ir.Expr, _ []*ir.Expr) *ir.Expr { return old }

// updatedValue says what an operation of package sync/atomic makes of the old value and its argument: both combined by
// an operator.
func updatedValue(op ir.Operator) func(old *ir.Expr, args []*ir.Expr) *ir.Expr {
	return func(old *ir.Expr, args []*ir.Expr) *ir.Expr { return ir.Binary(op, ir.Unsigned, old, args[0]) }
}

func isExpected(old *ir.Expr, args []*ir.Expr) *ir.Expr {
	return ir.Binary(ir.OpEq, ir.Unsigned, old, args[0])
}

var atomicUpdates = []atomicUpdate{
	{"Add", updatedValue(ir.OpAdd), updatedValue(ir.OpAdd)},
	{"CompareAndSwap", func(old *ir.Expr, args []*ir.Expr) *ir.Expr { return ir.Select(isExpected(old, args), args[1], old) }, isExpected},
	{"Swap", func(_ *ir.Expr, args []*ir.Expr) *ir.Expr { return args[0] }, foundValue},
	{"And", updatedValue(ir.OpAnd), foundValue},
	{"Or", updatedValue(ir.OpOr), foundValue},
}

// liftAtomic lifts an operation of sync/atomic on memory. Loads and stores are the
// engine's own, the rest does both in one.
func (l *lifter) liftAtomic(in ssa.CallInstruction, common *ssa.CallCommon, dst ssa.Value, name string) bool {
	verb := name[strings.LastIndexByte(name, '.')+1:]
	if len(common.Args) == 0 {
		return false
	}
	addr := l.value(common.Args[0])
	isBool := strings.Contains(name, "atomic.Bool)")
	l.emit(&ir.Instr{Op: ir.Test, Cause: ir.NilDereference, Operand: ir.Unary(ir.OpBadAddress, ir.Unsigned, addr), Origin: l.siteOrigin(in, event.None)})
	data := l.program.dataAt(common.Args[0]).String()
	switch {
	case strings.HasPrefix(verb, "Load") && dst != nil:
		if isBool {
			t := l.newTemp(4)
			l.emit(&ir.Instr{Op: ir.Load, Atomic: true, Dst: t, Size: 4, Operand: addr, Origin: l.atomicOrigin(in, event.AtomicLoad), Data: data})
			l.assign(dst, ir.Binary(ir.OpNe, ir.Unsigned, ir.Register(t, 4), ir.Number(4, 0)))
			return true
		}
		l.emit(&ir.Instr{Op: ir.Load, Atomic: true, Dst: l.registerOf(dst), Size: l.program.size(dst.Type()), Operand: addr, Origin: l.atomicOrigin(in, event.AtomicLoad), Data: data})
	case strings.HasPrefix(verb, "Store") && len(common.Args) == 2:
		v := l.value(common.Args[1])
		if isBool {
			v = ir.Convert(v, ir.Unsigned, ir.Unsigned, 4)
		}
		l.emit(&ir.Instr{Op: ir.Store, Atomic: true, Size: v.Size, Operand: addr, Value: v, Origin: l.atomicOrigin(in, event.AtomicStore), Data: data})
	default:
		i := slices.IndexFunc(atomicUpdates, func(u atomicUpdate) bool { return strings.HasPrefix(verb, u.prefix) })
		if i < 0 || len(common.Args) < 2 {
			return false
		}
		l.liftUpdate(in, &atomicUpdates[i], addr, l.values(common.Args[1:]), dst, isBool, data)
	}
	return true
}

// liftUpdate lifts an operation that loads and stores in one. A truth value takes 4 bytes of
// memory.
func (l *lifter) liftUpdate(in ssa.CallInstruction, u *atomicUpdate, addr *ir.Expr, args []*ir.Expr, dst ssa.Value, isBool bool, data string) {
	if isBool {
		for i := range args {
			args[i] = ir.Convert(args[i], ir.Unsigned, ir.Unsigned, 4)
		}
	}
	size := args[0].Size
	found := l.newTemp(size)
	old := ir.Register(found, size)
	site := event.AtomicUpdate
	if len(args) == 2 {
		site = event.AtomicCompare
	}
	l.emit(&ir.Instr{Op: ir.Update, Atomic: true, Dst: found, Size: size, Operand: addr, Value: u.left(old, args), Origin: l.atomicOrigin(in, site), Data: data})
	if dst == nil {
		return
	}
	result := u.gives(old, args)
	if isBool && result.Size == 4 {
		result = ir.Binary(ir.OpNe, ir.Unsigned, result, ir.Number(4, 0))
	}
	l.assign(dst, result)
}
