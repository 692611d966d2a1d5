package sli

import (
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
func (a *analyser) analyseRace() {
	f := a.replay.Failure
	for _, seq := range []uint64{f.Seq, f.Other} {
		if seq == 0 {
			continue
		}
		if steps := a.pathTo(seq); steps != nil {
			a.analyseAccess(steps, true)
		} else {
			a.addReason("the access %d of the race is not in the program's code", seq)
		}
	}
	if len(a.fixes) == 0 {
		a.fixBothAccesses()
	}
}

// fixBothAccesses adds the least that ends a race: a section around each of the two
// accesses, with the loads that the access depends on. The search for conflicts sees no
// connection between some operations that race, and finds no fix for them.
func (a *analyser) fixBothAccesses() {
	f := a.replay.Failure
	ord := newHappensBefore(a.replay.Trace, map[uint64]bool{f.Seq: true, f.Other: true})
	fix := &Fix{}
	for _, seq := range []uint64{f.Seq, f.Other} {
		steps := a.pathTo(seq)
		e, ok := a.replay.Trace.Event(seq)
		if steps == nil || !ok {
			return
		}
		end := steps[len(steps)-1]
		x := &Access{Point: end.Point, Store: e.Writes(), Data: end.Instr.Data}
		x.addOccurrence(e.Seq, e.Addr, ord.stampOf(e, a.replay.Trace.Last()))
		s := a.sectionOver(a.operationOf(x), singleFragment(end.Instr))
		s.Role = Writing
		s.Accesses = append(s.Accesses, x)
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
	d := newDeriver(a.replay, steps, a.isPrivate)
	machines := d.derive(racedAccess(&end, d))
	first := -1
	for i, m := range machines {
		for _, l := range m.Loads() {
			if l.Label.Point == end.Point {
				continue
			}
			on = append(on, touchedMemory{l, d.loadAddrs[l.Label.Key()], l.Size})
			same := end.Instr.Op == ir.Store && d.loadAddrs[l.Label.Key()] == end.Addr
			if race && same || !race && a.changedMeanwhile(d, l, &end) {
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
	a.solve(d, machines, solveOptions{race: race, access: end.Point})
	return true, on
}

// changedMeanwhile reports whether another goroutine wrote to what l loaded before the end of
// the path.
func (a *analyser) changedMeanwhile(d *deriver, l *ir.Expr, end *exec.Step) bool {
	found := false
	if t := d.loadTimes[l.Label.Key()]; t != 0 && d.loadAddrs[l.Label.Key()] < ir.FirstInvented {
		size := l.Size
		if len(l.Args) > 1 {
			size = 1
		}
		self, _ := a.replay.Trace.Event(end.Time)
		a.replay.Trace.Accesses(d.loadAddrs[l.Label.Key()], uint32(size), t+1, end.Time, func(e *exec.Event) bool {
			found = e.Writes() && e.G != self.G
			return !found
		})
	}
	return found
}

// racedAccess is the proximal cause of a race: the access, and whether what it works with
// was changed meanwhile.
func racedAccess(s *exec.Step, d *deriver) Edge {
	in, c := s.Instr, s.Context
	args := []*ir.Expr{in.Operand.InContext(c)}
	if in.Key != nil {
		args = append(args, in.Key.InContext(c))
	}
	l := &ir.Label{Point: s.Point}
	d.loadAddrs[l.Key()] = s.Addr
	values := []*ir.Expr{ir.LoadExpr(l, in.Size, args...)}
	if in.Op == ir.Store && in.Value != nil {
		values = append(values, in.Value.InContext(c))
	}
	return branchOn(ir.Raced(values...), Edge{To: crashState}, Edge{To: noCrashState})
}

// maxStoresTried bounds the stores that are looked at for one that came too late.
const maxStoresTried = 60

// lostUpdates looks, among the stores to the memory that the crashing goroutine read,
// for one that depends on a load of something that another goroutine changed between
// the load and the store. There the first thing went wrong, although nothing crashed
// yet: an update is lost, or made twice. If there is none, the stores to what these
// stores depend on are looked at in turn.
func (a *analyser) lostUpdates(specials []*specialisation) {
	type place struct {
		addr uint64
		size int
	}
	tried := map[place]bool{}
	found := map[uint32]bool{} // sites
	tries := map[uint32]int{}
	left := maxStoresTried
	var list, next []touchedMemory
	for _, s := range specials {
		list = append(list, s.touched...)
	}
	for len(list) > 0 && len(found) == 0 {
		next = nil
		for _, t := range list {
			p := place{t.addr, t.size}
			if tried[p] || t.addr >= ir.FirstInvented || t.addr == 0 {
				continue
			}
			tried[p] = true
			a.replay.Trace.Accesses(t.addr, uint32(t.size), 1, a.replay.Trace.Last(), func(e *exec.Event) bool {
				if !e.Writes() || found[e.Site] || tries[e.Site] > maxStoresTried/6 {
					return true
				}
				tries[e.Site]++
				left--
				if steps := a.pathTo(e.Seq); steps != nil {
					ok, on := a.analyseAccess(steps, false)
					if ok {
						found[e.Site] = true
					}
					next = append(next, on...)
				}
				return left > 0
			})
		}
		list = next
	}
}

// operationOf widens a conflicting access to the operation it is part of: back to the
// first load of the same memory that it depends on. It returns the points that must
// be in one section, the earliest first.
func (a *analyser) operationOf(x *Access) []ir.Point {
	points, ok := a.operations[x.Point]
	if !ok {
		points = a.operationBackTo(x.Events[0])
		a.operations[x.Point] = points
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
	if end.Instr.Op != ir.Store {
		return points
	}
	d := newDeriver(a.replay, steps, a.isPrivate)
	for _, m := range d.derive(racedAccess(&end, d)) {
		if m.At.Instr.Op == ir.Load && m.At != end.Point {
			for _, l := range m.Loads() {
				if l.Label.Point == m.At && d.loadAddrs[l.Label.Key()] == end.Addr {
					points = append([]ir.Point{m.At}, points...)
					break
				}
			}
		}
	}
	return points
}
