// Package explore finds schedules under which a program fails: it drives an
// instrumented program (package drive, on the other end of package wire) and turns
// what comes back into something to read.
//
// # How a failure is found
//
// A Program is built once. Explore has one process of it run a test under one
// schedule after another until a run fails, and shrink that schedule to the fewest
// preemptions. The failure is believed only when a fresh process, given the schedule,
// fails in the same way: what an earlier run has left in global variables cannot be
// the cause then. That run is recorded, and the trace is what everything else works
// on: Replay, the timeline, and the search for a fix.
//
// What a run did to memory is taken back after it (package drive). What stays for the next
// run to see is its residue (package wire). A program whose runs end in another way by it
// is run in a fresh process each time, which is some hundred times slower; Explore notices
// by itself, because a run repeated ends in another way, because the failure does not come
// back, or because the program died. Where a run only takes other steps than the one
// before it in the process, both are done.
//
//	explore.go   the search in one process
//	fresh.go     the search with a process for each run
//	result.go    what a search came to, and how far it can be trusted
//	program.go   building and identity
//	targets.go   what there is to explore, and how long; selection.go which of the tests
//	replay.go    running a trace again, image.go where a program lies in memory
//	tracedir.go  where traces are kept
//	child.go     the process; child_unix.go, child_windows.go what it inherits, and how it is ended
//	death.go     how the process ends when it should not
//	report.go    failures as findings and text
//	waiting.go   deadlocks and leaks in them
package explore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options say how to search.
type Options struct {
	Strategy    sched.Method
	Preemptions int // for sched.MethodDFS
	Seed        uint64
	Budget      time.Duration
	Runs        int // at most; 0: as many as fit into the budget
	Steps       uint64
	// Within is how long a run may take, in real time; 0 means DefaultWithin. A search that
	// is given less time than that has shorter runs, too.
	Within time.Duration
	Races  bool // a data race is a failure
	Leaks  bool // a goroutine that is left waiting when the test is over is a failure
	// Stall is for how long the machine may stall in a run: timers may overtake goroutines
	// that are ready by so much.
	Stall time.Duration
	// Harm is how long to look for visible harm once a race is known.
	Harm time.Duration
	// All goes on after a failure, and gathers all that are unlike each other. They are
	// neither shrunk nor recorded.
	All bool
	// Trace is the file to record a failing run to.
	Trace string
	// Progress is told what is going on; it may be nil.
	Progress func(target string, p *wire.Progress)

	// warmUp has a recorded run meet the residue of another, as the runs of a search do.
	warmUp bool
}

// DefaultWithin is how long a run may take if nothing else is said. leastWithin is what one
// gets however little time there is for the search, and recordingTakes how many times as long
// a run may take that is recorded: it is the only one.
const (
	DefaultWithin  = 10 * time.Second
	leastWithin    = 2 * time.Second
	recordingTakes = 6
)

// within is how long a run of the search may take.
func (o *Options) within() time.Duration {
	limit := o.Within
	if limit == 0 {
		limit = DefaultWithin
	}
	if o.Budget == 0 {
		return limit
	}
	return min(limit, max(o.Budget, leastWithin))
}

// errNotReproduced is why a failure is not believed.
var errNotReproduced = errors.New("the failure did not come back in a fresh process")

// errChangesEndings and errChangesSteps are why a target gets a process for each run, or
// for some.
var (
	errChangesEndings = errors.New("a run leaves something behind that changes how the next one in the process ends")
	errChangesSteps   = errors.New("the first run in a process takes other steps than those after it")
)

// Explore searches for a schedule under which a target fails.
func (p *Program) Explore(ctx context.Context, target string, o *Options) (*Result, error) {
	res, err := p.explore(ctx, target, o)
	if res != nil {
		res.Within = o.within()
	}
	return res, err
}

func (p *Program) explore(ctx context.Context, target string, o *Options) (*Result, error) {
	deadline := time.Now().Add(o.Budget)
	res, err := p.search(ctx, target, o)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	switch whatNext(res, err, o.Strategy) {
	case searchAllFresh:
		return p.searchFresh(ctx, target, o, time.Until(deadline), err)
	case searchOnFresh:
		return p.goOnFresh(ctx, res, o, time.Until(deadline))
	case searchSomeFresh:
		return p.alsoFresh(ctx, res, o, time.Until(deadline))
	case believe:
	}
	return res, err
}

// A verdict is what to do after the search in one process.
type verdict uint8

const (
	believe         verdict = iota
	searchAllFresh          // forget it, and search in fresh processes
	searchOnFresh           // the process has ended; search on in fresh ones
	searchSomeFresh         // it found nothing; search in fresh processes too
)

// whatNext decides by what came of the search in one process.
func whatNext(res *Result, err error, strategy sched.Method) verdict {
	var died *DeathError
	switch {
	case errors.As(err, &died), errors.Is(err, errNotReproduced), errors.Is(err, errChangesEndings):
		return searchAllFresh
	case err == nil && errors.As(res.Ended, &died) && strategy != sched.MethodDFS:
		return searchOnFresh
	case err == nil && res.Residue == wire.ChangesSteps && (res.Outcome == nil || res.leaks()) && strategy != sched.MethodDFS:
		return searchSomeFresh
	}
	return believe
}

// patience is how much longer than its budget a search may take: to end the last run,
// and to shrink the schedule.
var patience = 30 * time.Second

// A StuckError says that a run did not come to an end, not even when it was to be cut off.
type StuckError struct {
	Output string // the last of what it printed, with the stacks of its goroutines
}

func (e *StuckError) Error() string {
	return "a run did not come to an end, and could not be cut off"
}

func (p *Program) search(ctx context.Context, target string, o *Options) (*Result, error) {
	limited, cancel := context.WithTimeout(ctx, o.Budget+o.Harm+patience)
	defer cancel()
	c, err := p.start(limited)
	if err != nil {
		return nil, err
	}
	report, err := c.order(p.order(target, o), o.progress(target))
	var died *DeathError
	switch {
	case errors.As(err, &died):
		res := &Result{Target: target, Done: wire.Done{Progress: died.Progress}, Ended: died}
		if limited.Err() != nil && ctx.Err() == nil {
			res.Ended = &StuckError{Output: died.Output}
		}
		return res, nil
	case err != nil:
		return nil, err
	}
	c.close()
	if report.Done.Residue == wire.ChangesEndings {
		return nil, errChangesEndings
	}
	res := &Result{Target: target, Done: *report.Done, leftAt: p.leftAt(report.Done.Leaks), unclearAt: p.leftAt(report.Done.Unclear)}
	if res.Outcome == nil {
		return res, nil
	}
	return res, p.confirm(ctx, res, o, res.Residue == wire.ChangesSteps)
}

// order is the order to search in one process.
func (p *Program) order(target string, o *Options) *wire.Order {
	return &wire.Order{
		Verb: wire.Explore, Target: target, Method: o.Strategy, Seed: o.Seed, Preemptions: o.Preemptions,
		Budget: o.Budget, Runs: o.Runs, Harm: o.Harm, Steps: o.Steps, Within: o.within(), Races: o.Races, Stall: o.Stall, WarmUp: true, Shrink: true, All: o.All,
		Leaks: o.Leaks, OwnSites: p.build.OwnSites,
	}
}

func (o *Options) progress(target string) func(*wire.Progress) {
	if o.Progress == nil {
		return nil
	}
	return func(p *wire.Progress) { o.Progress(target, p) }
}

// confirm runs the failing schedule again in a fresh process, and records it.
func (p *Program) confirm(ctx context.Context, res *Result, o *Options, warmUp bool) error {
	want := res.Outcome.Worst()
	one := *o
	one.warmUp = warmUp
	done, err := p.Record(ctx, res.Target, res.Outcome.Schedule, &one, o.Trace)
	if err != nil {
		return err
	}
	got := done.Outcome.Worst()
	if got == nil || !got.Same(want) {
		return errNotReproduced
	}
	res.Outcome, res.Failure = done.Outcome, got
	return nil
}

// Record runs a target by a schedule in a fresh process, and records the run to a file;
// or not, if it has no name.
func (p *Program) Record(ctx context.Context, target, schedule string, o *Options, file string) (*wire.Done, error) {
	c, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	order := &wire.Order{Verb: wire.Run, Target: target, Schedule: schedule, Seed: o.Seed, Steps: o.Steps, Within: recordingTakes * max(o.Within, DefaultWithin), Races: o.Races, Stall: o.Stall, WarmUp: o.warmUp, Leaks: o.Leaks, OwnSites: p.build.OwnSites}
	if file != "" {
		if order.Trace, err = filepath.Abs(file); err == nil {
			err = p.makeTraceDir(order.Trace)
		}
		if err != nil {
			return nil, fmt.Errorf("recording a run: %w", err)
		}
		order.Sites, order.Header = p.build.sitesFile, p.header(target, schedule, o)
	}
	report, err := c.order(order, nil)
	if err != nil {
		return nil, err
	}
	c.close()
	return report.Done, nil
}

// Targets lists what can be explored: the names of tests; one empty name for a main
// program.
func (p *Program) Targets(ctx context.Context) ([]string, error) {
	c, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	report, err := c.order(&wire.Order{Verb: wire.List}, nil)
	if err != nil {
		return nil, err
	}
	c.close()
	return report.Targets, nil
}
