package judge

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// callee returns the function that a call calls, and its arguments. It is false for the nil
// function, and for a method of the nil interface.
func (m *machine) callee(f *frame, c *ssa.CallCommon) (*closure, []value, bool) {
	args := m.values(f, c.Args)
	if !c.IsInvoke() {
		fn, ok := m.value(f, c.Value).(*closure)
		return fn, args, ok && fn != nil
	}
	i := m.value(f, c.Value).(iface)
	if i.dynamic == nil {
		return nil, nil, false
	}
	fn := m.prog.LookupMethod(i.dynamic, c.Method.Pkg(), c.Method.Name())
	if fn == nil {
		panic(unsupported("the method " + c.Method.FullName() + " of " + i.dynamic.String()))
	}
	return &closure{fn: fn}, append([]value{i.held}, args...), true
}

// body returns a function whose instructions are run, nil for one that is known by name, or
// not at all.
func (m *machine) body(fn *ssa.Function) *ssa.Function {
	if len(fn.Blocks) == 0 || fn.Synthetic == packageInit && fn.Pkg != m.pkg && fn.Pkg.Pkg.Path() != "context" {
		return nil
	}
	if name := m.externName(fn); name != "" {
		if _, ok := m.externs[name]; ok || name == m.show || name == drawBelow || strings.HasPrefix(name, atomicValue) {
			return nil
		}
	}
	return fn
}

// atomicValue begins the names of methods whose source takes interfaces apart.
const atomicValue = "(*sync/atomic.Value)."

// packageInit is what go/ssa says of a function that initialises a package. Those of the
// standard library are not run, but for the one of package context: what is interpreted of the
// others needs none of their variables.
const packageInit = "package initializer"

// externName is the name by which a function is known: that of its declaration. Wrappers,
// which go/ssa makes, have none.
func (m *machine) externName(fn *ssa.Function) string {
	name, known := m.names[fn]
	if !known {
		declared := fn
		if o := fn.Origin(); o != nil {
			declared = o
		}
		if obj, ok := declared.Object().(*types.Func); ok && declared.Pkg != nil {
			name = obj.FullName()
		}
		m.names[fn] = name
	}
	return name
}

// operation takes the step that op describes. choice picks one of the branches of a select.
func (m *machine) operation(s *state, t *thread, op operation, choice int) {
	switch op.kind {
	case calling:
		if op.extern == drawBelow {
			m.done(s, t, int64(choice))
			return
		}
		m.extern(s, t, op)
	case sending, receiving, selecting:
		m.communicate(s, t, op, choice)
	case local, memory:
		if op.callee == nil {
			m.instr(s, t, t.top())
			return
		}
		if op.callee.builtin == nil {
			panic("judge: a call of a function with a body is no operation")
		}
		m.done(s, t, m.builtin(s, t, op))
	}
}

// invoke makes an ordinary call.
func (m *machine) invoke(s *state, t *thread, f *frame, in *ssa.Call) {
	c, args, ok := m.callee(f, in.Common())
	switch {
	case !ok:
		panic(runtimeError("invalid memory address or nil pointer dereference"))
	case c.builtin != nil:
		m.done(s, t, m.builtin(s, t, operation{instr: in, callee: c, args: args}))
	default:
		m.call(t, m.body(c.fn), args, c.captured, plain)
	}
}

// pendingOf is a call that is made later, by a defer or go statement.
func (m *machine) pendingOf(f *frame, c *ssa.CallCommon) pendingCall {
	fn, args, ok := m.callee(f, c)
	if !ok {
		if c.IsInvoke() {
			panic(runtimeError("invalid memory address or nil pointer dereference"))
		}
		return pendingCall{callee: (*closure)(nil)}
	}
	return pendingCall{fn, args}
}
