package slitest

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// An Extern does in a simulation what a call of something outside the program does.
type Extern func(s *Simulation, t *exec.Thread, in *ir.Instr, args []ir.Value) (ir.Value, exec.Status)

// Extern does what Externs has under the instruction's name. Everything else does
// nothing and gives zero.
func (s *Simulation) Extern(thread *exec.Thread, in *ir.Instr, args []ir.Value) (ir.Value, exec.Status) {
	if f := s.Externs[in.Extern]; f != nil {
		return f(s, thread, in, args)
	}
	return ir.Zero(in.Size), exec.Running
}

// Grow appends args[1] to args[0], both of the form address, length, room, with elements
// of args[2] bytes. If there is not enough room the elements move.
func Grow(s *Simulation, thread *exec.Thread, in *ir.Instr, args []ir.Value) (ir.Value, exec.Status) {
	x, y, elem := args[0], args[1], args[2].Uint()
	base, n, room := x.Slice(0, 8).Uint(), x.Slice(8, 8).Uint(), x.Slice(16, 8).Uint()
	from, more := y.Slice(0, 8).Uint(), y.Slice(8, 8).Uint()
	added := s.Peek(from, int(more*elem))
	if n+more > room {
		room = 2*room + more
		old := base
		base = s.Allocate(int(room * elem))
		s.Poke(base, s.Peek(old, int(n*elem)))
		if n > 0 {
			s.access(thread, in, exec.Event{Kind: exec.KindLoad, Addr: old, Size: uint32(n * elem)})
		}
	} else if more > 0 {
		at := base + n*elem
		s.access(thread, in, exec.Event{Kind: exec.KindStore, Addr: at, Size: uint32(more * elem), Before: s.Peek(at, int(more*elem)), After: added})
	}
	s.Poke(base+n*elem, added)
	return ir.Bytes(ir.Word(8, room).Append(ir.Word(8, n+more).Append(ir.Word(8, base).Append(nil)))), exec.Running
}

// Copy copies as many elements of args[1] to args[0] as both have, and gives how many.
// Both begin with address and length; an element has args[2] bytes.
func Copy(s *Simulation, thread *exec.Thread, in *ir.Instr, args []ir.Value) (ir.Value, exec.Status) {
	to, from, elem := args[0], args[1], args[2].Uint()
	n := min(to.Slice(8, 8).Uint(), from.Slice(8, 8).Uint())
	if size := int(n * elem); size > 0 {
		at, added := to.Slice(0, 8).Uint(), s.Peek(from.Slice(0, 8).Uint(), size)
		s.access(thread, in, exec.Event{Kind: exec.KindStore, Addr: at, Size: uint32(size), Before: s.Peek(at, size), After: added})
		s.Poke(at, added)
	}
	return ir.Word(8, n), exec.Running
}

// Once calls the closure args[1] unless it was called for args[0] before, and returns
// when that call is over.
func Once(s *Simulation, thread *exec.Thread, in *ir.Instr, args []ir.Value) (ir.Value, exec.Status) {
	const running, done = 1, 2
	addr := args[0].Uint()
	switch s.onces[addr] {
	case 0:
		s.onces[addr] = running
		s.calling[thread.G] = true
		c := s.closures[args[1].Uint()]
		thread.CallBack(c.Func, nil, c.Captured)
		return ir.Value{}, exec.Called
	case running:
		if !s.calling[thread.G] {
			return ir.Value{}, exec.Blocked
		}
		delete(s.calling, thread.G)
		s.onces[addr] = done
		s.event(thread, in, exec.Event{Kind: exec.KindRelease, Addr: addr})
	default:
		s.event(thread, in, exec.Event{Kind: exec.KindAcquire, Addr: addr})
	}
	return ir.Value{Known: true}, exec.Running
}
