package drive

import (
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// How much is spent on shrinking.
const (
	shrinkRuns   = 5000
	shrinkWithin = 3 * time.Second
)

// explore runs a target under one schedule after another until one fails, nothing is
// left to try, or the time is up.
//
// A race is a failure, but one that nobody has seen do any harm yet; the search goes
// on for o.Harm in the hope of a panic or a failing test, which tell a person more.
func (s *server) explore(i int, o *wire.Order) (*wire.Done, error) {
	strategy, err := newStrategy(o)
	if err != nil {
		return nil, err
	}
	var (
		rec      = sched.NewRecorder(strategy, true)
		classes  = map[uint64]struct{}{}
		start    = time.Now()
		deadline = start.Add(o.Budget)
		reported = start
		done     = &wire.Done{}
		best     *trace.Failure
		schedule sched.Schedule
	)
	for !strategy.Exhausted() && (o.Runs == 0 || done.Runs < o.Runs) {
		r := s.run(i, o, rec, nil)
		done.Runs++
		done.Steps += r.Steps
		classes[rec.Fingerprint()] = struct{}{}
		if r.CutOff {
			done.Cut++
		}
		if len(r.Outside) > 0 {
			done.Outside++
		}
		if r.Residue && o.WarmUp {
			return &wire.Done{Residue: wire.ChangesEndings}, nil
		}
		now := time.Now()
		if r.Failed() {
			out := outcome(r)
			worst := out.Worst()
			if done.First == 0 {
				done.First, done.After = done.Runs, now.Sub(start)
			}
			if best == nil || best.Kind == event.FailureRace && worst.Kind != event.FailureRace {
				if best == nil {
					deadline = earlier(deadline, now.Add(o.Harm))
				}
				best, schedule = worst, rec.Schedule()
				done.Best = worst
			}
			if best.Kind != event.FailureRace {
				break
			}
		}
		if now.After(deadline) {
			break
		}
		if now.Sub(reported) >= s.reportEvery {
			reported = now
			p := done.Progress
			p.Classes, p.Search, p.Elapsed = len(classes), strategy.Progress(), now.Sub(start)
			if err := s.out.Encode(&wire.Report{Progress: &p}); err != nil {
				return nil, fmt.Errorf("reporting progress: %w", err)
			}
		}
	}
	done.Classes, done.Search, done.Elapsed = len(classes), strategy.Progress(), time.Since(start)
	done.Before = s.before
	switch {
	case best == nil:
	case !o.Shrink:
		done.Outcome = &trace.Outcome{Result: event.Failed, Failures: []trace.Failure{*best}, Schedule: schedule.String()}
	default:
		s.shrink(i, o, best, schedule, done)
	}
	return done, nil
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
