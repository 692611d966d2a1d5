package exec

import (
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Status is how a step of a thread ended.
type Status uint8

const (
	Running Status = iota
	Blocked        // the step was not made: try again when others have moved
	Crashed
	Ended
	Lost   // it cannot be told what the thread does next
	Called // by an Extern that calls back: it is asked again when the call is over
)

// A Host is the world a thread runs in: memory, other goroutines, and what is not in
// the program. The simulator is one, a trace that is followed is the other.
type Host interface {
	Load(t *Thread, in *ir.Instr, addr, key ir.Value) (ir.Value, Status)
	Store(t *Thread, in *ir.Instr, addr, key, val ir.Value) Status
	// Update makes what change says of what it finds, which it returns.
	Update(t *Thread, in *ir.Instr, addr ir.Value, change func(old ir.Value) ir.Value) (ir.Value, Status)
	Alloc(t *Thread, in *ir.Instr, size ir.Value) ir.Value
	// Sync does the operation in.Sync.
	Sync(t *Thread, in *ir.Instr, args []ir.Value) (ir.Value, Status)
	// Extern is a call of something that is not in the program.
	Extern(t *Thread, in *ir.Instr, args []ir.Value) (ir.Value, Status)
	Spawn(t *Thread, in *ir.Instr, fn *ir.Func, args, captured []ir.Value)
	// Enter and Leave are told of calls; Enter before the first instruction.
	Enter(t *Thread, f *Frame)
	Leave(t *Thread, f *Frame)
	// Crash decides whether a test fails whose condition is known or unknown.
	Crash(t *Thread, in *ir.Instr, cond ir.Value) bool
	// Branch chooses a successor if the condition is unknown.
	Branch(t *Thread, in *ir.Instr) int
	// Target finds the function that a dynamic call reaches.
	Target(t *Thread, in *ir.Instr, fn ir.Value) (f *ir.Func, captured []ir.Value)
	Symbol(name string) ir.Value
	Closure(name string, captured []ir.Value) ir.Value
	Captured(closure ir.Value) []ir.Value
	Text(addr uint64, n int) ([]byte, bool)
	BadAddress(addr uint64) ir.Value
}

// A Frame is a call in progress.
type Frame struct {
	Func    *ir.Func
	Context *ir.Context
	ID      uint32    // the trace's number of the frame, 0 if it has none
	Call    *ir.Instr // in the caller
	Block   *ir.Block
	Index   int
	Pred    int // which predecessor the block was entered from
	Regs    []ir.Value

	defers []deferred
	// isDeferred says that the call was deferred. unwinding says that the frame is being left
	// because of a crash, which caught has ended.
	isDeferred, unwinding, caught bool
	// callback says that something outside the program called: the caller's
	// instruction is not done when the frame is left.
	callback bool
}

// A deferred is a call that waits for RunDefers, with the values it had when it was deferred.
type deferred struct {
	in       *ir.Instr
	fn       *ir.Func
	fnValue  ir.Value
	args     []ir.Value
	captured []ir.Value
}

// A Thread is a goroutine that executes a program's instructions.
type Thread struct {
	G      uint32
	Frames []*Frame
	// Result is what the first function returned.
	Result ir.Value
	// Failed is the test that crashed.
	Failed *ir.Instr

	prog     *ir.Program
	host     Host
	contexts *ir.Contexts
}

// NewThread makes a thread that is about to call fn. Threads that share contexts have
// their points in common.
func NewThread(program *ir.Program, h Host, ctxs *ir.Contexts, g uint32, fn *ir.Func, args, captured []ir.Value) *Thread {
	thread := &Thread{G: g, prog: program, host: h, contexts: ctxs}
	thread.push(nil, fn, args, captured)
	return thread
}

// Top is the innermost frame.
func (t *Thread) Top() *Frame { return t.Frames[len(t.Frames)-1] }

// push enters a function.
func (t *Thread) push(call *ir.Instr, fn *ir.Func, args, captured []ir.Value) *Frame {
	frame := &Frame{Func: fn, Call: call, Block: fn.Blocks[0], Regs: make([]ir.Value, len(fn.RegSizes))}
	var parent *ir.Context
	if len(t.Frames) > 0 {
		parent = t.Top().Context
	}
	frame.Context = t.contexts.Get(parent, call, fn)
	for i := range frame.Regs {
		frame.Regs[i] = ir.Unknown(fn.RegSizes[i])
	}
	for i, r := range fn.Params {
		if i < len(args) {
			frame.Regs[r] = args[i]
		}
	}
	for i, r := range fn.Captured {
		if i < len(captured) {
			frame.Regs[r] = captured[i]
		}
	}
	t.Frames = append(t.Frames, frame)
	t.host.Enter(t, frame)
	return frame
}

// An innermostFrame is a thread that evaluates expressions of its innermost frame. It is a pointer,
// and no pair of thread and frame, because nearly every instruction needs one: a pair would be
// allocated each time.
type innermostFrame Thread

func (t *innermostFrame) Reg(e *ir.Expr) ir.Value                 { return t.Frames[len(t.Frames)-1].Regs[e.Reg] }
func (t *innermostFrame) Load(e *ir.Expr, _, _ ir.Value) ir.Value { return ir.Unknown(e.Size) }
func (t *innermostFrame) Symbol(name string) ir.Value             { return t.host.Symbol(name) }
func (t *innermostFrame) Text(addr uint64, n int) ([]byte, bool)  { return t.host.Text(addr, n) }
func (t *innermostFrame) BadAddress(addr uint64) ir.Value         { return t.host.BadAddress(addr) }
func (t *innermostFrame) Closure(name string, captured []ir.Value) ir.Value {
	return t.host.Closure(name, captured)
}
func (t *innermostFrame) Captured(closure ir.Value, i, size int) ir.Value {
	if got := t.host.Captured(closure); i < len(got) {
		return got[i]
	}
	return ir.Unknown(size)
}

// Eval is the value of an expression of the innermost frame.
func (t *Thread) Eval(e *ir.Expr) ir.Value { return ir.Eval(e, (*innermostFrame)(t)) }

func (t *Thread) evalAll(es []*ir.Expr) []ir.Value {
	vs := make([]ir.Value, len(es))
	for i, e := range es {
		vs[i] = t.Eval(e)
	}
	return vs
}

// At is the instruction that comes next.
func (t *Thread) At() *ir.Instr {
	frame := t.Top()
	return frame.Block.Instrs[frame.Index]
}

// Step executes one instruction; all phis of a block are one.
func (t *Thread) Step() Status {
	frame := t.Top()
	if frame.unwinding {
		return t.leaveUnwinding()
	}
	in := frame.Block.Instrs[frame.Index]
	set := func(value ir.Value) {
		if in.Dst != 0 {
			frame.Regs[in.Dst] = value
		}
		frame.Index++
	}
	switch in.Op {
	case ir.Phi:
		var room [4]ir.Value
		vs, first := room[:0], frame.Index
		for ; frame.Block.Instrs[frame.Index].Op == ir.Phi; frame.Index++ {
			vs = append(vs, t.Eval(frame.Block.Instrs[frame.Index].Args[frame.Pred]))
		}
		for i, value := range vs {
			frame.Regs[frame.Block.Instrs[first+i].Dst] = value
		}
	case ir.Assign:
		set(t.Eval(in.Operand))
	case ir.Load, ir.Store:
		return t.access(in, set)
	case ir.Update:
		old, st := t.host.Update(t, in, t.Eval(in.Operand), func(old ir.Value) ir.Value {
			if in.Dst != 0 {
				frame.Regs[in.Dst] = old
			}
			return t.Eval(in.Value)
		})
		if st == Running {
			set(old)
		}
		return st
	case ir.Alloc:
		set(t.host.Alloc(t, in, t.Eval(in.Operand)))
	case ir.Test:
		if t.host.Crash(t, in, t.Eval(in.Operand)) {
			t.Failed = in
			return Crashed
		}
		frame.Index++
	case ir.Call:
		return t.call(in, set)
	case ir.Spawn:
		fn, captured := t.target(in)
		if fn != nil {
			t.host.Spawn(t, in, fn, t.evalAll(in.Args), captured)
		} else if value, st := t.host.Extern(t, in, nil); st != Running {
			return st
		} else if in.Dst != 0 {
			frame.Regs[in.Dst] = value
		}
		frame.Index++
	case ir.Defer:
		fn, captured := t.target(in)
		d := deferred{in: in, fn: fn, args: t.evalAll(in.Args), captured: captured}
		if in.Target != nil {
			d.fnValue = t.Eval(in.Target)
		}
		t.deferCall(d)
		frame.Index++
	case ir.RunDefers:
		return t.runDefers()
	case ir.Sync:
		value, st := t.host.Sync(t, in, t.evalAll(in.Args))
		if st != Running {
			return st
		}
		set(value)
	case ir.Jump:
		t.enter(frame.Block.Succs[0], frame.Block, 0)
	case ir.Branch:
		to := 0
		if closure := t.Eval(in.Operand); !closure.Known {
			to = t.host.Branch(t, in)
			if to < 0 {
				return Lost
			}
		} else if closure.Uint() == 0 {
			to = 1
		}
		t.enter(frame.Block.Succs[to], frame.Block, to)
	case ir.Return:
		return t.leave(in)
	case ir.Stop:
		return Ended
	default:
		panic(fmt.Sprintf("sli: cannot execute %v", in.Op))
	}
	return Running
}

func (t *Thread) access(in *ir.Instr, set func(ir.Value)) Status {
	var key ir.Value
	if in.Key != nil {
		key = t.Eval(in.Key)
	}
	if in.Op == ir.Load {
		value, st := t.host.Load(t, in, t.Eval(in.Operand), key)
		if st == Running {
			set(value)
		}
		return st
	}
	val := ir.Value{}
	if in.Value != nil {
		val = t.Eval(in.Value)
	}
	st := t.host.Store(t, in, t.Eval(in.Operand), key, val)
	if st == Running {
		set(ir.Value{})
	}
	return st
}

// enter moves to a block, which is the successor number succ of from.
func (t *Thread) enter(block, from *ir.Block, succ int) {
	frame := t.Top()
	frame.Block, frame.Index = block, 0
	frame.Pred = ir.PredIndex(from, succ)
}

// target is the function that an instruction calls, with what it captured; nil if the function
// is not in the program.
func (t *Thread) target(in *ir.Instr) (*ir.Func, []ir.Value) {
	if in.Callee != nil {
		if in.Target != nil {
			return in.Callee, t.host.Captured(t.Eval(in.Target))
		}
		return in.Callee, nil
	}
	if in.Target == nil {
		return nil, nil
	}
	return t.host.Target(t, in, t.Eval(in.Target))
}

func (t *Thread) call(in *ir.Instr, set func(ir.Value)) Status {
	if in.Catches {
		set(t.catch(in.Size))
		return Running
	}
	fn, captured := t.target(in)
	if fn == nil || len(fn.Blocks) == 0 {
		value, st := t.host.Extern(t, in, t.evalAll(in.Args))
		if st == Running {
			set(value)
		}
		if st == Called {
			return Running
		}
		return st
	}
	t.push(in, fn, t.evalAll(in.Args), captured)
	return Running
}

// CallBack calls fn from within the instruction that is being executed, which is
// executed again afterwards.
func (t *Thread) CallBack(fn *ir.Func, args, captured []ir.Value) {
	t.push(t.At(), fn, args, captured).callback = true
}

// deferCall has a call in progress make another one when it ends. One that is not the innermost is
// changed as a copy: a scout has it in common with the thread that it goes ahead of.
func (t *Thread) deferCall(d deferred) {
	for i := len(t.Frames) - 2; i >= 0 && d.in.DeferIn != nil && t.Top().Func != d.in.DeferIn; i-- {
		if t.Frames[i].Func == d.in.DeferIn {
			frame := *t.Frames[i]
			frame.defers = append(slices.Clip(frame.defers), d)
			t.Frames[i] = &frame
			return
		}
	}
	frame := t.Top()
	frame.defers = append(frame.defers, d)
}

// runDefers makes the last deferred call and leaves the instruction where it is: it is executed
// again until no call is left.
func (t *Thread) runDefers() Status {
	frame := t.Top()
	if len(frame.defers) == 0 {
		frame.Index++
		return Running
	}
	return t.runDeferred(frame)
}

// runDeferred makes the last deferred call of the innermost frame.
func (t *Thread) runDeferred(frame *Frame) Status {
	d := frame.defers[len(frame.defers)-1]
	if d.fn == nil && (d.in.Sync != ir.SyncNone || d.in.Extern != "") {
		// A deferred operation of the host. It may block, and is then asked for again.
		var v Status
		if d.in.Sync != ir.SyncNone {
			_, v = t.host.Sync(t, d.in, d.args)
		} else {
			_, v = t.host.Extern(t, d.in, d.args)
		}
		if v != Running {
			return v
		}
		frame.defers = frame.defers[:len(frame.defers)-1]
		return Running
	}
	frame.defers = frame.defers[:len(frame.defers)-1]
	if d.fn != nil && len(d.fn.Blocks) > 0 {
		t.push(frame.Block.Instrs[frame.Index], d.fn, d.args, d.captured).isDeferred = true
	}
	return Running
}

// leave ends a call. The caller goes on after the call, unless something outside the program
// made it: then its instruction is executed again.
func (t *Thread) leave(in *ir.Instr) Status {
	value := ir.Value{Known: true}
	if in.Operand != nil {
		value = t.Eval(in.Operand)
	}
	return t.returnTo(value)
}

// returnTo has the caller go on with what the innermost call returned.
func (t *Thread) returnTo(value ir.Value) Status {
	frame := t.Top()
	t.host.Leave(t, frame)
	t.Frames = t.Frames[:len(t.Frames)-1]
	if len(t.Frames) == 0 {
		t.Result = value
		return Ended
	}
	up := t.Top()
	if frame.Call != nil && frame.Call.Op == ir.Call && !frame.callback {
		if frame.Call.Dst != 0 {
			up.Regs[frame.Call.Dst] = value
		}
		up.Index++
	}
	return Running
}
