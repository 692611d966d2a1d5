package sli

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// analyseRace analyses two accesses that nothing orders and no crash followed. The read
// operation is taken from either side.
//
// If the access stores something that depends on an earlier load of the same memory
// (the value, or whether it stores at all), the operation begins at that load: a
// lock around the store alone would silence a race detector and still lose updates.
// Otherwise the access by itself is the operation; the machines further back, which
// add the loads that decide whether and where it is made, are the alternatives.
func (a *analyser) analyseRace(failure exec.Failure) {
	a.focus = failure.Seq
	for _, seq := range []uint64{failure.Seq, failure.Other} {
		if seq == 0 {
			continue
		}
		if steps := a.pathTo(seq); steps != nil {
			a.analyseAccess(steps, true)
		} else {
			a.addReason("the access %d of the race is not in the program's code", seq)
		}
	}
	a.fixBothAccesses(failure)
}

// fixBothAccesses adds the plain fix of a race: a section around each of the two accesses,
// with the loads that the access depends on. The search for conflicts sees no connection
// between some operations that race, and finds no fix for them, or one that cannot be
// written. It comes after the others.
func (a *analyser) fixBothAccesses(failure exec.Failure) {
	order := newHappensBefore(a.replay.Trace, map[uint64]bool{failure.Seq: true, failure.Other: true})
	fix := &Fix{Plain: true}
	for _, seq := range []uint64{failure.Seq, failure.Other} {
		steps := a.pathTo(seq)
		event, ok := a.replay.Trace.Event(seq)
		if steps == nil || !ok {
			return
		}
		end := steps[len(steps)-1]
		access := &Access{Point: end.Point, Store: event.Writes(), Data: end.Instr.Data}
		access.addOccurrence(event.Seq, event.Addr, order.stampOf(event, a.replay.Trace.Last()))
		s := a.sectionOver(a.operationOf(access), singleFragment(end.Instr))
		s.Role = Writing
		s.Accesses = append(s.Accesses, access)
		fix.Sections = append(fix.Sections, s)
	}
	fix.mergeOverlapping()
	fix.computeCost(a.options)
	a.addFix(fix)
}

// analyseAccess analyses the last step of a path as an access that another goroutine
// disturbed. In a race that is certain. Otherwise the access is a store, and it counts as
// disturbed only if something that it depends on was changed between its load and the
// store. The results are whether the access was disturbed, and what it depends on.
func (a *analyser) analyseAccess(steps []exec.Step, race bool) (ok bool, on []touchedMemory) {
	end := steps[len(steps)-1]
	if !end.Instr.IsAccess() {
		return false, nil
	}
	derivation := a.newDeriver(steps)
	machines := derivation.derive(racedAccess(&end, derivation))
	first := -1
	for i, machine := range machines {
		for _, l := range machine.Loads() {
			if l.Label.Point == end.Point {
				continue
			}
			on = append(on, touchedMemory{l, derivation.loadAddrs[l.Label.Key()], l.Size})
			same := end.Instr.Writes() && derivation.loadAddrs[l.Label.Key()] == end.Addr
			if race && same || !race && a.changedMeanwhile(derivation, l, &end) {
				first = i
			}
		}
		if first >= 0 {
			break
		}
	}
	if first < 0 && !race {
		return false, on
	}
	if first > 0 {
		machines = machines[first:]
	}
	if a.analysis.Crash.Instr == nil {
		a.analysis.Crash = end.Point
	}
	a.analysis.Machines = append(a.analysis.Machines, machines...)
	a.solve(derivation, machines, solveOptions{race: race, access: end.Point})
	return true, on
}

// changedMeanwhile reports whether another goroutine wrote to what was loaded before the end of
// the path.
func (a *analyser) changedMeanwhile(derivation *deriver, l *ir.Expr, end *exec.Step) bool {
	found := false
	if t := derivation.loadTimes[l.Label.Key()]; t != 0 && derivation.loadAddrs[l.Label.Key()] < ir.FirstInvented {
		size := l.Size
		if len(l.Args) > 1 {
			size = 1
		}
		self, _ := a.replay.Trace.Event(end.Time)
		a.replay.Trace.Accesses(derivation.loadAddrs[l.Label.Key()], uint32(size), t+1, end.Time, func(event *exec.Event) bool {
			found = event.Writes() && event.G != self.G
			return !found
		})
	}
	return found
}

// racedAccess is the proximal cause of a race: the access, and whether what it works with
// was changed meanwhile.
func racedAccess(step *exec.Step, derivation *deriver) Edge {
	in, context := step.Instr, step.Context
	args := []*ir.Expr{in.Operand.InContext(context)}
	if in.Key != nil {
		args = append(args, in.Key.InContext(context))
	}
	label := &ir.Label{Point: step.Point}
	derivation.loadAddrs[label.Key()] = step.Addr
	values := []*ir.Expr{ir.LoadExpr(label, in.Size, args...)}
	if in.Writes() && in.Value != nil {
		values = append(values, in.Value.InContext(context))
	}
	edge := branchOn(ir.Raced(values...), Edge{To: crashState}, Edge{To: noCrashState})
	if in.Op == ir.Update { // what it leaves follows from what it finds
		edge = substitute(edge, context, in.Dst, values[0])
	}
	return edge
}

// maxStoresTried bounds the stores that are looked at for one that came too late.
const maxStoresTried = 60

// lostUpdates looks, among the stores to the memory that the crashing goroutine read,
// for one that depends on a load of something that another goroutine changed between
// the load and the store. There the first thing went wrong, although nothing crashed
// yet: an update is lost, or made twice. If there is none, the stores to what these
// stores depend on are looked at in turn.
func (a *analyser) lostUpdates(specialisations []*specialisation) {
	tried := map[uint64]map[int]bool{} // by address and size
	found := map[uint32]bool{}         // sites
	tries := map[uint32]int{}
	left := maxStoresTried
	var list []touchedMemory
	for _, special := range specialisations {
		list = append(list, special.touched...)
	}
	for len(list) > 0 && len(found) == 0 && !a.replay.Ended() {
		list = slices.DeleteFunc(list, func(memory touchedMemory) bool {
			if memory.addr >= ir.FirstInvented || memory.addr == 0 || tried[memory.addr][memory.size] {
				return true
			}
			if tried[memory.addr] == nil {
				tried[memory.addr] = map[int]bool{}
			}
			tried[memory.addr][memory.size] = true
			return false
		})
		var next []touchedMemory
		for _, event := range a.lateStores(list) {
			if found[event.Site] || tries[event.Site] > maxStoresTried/6 {
				continue
			}
			tries[event.Site]++
			if left--; left < 0 || a.replay.Ended() {
				return
			}
			steps := a.pathTo(event.Seq)
			if steps == nil {
				continue
			}
			a.focus = event.Seq
			ok, on := a.analyseAccess(steps, false)
			if ok {
				found[event.Site] = true
			}
			next = append(next, on...)
		}
		list = next
	}
}

// A storeHistory is what was stored to a piece of memory so far.
type storeHistory struct {
	touchedMemory
	loaded map[uint32]uint64 // by goroutine, when it loaded last
	// last is the last store, and lastOfOthers the last by another goroutine than that one's.
	last, lastOfOthers exec.Event
	late, others       []exec.Event
}

// lateStores are the stores to some memory that may have come too late: first those before
// which another goroutine has stored since the last load of the same memory by their own, then
// the first of the others. The trace is read once for all of the memory.
func (a *analyser) lateStores(list []touchedMemory) []exec.Event {
	const word = 8
	var histories []*storeHistory
	byWord := map[uint64][]*storeHistory{}
	for _, memory := range list {
		h := &storeHistory{touchedMemory: memory, loaded: map[uint32]uint64{}}
		histories = append(histories, h)
		for w := memory.addr / word; w <= (memory.addr+uint64(max(memory.size, 1))-1)/word; w++ {
			byWord[w] = append(byWord[w], h)
		}
	}
	if len(list) == 0 {
		return nil
	}
	a.replay.Trace.AllAccesses(func(event *exec.Event) bool {
		for w := event.Addr / word; w <= (event.Addr+uint64(event.Size)-1)/word; w++ {
			for _, h := range byWord[w] {
				if h.last.Seq != event.Seq && event.Touches(h.addr, uint32(max(h.size, 1))) {
					h.add(event)
				}
			}
		}
		return true
	})
	var late, others []exec.Event
	for _, h := range histories {
		late, others = append(late, h.late...), append(others, h.others...)
	}
	return append(late, others...)
}

// add takes note of an access.
func (h *storeHistory) add(event *exec.Event) {
	if event.Kind == exec.KindLoad {
		h.loaded[event.G] = event.Seq
	}
	if !event.Writes() {
		return
	}
	before := h.last
	if before.G == event.G {
		before = h.lastOfOthers
	}
	switch at := h.loaded[event.G]; {
	case at != 0 && before.Seq > at && event.Kind != exec.KindUpdate && len(h.late) < maxStoresTried:
		h.late = append(h.late, *event)
	case len(h.others) < maxStoresTried:
		h.others = append(h.others, *event)
	}
	if h.last.G != event.G {
		h.lastOfOthers = h.last
	}
	h.last = *event
}

// operationOf widens a conflicting access to the operation it is part of: back to the
// first load of the same memory that it depends on. It returns the points that must
// be in one section, the earliest first.
func (a *analyser) operationOf(access *Access) []ir.Point {
	points, ok := a.operations[access.Point]
	if !ok {
		points = a.operationBackTo(access.Events[0])
		a.operations[access.Point] = points
	}
	return points
}

// operationBackTo are the points from the first load of what an access stores to, on which
// the stored value depends, up to the access.
func (a *analyser) operationBackTo(seq uint64) []ir.Point {
	steps := a.pathTo(seq)
	if steps == nil {
		return nil
	}
	end := steps[len(steps)-1]
	points := []ir.Point{end.Point}
	if !end.Instr.Writes() {
		return points
	}
	derivation := a.newDeriver(steps)
	for _, machine := range derivation.derive(racedAccess(&end, derivation)) {
		if (machine.At.Instr.Op == ir.Load || machine.At.Instr.Op == ir.Update) && machine.At != end.Point {
			for _, l := range machine.Loads() {
				if l.Label.Point == machine.At && derivation.loadAddrs[l.Label.Key()] == end.Addr {
					points = append([]ir.Point{machine.At}, points...)
					break
				}
			}
		}
	}
	return points
}
