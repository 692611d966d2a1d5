package drive

import (
	"fmt"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// How much is spent on shrinking.
const (
	shrinkRuns   = 5000
	shrinkWithin = 3 * time.Second
)

// A search is one exploration in progress.
type search struct {
	s        *server
	target   int
	order    *wire.Order
	strategy sched.Strategy
	rec      *sched.Recorder
	classes  map[uint64]struct{}
	start    time.Time
	deadline time.Time
	reported time.Time
	now      time.Time // when the last run ended
	leaks    leaks
	unclear  leaks // that may be leaks
	held     sched.Held
	done     *wire.Done
}

// newSearch begins a search. late is a run that was made before it and took too long, or nil.
func (s *server) newSearch(i int, o *wire.Order, late *rt.Result) (*search, error) {
	strategy, err := newStrategy(o)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	x := &search{
		s: s, target: i, order: o, strategy: strategy, rec: sched.NewRecorder(strategy, true), classes: map[uint64]struct{}{},
		start: now, deadline: now.Add(o.Budget), now: now, reported: now, done: &wire.Done{},
	}
	if late != nil {
		x.start = now.Add(-o.Within)
		x.count(late)
	}
	return x, nil
}

// Of runs that took too long, this many may be left behind in the process, where they may go on
// computing for ever, and this many are enough to give up if most runs are of this kind.
const (
	mostTooLong   = 8
	enoughTooLong = 3
)

// hopeless reports whether runs take too long too often.
func (x *search) hopeless() bool {
	n := x.done.TookTooLong
	return n >= mostTooLong || n >= enoughTooLong && 2*n > x.done.Runs
}

// more reports whether there is something left to try, and time for it.
func (x *search) more() bool {
	return !x.strategy.Exhausted() && !x.hopeless() && (x.order.Runs == 0 || x.done.Runs < x.order.Runs) && (x.done.Runs == 0 || x.now.Before(x.deadline))
}

// run runs the target under the next schedule, and tells the tool now and then how far the
// search has come.
func (x *search) run() (*rt.Result, error) {
	r := x.s.run(x.target, x.order, x.rec, nil)
	x.count(r)
	x.held.Merge(r.Held)
	x.classes[x.rec.Fingerprint()] = struct{}{}
	if x.s.targets[x.target].name != "" {
		schedule := func() string { return x.rec.Schedule().String() }
		x.leaks.add(x.done.Runs, r, leaked, schedule)
		x.unclear.add(x.done.Runs, r, undecided, schedule)
	}
	x.now = time.Now()
	if r.Failed() && x.done.First == 0 {
		x.found()
	}
	if x.now.Sub(x.reported) >= x.s.reportEvery {
		x.reported = x.now
		p := x.progress()
		if err := x.s.out.Encode(&wire.Report{Progress: &p}); err != nil {
			return nil, fmt.Errorf("reporting progress: %w", err)
		}
	}
	return r, nil
}

// found takes note that the last run is the first that failed.
func (x *search) found() { x.done.First, x.done.After = x.done.Runs, x.now.Sub(x.start) }

// leaksOnly reports whether the only thing wrong with a run is what it left waiting.
func leaksOnly(r *rt.Result) bool {
	return len(r.Races) == 0 && len(r.Failures) == 1 && r.Failures[0].Kind == event.FailureLeak
}

// count takes note of a run.
func (x *search) count(r *rt.Result) {
	x.done.Runs++
	x.done.Steps += r.Steps
	if r.CutOff {
		x.done.Cut++
	}
	if r.TookTooLong {
		if x.done.TookTooLong++; x.done.TookTooLong == 1 {
			x.done.Late = lateGoroutines(r)
		}
	}
	if len(r.Outside) > 0 {
		x.done.Outside++
	}
	if r.Undecided {
		x.done.Undecided++
	}
}

func (x *search) progress() wire.Progress {
	p := x.done.Progress
	p.Classes, p.Search, p.Elapsed = len(x.classes), x.strategy.Progress(), time.Since(x.start)
	p.Search.Held = x.held
	return p
}

// spoiled reports whether a run has left something behind for the next one.
func (x *search) spoiled(r *rt.Result) bool { return r.Residue && x.order.WarmUp }

// explore runs a target under one schedule after another until one fails, nothing is
// left to try, or the time is up.
//
// A race is a failure, but one that has done no visible harm yet; the search goes
// on for o.Harm in the hope of a panic or a failing test, which tell a person more. A
// goroutine that is left waiting does not end the search at all: it may be meant, and must
// not hide anything else.
func (s *server) explore(i int, o *wire.Order, late *rt.Result) (*wire.Done, error) {
	x, err := s.newSearch(i, o, late)
	if err != nil {
		return nil, err
	}
	var schedule sched.Schedule
	for x.more() {
		r, err := x.run()
		switch {
		case err != nil:
			return nil, err
		case x.spoiled(r):
			return &wire.Done{Residue: wire.ChangesEndings}, nil
		case !r.Failed(), leaksOnly(r):
			continue
		}
		best, worst := x.done.Best, outcome(r).Worst()
		if best == nil {
			x.found() // what came before were leaks
			x.deadline = earlier(x.deadline, time.Now().Add(o.Harm))
		}
		if best == nil || worst.Kind != event.FailureRace {
			x.done.Best, schedule = worst, x.rec.Schedule()
		}
		if worst.Kind != event.FailureRace {
			break
		}
	}
	done := x.finish()
	if leak := x.leaks.worth(); leak != nil && done.Best == nil && o.Leaks {
		var err error
		if schedule, err = sched.ParseSchedule(leak.Schedule); err != nil {
			return nil, err
		}
		done.Best = &leak.Failure
	}
	switch {
	case done.Best == nil:
	case !o.Shrink:
		done.Outcome = &trace.Outcome{Result: event.Failed, Failures: []trace.Failure{*done.Best}, Schedule: schedule.String()}
	default:
		s.shrink(i, o, done.Best, schedule, done)
	}
	return done, nil
}

// finish completes the result of a search.
func (x *search) finish() *wire.Done {
	x.done.Progress = x.progress()
	x.done.Before = x.s.before
	x.done.Leaks, x.done.Unclear = x.leaks.found, x.unclear.found
	return x.done
}

// exploreAll runs a target under one schedule after another, whether they fail or not.
func (s *server) exploreAll(i int, o *wire.Order, late *rt.Result) (*wire.Done, error) {
	x, err := s.newSearch(i, o, late)
	if err != nil {
		return nil, err
	}
	type likeness struct {
		kind    event.FailureKind
		message string
		left    bool
	}
	known := map[likeness]int{}
	for x.more() {
		r, err := x.run()
		switch {
		case err != nil:
			return nil, err
		case x.spoiled(r):
			return &wire.Done{Residue: wire.ChangesEndings}, nil
		case !r.Failed():
			x.done.Passed++
			continue
		}
		left := slices.ContainsFunc(r.Failures, func(f rt.Failure) bool { return !endsRun(f) })
		for _, f := range outcome(r).Failures {
			like := likeness{f.Kind, f.Message, left}
			at, ok := known[like]
			if !ok {
				at = len(x.done.Failures)
				known[like] = at
				x.done.Failures = append(x.done.Failures, wire.Found{Failure: f, Schedule: x.rec.Schedule().String(), Left: left})
			}
			x.done.Failures[at].Runs++
		}
	}
	return x.finish(), nil
}

func newStrategy(o *wire.Order) (sched.Strategy, error) {
	var byChance sched.Strategy
	switch o.Method {
	case sched.MethodPCT:
		byChance = sched.NewPCT(o.Seed, 0)
	case sched.MethodRandom:
		byChance = sched.NewRandom(o.Seed)
	case sched.MethodDFS:
		return sched.NewDFS(o.Preemptions), nil
	default:
		return nil, fmt.Errorf("unknown strategy %q: use pct, random or dfs", o.Method)
	}
	// A process that runs once has no time to look.
	if !o.WarmUp {
		return byChance, nil
	}
	return sched.NewProbe(byChance), nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// shrink finds the smallest schedule with the same failure.
func (s *server) shrink(i int, o *wire.Order, f *trace.Failure, from sched.Schedule, done *wire.Done) {
	until := time.Now().Add(shrinkWithin)
	best := &trace.Outcome{Result: event.Failed, Failures: []trace.Failure{*f}}
	small := sched.Shrink(from, func(strategy sched.Strategy) bool {
		if time.Now().After(until) {
			return false
		}
		out := outcome(s.run(i, o, strategy, nil))
		worst := out.Worst()
		if worst == nil || !worst.Same(f) {
			return false
		}
		best = out
		return true
	}, shrinkRuns)
	best.Schedule = small.Schedule.String()
	done.Outcome, done.Shrinking, done.Minimal = best, small.Runs, small.Minimal && time.Now().Before(until)
}
