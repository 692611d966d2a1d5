package exec

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Crash decides whether a test fails. If its condition is not known, the failure decides: the
// goroutine crashed there, and nothing happened in that call afterwards. Or else what happened
// next: see hasCrashed.
func (f *follower) Crash(thread *Thread, in *ir.Instr, cond ir.Value) bool {
	f.crashSeen = false
	if in.Cause == ir.Assertion {
		return false // a test that reports its failure goes on
	}
	if cond.Known {
		return cond.Uint() != 0
	}
	if f.hasEvent && f.Failure.G == f.g && in.Cause == f.Failure.Cause && f.Failure.isAt(in) && f.isLastInFrame(thread.Top()) {
		return true
	}
	f.crashSeen = f.hasCrashed(thread)
	return f.crashSeen
}

// isLastInFrame reports whether nothing more happens in a call but that it is left: it is the
// one that crashed.
func (f *follower) isLastInFrame(top *Frame) bool {
	for event, ok := f.event, f.hasEvent; ok; event, ok = f.Trace.Next(f.g, event.Seq) {
		switch event.Kind {
		case KindCrash:
			return true
		case KindLoad, KindStore, KindUpdate, KindSpawn:
			if event.Frame == top.ID {
				return false
			}
		}
	}
	return true
}

// Branch follows the side from which the goroutine's next event is nearer, of those that lead
// there.
func (f *follower) Branch(thread *Thread, in *ir.Instr) int {
	if !f.hasEvent {
		return -1
	}
	sides := f.sidesToEvent(thread.Top(), in)
	switch {
	case len(sides) == 0:
		return -1
	case len(sides) > 1:
		return f.scouted(thread, sides)
	}
	return sides[0]
}

// scouted is the first of several sides of a branch that leads to the next event, or else the first.
func (f *follower) scouted(thread *Thread, sides []int) int {
	left := min(maxScouted, maxScoutedAhead-f.scoutedSteps)
	before := left
	defer func() { f.scoutedSteps += before - left }()
	for _, side := range sides {
		if f.leadsOn(thread, side, &left) {
			return side
		}
	}
	return sides[0]
}

// sidesToEvent are the sides of a branch from which there is a way to the next event, the nearest
// first.
func (f *follower) sidesToEvent(top *Frame, in *ir.Instr) []int {
	var sides, distances []int
	for i, s := range in.Block.Succs {
		if d := f.blocksToEvent(top, s); d >= 0 {
			at, _ := slices.BinarySearch(distances, d+1) // behind those that are as near
			sides, distances = slices.Insert(sides, at, i), slices.Insert(distances, at, d)
		}
	}
	return sides
}

// blocksToEvent is how many blocks lie between a block and the instruction that makes the next
// event, or where the call is left if the event is another call's; -1 if there is no way.
func (f *follower) blocksToEvent(top *Frame, from *ir.Block) int {
	event := f.event
	wanted := func(in *ir.Instr) bool {
		switch {
		case f.Failure.G == f.g && in.Op == ir.Test && in.Cause == f.Failure.Cause && f.Failure.isAt(in) && f.isLastInFrame(top):
			return true
		case event.Kind == KindCall && uint32(event.Arg) == top.ID, event.Kind != KindCall && event.Frame == top.ID:
			return f.canMake(in, event)
		}
		return in.Op == ir.Return // the event is of another frame: this one must end
	}
	seen := map[*ir.Block]bool{from: true}
	for list, d := []*ir.Block{from}, 0; len(list) > 0; d++ {
		var next []*ir.Block
		for _, block := range list {
			for _, in := range block.Instrs {
				if wanted(in) {
					return d
				}
			}
			for _, s := range block.Succs {
				if !seen[s] {
					seen[s] = true
					next = append(next, s)
				}
			}
		}
		list = next
	}
	return -1
}

// Target finds the function of a dynamic call by its value or, if that is not known, by the
// call that the trace has next.
func (f *follower) Target(thread *Thread, in *ir.Instr, value ir.Value) (*ir.Func, []ir.Value) {
	if in.Method != "" {
		if value.Known {
			if m := f.Program.Methods[f.nameAt(value.Uint())]; m != nil && m[in.Method] != nil {
				return m[in.Method], nil
			}
		}
	} else if c, ok := f.closures[value.Uint()]; ok && value.Known {
		return c.Func, c.Captured
	}
	if value.Known && value.Uint() != 0 {
		if fn := f.Program.FuncWithCode(value.Uint()); fn != nil {
			return fn, nil
		}
	}
	// The trace is the oracle.
	if f.hasEvent && f.event.Kind == KindCall && uint32(f.event.Arg) == thread.Top().ID {
		return f.Program.FuncAt(f.event.Site), nil
	}
	return nil, nil
}
