package sli

import (
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// readSection is the section of the read operation: a fragment that has all loads of the machine.
func (a *analyser) readSection(derivation *deriver, conflicts *machineConflicts, specialisations []*specialisation, order *happensBefore, together grouping) *Section {
	at := map[ir.Point]int{}
	for i := len(derivation.path) - 1; i >= conflicts.machine.index; i-- {
		at[derivation.path[i].Point] = i
	}
	points := make([]ir.Point, 0, len(conflicts.loads))
	for p := range conflicts.loads {
		points = append(points, p)
	}
	place := func(p ir.Point) int {
		if i, ok := at[p]; ok {
			return i
		}
		return len(derivation.path)
	}
	sort.Slice(points, func(i, j int) bool {
		if x, y := place(points[i]), place(points[j]); x != y {
			return x < y
		}
		return points[i].Instr.ID < points[j].Instr.ID
	})
	var across map[ir.Point]*ir.Context
	if together.aroundLoops {
		across = conflicts.machine.acrossRounds()
	}
	context := points[0].Context
	for _, p := range points {
		inner := p.Context
		if loop, ok := across[p]; ok {
			inner = loop
		}
		if context = ir.CommonContext(context, inner); context == nil {
			return nil
		}
	}
	set := instrsIn(context, points)
	if set == nil {
		return nil
	}
	s := loadsFragment(context.Func, set[0], set)
	s.Role = Reading
	for _, loop := range across {
		s.AcrossRounds = s.AcrossRounds || loop == context
	}
	for _, p := range points {
		access := &Access{Point: p, Data: p.Instr.Data, Store: p.Instr.Writes()}
		for _, special := range specialisations {
			for _, passage := range special.passages {
				if seq, ok := passage.loads[p]; ok {
					if event, ok := a.replay.Trace.Event(seq); ok {
						access.addOccurrence(seq, event.Addr, order.stamps[seq])
					}
				}
			}
		}
		s.Accesses = append(s.Accesses, access)
	}
	return s
}

// acrossRounds are the points at which the machine loads in several rounds of a loop, each with the
// context whose function has the loop: the call that the load is made in may be in the loop.
//
//	for n := list; n != nil; n = n.next {
//		sum += n.get()              the load is in get, the loop is here
//	}
func (m *Machine) acrossRounds() map[ir.Point]*ir.Context {
	times := make(map[ir.Point]int)
	for _, load := range m.Loads() {
		times[load.Label.Point]++
	}
	found := make(map[ir.Point]*ir.Context)
	for p, n := range times {
		if n < 2 {
			continue
		}
		for context, in := p.Context, p.Instr; context != nil && in != nil; context, in = context.Parent, context.Call {
			if isInLoop(in.Block) {
				found[p] = context
				break
			}
		}
	}
	return found
}

// isInLoop reports whether control can come from a block to the block again.
func isInLoop(block *ir.Block) bool {
	seen := make(map[*ir.Block]bool)
	todo := append([]*ir.Block(nil), block.Succs...)
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if b == block {
			return true
		}
		if !seen[b] {
			seen[b] = true
			todo = append(todo, b.Succs...)
		}
	}
	return false
}
