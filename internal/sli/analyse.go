package sli

import (
	"errors"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Options are the constants of the cost (section 6.3). Zero stands for the paper's.
type Options struct {
	Discarded int // U: a crashing region that could not be covered
	Section   int // C_s: a critical section
	// Rounds is how many rounds of a loop, if the machine needs what they compute, are in it with
	// the sides of branches that were not taken; earlier rounds are in it as the trace has them.
	// Zero stands for 8; with less than zero, no earlier round is in it.
	Rounds int
	// AroundLoops asks for fixes that also keep together what a machine reads in several rounds of
	// a loop, besides those that keep each round by itself together.
	AroundLoops bool
	// Actor is what the program's users call what runs beside one another, for sentences:
	// "thread" if it is empty.
	Actor string
	// Interrupted, if it is set, is asked now and then. When it returns an error, the analysis ends
	// with that, and with what it has found by then.
	Interrupted func() error
}

func (o Options) defaults() Options {
	if o.Discarded == 0 {
		o.Discarded = 1000
	}
	if o.Section == 0 {
		o.Section = 10
	}
	if o.Actor == "" {
		o.Actor = "thread"
	}
	if o.Rounds == 0 {
		o.Rounds = defaultRounds
	}
	return o
}

// An Analysis is what the engine found out about a failure.
type Analysis struct {
	Failure exec.Failure
	// Crash is the point of the proximal cause, G the goroutine that was there.
	Crash ir.Point
	G     uint32
	// Machines were derived from the crash, the nearest first. The last is the
	// most of the read operation that was found.
	Machines []*Machine
	// Fixes are ranked, the best first. If there are none, Reasons say why.
	Fixes   []*Fix
	Reasons []string
	// Replay is how long it took to follow the trace through the program.
	Replay time.Duration
}

// A Run is a trace that is followed through the program, once for all failures that are
// analysed.
type Run struct {
	program *ir.Program
	trace   exec.Trace
	options Options
	// replay is that of the last failure; races do not change how it is followed.
	replay *exec.Replay
}

// NewRun makes ready to analyse the failures of a run.
func NewRun(program *ir.Program, tr exec.Trace, o Options) *Run {
	return &Run{program: program, trace: tr, options: o.defaults()}
}

// ErrLost is returned when a trace cannot be followed to the crash.
var ErrLost = errors.New("the trace cannot be followed to the failure: it lacks the accesses before it, or was recorded from another version of the program")

// Analyse derives fixes for the failure of a trace.
func Analyse(program *ir.Program, tr exec.Trace, failure exec.Failure, o Options) (*Analysis, error) {
	return NewRun(program, tr, o).Analyse(failure)
}

// Analyse derives fixes for a failure of the run. If it is interrupted, there is an analysis beside
// the error: of what was found by then.
func (r *Run) Analyse(failure exec.Failure) (*Analysis, error) {
	start := time.Now()
	a := &analyser{
		options: r.options, goroutines: r.trace.Goroutines(), focus: r.trace.Last(),
		operations: map[ir.Point][]ir.Point{}, isShared: map[uint64]bool{}, analysis: &Analysis{Failure: failure},
	}
	race := failure.Cause == ir.Race || failure.Cause == ir.MapConflict
	var path []exec.Step
	if race && r.replay != nil {
		a.replay = r.replay
	} else {
		r.replay = exec.NewReplay(r.program, r.trace, failure)
		r.replay.Interrupted = r.options.Interrupted
		a.replay = r.replay
		path = a.followAll()
	}
	a.analysis.Replay = time.Since(start)
	switch {
	case a.replay.Err() != nil:
	case race:
		a.analyseRace(failure)
	case path == nil:
		return nil, ErrLost
	default:
		a.analyseCrash(path)
	}
	a.rankFixes()
	return a.analysis, a.replay.Err()
}

// An analyser is one call of Analyse.
type analyser struct {
	replay     *exec.Replay
	goroutines []uint32
	options    Options
	operations map[ir.Point][]ir.Point
	isShared   map[uint64]bool // whether an address is used by more than one goroutine
	// focus is the event that the failure is nearest to: of what there is too much of, what is
	// nearest to it is looked at.
	focus    uint64
	analysis *Analysis
	fixes    []*Fix
}

// followAll replays all goroutines and returns the path to the crash.
func (a *analyser) followAll() []exec.Step {
	var found []exec.Step
	var at uint64
	for _, g := range a.goroutines {
		var ring recentSteps
		wanted := a.replay.Failure.G == 0 || a.replay.Failure.G == g
		a.replay.Run(g, nil, func(thread *exec.Thread, step *exec.Step) bool {
			if !wanted {
				return true
			}
			ring.add(step)
			switch {
			case thread.Failed != nil && !step.BeyondTrace:
				found, thread.Failed = ring.copy(), nil
			case step.Instr.Op == ir.Test && step.Instr.Cause == ir.Assertion && a.replay.Failure.Cause == ir.Assertion && !step.BeyondTrace && (found == nil || step.Time < at):
				found, at = ring.copy(), step.Time
			}
			return true
		})
	}
	if found != nil && found[len(found)-1].Instr.Cause != a.replay.Failure.Cause {
		found = nil
	}
	switch {
	case found == nil && a.replay.Failure.Cause == ir.Assertion:
		return a.pathToReport()
	case found == nil && a.replay.Failure.Cause == ir.Panic:
		return a.pathToOperation()
	}
	return found
}

// pathToOperation is the path to a panic that is not the program's own but that of an
// operation it made.
func (a *analyser) pathToOperation() []exec.Step {
	var ring recentSteps
	var found []exec.Step
	a.replay.Run(a.replay.Failure.G, nil, func(_ *exec.Thread, step *exec.Step) bool {
		ring.add(step)
		if (step.Instr.Op == ir.Sync || step.Instr.Op == ir.Call) && a.replay.Failure.CrashedAt != nil && a.replay.Failure.CrashedAt(step.Instr) {
			found = ring.copy()
		}
		return !step.BeyondTrace
	})
	return found
}

// pathToReport is the path to where a test said that it failed, by something that is not
// in the program: the call of it ends the path.
func (a *analyser) pathToReport() []exec.Step {
	var fail exec.Event
	a.replay.Trace.Ordering(func(event *exec.Event) bool {
		if event.Kind == exec.KindFail {
			fail = *event
		}
		return fail.Seq == 0
	})
	if fail.Seq == 0 {
		return nil
	}
	var ring recentSteps
	var found []exec.Step
	a.replay.RunFrom(fail.G, fail.Seq, maxPath, nil, func(_ *exec.Thread, step *exec.Step) bool {
		if step.BeyondTrace {
			return false
		}
		// Steps without an event have the time of the next one: those that led from the
		// last event to the call are later than the report.
		ring.add(step)
		if step.Time > fail.Seq && step.Instr.Op == ir.Call && step.Instr.Callee == nil {
			found = ring.copy()
			return false
		}
		return step.Time <= fail.Seq || step.Instr.Op != ir.Call
	})
	if found == nil && len(ring.steps) > 0 {
		found = ring.copy()
	}
	return found
}

// pathTo is the path of a goroutine to one of its events.
func (a *analyser) pathTo(seq uint64) []exec.Step {
	event, ok := a.replay.Trace.Event(seq)
	if !ok {
		return nil
	}
	var ring recentSteps
	var found []exec.Step
	a.replay.RunFrom(event.G, seq, maxPath, nil, func(_ *exec.Thread, step *exec.Step) bool {
		ring.add(step)
		if step.MadeEvent && step.Time == seq {
			found = ring.copy()
		}
		return found == nil && step.Time <= seq
	})
	return found
}

// A recentSteps keeps the last steps of a goroutine.
type recentSteps struct{ steps []exec.Step }

func (p *recentSteps) add(step *exec.Step) {
	if len(p.steps) == 2*maxPath {
		p.steps = append(p.steps[:0], p.steps[maxPath:]...)
	}
	p.steps = append(p.steps, *step)
}

func (p *recentSteps) copy() []exec.Step {
	return append([]exec.Step(nil), p.steps[max(0, len(p.steps)-maxPath):]...)
}

// isPrivate reports whether only one goroutine uses the memory.
func (a *analyser) isPrivate(addr uint64, size int) bool {
	if addr >= ir.FirstInvented {
		return true
	}
	s, ok := a.isShared[addr]
	if !ok && !a.replay.Trace.Shared(addr, uint32(size)) {
		a.isShared[addr] = false
		return true
	}
	if !ok {
		var g uint32
		a.replay.Trace.Accesses(addr, uint32(size), 1, a.replay.Trace.Last(), func(event *exec.Event) bool {
			s = g != 0 && event.G != g
			g = event.G
			return !s
		})
		a.isShared[addr] = s
	}
	return !s
}

// analyseCrash analyses a failure that has a point: the machine of the proximal cause is
// the test that failed.
func (a *analyser) analyseCrash(steps []exec.Step) {
	end := steps[len(steps)-1]
	a.analysis.Crash = end.Point
	for _, g := range a.goroutines {
		if a.replay.Failure.G == g {
			a.analysis.G = g
		}
	}
	derivation := a.newDeriver(steps)
	cause := Edge{To: crashState}
	if end.Instr.Op == ir.Test {
		cause = failedTest(end.Point)
	}
	machines := derivation.derive(cause)
	a.analysis.Machines = machines
	if len(machines) == 0 {
		a.addReason("nothing that the crashing %s read from memory decides whether it crashes: what was done in which order does, and a lock does not order", a.options.Actor)
		return
	}
	specialisations := a.solve(derivation, machines, solveOptions{})
	for _, f := range a.fixes {
		if f.Discarded == 0 {
			return
		}
	}
	// What the goroutine read had gone wrong before it read it. See whether an update
	// was lost on the way.
	a.lostUpdates(specialisations)
}

// failedTest is the machine of a test that failed. Where it asked whether memory can be used,
// the memory is looked at as by a load of nothing: see touchedMemory.
func failedTest(p ir.Point) Edge {
	condition := p.Instr.Operand.InContext(p.Context)
	edge := branchOn(condition, Edge{To: crashState}, Edge{To: noCrashState})
	if p.Instr.Cause == ir.BadAccess && condition.Op == ir.OpBadAddress {
		label := &ir.Label{Point: p}
		edge.Ops = append([]EdgeOp{{Load: ir.LoadExpr(label, 0, condition.Args[0]), At: label}}, edge.Ops...)
	}
	return edge
}

// addReason notes why there is no fix, each reason once. Of an analysis that was interrupted the
// interruption is the reason.
func (a *analyser) addReason(format string, args ...any) {
	if a.replay.Err() != nil {
		return
	}
	s := fmt.Sprintf(format, args...)
	for _, r := range a.analysis.Reasons {
		if r == s {
			return
		}
	}
	a.analysis.Reasons = append(a.analysis.Reasons, s)
}
