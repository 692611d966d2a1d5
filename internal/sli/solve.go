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

// stored is the access if others must not load there either.
func (o solveOptions) stored() ir.Point {
	if o.race && o.access.Instr.Op == ir.Store {
		return o.access
	}
	return ir.Point{}
}

// A result is what a machine's specialisations say, taken together (section 6).
type result struct {
	m         *Machine
	loads     map[ir.Point]bool
	writes    map[uint64]exec.Event
	by        map[uint64]map[uint32]bool // who writes where
	regions   []region
	discarded map[[2]uint32]region
}

// maxAlike bounds the regions between the same two sites that are looked at: they are
// rounds of one loop, and differ at most in the way between.
const maxAlike = 4

// solve finds the conflicts of each machine and turns them into fixes.
func (a *analyser) solve(d *deriver, machines []*Machine, o solveOptions) []*special {
	k := newTracker(machines)
	for _, g := range a.gs {
		a.r.Run(g, k.before, k.after)
	}
	specials := make([][]*special, len(machines))
	found := map[*special]findings{}
	wanted := map[uint64]bool{}
	var all []*special
	for i := range machines {
		specials[i] = k.specials(i, a.r)
		for _, s := range specials[i] {
			all = append(all, s)
			var f findings
			if o.race { // which never happens in isolation: there are no regions
				f.writes = s.writesTo(a.r, o.stored())
			} else {
				f = s.examine(a.r)
			}
			found[s] = f
			for _, e := range f.writes {
				wanted[e.Seq] = true
			}
			for _, r := range f.regions {
				wanted[r.start.Seq], wanted[r.end.Seq] = true, true
			}
			for _, in := range s.instances {
				wanted[in.first], wanted[in.last] = true, true
				for _, seq := range in.loads {
					wanted[seq] = true
				}
			}
		}
	}
	ord := newOrder(a.r.Trace, wanted)
	results := make([]*result, len(machines))
	for i, m := range machines {
		results[i] = &result{m: m, loads: map[ir.Point]bool{}, writes: map[uint64]exec.Event{}, by: map[uint64]map[uint32]bool{}, discarded: map[[2]uint32]region{}}
		for _, s := range specials[i] {
			results[i].collect(s, found[s], ord, a.r, o.stored())
		}
	}
	loc := newLocator(results)
	for _, g := range a.gs {
		a.r.Run(g, nil, loc.after(g))
	}
	deciding := map[ir.Point]bool{}
	for i := range machines {
		for p := range results[i].loads {
			if o.access.Instr != nil && p.Ctx.Within(o.access.Ctx) {
				deciding[p] = true
			}
		}
	}
	for i := range machines {
		for _, wide := range []bool{false, true} {
			// The paper's fix keeps single stores out; that is enough for a crash. If an
			// access was disturbed, so may those be that disturb it.
			if wide && o.access.Instr == nil && !results[i].writers() || !wide && o.access.Instr != nil {
				continue
			}
			f := a.fix(d, results[i], specials[i], loc, ord, wide)
			if f == nil || !o.race && f.trivial() {
				continue
			}
			for p := range deciding {
				if !f.covers(p) {
					f.Omitted++
				}
			}
			a.add(f)
		}
	}
	return all
}

// collect adds what a specialisation found, without what the program's own
// synchronisation rules out.
func (res *result) collect(s *special, f findings, ord *order, r *exec.Replay, stored ir.Point) {
	last := r.Trace.Last()
	for _, e := range f.writes {
		if e.Writes() {
			if res.by[e.Addr] == nil {
				res.by[e.Addr] = map[uint32]bool{}
			}
			res.by[e.Addr][e.G] = true
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
		if same < maxAlike {
			res.regions = append(res.regions, g)
		}
	}
}

// A locator finds the points of events in the program, and what was executed between
// the ends of regions.
type locator struct {
	points map[uint64]ir.Point
	spans  map[[2]uint64]*span
	byG    map[uint32][]*span
}

// A span is the steps of a goroutine from one event to another.
type span struct {
	start, end uint64
	g          uint32
	low        int // the least depth of calls
	calls      []ir.Point
	steps      []spanStep
	done       bool
}

type spanStep struct {
	ir.Point
	depth int
}

const maxSpan = 20000

func newLocator(results []*result) *locator {
	l := &locator{points: map[uint64]ir.Point{}, spans: map[[2]uint64]*span{}, byG: map[uint32][]*span{}}
	for _, res := range results {
		for seq := range res.writes {
			l.points[seq] = ir.Point{}
		}
		for _, r := range res.regions {
			k := [2]uint64{r.start.Seq, r.end.Seq}
			// The steps beyond the trace are numbered for each goroutine anew.
			if l.spans[k] == nil {
				s := &span{start: k[0], end: k[1], g: r.start.G}
				l.spans[k] = s
				l.byG[s.g] = append(l.byG[s.g], s)
			}
		}
	}
	return l
}

func (l *locator) after(g uint32) func(*exec.Thread, *exec.Step) bool {
	return func(t *exec.Thread, s *exec.Step) bool {
		if s.Event {
			if p, ok := l.points[s.Time]; ok && p.Instr == nil {
				l.points[s.Time] = s.Point
			}
		}
		depth := s.Ctx.Depth
		for _, sp := range l.byG[g] {
			begins := s.Event && s.Time == sp.start && len(sp.steps) == 0
			if sp.done || !begins && len(sp.steps) == 0 {
				continue
			}
			if begins {
				sp.low = depth
				for c, in := s.Ctx, s.Instr; c != nil; c, in = c.Parent, c.Call {
					sp.calls = append([]ir.Point{{Ctx: c, Instr: in}}, sp.calls...)
				}
			}
			sp.low = min(sp.low, depth)
			sp.steps = append(sp.steps, spanStep{s.Point, depth})
			if s.Event && s.Time == sp.end || len(sp.steps) > maxSpan {
				sp.done = true
			}
		}
		return true
	}
}

// section is the fragment for a span: the calls that were in progress at one of its
// ends are treated as one instruction of the call that lasted throughout.
func (s *span) section() *Section {
	if !s.done || s.low >= len(s.calls) {
		return nil
	}
	start := s.calls[s.low].Instr
	fn := s.calls[s.low].Ctx.Func
	steps := []*ir.Instr{start}
	for _, st := range s.steps {
		if st.depth == s.low && st.Instr != steps[len(steps)-1] && st.Instr.Block.Func == fn {
			steps = append(steps, st.Instr)
		}
	}
	last := s.steps[len(s.steps)-1]
	end := last.Ctx.InstrIn(s.calls[s.low].Ctx, last.Instr)
	if end == nil {
		return nil
	}
	if steps[len(steps)-1] != end {
		steps = append(steps, end)
	}
	return rangeFragment(fn, start, end, steps)
}
