package sli

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// race analyses two accesses that nothing orders and no crash followed. The read
// operation is taken from either side.
//
// If the access stores something that depends on an earlier load of the same memory
// (the value, or whether it stores at all), the operation begins at that load: a
// lock around the store alone would silence a race detector and still lose updates.
// Otherwise the access by itself is the operation; the machines further back, which
// add the loads that decide whether and where it is made, are the alternatives.
func (a *analyser) race() {
	f := a.r.Failure
	for _, seq := range []uint64{f.Seq, f.Other} {
		if seq == 0 {
			continue
		}
		if steps := a.pathTo(seq); steps != nil {
			a.access(steps, true)
		} else {
			a.reason("the access %d of the race is not in the program's code", seq)
		}
	}
	if len(a.fixes) == 0 {
		a.pair()
	}
}

// pair is the least that ends a race: a section around each of the two accesses, with the
// loads that the access depends on. It is for races between operations that the search
// for conflicts sees no connection of, such as those that crashed in no run alone.
func (a *analyser) pair() {
	f := a.r.Failure
	ord := newOrder(a.r.Trace, map[uint64]bool{f.Seq: true, f.Other: true})
	fix := &Fix{}
	for _, seq := range []uint64{f.Seq, f.Other} {
		steps := a.pathTo(seq)
		e, ok := a.r.Trace.Event(seq)
		if steps == nil || !ok {
			return
		}
		end := steps[len(steps)-1]
		x := &Access{Point: end.Point, Store: e.Writes(), Data: end.Instr.Data}
		x.add(e.Seq, e.Addr, ord.of(e, a.r.Trace.Last()))
		s := a.joined(a.together(x), oneFragment(end.Instr))
		s.Role = Writing
		s.Accesses = append(s.Accesses, x)
		fix.Sections = append(fix.Sections, s)
	}
	fix.join()
	fix.price(a.opts)
	a.add(fix)
}

// access analyses the last step of a path as an access that somebody disturbed. With
// raced, that is all there is to know. Without, it is a store that is taken to be one
// only if something it depends on was changed between its load and the store. It
// reports whether it was, and what it depends on.
func (a *analyser) access(steps []exec.Step, race bool) (ok bool, on []touched) {
	end := steps[len(steps)-1]
	if !end.Instr.IsAccess() {
		return false, nil
	}
	d := newDeriver(a.r, steps, a.private)
	machines := d.run(raced(&end, d))
	first := -1
	for i, m := range machines {
		for _, l := range m.Loads() {
			if l.Label.Point == end.Point {
				continue
			}
			on = append(on, touched{l, d.addrs[l.Label.Key()], l.Size})
			same := end.Instr.Op == ir.Store && d.addrs[l.Label.Key()] == end.Addr
			if race && same || !race && a.changed(d, l, &end) {
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
	if a.out.Crash.Instr == nil {
		a.out.Crash = end.Point
	}
	a.out.Machines = append(a.out.Machines, machines...)
	a.solve(d, machines, solveOptions{race: race, access: end.Point})
	return true, on
}

// changed reports whether another goroutine wrote to what l loaded before the end of
// the path.
func (a *analyser) changed(d *deriver, l *ir.Expr, end *exec.Step) bool {
	found := false
	if t := d.times[l.Label.Key()]; t != 0 && d.addrs[l.Label.Key()] < ir.FirstInvented {
		size := l.Size
		if len(l.Args) > 1 {
			size = 1
		}
		self, _ := a.r.Trace.Event(end.Time)
		a.r.Trace.Accesses(d.addrs[l.Label.Key()], uint32(size), t+1, end.Time, func(e *exec.Event) bool {
			found = e.Writes() && e.G != self.G
			return !found
		})
	}
	return found
}

// raced is the proximal cause of a race: the access, and whether what it works with
// was changed meanwhile.
func raced(s *exec.Step, d *deriver) Edge {
	in, c := s.Instr, s.Ctx
	args := []*ir.Expr{in.X.InContext(c)}
	if in.Key != nil {
		args = append(args, in.Key.InContext(c))
	}
	l := &ir.Label{Point: s.Point}
	d.addrs[l.Key()] = s.Addr
	values := []*ir.Expr{ir.LoadOf(l, in.Size, args...)}
	if in.Op == ir.Store && in.Val != nil {
		values = append(values, in.Val.InContext(c))
	}
	return choose(ir.Raced(values...), Edge{To: crash}, Edge{To: noCrash})
}

// maxTries bounds the stores that are looked at for one that came too late.
const maxTries = 60

// lostUpdates looks, among the stores to the memory that the crashing goroutine read,
// for one that depends on a load of something that another goroutine changed between
// the load and the store. There the first thing went wrong, although nothing crashed
// yet: an update is lost, or made twice. If there is none, the stores to what those
// depend on are looked at in turn.
func (a *analyser) lostUpdates(specials []*special) {
	type place struct {
		addr uint64
		size int
	}
	tried := map[place]bool{}
	found := map[uint32]bool{} // sites
	tries := map[uint32]int{}
	left := maxTries
	var list, next []touched
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
			a.r.Trace.Accesses(t.addr, uint32(t.size), 1, a.r.Trace.Last(), func(e *exec.Event) bool {
				if !e.Writes() || found[e.Site] || tries[e.Site] > maxTries/6 {
					return true
				}
				tries[e.Site]++
				left--
				if steps := a.pathTo(e.Seq); steps != nil {
					ok, on := a.access(steps, false)
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

// together widens a conflicting access to the operation it is part of: back to the
// first load of the same memory that it depends on. It returns the points that must
// be in one section, the earliest first.
func (a *analyser) together(x *Access) []ir.Point {
	points, ok := a.joint[x.Point]
	if !ok {
		points = a.widen(x.Events[0])
		a.joint[x.Point] = points
	}
	return points
}

func (a *analyser) widen(seq uint64) []ir.Point {
	steps := a.pathTo(seq)
	if steps == nil {
		return nil
	}
	end := steps[len(steps)-1]
	points := []ir.Point{end.Point}
	if end.Instr.Op != ir.Store {
		return points
	}
	d := newDeriver(a.r, steps, a.private)
	for _, m := range d.run(raced(&end, d)) {
		if m.At.Instr.Op == ir.Load && m.At != end.Point {
			for _, l := range m.Loads() {
				if l.Label.Point == m.At && d.addrs[l.Label.Key()] == end.Addr {
					points = append([]ir.Point{m.At}, points...)
					break
				}
			}
		}
	}
	return points
}
