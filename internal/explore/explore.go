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
// What a run did to memory is taken back after it (package drive). A program whose runs
// depend on something else that earlier ones left is run in a fresh process each time,
// which is some hundred times slower; Explore notices by itself, because a run repeated
// ends in another way, because the failure does not come back, or because the program
// died. Where the first run only takes other steps than the second, both are done.
//
//	explore.go   the search
//	program.go   building and identity
//	targets.go   what there is to explore, and how long
//	replay.go    running a trace again
//	child.go     the process
//	timeline.go  a trace as columns of goroutines
//	report.go    failures as findings and text
package explore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options say how to search.
type Options struct {
	Strategy    string // pct, random or dfs
	Preemptions int    // for dfs
	Seed        uint64
	Budget      time.Duration
	Runs        int // at most; 0: as many as fit into the budget
	Steps       uint64
	NoRaces     bool
	// Harm is how long to look for visible harm once a race is known.
	Harm time.Duration
	// Trace is the file to record a failing run to.
	Trace string
	// cold leaves out what makes the runs of a process alike: each process runs once. warm
	// has a recorded run come after another, as it does in a search.
	cold, warm bool
	// Progress is told what is going on; it may be nil.
	Progress func(target string, p *wire.Progress)
}

// A Result is what a search of one target came to.
type Result struct {
	Target string
	wire.Done
	// Failure is the most telling of Outcome's; nil if nothing failed.
	Failure *trace.Failure
	// Fresh says that each run had a process of its own.
	Fresh bool
	// Note says what a reader should know about how far the result can be trusted.
	Note string
}

// errNotReproduced is why a failure is not believed.
var errNotReproduced = errors.New("the failure did not come back in a fresh process")

// errUnrepeatable and errVaried are why a target gets a process for each run, or for
// some.
var (
	errUnrepeatable = errors.New("a run leaves something behind that changes how the next one in the process ends")
	errVaried       = errors.New("the first run in a process takes other steps than those after it")
)

// Explore searches for a schedule under which a target fails.
func (p *Program) Explore(ctx context.Context, target string, o *Options) (*Result, error) {
	deadline := time.Now().Add(o.Budget)
	res, err := p.search(ctx, target, o)
	var died *DeathError
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &died), errors.Is(err, errNotReproduced), errors.Is(err, errUnrepeatable):
		return p.searchFresh(ctx, target, o, time.Until(deadline), err)
	case err == nil && res.Varied && res.Outcome == nil && o.Strategy != "dfs":
		return p.alsoFresh(ctx, res, o, time.Until(deadline))
	}
	return res, err
}

// alsoFresh completes a search that found nothing with runs in fresh processes.
func (p *Program) alsoFresh(ctx context.Context, res *Result, o *Options, left time.Duration) (*Result, error) {
	rest := *o
	if o.Runs > 0 {
		if rest.Runs = o.Runs - res.Runs; rest.Runs <= 0 {
			return res, nil
		}
	}
	fresh, err := p.searchFresh(ctx, res.Target, &rest, left, errVaried)
	if err != nil {
		return nil, err
	}
	if fresh.Outcome != nil {
		fresh.Runs, fresh.First, fresh.Elapsed = fresh.Runs+res.Runs, fresh.First+res.Runs, fresh.Elapsed+res.Elapsed
		return fresh, nil
	}
	res.Note = strings.TrimPrefix(fmt.Sprintf("%s; %d of the runs had fresh processes, because %v", res.Note, fresh.Runs, errVaried), "; ")
	res.Runs, res.Cut, res.Elapsed = res.Runs+fresh.Runs, res.Cut+fresh.Cut, res.Elapsed+fresh.Elapsed
	return res, nil
}

// patience is how much longer than its budget a search may take: to end the last run,
// and to shrink the schedule.
var patience = 30 * time.Second

// A StuckError says that a run did not come to an end: it waits for something outside
// control, such as another process, that does not come.
type StuckError struct {
	Output string // the last of what it printed, with the stacks of its goroutines
}

func (e *StuckError) Error() string {
	return "a run does not come to an end, and nothing in it is under control any more; the last it printed:\n" + e.Output
}

func (p *Program) search(ctx context.Context, target string, o *Options) (*Result, error) {
	limited, cancel := context.WithTimeout(ctx, o.Budget+o.Harm+patience)
	defer cancel()
	c, err := p.start(limited)
	if err != nil {
		return nil, err
	}
	report, err := c.order(o.order(target), o.progress(target))
	var died *DeathError
	switch {
	case errors.As(err, &died) && limited.Err() != nil && ctx.Err() == nil:
		return nil, &StuckError{Output: died.Output}
	case err != nil:
		return nil, err
	}
	c.close()
	if report.Done.Unrepeatable {
		return nil, errUnrepeatable
	}
	res := &Result{Target: target, Done: *report.Done}
	if res.Before > 0 {
		res.Note = fmt.Sprintf("%d goroutines were started before the first run, by an init function or TestMain: they are not under control, and what they do is not seen", res.Before)
	}
	if res.Outcome == nil {
		if res.Outside > 0 {
			res.note(fmt.Sprintf("in %d of the runs goroutines were outside control, such as those that net/http starts: what they do was left to chance", res.Outside))
		}
		return res, nil
	}
	return res, p.confirm(ctx, res, o)
}

// note adds to what a reader should know.
func (r *Result) note(text string) { r.Note = strings.TrimPrefix(r.Note+"; ", "; ") + text }

func (o *Options) order(target string) *wire.Order {
	return &wire.Order{
		Verb: wire.Explore, Target: target, Strategy: o.Strategy, Seed: o.Seed, Preemptions: o.Preemptions,
		Budget: o.Budget, Runs: o.Runs, Harm: o.Harm, Steps: o.Steps, Races: !o.NoRaces, Cold: o.cold,
	}
}

func (o *Options) progress(target string) func(*wire.Progress) {
	if o.Progress == nil {
		return nil
	}
	return func(p *wire.Progress) { o.Progress(target, p) }
}

// confirm runs the failing schedule again in a fresh process, and records it.
func (p *Program) confirm(ctx context.Context, res *Result, o *Options) error {
	want := wire.Worst(res.Outcome)
	one := *o
	one.warm = res.Varied && !o.cold
	done, err := p.Record(ctx, res.Target, res.Outcome.Schedule, &one, o.Trace)
	if err != nil {
		return err
	}
	got := wire.Worst(done.Outcome)
	if got == nil || !wire.Same(got, want) {
		return errNotReproduced
	}
	res.Outcome, res.Failure = done.Outcome, got
	if len(done.Outcome.Outside) > 0 {
		res.note("part of the run was outside control, so the same schedule may lead elsewhere another time")
	}
	return nil
}

// Record runs a target by a schedule in a fresh process, and records the run to a file;
// or not, if it has no name.
func (p *Program) Record(ctx context.Context, target, schedule string, o *Options, file string) (*wire.Done, error) {
	c, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	order := &wire.Order{Verb: wire.Run, Target: target, Schedule: schedule, Seed: o.Seed, Steps: o.Steps, Races: !o.NoRaces, Cold: !o.warm}
	if file != "" {
		if order.Trace, err = filepath.Abs(file); err != nil {
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

// searchFresh is the search with a process for each run.
func (p *Program) searchFresh(ctx context.Context, target string, o *Options, left time.Duration, why error) (*Result, error) {
	res := &Result{Target: target, Fresh: true, Note: "each run had a fresh process, because " + reason(why)}
	if o.Strategy == "dfs" && o.Runs != 1 {
		// The search keeps its place in the process that it runs in. Its first run, by the
		// default schedule, is all that can be had.
		return nil, fmt.Errorf("the search by dfs needs a program whose runs can be repeated in one process, but %w; use -strategy pct or random", why)
	}
	start := time.Now()
	for seed := o.Seed; time.Since(start) < left && (o.Runs == 0 || res.Runs < o.Runs); seed++ {
		one := *o
		one.Seed, one.Runs, one.Harm, one.cold = seed, 1, 0, true
		c, err := p.start(ctx)
		if err != nil {
			return nil, err
		}
		order := one.order(target)
		order.NoShrink = true
		report, err := c.order(order, nil)
		res.Runs++
		var died *DeathError
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, &died):
			res.Cut++ // it cannot be told what it died of
			continue
		case err != nil:
			return nil, err
		}
		c.close()
		res.Steps += report.Done.Steps
		if report.Done.Outcome != nil {
			runs, steps := res.Runs, res.Steps
			res.Done = *report.Done
			res.Steps = steps
			res.Runs, res.First, res.After, res.Elapsed = runs, runs, time.Since(start), time.Since(start)
			if err := p.confirm(ctx, res, &one); !errors.Is(err, errNotReproduced) {
				return res, err
			}
			res.Outcome, res.First, res.Cut = nil, 0, res.Cut+1
		}
		if o.Progress != nil {
			o.Progress(target, &wire.Progress{Runs: res.Runs, Cut: res.Cut, Elapsed: time.Since(start), Note: "a fresh process for each run"})
		}
	}
	res.Elapsed = time.Since(start)
	if res.Cut == res.Runs && res.Runs > 0 {
		return nil, fmt.Errorf("no run came to an end under control: %w", why)
	}
	return res, nil
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

// reason is why one process is not enough, without what the program printed.
func reason(why error) string {
	var died *DeathError
	if errors.As(why, &died) {
		return "the program ended in the middle of a run (" + died.Cause.Error() + ")"
	}
	return why.Error()
}
