package sli

import (
	"slices"

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
	if o.race && o.access.Instr.Writes() {
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
func (a *analyser) solve(derivation *deriver, machines []*Machine, options solveOptions) []*specialisation {
	k := newTracker(a.replay, machines)
	for _, g := range a.goroutines {
		a.replay.RunWindows(g, a.windows(g, len(machines)), k.before, k.after)
	}
	specials := make([][]*specialisation, len(machines))
	found := map[*specialisation]examination{}
	wanted := map[uint64]bool{}
	var all []*specialisation
	for i := range machines {
		if a.replay.Ended() {
			return nil
		}
		specials[i] = k.specialisationsOf(i, a.replay)
		for _, special := range specials[i] {
			all = append(all, special)
			var f examination
			if options.access.Instr != nil { // to be disturbed never happens in isolation: there are no regions
				f.writes = special.writesTo(a.replay, a.focus, maxDisturbing, options.storedAccess())
			} else {
				f = special.examine(a.replay, a.focus)
			}
			found[special] = f
			for _, event := range f.writes {
				wanted[event.Seq] = true
			}
			for _, region := range f.regions {
				wanted[region.start.Seq], wanted[region.end.Seq] = true, true
			}
			for _, passage := range special.passages {
				wanted[passage.firstLoad], wanted[passage.lastLoad] = true, true
				for _, seq := range passage.loads {
					wanted[seq] = true
				}
			}
		}
	}
	order := newHappensBefore(a.replay.Trace, wanted)
	results := make([]*machineConflicts, len(machines))
	for i, machine := range machines {
		results[i] = &machineConflicts{
			machine: machine, loads: map[ir.Point]bool{}, writes: map[uint64]exec.Event{},
			writersOf: map[uint64]map[uint32]bool{}, discarded: map[[2]uint32]crashRegion{},
		}
		for _, special := range specials[i] {
			results[i].collect(special, found[special], order, a.replay, options.storedAccess())
		}
	}
	locator := newLocator(results)
	for g, windows := range locator.windows(a.replay) {
		a.replay.RunWindows(g, windows, nil, locator.after(g))
	}
	deciding := map[ir.Point]bool{}
	for i := range machines {
		for p := range results[i].loads {
			if options.access.Instr != nil && p.Context.Within(options.access.Context) {
				deciding[p] = true
			}
		}
	}
	for i := range machines {
		for _, wholeUpdates := range []bool{false, true} {
			// The paper's fix keeps single stores out; that is enough for a crash. If an
			// access was disturbed, so may be the accesses that disturb it.
			if wholeUpdates && options.access.Instr == nil && !results[i].hasManyWriters() || !wholeUpdates && options.access.Instr != nil {
				continue
			}
			for _, aroundLoops := range []bool{false, true} {
				if aroundLoops && (!a.options.AroundLoops || len(results[i].machine.acrossRounds()) == 0) {
					continue
				}
				together := grouping{wholeUpdates, aroundLoops}
				f := a.buildFix(derivation, results[i], specials[i], locator, order, together)
				if f == nil || !options.race && f.isTrivial() {
					continue
				}
				f.AsPublished = options.access.Instr == nil && together.isPublished()
				for p := range deciding {
					if !f.isCovered(p) {
						f.Omitted++
					}
				}
				a.addFix(f)
			}
		}
	}
	return all
}

// maxTracked is how many steps of all goroutines, times machines, are searched for passages of
// the machines, and leastTracked how many steps: all of a usual run. Of a long one each
// goroutine's steps around the failure and at its own end are.
const (
	maxTracked   = 1 << 21
	leastTracked = 1 << 16
)

// windows are the parts of a goroutine's run that are searched for passages of so many machines.
func (a *analyser) windows(g uint32, machines int) []exec.Window {
	most := max(maxTracked/machines, leastTracked)
	all := 0
	for _, g := range a.goroutines {
		all += a.replay.Steps(g)
	}
	if all <= most {
		return []exec.Window{{To: a.replay.Trace.Last()}}
	}
	share := most / (3 * len(a.goroutines))
	return []exec.Window{a.replay.WindowAround(g, a.focus, share), a.replay.TailWindow(g, share)}
}

// collect adds what a specialisation found, without what the program's own
// synchronisation rules out.
func (res *machineConflicts) collect(special *specialisation, found examination, order *happensBefore, replay *exec.Replay, stored ir.Point) {
	last := replay.Trace.Last()
	for _, event := range found.writes {
		if event.Writes() {
			if res.writersOf[event.Addr] == nil {
				res.writersOf[event.Addr] = map[uint32]bool{}
			}
			res.writersOf[event.Addr][event.G] = true
		}
		if !special.conflicts(order, last, event, event) {
			continue
		}
		hit := false
		for _, memory := range special.touched {
			if memory.isTouchedBy(&event) && (event.Writes() || memory.load.Label.Point == stored) {
				res.loads[memory.load.Label.Point] = true
				hit = true
			}
		}
		if hit {
			res.writes[event.Seq] = event
		}
	}
	for _, region := range found.regions {
		first, end := region.start, region.end
		if first.Seq == 0 {
			first = end
		}
		if end.Seq == 0 {
			end = first
		}
		if first.Seq == 0 || !special.conflicts(order, last, first, end) && (first.G == end.G || !special.conflicts(order, last, end, end)) {
			continue
		}
		if region.start.Seq == 0 || region.end.Seq == 0 || region.start.G != region.end.G {
			res.discarded[[2]uint32{region.start.Site, region.end.Site}] = region
			continue
		}
		same := 0
		for _, other := range res.regions {
			if other.start.Site == region.start.Site && other.end.Site == region.end.Site {
				same++
			}
		}
		if same < maxSimilarRegions {
			res.regions = append(res.regions, region)
		}
	}
}

// An eventLocator finds the points of events in the program, and what was executed between
// the ends of regions.
type eventLocator struct {
	points map[uint64]ir.Point
	spans  map[[2]uint64]*stepSpan
	byG    map[uint32][]*stepSpan
	wanted map[uint32][]exec.Window // where the events and spans of each goroutine are
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
	l := &eventLocator{points: map[uint64]ir.Point{}, spans: map[[2]uint64]*stepSpan{}, byG: map[uint32][]*stepSpan{}, wanted: map[uint32][]exec.Window{}}
	for _, conflicts := range results {
		for seq, event := range conflicts.writes {
			l.points[seq] = ir.Point{}
			l.wanted[event.G] = append(l.wanted[event.G], exec.Window{From: seq, To: seq})
		}
		for _, region := range conflicts.regions {
			k := [2]uint64{region.start.Seq, region.end.Seq}
			// The steps beyond the trace are numbered for each goroutine anew.
			if l.spans[k] == nil {
				s := &stepSpan{start: k[0], end: k[1], g: region.start.G}
				l.spans[k] = s
				l.wanted[s.g] = append(l.wanted[s.g], exec.Window{From: k[0], To: k[1]})
				l.byG[s.g] = append(l.byG[s.g], s)
			}
		}
	}
	return l
}

// windows are the parts of goroutines' runs that have what is looked for. What lies beyond the
// trace follows its last event.
func (l *eventLocator) windows(replay *exec.Replay) map[uint32][]exec.Window {
	last := replay.Trace.Last()
	for _, windows := range l.wanted {
		for i := range windows {
			windows[i].From, windows[i].To = min(windows[i].From, last), min(windows[i].To, last)
		}
	}
	return l.wanted
}

// after is called with each step of a goroutine.
func (l *eventLocator) after(g uint32) func(*exec.Thread, *exec.Step) bool {
	return func(thread *exec.Thread, step *exec.Step) bool {
		if step.MadeEvent {
			l.locate(step.Time, step.Point)
			for _, time := range step.Others {
				l.locate(time, step.Point)
			}
		}
		depth := step.Context.Depth
		for _, span := range l.byG[g] {
			begins := makes(step, span.start) && len(span.steps) == 0
			if span.done || !begins && len(span.steps) == 0 {
				continue
			}
			if begins {
				span.leastDepth = depth
				for context, in := step.Context, step.Instr; context != nil; context, in = context.Parent, context.Call {
					span.calls = append([]ir.Point{{Context: context, Instr: in}}, span.calls...)
				}
			}
			span.leastDepth = min(span.leastDepth, depth)
			span.steps = append(span.steps, spanStep{step.Point, depth})
			if makes(step, span.end) || len(span.steps) > maxSpan {
				span.done = true
			}
		}
		return true
	}
}

// locate notes the point of an event, if it is looked for.
func (l *eventLocator) locate(time uint64, at ir.Point) {
	if p, ok := l.points[time]; ok && p.Instr == nil {
		l.points[time] = at
	}
}

// makes reports whether a step made the event with the number.
func makes(step *exec.Step, time uint64) bool {
	return step.MadeEvent && (step.Time == time || slices.Contains(step.Others, time))
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
