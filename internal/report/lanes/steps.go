package lanes

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// A builder makes a Run of the events, which it sees once, in their order.
type builder struct {
	r         *trace.Reader
	run       *Run
	options   Options
	printer   *show.Printer
	relevance *show.Relevance

	laneOf     map[uint32]int
	siteOf     map[uint32]int
	variableOf map[string]int
	functionOf map[string]int
	stackOf    map[[2]int]int
	frameStack map[uint32]int
	calledBy   map[uint32]uint32 // the goroutine that made a call
	// memoryName is what the program calls the memory at an address, where it was first accessed
	// by an expression.
	memoryName map[uint64]string
	// namesakes are the locks, channels and the like that the program calls by a name.
	namesakes map[string]int
	objects   *trace.Objects

	held    heldLocks
	order   ordering
	preempt preemptions
	taken   []preemption
	// failedAt is the line of the failure; its site is the last of the run's.
	failedAt trace.Site
	writer   chunkWriter
	landmark landmarks
}

// landmarks are the steps of events that the outcome of the run names.
type landmarks struct {
	races []raceSearch
	// ends are the steps that ended the run, and lastOf the last step of each goroutine.
	ends    []int
	lastOf  map[uint32]int
	blocked map[uint32]int
	// panics are the first of each goroutine.
	panics map[uint32]int
}

func newBuilder(r *trace.Reader, run *Run, o Options) (*builder, error) {
	relevance, err := show.NewRelevance(r)
	if err != nil {
		return nil, err
	}
	b := &builder{
		r: r, run: run, options: o, printer: show.NewPrinter(r), relevance: relevance, objects: r.Objects(),
		laneOf: map[uint32]int{}, siteOf: map[uint32]int{}, variableOf: map[string]int{}, functionOf: map[string]int{},
		stackOf: map[[2]int]int{}, frameStack: map[uint32]int{0: noStack}, calledBy: map[uint32]uint32{}, memoryName: map[uint64]string{}, namesakes: map[string]int{},
		landmark: landmarks{lastOf: map[uint32]int{}, blocked: map[uint32]int{}, panics: map[uint32]int{}},
	}
	b.held.init(r, run)
	b.order.init()
	if b.preempt, err = newPreemptions(r); err != nil {
		return nil, err
	}
	if r.Outcome != nil {
		for i := range r.Outcome.Failures {
			if f := &r.Outcome.Failures[i]; f.Kind == event.FailureRace {
				for j := range f.Others {
					b.landmark.races = append(b.landmark.races, raceSearch{earlier: &f.Others[j], later: &f.Point, from: -1, to: -1, alone: -1})
				}
			}
		}
	}
	names, err := show.GoroutineNames(r)
	if err != nil {
		return nil, err
	}
	goroutines, _ := r.Goroutines()
	for _, g := range goroutines {
		if g != 0 { // which stands for events of no goroutine
			b.laneOf[g] = len(run.Lanes)
			run.Lanes = append(run.Lanes, Lane{G: g, Name: names[g]})
		}
	}
	return b, nil
}

// noStack is the stack of a step in no call that is known.
const noStack = -1

// noLane is the lane of events that are of no goroutine.
const noLane = -1

// isStep reports whether an event is shown as a step.
func isStep(e *event.Event) bool {
	switch e.Kind {
	case event.None, event.Alloc, event.Call, event.Return:
		return false
	}
	return true
}

// progressEvery is after how many events progress is shown.
const progressEvery = 1 << 14

func (b *builder) read() error {
	c := b.r.Cursor(trace.Filter{})
	for n := uint64(0); c.Next(); n++ {
		if b.options.Progress != nil && n%progressEvery == 0 {
			b.options.Progress(n, b.run.Events)
		}
		switch e := c.Event(); {
		case e.Kind == event.Call:
			b.call(e)
		case e.Kind == event.Alloc:
			b.order.allocated(e)
		case isStep(e):
			b.step(e)
		}
	}
	return c.Err()
}

// call learns the stack of a frame. Only functions are known of it: where in a function the call
// was made is not recorded.
func (b *builder) call(e *event.Event) {
	name := "an unknown function"
	if s, ok := b.r.Site(e.Site); ok {
		name = s.Package + "." + s.Function
	}
	parent, ok := b.frameStack[uint32(e.Arg)]
	if !ok || b.calledBy[uint32(e.Arg)] != e.G { // the first call of a goroutine is made in none of its own
		parent = noStack
	}
	b.calledBy[e.Frame] = e.G
	key := [2]int{parent, intern(b.functionOf, name, &b.run.Functions)}
	at, ok := b.stackOf[key]
	if !ok {
		at = len(b.run.Stacks)
		b.stackOf[key] = at
		b.run.Stacks = append(b.run.Stacks, key)
	}
	b.frameStack[e.Frame] = at
}

// intern is the index of a text in a list, to which it is added if it is not there.
func intern(index map[string]int, text string, list *[]string) int {
	at, ok := index[text]
	if !ok {
		at = len(*list)
		index[text] = at
		*list = append(*list, text)
	}
	return at
}

// A step is what the chunks have of an event.
type step struct {
	seq                         uint64
	lane, kind, site, stack     int
	variable, held              int
	before, after, object, what string
	relevant                    bool
}

func (b *builder) step(e *event.Event) {
	number := b.run.Steps
	b.run.Steps++
	s := step{seq: e.Seq, lane: noLane, kind: int(e.Kind), site: b.site(e), stack: noStack, relevant: b.relevance.Matters(e)}
	if lane, ok := b.laneOf[e.G]; ok {
		s.lane = lane
		b.run.Lanes[lane].Steps++
		b.addLaneToSite(s.site, lane)
	}
	if at, ok := b.frameStack[e.Frame]; ok {
		s.stack = at
	}
	s.before, s.after = b.printer.Values(e)
	s.variable = b.variable(e)
	if e.Addr != 0 && (e.Kind.IsMemory() || e.Kind.IsAtomic()) {
		s.object = b.printer.Object(e)
	}
	if !e.Kind.IsMemory() && !e.Kind.IsAtomic() {
		s.what = b.printer.Operation(e)
		if argument := argumentWords(e); argument != "" {
			s.what += " (" + argument + ")"
		}
	}
	b.held.before(e)
	s.held = b.held.set(e.G)
	b.held.after(number, e, s.variable)
	b.order.add(number, e, s.relevant)
	b.preempt.add(number, e)
	b.note(number, e, s.relevant)
	if s.relevant {
		b.run.Relevant++
	}
	b.writer.add(&s)
}

// argumentWords say of an operation what its expression does not.
func argumentWords(e *event.Event) string {
	switch e.Kind {
	case event.Go, event.Blocked, event.Select:
		return "" // it is in the words of the operation
	case event.Send, event.Recv, event.ChanLen:
		if e.Arg == 0 {
			return ""
		}
		return fmt.Sprintf("%d in the channel", e.Arg)
	}
	return show.Argument(e)
}

// site is the index of an event's site.
func (b *builder) site(e *event.Event) int {
	if at, ok := b.siteOf[e.Site]; ok {
		return at
	}
	s, ok := b.r.Site(e.Site)
	at := len(b.run.Sites)
	b.siteOf[e.Site] = at
	one := Site{File: -1}
	if ok {
		one = Site{File: -1, Place: shortPlace(&s), Line: s.Line, Function: s.Function, Expr: strings.Join(strings.Fields(s.Expr), " ")}
		if !b.relevance.Own(s.File) && s.Package != "" {
			one.Function = s.Package + "." + s.Function
		}
	}
	b.run.Sites = append(b.run.Sites, one)
	return at
}

// shortPlace is a site's file and line; of an instruction, where in its function it is.
func shortPlace(s *trace.Site) string {
	switch {
	case s.File == "":
		return ""
	case s.Line == 0:
		return s.Function
	}
	return fmt.Sprintf("%s:%d", filepath.Base(s.File), s.Line)
}

func (b *builder) addLaneToSite(site, lane int) {
	s := &b.run.Sites[site]
	if !slices.Contains(s.Lanes, lane) {
		s.Lanes = append(s.Lanes, lane)
	}
}

// note keeps the steps that marks and sentences are made of.
func (b *builder) note(number int, e *event.Event, relevant bool) {
	l := &b.landmark
	for i := range l.races {
		l.races[i].add(number, e)
	}
	switch e.Kind {
	case event.Panic, event.Exit, event.Fail:
		l.ends = append(l.ends, number)
		if _, again := l.panics[e.G]; e.Kind == event.Panic && !again {
			l.panics[e.G] = number
		}
	case event.Stall:
		b.run.Marks = append(b.run.Marks, Mark{Kind: Stalled, Step: number})
	case event.Blocked:
		l.blocked[e.G] = number
	}
	if relevant {
		l.lastOf[e.G] = number
	}
}

// finish makes what needs all steps to be known.
func (b *builder) finish() error {
	b.numberFirst()
	b.held.finish()
	b.taken = b.preempt.found()
	for _, p := range b.taken {
		b.run.Marks = append(b.run.Marks, Mark{Kind: Preempted, Step: p.step, To: p.to})
	}
	b.failureMarks()
	b.races()
	if err := b.sources(); err != nil {
		return err
	}
	b.order.finish()
	chunks, data, err := b.writer.finish(b.order.links)
	b.run.Chunks, b.run.Data = chunks, data
	return err
}

// failureMarks marks the steps of the worst failure.
func (b *builder) failureMarks() {
	worst := b.r.Outcome.Worst()
	if worst == nil {
		return
	}
	for i := range worst.Waiting {
		w := &worst.Waiting[i]
		for _, g := range append([]uint32{w.G}, w.More...) {
			step, ok := b.landmark.blocked[g]
			if !ok || w.Library {
				continue
			}
			b.run.Marks = append(b.run.Marks, Mark{Kind: Waits, Step: step})
			for j := range w.HeldBy {
				if taken, ok := b.held.taken(w.HeldBy[j].G, w.Addr); ok {
					b.run.HeldUp = append(b.run.HeldUp, [2]int{taken, step})
				}
			}
		}
	}
	if len(worst.Waiting) > 0 {
		return
	}
	step, ok := b.landmark.lastOf[worst.G]
	if worst.Kind == event.FailureRace {
		if i := slices.IndexFunc(b.landmark.races, func(s raceSearch) bool { return s.later == &worst.Point && s.to >= 0 }); i >= 0 {
			step, ok = b.landmark.races[i].to, true
		}
	} else if len(b.landmark.ends) > 0 {
		step, ok = b.landmark.ends[0], true
	}
	if !ok {
		return
	}
	b.run.Marks = append(b.run.Marks, b.failure(worst, step))
}

// failure is the mark of a failure, with the line of the program that it comes from.
func (b *builder) failure(f *trace.Failure, step int) Mark {
	m := Mark{Kind: Failed, Step: step}
	for _, c := range show.Calls(b.r, &f.Point) {
		own := b.relevance.Own(c.File)
		if own || len(m.Calls) > 0 && !strings.HasPrefix(c.Function, "cofferdamrt.") && !strings.HasPrefix(c.Function, "runtime.") {
			call := c.Function
			if c.Line > 0 {
				call += fmt.Sprintf(" %s:%d", filepath.Base(c.File), c.Line)
			}
			m.Calls = append(m.Calls, call)
		}
		if m.Site == 0 && own && c.Line > 0 {
			b.failedAt = trace.Site{File: c.File, Line: c.Line, Function: c.Function}
			b.run.Sites = append(b.run.Sites, Site{File: -1, Place: shortPlace(&b.failedAt), Line: c.Line, Function: c.Function})
			m.Site = len(b.run.Sites)
		}
	}
	return m
}

// A raceSearch looks for the steps of a race, whose accesses the outcome names by goroutine, site
// and call. The detector tells a race at the later access, with the last of the earlier ones.
type raceSearch struct {
	earlier, later *trace.Point
	from, to       int // -1: not found yet
	// panicked is the side that is an operation which panicked, such as a send on a closed channel; nil if
	// neither is. It was not carried out, so that there is no event of it: its step is that of the
	// panic, and it comes after the other side, whose event carried is, whatever it was that began first.
	panicked *trace.Point
	carried  *event.Event
	alone    int // the step of the later side, before there is one of the earlier side; -1 if there is none
}

func (s *raceSearch) add(number int, e *event.Event) {
	switch {
	case s.to >= 0:
	case s.earlier.Is(e):
		s.from = number
		if mayPanic(s.later.Op) {
			s.carried = copied(e)
		}
	case s.later.Is(e) && s.from >= 0:
		s.to = number
	case s.later.Is(e) && mayPanic(s.earlier.Op):
		s.alone, s.carried = number, copied(e)
	}
}

// mayPanic reports whether an operation of a race is one that can.
func mayPanic(op event.Kind) bool { return op == event.Send || op == event.Close }

// endInPanic takes the panic of a goroutine for the side that is missing.
func (s *raceSearch) endInPanic(panics map[uint32]int) {
	switch {
	case s.to >= 0:
	case s.from >= 0 && mayPanic(s.later.Op):
		if at, ok := panics[s.later.G]; ok && at > s.from {
			s.to, s.panicked = at, s.later
		}
	case s.alone >= 0:
		if at, ok := panics[s.earlier.G]; ok && at > s.alone {
			s.from, s.to, s.panicked = s.alone, at, s.earlier
		}
	}
}

// races are the pairs of steps that nothing orders.
func (b *builder) races() {
	for i := range b.landmark.races {
		s := &b.landmark.races[i]
		s.endInPanic(b.landmark.panics)
		if s.to >= 0 {
			b.run.Races = append(b.run.Races, [2]int{s.from, s.to})
		}
	}
}
