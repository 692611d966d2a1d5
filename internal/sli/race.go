package sli

// race analyses two accesses that nothing orders and no crash followed. The read
// operation is taken from either side.
//
// If the access stores something that depends on an earlier load of the same memory
// (the value, or whether it stores at all), the operation begins at that load: a
// lock around the store alone would silence a race detector and still lose updates.
// Otherwise the access by itself is the operation; the machines further back, which
// add the loads that decide whether and where it is made, are the alternatives.
func (a *analyser) race() {
	f := a.r.failure
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
	f := a.r.failure
	ord := newOrder(a.r.trace, map[uint64]bool{f.Seq: true, f.Other: true})
	fix := &Fix{}
	for _, seq := range []uint64{f.Seq, f.Other} {
		steps := a.pathTo(seq)
		e, ok := a.r.trace.Event(seq)
		if steps == nil || !ok {
			return
		}
		end := steps[len(steps)-1]
		x := &Access{Point: end.Point, Store: e.Writes(), Data: end.Instr.Data}
		x.add(e.Seq, e.Addr, ord.of(e, a.r.trace.Last()))
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
func (a *analyser) access(steps []Step, race bool) (ok bool, on []touched) {
	end := steps[len(steps)-1]
	if !end.Instr.isAccess() {
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
			on = append(on, touched{l, d.addrs[l.Label.key()], l.Size})
			same := end.Instr.Op == Store && d.addrs[l.Label.key()] == end.Addr
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
func (a *analyser) changed(d *deriver, l *Expr, end *Step) bool {
	found := false
	if t := d.times[l.Label.key()]; t != 0 && d.addrs[l.Label.key()] < invented {
		size := l.Size
		if len(l.Args) > 1 {
			size = 1
		}
		self, _ := a.r.trace.Event(end.Time)
		a.r.trace.Accesses(d.addrs[l.Label.key()], uint32(size), t+1, end.Time, func(e *Event) bool {
			found = e.Writes() && e.G != self.G
			return !found
		})
	}
	return found
}

// raced is the proximal cause of a race: the access, and whether what it works with
// was changed meanwhile.
func raced(s *Step, d *deriver) Edge {
	in, c := s.Instr, s.Ctx
	args := []*Expr{in.X.in(c)}
	if in.Key != nil {
		args = append(args, in.Key.in(c))
	}
	l := &Label{Point: s.Point}
	d.addrs[l.key()] = s.Addr
	values := []*Expr{loadExpr(l, in.Size, args...)}
	if in.Op == Store && in.Val != nil {
		values = append(values, in.Val.in(c))
	}
	return choose(Raced(values...), Edge{To: crash}, Edge{To: noCrash})
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
			if tried[p] || t.addr >= invented || t.addr == 0 {
				continue
			}
			tried[p] = true
			a.r.trace.Accesses(t.addr, uint32(t.size), 1, a.r.trace.Last(), func(e *Event) bool {
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
func (a *analyser) together(x *Access) []Point {
	points, ok := a.joint[x.Point]
	if !ok {
		points = a.widen(x.Events[0])
		a.joint[x.Point] = points
	}
	return points
}

func (a *analyser) widen(seq uint64) []Point {
	steps := a.pathTo(seq)
	if steps == nil {
		return nil
	}
	end := steps[len(steps)-1]
	points := []Point{end.Point}
	if end.Instr.Op != Store {
		return points
	}
	d := newDeriver(a.r, steps, a.private)
	for _, m := range d.run(raced(&end, d)) {
		if m.At.Instr.Op == Load && m.At != end.Point {
			for _, l := range m.Loads() {
				if l.Label.Point == m.At && d.addrs[l.Label.key()] == end.Addr {
					points = append([]Point{m.At}, points...)
					break
				}
			}
		}
	}
	return points
}
