package exec

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A branch on something unknown can often go both ways, and what the side makes of it decides
// which way the goroutine really went:
//
//	r1 = load m[k]                event 7: the value was not recorded
//	branch r1 b1 b2
//	b1: r2 = r1 > 0
//	b2: r3 = phi (false, r2)
//	branch r3 b3 b4               event 8 is a store that only b3 has
//
// The way over b2 alone is shorter, and ends in b4. So both sides are tried ahead, by a scout:
// a goroutine of its own that leaves everything as it is, and says whether it comes to the next
// event. That a call returns says nothing of how, so returns are passed over.

// maxScouted is how many steps are made ahead for one branch, and maxScoutedAhead for all branches
// between two events: in what computes for long, such as sorting, the nearest side has to do.
const (
	maxScouted      = 512
	maxScoutedAhead = 2048
)

// A scout is the Host of a goroutine that is followed ahead, up to its next event.
type scout struct {
	follower
	left    *int // steps that may be made, by all scouts of one branch
	memory  *unrecordedMemory
	made    uint64 // objects that it has invented
	arrived bool   // at the event
	forks   []int  // the sides of an unknown branch that it has come to
}

// leadsOn reports whether the thread, which is at a branch, comes to its next event by a side of
// it, or may do so: it does not if the way ends before, or fails.
func (f *follower) leadsOn(thread *Thread, side int, left *int) bool {
	s := &scout{follower: *f, left: left, memory: newUnrecordedMemory()}
	return s.takes(thread, side)
}

// hasCrashed reports of a thread that is at a test, with a condition that is not known, that the
// test has failed: the thread does not come to its next event by going on, and does by making what
// is deferred.
func (f *follower) hasCrashed(thread *Thread) bool {
	if !f.hasEvent || f.event.Kind == KindCrash || !thread.catches() {
		return false
	}
	ahead := func(begin func(*Thread)) (s *scout, leads bool) {
		left := max(0, min(maxScouted, maxScoutedAhead-f.scoutedSteps))
		before := left
		defer func() { f.scoutedSteps += before - left }()
		s = &scout{follower: *f, left: &left, memory: newUnrecordedMemory()}
		own := s.from(thread)
		begin(own)
		return s, s.arrives(own)
	}
	if _, leads := ahead(func(own *Thread) { own.Top().Index++ }); leads {
		return false
	}
	s, _ := ahead(func(own *Thread) { own.Unwind() })
	return s.arrived
}

// from returns a thread that goes ahead of another one.
func (s *scout) from(thread *Thread) *Thread {
	ahead := &Thread{G: thread.G, prog: thread.prog, host: s, contexts: thread.contexts, Frames: slices.Clone(thread.Frames)}
	s.ownTop(ahead, len(ahead.Frames)-1)
	return ahead
}

// takes reports whether the scout arrives by a side of the branch that a thread is at.
func (s *scout) takes(from *Thread, side int) bool {
	thread := s.from(from)
	block := thread.Top().Block
	thread.enter(block.Succs[side], block, side)
	return s.arrives(thread)
}

// arrives reports whether the scout arrives with its thread.
func (s *scout) arrives(thread *Thread) bool {
	for *s.left > 0 {
		*s.left--
		status := thread.Step()
		switch {
		case s.arrived:
			return true
		case len(s.forks) > 0:
			sides := s.forks
			for _, side := range sides {
				next := &scout{follower: s.follower, left: s.left, memory: s.memory.clone(), made: s.made}
				if next.takes(thread, side) {
					s.arrived = next.arrived
					return true
				}
			}
			return false
		case status == Crashed && thread.Unwind():
		case status != Running:
			return false
		}
	}
	return true // it cannot be told
}

// ownTop gives a scout's thread a frame of its own, which it may change.
func (s *scout) ownTop(thread *Thread, i int) {
	if i >= 0 {
		frame := *thread.Frames[i]
		frame.Regs, frame.defers = slices.Clone(frame.Regs), slices.Clone(frame.defers)
		thread.Frames[i] = &frame
	}
}

// makes reports whether an instruction makes the next event, so that the scout has arrived.
func (s *scout) makes(in *ir.Instr, kinds ...Kind) bool {
	if slices.Contains(in.Sites, s.event.Site) && (len(kinds) == 0 || slices.Contains(kinds, s.event.Kind)) {
		s.arrived = true
	}
	return s.arrived
}

func (s *scout) Load(_ *Thread, in *ir.Instr, addr, key ir.Value) (ir.Value, Status) {
	switch {
	case s.makes(in, KindLoad, KindUpdate):
		return ir.Unknown(in.Size), Blocked
	case in.Key == ir.NextKey && len(in.Sites) > 0:
		return ir.Word(1, 0), Running
	case !addr.Known || key.Size > 0:
		return ir.Unknown(in.Size), Running
	case addr.Uint() < ir.FirstPage:
		return ir.Unknown(in.Size), Lost
	}
	at := s.Real(addr.Uint())
	if value, ok := s.memory.load(at, in.Size); ok {
		return value, Running
	}
	return s.unrecordedLoad(at, in.Size), Running
}

func (s *scout) Store(_ *Thread, in *ir.Instr, addr, key, val ir.Value) Status {
	switch {
	case s.makes(in, KindStore, KindUpdate):
		return Blocked
	case addr.Known && key.Size == 0 && val.Known:
		s.memory.store(s.Real(addr.Uint()), val)
	}
	return Running
}

func (s *scout) Update(thread *Thread, in *ir.Instr, addr ir.Value, change func(ir.Value) ir.Value) (ir.Value, Status) {
	old, status := s.Load(thread, in, addr, ir.Value{})
	if status == Running {
		status = s.Store(thread, in, addr, ir.Value{}, change(old))
	}
	return old, status
}

func (s *scout) Alloc(_ *Thread, _ *ir.Instr, size ir.Value) ir.Value {
	s.made++
	at := s.lastInvented + s.made*inventedRoom
	if size.Known && size.Uint() < 1<<16 {
		s.memory.store(at, ir.Zero(int(size.Uint())))
	}
	return ir.Word(8, at)
}

func (s *scout) Sync(_ *Thread, in *ir.Instr, _ []ir.Value) (ir.Value, Status) {
	if s.makes(in) {
		return ir.Unknown(in.Size), Blocked
	}
	return ir.Unknown(in.Size), Running
}

func (s *scout) Extern(thread *Thread, in *ir.Instr, _ []ir.Value) (ir.Value, Status) {
	if s.makes(in) || s.event.Kind == KindCall && uint32(s.event.Arg) == thread.Top().ID {
		s.arrived = true
		return ir.Unknown(in.Size), Blocked
	}
	return ir.Unknown(in.Size), Running
}

func (s *scout) Spawn(_ *Thread, in *ir.Instr, _ *ir.Func, _, _ []ir.Value) { s.makes(in, KindSpawn) }

func (s *scout) Enter(thread *Thread, frame *Frame) {
	switch n := len(thread.Frames); {
	case s.event.Kind == KindCall && s.Program.FuncAt(s.event.Site) == frame.Func:
		s.arrived = true
	case n > 1:
		frame.ID = thread.Frames[n-2].ID
	}
}

func (s *scout) Leave(thread *Thread, frame *Frame) {
	if s.event.Kind == KindReturn && s.event.Frame == frame.ID {
		s.advance(s.event.Seq)
		s.arrived = !s.hasEvent
	}
	s.ownTop(thread, len(thread.Frames)-2)
}

func (s *scout) Crash(_ *Thread, in *ir.Instr, cond ir.Value) bool {
	fails := in.Cause != ir.Assertion && cond.Known && cond.Uint() != 0
	if fails && s.event.Kind == KindCrash {
		s.arrived = true
	}
	return fails
}

func (s *scout) Branch(thread *Thread, in *ir.Instr) int {
	if s.forks = s.sidesToEvent(thread.Top(), in); len(s.forks) == 1 {
		side := s.forks[0]
		s.forks = nil
		return side
	}
	return -1
}

func (s *scout) Closure(string, []ir.Value) ir.Value { return ir.Unknown(8) }
