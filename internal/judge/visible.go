package judge

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// An operation is what a goroutine is about to do.
type operation struct {
	kind kind
	// instr is the instruction, nil if the call is pending.
	instr ssa.Instruction
	// callee and args are those of a call.
	callee *closure
	args   []value
	// extern is the name of a function that is known by name alone.
	extern string
	// accesses are the memory that the operation touches.
	accesses []access
}

type kind byte

const (
	local   kind = iota
	memory       // touches memory, and nothing else
	calling      // calls a function that is known by name
	sending
	receiving
	selecting
)

// An access is one load or store of an operation.
type access struct {
	at     address
	stores bool
	atomic bool
}

// conflicts reports whether two accesses of different goroutines race if they can both come
// next.
func (a access) conflicts(b access) bool {
	return (a.stores || b.stores) && !(a.atomic && b.atomic) && a.at.overlaps(b.at)
}

// visible reports whether the next step of a goroutine is one that others may notice.
func (m *machine) visible(s *state, t *thread) bool {
	return t.top().unwinding != byPanic && m.current(s, t).kind != local
}

// current returns what a goroutine is about to do. What is about to panic is local.
func (m *machine) current(s *state, t *thread) operation {
	f := t.top()
	if f.pending != nil {
		return m.calls(s, f.pending.callee.(*closure), f.pending.args)
	}
	instr := f.block.Instrs[f.pc]
	op := operation{instr: instr}
	touch := func(v value, stores bool) {
		if a, ok := v.(address); ok && a.object != 0 {
			op.kind = memory
			op.accesses = append(op.accesses, access{at: a, stores: stores})
		}
	}
	switch in := instr.(type) {
	case *ssa.UnOp:
		switch {
		case in.Op == token.ARROW:
			op.kind = receiving
		case in.Op == token.MUL && !private(in.X) && !nilCheck(in):
			touch(m.value(f, in.X), false)
		}
	case *ssa.Store:
		if !private(in.Addr) {
			touch(m.value(f, in.Addr), true)
		}
	case *ssa.Send:
		op.kind = sending
	case *ssa.Select:
		op.kind = selecting
	case *ssa.MapUpdate:
		touch(mapAddress(m.value(f, in.Map)), true)
	case *ssa.Lookup:
		touch(mapAddress(m.value(f, in.X)), false)
	case *ssa.Range:
		touch(mapAddress(m.value(f, in.X)), false)
	case *ssa.Next:
		touch(mapAddress(s.object(int(m.value(f, in.Iter).(iterator))).(iteration).over), false)
	case *ssa.Convert:
		if x, ok := m.value(f, in.X).(slice); ok {
			op.elements(x, false)
		}
	case *ssa.Call:
		c, args, ok := m.callee(f, in.Common())
		if !ok {
			return op // a nil function or interface
		}
		op = m.calls(s, c, args)
		op.instr = in
	}
	return op
}

// nilCheck reports whether a load stands for the nil check of &*p: nothing uses what it
// loads, and something else uses p, which is no variable by itself.
func nilCheck(load *ssa.UnOp) bool {
	pointer, ok := load.X.(*ssa.UnOp)
	return ok && len(*load.Referrers()) == 0 && len(*pointer.Referrers()) > 1
}

// calls describes a call.
func (m *machine) calls(s *state, c *closure, args []value) operation {
	op := operation{callee: c, args: args}
	switch {
	case c == nil:
	case c.builtin != nil:
		m.touchedByBuiltin(s, &op)
	case m.body(c.fn) == nil:
		op.kind = calling
		op.extern = m.externName(c.fn)
		if at, stores, ok := atomicAccess(op.extern, args); ok {
			op.accesses = []access{{at: at, stores: stores, atomic: true}}
		}
		if op.extern == cloneMap {
			op.accesses = []access{{at: mapAddress(args[0].(iface).held)}}
		}
	}
	return op
}

// elements notes an access to all elements of a slice.
func (op *operation) elements(x slice, stores bool) {
	for i := range x.n {
		op.kind = memory
		op.accesses = append(op.accesses, access{at: x.element(i), stores: stores})
	}
}

// mapAddress stands for the whole of a map; it is nil for a nil map, and for a string.
func mapAddress(v value) address {
	m, _ := v.(mapRef)
	return address{object: int(m)}
}

// private reports whether an address is in a local variable that nobody else can reach.
func private(addr ssa.Value) bool {
	for {
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			addr = a.X
		case *ssa.IndexAddr:
			if _, ok := a.X.Type().Underlying().(*types.Pointer); !ok {
				return false
			}
			addr = a.X
		case *ssa.Alloc:
			return !a.Heap
		default:
			return false
		}
	}
}

// enabled reports whether a goroutine that is at a visible operation can take a step.
func (m *machine) enabled(s *state, t *thread) bool {
	switch t.parked {
	case running:
		op := m.current(s, t)
		return op.kind != calling || m.externEnabled(s, t, op)
	case onWriting:
		l, _ := s.syncs[m.current(s, t).args[0].(address)].(lock)
		return !l.written && l.readers == 0
	case crashing, groupDone, onTimer:
		return true
	case onChannels, onGroup, forEver:
		return false
	}
	panic("judge: unknown parking")
}
