package judge

import (
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A thread is a goroutine.
type thread struct {
	// id is the path of go statements that leads to the goroutine, which does not depend on
	// the schedule: 1.2 is the second goroutine that the first one has started.
	id      string
	spawned int
	frames  []*frame
	parked  parking
	// offers are the channels that the goroutine waits for, or the group, or its timer.
	offers []value
}

// A parking is why a goroutine that has begun an operation cannot go on with it.
type parking byte

const (
	running    parking = iota
	onChannels         // another thread completes the operation
	onWriting          // it has announced that it wants to write-lock a sync.RWMutex
	onGroup            // it waits for a sync.WaitGroup
	groupDone          // it has waited for one, and has not gone on yet
	onTimer            // it begins when its timer fires, which is at any time
	forEver
	crashing // a panic is about to end the program
)

// A frame is a call in progress.
type frame struct {
	fn    *ssa.Function // nil: only pending
	block *ssa.BasicBlock
	pc    int
	regs  []value
	role  role
	// defers are the calls that were deferred, the last one last.
	defers []pendingCall
	// pending is a call of something without a body that was deferred or started by a go
	// statement; an ordinary call of such a thing is in its instruction.
	pending   *pendingCall
	panic     panicking
	unwinding unwinding
}

// A role is what becomes of a frame's result.
type role byte

const (
	plain    role = iota // it is that of the caller's call
	deferred             // nothing; the caller goes on with its other deferred calls
	first                // the goroutine ends
)

// An unwinding is how far a frame has come with ending by a panic.
type unwinding byte

const (
	not unwinding = iota
	byPanic
	recovered // the panic is over; the function returns when its deferred calls have run
)

// A panicking is a panic in progress. Goexit is one that cannot be recovered.
type panicking struct {
	active bool
	goexit bool
	held   value
}

// A pendingCall is a function value with arguments.
type pendingCall struct {
	callee value // *closure; an iface with args[0] its method's receiver never gets here
	args   []value
}

func (t *thread) top() *frame { return t.frames[len(t.frames)-1] }

func (t *thread) copy() *thread {
	c := *t
	c.frames = make([]*frame, len(t.frames))
	for i, f := range t.frames {
		g := *f
		g.regs = slices.Clone(f.regs)
		g.defers = slices.Clone(f.defers)
		c.frames[i] = &g
	}
	return &c
}

// A programPanic is a panic of the judged program, on its way through the interpreter.
type programPanic struct{ held value }

// runtimeError is a panic of the runtime system.
func runtimeError(text string) programPanic {
	return programPanic{iface{types.Typ[types.String], "runtime error: " + text}}
}

// call pushes the frame of a function with a body.
func (m *machine) call(t *thread, fn *ssa.Function, args, captured []value, r role) {
	info := m.about(fn)
	f := &frame{fn: fn, block: fn.Blocks[0], regs: make([]value, info.registers), role: r}
	for i, p := range fn.Params {
		f.regs[info.register[p]] = args[i]
	}
	for i, v := range fn.FreeVars {
		f.regs[info.register[v]] = captured[i]
	}
	t.frames = append(t.frames, f)
	if len(t.frames) > maxDepth {
		panic(unsupported(fmt.Sprintf("more than %d calls deep", maxDepth)))
	}
}

const maxDepth = 500

// An unsupported is what the judge cannot run, and why it gives up.
type unsupported string

// spawn starts a goroutine.
func (m *machine) spawn(s *state, parent *thread, p pendingCall) {
	m.runLocal(s, m.newThread(s, parent, p))
}

// newThread makes a goroutine that has not taken a step.
func (m *machine) newThread(s *state, parent *thread, p pendingCall) *thread {
	parent.spawned++
	t := &thread{id: fmt.Sprintf("%s.%02d", parent.id, parent.spawned)}
	m.begin(s, t, p, first)
	s.threads = append(s.threads, t)
	return t
}

// begin has a goroutine make a call.
func (m *machine) begin(s *state, t *thread, p pendingCall, r role) {
	c := p.callee.(*closure)
	if c == nil {
		panic(runtimeError("invalid memory address or nil pointer dereference"))
	}
	if c.fn != nil {
		if fn := m.body(c.fn); fn != nil {
			m.call(t, fn, p.args, c.captured, r)
			return
		}
	}
	t.frames = append(t.frames, &frame{pending: &p, role: r})
}

// finish pops the frame that has returned, and gives the result to the caller.
func (m *machine) finish(s *state, t *thread, result value) {
	f := t.top()
	t.frames = t.frames[:len(t.frames)-1]
	switch f.role {
	case first:
		if t.id == rootID {
			s.returned, s.result = true, show(result)
		}
	case deferred:
	case plain:
		m.completed(t.top(), result)
	}
}

// completed puts the result of a frame's current instruction into its register, and moves
// on.
func (m *machine) completed(f *frame, result value) {
	if v, ok := f.block.Instrs[f.pc].(ssa.Value); ok {
		f.regs[m.about(f.fn).register[v]] = result
	}
	f.pc++
}

// raise begins a panic in the goroutine's innermost frame.
func (m *machine) raise(t *thread, p panicking) {
	f := t.top()
	f.panic = p
	f.panic.active = true
	f.unwinding = byPanic
	f.pending = nil
}

// unwind takes one step of a frame that ends by a panic.
func (m *machine) unwind(s *state, t *thread) {
	f := t.top()
	if n := len(f.defers); n > 0 {
		d := f.defers[n-1]
		f.defers = f.defers[:n-1]
		m.begin(s, t, d, deferred)
		return
	}
	if !f.panic.active { // recovered
		f.unwinding = not
		if f.fn == nil || f.fn.Recover == nil {
			m.finish(s, t, m.zeroResult(f))
			return
		}
		f.block, f.pc = f.fn.Recover, 0
		return
	}
	p := f.panic
	if len(t.frames) == 1 {
		if p.goexit {
			t.frames = nil
			return
		}
		t.parked = crashing
		return
	}
	t.frames = t.frames[:len(t.frames)-1]
	m.raise(t, p)
}

// zeroResult is what a function without named results returns after it has recovered.
func (m *machine) zeroResult(f *frame) value {
	if f.fn == nil {
		return nil
	}
	switch r := f.fn.Signature.Results(); r.Len() {
	case 0:
		return nil
	case 1:
		return zero(r.At(0).Type())
	default:
		return zero(r)
	}
}

// recoverPanic is the built-in function recover, called by the innermost frame: there is
// something to recover if that is the deferred call of a frame that panics.
func (m *machine) recoverPanic(t *thread) value {
	if len(t.frames) < 2 || t.top().role != deferred {
		return iface{}
	}
	f := t.frames[len(t.frames)-2]
	if !f.panic.active || f.panic.goexit {
		return iface{}
	}
	f.panic.active = false
	f.unwinding = byPanic // its deferred calls are still to run
	return f.panic.held
}

// runLocal takes the local steps of a goroutine, up to its next visible operation.
func (m *machine) runLocal(s *state, t *thread) {
	for steps := 0; len(t.frames) > 0 && t.parked == running && !m.visible(s, t); steps++ {
		if steps > maxLocal {
			panic(unsupported("a goroutine that goes on for ever without a visible operation"))
		}
		m.protect(t, func() { m.local(s, t) })
	}
}

const maxLocal = 100_000

// protect turns a panic of the judged program into its unwinding.
func (m *machine) protect(t *thread, step func()) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case programPanic:
			m.raise(t, panicking{held: p.held})
		default:
			panic(p)
		}
	}()
	step()
}

// local takes one step that nobody else can see.
func (m *machine) local(s *state, t *thread) {
	f := t.top()
	switch {
	case f.unwinding == byPanic:
		m.unwind(s, t)
	case f.pending != nil:
		m.operation(s, t, m.current(s, t), 0)
	default:
		m.instr(s, t, f)
	}
}

// done completes the operation that a goroutine is at: its frame's instruction, or the call
// that is pending there.
func (m *machine) done(s *state, t *thread, result value) {
	if f := t.top(); f.pending == nil {
		m.completed(f, result)
		return
	}
	m.finish(s, t, result)
}
