package sli

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// solveOptions say what the failure is beyond a crash.
type solveOptions struct {
	race bool // sections of one access are a fix: they end the race
	// access is what was disturbed, if that is not a crash.
	access ir.Point
}

// storedAccess is the access if others must not load there either.
func (o solveOptions) storedAccess() ir.Point {
	if o.race && o.access.Instr.Op == ir.Store {
		return o.access
	}
	return ir.Point{}
}

// A machineConflicts is what a machine's specialisations say, taken together (section 6).
type machineConflicts struct {
	machine   *Machine
	loads     map[ir.Point]bool
	writes    map[uint64]exec.Event
	writersOf map[uint64]map[uint32]bool // the goroutines that write to an address
	regions   []crashRegion
	discarded map[[2]uint32]crashRegion
}

// maxSimilarRegions bounds the regions between the same two sites that are looked at: they are
// rounds of one loop, and differ at most in the way between.
const maxSimilarRegions = 4

// solve finds the conflicts of each machine and turns them into fixes.
func (a *analyser) solve(d *deriver, machines []*Machine, o solveOptions) []*specialisation {
	k := newTracker(machines)
	for _, g := range a.goroutines {
		a.replay.Run(g, k.before, k.after)
	}
	specials := make([][]*specialisation, len(machines))
	found := map[*specialisation]examination{}
	wanted := map[uint64]bool{}
	var all []*specialisation
	for i := range machines {
		specials[i] = k.specialisationsOf(i, a.replay)
		for _, s := range specials[i] {
			all = append(all, s)
			var f examination
			if o.race { // which never happens in isolation: there are no regions
				f.writes = s.writesTo(a.replay, o.storedAccess())
			} else {
				f = s.examine(a.replay)
			}
			found[s] = f
			for _, e := range f.writes {
				wanted[e.Seq] = true
			}
			for _, r := range f.regions {
				wanted[r.start.Seq], wanted[r.end.Seq] = true, true
			}
			for _, in := range s.passages {
				wanted[in.firstLoad], wanted[in.lastLoad] = true, true
				for _, seq := range in.loads {
					wanted[seq] = true
				}
			}
		}
	}
	ord := newHappensBefore(a.replay.Trace, wanted)
	results := make([]*machineConflicts, len(machines))
	for i, m := range machines {
		results[i] = &machineConflicts{machine: m, loads: map[ir.Point]bool{}, writes: map[uint64]exec.Event{}, writersOf: map[uint64]map[uint32]bool{}, discarded: map[[2]uint32]crashRegion{}}
		for _, s := range specials[i] {
			results[i].collect(s, found[s], ord, a.replay, o.storedAccess())
		}
	}
	loc := newLocator(results)
	for _, g := range a.goroutines {
		a.replay.Run(g, nil, loc.after(g))
	}
	deciding := map[ir.Point]bool{}
	for i := range machines {
		for p := range results[i].loads {
			if o.access.Instr != nil && p.Context.Within(o.access.Context) {
				deciding[p] = true
			}
		}
	}
	for i := range machines {
		for _, wholeUpdates := range []bool{false, true} {
			// The paper's fix keeps single stores out; that is enough for a crash. If an
			// access was disturbed, so may be the accesses that disturb it.
			if wholeUpdates && o.access.Instr == nil && !results[i].hasManyWriters() || !wholeUpdates && o.access.Instr != nil {
				continue
			}
			f := a.buildFix(d, results[i], specials[i], loc, ord, wholeUpdates)
			if f == nil || !o.race && f.isTrivial() {
				continue
			}
			for p := range deciding {
				if !f.isCovered(p) {
					f.Omitted++
				}
			}
			a.addFix(f)
		}
	}
	return all
}

// collect adds what a specialisation found, without what the program's own
// synchronisation rules out.
func (res *machineConflicts) collect(s *specialisation, f examination, ord *happensBefore, r *exec.Replay, stored ir.Point) {
	last := r.Trace.Last()
	for _, e := range f.writes {
		if e.Writes() {
			if res.writersOf[e.Addr] == nil {
				res.writersOf[e.Addr] = map[uint32]bool{}
			}
			res.writersOf[e.Addr][e.G] = true
		}
		if !s.conflicts(ord, last, e, e) {
			continue
		}
		hit := false
		for _, t := range s.touched {
			if e.Touches(t.addr, uint32(t.size)) && (e.Writes() || t.load.Label.Point == stored) {
				res.loads[t.load.Label.Point] = true
				hit = true
			}
		}
		if hit {
			res.writes[e.Seq] = e
		}
	}
	for _, g := range f.regions {
		first, end := g.start, g.end
		if first.Seq == 0 {
			first = end
		}
		if end.Seq == 0 {
			end = first
		}
		if first.Seq == 0 || !s.conflicts(ord, last, first, end) && (first.G == end.G || !s.conflicts(ord, last, end, end)) {
			continue
		}
		if g.start.Seq == 0 || g.end.Seq == 0 || g.start.G != g.end.G {
			res.discarded[[2]uint32{g.start.Site, g.end.Site}] = g
			continue
		}
		same := 0
		for _, r := range res.regions {
			if r.start.Site == g.start.Site && r.end.Site == g.end.Site {
				same++
			}
		}
		if same < maxSimilarRegions {
			res.regions = append(res.regions, g)
		}
	}
}

// An eventLocator finds the points of events in the program, and what was executed between
// the ends of regions.
type eventLocator struct {
	points map[uint64]ir.Point
	spans  map[[2]uint64]*stepSpan
	byG    map[uint32][]*stepSpan
}

// A stepSpan is the steps of a goroutine from one event to another.
type stepSpan struct {
	start, end uint64
	g          uint32
	leastDepth int // the least depth of calls
	calls      []ir.Point
	steps      []spanStep
	done       bool
}

type spanStep struct {
	ir.Point
	depth int
}

const maxSpan = 20000

// newLocator makes ready to find the stores and the ends of regions of some machines.
func newLocator(results []*machineConflicts) *eventLocator {
	l := &eventLocator{points: map[uint64]ir.Point{}, spans: map[[2]uint64]*stepSpan{}, byG: map[uint32][]*stepSpan{}}
	for _, res := range results {
		for seq := range res.writes {
			l.points[seq] = ir.Point{}
		}
		for _, r := range res.regions {
			k := [2]uint64{r.start.Seq, r.end.Seq}
			// The steps beyond the trace are numbered for each goroutine anew.
			if l.spans[k] == nil {
				s := &stepSpan{start: k[0], end: k[1], g: r.start.G}
				l.spans[k] = s
				l.byG[s.g] = append(l.byG[s.g], s)
			}
		}
	}
	return l
}

// after is called with each step of a goroutine.
func (l *eventLocator) after(g uint32) func(*exec.Thread, *exec.Step) bool {
	return func(t *exec.Thread, s *exec.Step) bool {
		if s.MadeEvent {
			if p, ok := l.points[s.Time]; ok && p.Instr == nil {
				l.points[s.Time] = s.Point
			}
		}
		depth := s.Context.Depth
		for _, sp := range l.byG[g] {
			begins := s.MadeEvent && s.Time == sp.start && len(sp.steps) == 0
			if sp.done || !begins && len(sp.steps) == 0 {
				continue
			}
			if begins {
				sp.leastDepth = depth
				for c, in := s.Context, s.Instr; c != nil; c, in = c.Parent, c.Call {
					sp.calls = append([]ir.Point{{Context: c, Instr: in}}, sp.calls...)
				}
			}
			sp.leastDepth = min(sp.leastDepth, depth)
			sp.steps = append(sp.steps, spanStep{s.Point, depth})
			if s.MadeEvent && s.Time == sp.end || len(sp.steps) > maxSpan {
				sp.done = true
			}
		}
		return true
	}
}

// section is the fragment for a span: the calls that were in progress at one of its
// ends are treated as one instruction of the call that lasted throughout.
func (s *stepSpan) section() *Section {
	if !s.done || s.leastDepth >= len(s.calls) {
		return nil
	}
	start := s.calls[s.leastDepth].Instr
	fn := s.calls[s.leastDepth].Context.Func
	steps := []*ir.Instr{start}
	for _, st := range s.steps {
		if st.depth == s.leastDepth && st.Instr != steps[len(steps)-1] && st.Instr.Block.Func == fn {
			steps = append(steps, st.Instr)
		}
	}
	last := s.steps[len(s.steps)-1]
	end := last.Context.InstrIn(s.calls[s.leastDepth].Context, last.Instr)
	if end == nil {
		return nil
	}
	if steps[len(steps)-1] != end {
		steps = append(steps, end)
	}
	return rangeFragment(fn, start, end, steps)
}
