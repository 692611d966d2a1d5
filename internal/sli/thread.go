package sli

import "fmt"

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
	Load(t *Thread, in *Instr, addr, key Value) (Value, Status)
	Store(t *Thread, in *Instr, addr, key, val Value) Status
	Alloc(t *Thread, in *Instr, size Value) Value
	// Sync does what the instruction's Word says.
	Sync(t *Thread, in *Instr, args []Value) (Value, Status)
	// Extern is a call of something that is not in the program.
	Extern(t *Thread, in *Instr, args []Value) (Value, Status)
	Spawn(t *Thread, in *Instr, fn *Func, args, captured []Value)
	// Enter and Leave are told of calls; Enter before the first instruction.
	Enter(t *Thread, f *Frame)
	Leave(t *Thread, f *Frame)
	// Crash decides whether a test fails whose condition is known or unknown.
	Crash(t *Thread, in *Instr, cond Value) bool
	// Branch chooses a successor if the condition is unknown.
	Branch(t *Thread, in *Instr) int
	// Target finds the function that a dynamic call reaches.
	Target(t *Thread, in *Instr, fn Value) (f *Func, captured []Value)
	Symbol(name string) Value
	Closure(name string, captured []Value) Value
	Captured(closure Value) []Value
	Text(addr uint64, n int) ([]byte, bool)
}

// A Frame is a call in progress.
type Frame struct {
	Func  *Func
	Ctx   *Context
	ID    uint32 // the trace's number of the frame, 0 if it has none
	Call  *Instr // in the caller
	Block *Block
	Index int
	Pred  int // which predecessor the block was entered from
	Regs  []Value

	defers []deferred
	// callback says that something outside the program called: the caller's
	// instruction is not done when the frame is left.
	callback bool
}

type deferred struct {
	in       *Instr
	fn       *Func
	fnValue  Value
	args     []Value
	captured []Value
}

// A Thread is a goroutine that executes a program's instructions.
type Thread struct {
	G      uint32
	Frames []*Frame
	// Result is what the first function returned.
	Result Value
	// Failed is the test that crashed.
	Failed *Instr

	prog *Program
	host Host
	ctxs *contexts
}

// NewThread makes a thread that is about to call fn.
func NewThread(p *Program, h Host, g uint32, fn *Func, args, captured []Value) *Thread {
	return newThread(p, h, newContexts(), g, fn, args, captured)
}

func newThread(p *Program, h Host, ctxs *contexts, g uint32, fn *Func, args, captured []Value) *Thread {
	t := &Thread{G: g, prog: p, host: h, ctxs: ctxs}
	t.push(nil, fn, args, captured)
	return t
}

// Top is the innermost frame.
func (t *Thread) Top() *Frame { return t.Frames[len(t.Frames)-1] }

func (t *Thread) push(call *Instr, fn *Func, args, captured []Value) *Frame {
	f := &Frame{Func: fn, Call: call, Block: fn.Blocks[0], Regs: make([]Value, len(fn.Sizes))}
	var parent *Context
	if len(t.Frames) > 0 {
		parent = t.Top().Ctx
	}
	f.Ctx = t.ctxs.get(parent, call, fn)
	for i := range f.Regs {
		f.Regs[i] = Unknown(fn.Sizes[i])
	}
	for i, r := range fn.Params {
		if i < len(args) {
			f.Regs[r] = args[i]
		}
	}
	for i, r := range fn.Free {
		if i < len(captured) {
			f.Regs[r] = captured[i]
		}
	}
	t.Frames = append(t.Frames, f)
	t.host.Enter(t, f)
	return f
}

// frameState evaluates a function's own expressions.
type frameState struct {
	t *Thread
	f *Frame
}

func (s frameState) reg(e *Expr) Value                      { return s.f.Regs[e.Reg] }
func (s frameState) load(e *Expr, _, _ Value) Value         { return Unknown(e.Size) }
func (s frameState) symbol(name string) Value               { return s.t.host.Symbol(name) }
func (s frameState) text(addr uint64, n int) ([]byte, bool) { return s.t.host.Text(addr, n) }
func (s frameState) closure(name string, captured []Value) Value {
	return s.t.host.Closure(name, captured)
}
func (s frameState) bound(c Value, i, size int) Value {
	if got := s.t.host.Captured(c); i < len(got) {
		return got[i]
	}
	return Unknown(size)
}

// Eval is the value of an expression of the innermost frame.
func (t *Thread) Eval(e *Expr) Value { return eval(e, frameState{t, t.Top()}) }

func (t *Thread) evalAll(es []*Expr) []Value {
	vs := make([]Value, len(es))
	for i, e := range es {
		vs[i] = t.Eval(e)
	}
	return vs
}

// At is the instruction that comes next.
func (t *Thread) At() *Instr {
	f := t.Top()
	return f.Block.Instrs[f.Index]
}

// Step executes one instruction; all phis of a block are one.
func (t *Thread) Step() Status {
	f := t.Top()
	in := f.Block.Instrs[f.Index]
	set := func(v Value) {
		if in.Dst != 0 {
			f.Regs[in.Dst] = v
		}
		f.Index++
	}
	switch in.Op {
	case Phi:
		var vs []Value
		first := f.Index
		for ; f.Block.Instrs[f.Index].Op == Phi; f.Index++ {
			vs = append(vs, t.Eval(f.Block.Instrs[f.Index].Args[f.Pred]))
		}
		for i, v := range vs {
			f.Regs[f.Block.Instrs[first+i].Dst] = v
		}
	case Assign:
		set(t.Eval(in.X))
	case Load, Store:
		return t.access(in, set)
	case Alloc:
		set(t.host.Alloc(t, in, t.Eval(in.X)))
	case Test:
		if t.host.Crash(t, in, t.Eval(in.X)) {
			t.Failed = in
			return Crashed
		}
		f.Index++
	case Call:
		return t.call(in, set)
	case Spawn:
		fn, captured := t.target(in)
		if fn != nil {
			t.host.Spawn(t, in, fn, t.evalAll(in.Args), captured)
		} else if _, st := t.host.Extern(t, in, nil); st != Running {
			return st
		}
		f.Index++
	case Defer:
		fn, captured := t.target(in)
		d := deferred{in: in, fn: fn, args: t.evalAll(in.Args), captured: captured}
		if in.Fn != nil {
			d.fnValue = t.Eval(in.Fn)
		}
		f.defers = append(f.defers, d)
		f.Index++
	case RunDefers:
		return t.runDefers()
	case Sync:
		v, st := t.host.Sync(t, in, t.evalAll(in.Args))
		if st != Running {
			return st
		}
		set(v)
	case Jump:
		t.enter(f.Block.Succs[0], f.Block, 0)
	case Branch:
		to := 0
		if c := t.Eval(in.X); !c.Known {
			to = t.host.Branch(t, in)
			if to < 0 {
				return Lost
			}
		} else if c.Uint() == 0 {
			to = 1
		}
		t.enter(f.Block.Succs[to], f.Block, to)
	case Return:
		return t.leave(in)
	case Stop:
		return Ended
	default:
		panic(fmt.Sprintf("sli: cannot execute %v", in.Op))
	}
	return Running
}

func (t *Thread) access(in *Instr, set func(Value)) Status {
	var key Value
	if in.Key != nil {
		key = t.Eval(in.Key)
	}
	if in.Op == Load {
		v, st := t.host.Load(t, in, t.Eval(in.X), key)
		if st == Running {
			set(v)
		}
		return st
	}
	val := Value{}
	if in.Val != nil {
		val = t.Eval(in.Val)
	}
	st := t.host.Store(t, in, t.Eval(in.X), key, val)
	if st == Running {
		set(Value{})
	}
	return st
}

// enter moves to block b from the successor number succ of from.
func (t *Thread) enter(b, from *Block, succ int) {
	f := t.Top()
	f.Block, f.Index = b, 0
	f.Pred = predIndex(from, succ)
}

// predIndex is which of the target's predecessors the edge is. A branch whose sides
// meet has two edges to the same block.
func predIndex(from *Block, succ int) int {
	to, nth := from.Succs[succ], 0
	for i := 0; i < succ; i++ {
		if from.Succs[i] == to {
			nth++
		}
	}
	for i, p := range to.Preds {
		if p == from {
			if nth == 0 {
				return i
			}
			nth--
		}
	}
	return 0
}

func (t *Thread) target(in *Instr) (*Func, []Value) {
	if in.Callee != nil {
		if in.Fn != nil {
			return in.Callee, t.host.Captured(t.Eval(in.Fn))
		}
		return in.Callee, nil
	}
	if in.Fn == nil {
		return nil, nil
	}
	return t.host.Target(t, in, t.Eval(in.Fn))
}

func (t *Thread) call(in *Instr, set func(Value)) Status {
	fn, captured := t.target(in)
	if fn == nil || len(fn.Blocks) == 0 {
		v, st := t.host.Extern(t, in, t.evalAll(in.Args))
		if st == Running {
			set(v)
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
func (t *Thread) CallBack(fn *Func, args, captured []Value) {
	t.push(t.At(), fn, args, captured).callback = true
}

func (t *Thread) runDefers() Status {
	f := t.Top()
	if len(f.defers) == 0 {
		f.Index++
		return Running
	}
	d := f.defers[len(f.defers)-1]
	if d.fn == nil && d.in.Word != "" {
		// A deferred operation of the host. It may block, and is then asked for again.
		var v Status
		if d.in.Does == Sync {
			_, v = t.host.Sync(t, d.in, d.args)
		} else {
			_, v = t.host.Extern(t, d.in, d.args)
		}
		if v != Running {
			return v
		}
		f.defers = f.defers[:len(f.defers)-1]
		return Running
	}
	f.defers = f.defers[:len(f.defers)-1]
	if d.fn != nil && len(d.fn.Blocks) > 0 {
		t.push(f.Block.Instrs[f.Index], d.fn, d.args, d.captured)
	}
	return Running
}

func (t *Thread) leave(in *Instr) Status {
	f := t.Top()
	v := Value{Known: true}
	if in.X != nil {
		v = t.Eval(in.X)
	}
	t.host.Leave(t, f)
	t.Frames = t.Frames[:len(t.Frames)-1]
	if len(t.Frames) == 0 {
		t.Result = v
		return Ended
	}
	up := t.Top()
	if f.Call != nil && f.Call.Op == Call && !f.callback {
		if f.Call.Dst != 0 {
			up.Regs[f.Call.Dst] = v
		}
		up.Index++
	}
	return Running
}
