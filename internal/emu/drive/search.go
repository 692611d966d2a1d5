package drive

import (
	"context"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options say how to search.
type Options struct {
	Method      sched.Method
	Preemptions int // for sched.MethodDFS
	Seed        uint64
	Budget      time.Duration
	Runs        int // at most; 0: as many as fit into the budget
	// Ignore, if it is there, reports whether a failure is not what is looked for.
	Ignore func(*trace.Failure) bool
	// Progress is told what is going on; it may be nil.
	Progress func(*wire.Progress)
}

// How much is spent on shrinking, and how often progress is told.
const (
	shrinkRuns   = 5000
	shrinkWithin = 5 * time.Second
	reportEvery  = 200 * time.Millisecond
)

// Explore learns which memory is shared, searches, and shrinks the schedule that it finds.
func (p *Program) Explore(ctx context.Context, o *Options) (*wire.Summary, error) {
	p.learn(ctx, o)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	done, schedule, err := p.search(ctx, o)
	if err == nil && done.Best != nil {
		p.shrink(ctx, done.Best, schedule, done)
		err = ctx.Err()
	}
	return done, err
}

// Search is Explore without what comes before and after.
func (p *Program) Search(ctx context.Context, o *Options) (*wire.Summary, error) {
	done, _, err := p.search(ctx, o)
	return done, err
}

// search runs the program under one schedule after another until one fails, nothing is left
// to try, or the time is up. It returns the schedule that fails.
func (p *Program) search(ctx context.Context, o *Options) (*wire.Summary, sched.Schedule, error) {
	strategy, err := newStrategy(o)
	if err != nil {
		return nil, sched.Schedule{}, err
	}
	var (
		rec      = sched.NewRecorder(strategy, true)
		classes  = map[uint64]struct{}{}
		start    = time.Now()
		reported = start
		done     = &wire.Summary{}
	)
	progress := func() {
		done.Classes, done.Search, done.Elapsed = len(classes), strategy.Progress(), time.Since(start)
	}
	for !strategy.Exhausted() && (o.Runs == 0 || done.Runs < o.Runs) && ctx.Err() == nil {
		r := &run{Program: p, strategy: rec, learns: true, stop: stopper(ctx, start.Add(o.Budget))}
		r.execute()
		if e := p.process.Exit(); e != nil && e.Reason == linux.Lacking {
			return done, sched.Schedule{}, lacking(e)
		}
		done.Runs++
		done.Steps += r.steps
		classes[rec.Fingerprint()] = struct{}{}
		if r.cutOff {
			done.Cut++
		}
		if r.failure != nil && (o.Ignore == nil || !o.Ignore(r.failure)) {
			done.First, done.After = done.Runs, time.Since(start)
			done.Best = r.failure
			progress()
			return done, rec.Schedule(), ctx.Err()
		}
		if r.learn() && o.Method == sched.MethodDFS {
			// What was tried had other steps.
			strategy = sched.NewDFS(o.Preemptions)
			rec = sched.NewRecorder(strategy, true)
		}
		if now := time.Now(); now.Sub(start) > o.Budget {
			break
		} else if o.Progress != nil && now.Sub(reported) >= reportEvery {
			reported = now
			progress()
			o.Progress(&done.Progress)
		}
	}
	progress()
	return done, sched.Schedule{}, ctx.Err()
}

// How many runs in a row have to find no more shared memory, and how many are made at most,
// before the search begins.
const (
	settled      = 6
	mostLearning = 60
)

// learningShare is which part of the time the learning may take: one in so many.
const learningShare = 4

// stopper tells a run to stop when the time is up, or it is not wanted any more.
func stopper(ctx context.Context, until time.Time) func() bool {
	return func() bool { return ctx.Err() != nil || time.Now().After(until) }
}

// learn makes runs by chance until they share no more memory than is known. Whether they
// fail does not matter: the search will.
func (p *Program) learn(ctx context.Context, o *Options) {
	stop := stopper(ctx, time.Now().Add(o.Budget/learningShare))
	for i, calm := uint64(0), 0; calm < settled && i < mostLearning && !stop(); i++ {
		r := &run{Program: p, strategy: sched.NewRandom(o.Seed + i), learns: true, stop: stop}
		r.execute()
		if calm++; r.learn() {
			calm = 0
		}
	}
}

func newStrategy(o *Options) (sched.Strategy, error) {
	switch o.Method {
	case sched.MethodPCT:
		return sched.NewProbe(sched.NewPCT(o.Seed, 0)), nil
	case sched.MethodRandom:
		return sched.NewProbe(sched.NewRandom(o.Seed)), nil
	case sched.MethodDFS:
		return sched.NewDFS(o.Preemptions), nil
	}
	return nil, fmt.Errorf("unknown strategy %q: use pct, random or dfs", o.Method)
}

// Try runs the program by a schedule as far as the schedule fits, and returns the failure
// that the run ends with, nil if it does not fail.
func (p *Program) Try(schedule string) (*trace.Failure, error) {
	parsed, err := sched.ParseSchedule(schedule)
	if err != nil {
		return nil, err
	}
	r := &run{Program: p, strategy: sched.NewReplay(parsed), learns: true}
	r.execute()
	r.learn()
	if e := p.process.Exit(); e != nil && e.Reason == linux.Lacking {
		return nil, lacking(e)
	}
	return r.failure, nil
}

// shrink finds the smallest schedule with the same failure.
func (p *Program) shrink(ctx context.Context, f *trace.Failure, from sched.Schedule, done *wire.Summary) {
	until := time.Now().Add(shrinkWithin)
	best := f
	small := sched.Shrink(from, func(strategy sched.Strategy) bool {
		if time.Now().After(until) || ctx.Err() != nil {
			return false
		}
		r := &run{Program: p, strategy: strategy, stop: stopper(ctx, until)}
		r.execute()
		if r.failure == nil || !r.failure.Same(f) {
			return false
		}
		best = r.failure
		return true
	}, shrinkRuns)
	done.Outcome = &trace.Outcome{Result: event.Failed, Failures: []trace.Failure{*best}, Schedule: small.Schedule.String()}
	done.Shrinking, done.Minimal = small.Runs, small.Minimal && time.Now().Before(until)
}
