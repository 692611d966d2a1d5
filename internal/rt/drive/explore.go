package drive

import (
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// How often the tool hears of the progress, and how much is spent on shrinking.
const (
	reportEvery  = 200 * time.Millisecond
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
		if r.Spoiled && !o.Cold {
			return &wire.Done{Unrepeatable: true}, nil
		}
		now := time.Now()
		if r.Failed() {
			out := outcome(r)
			worst := wire.Worst(out)
			if done.First == 0 {
				done.First, done.After = done.Runs, now.Sub(start)
			}
			if best == nil || best.Kind == wire.Race && worst.Kind != wire.Race {
				if best == nil {
					deadline = earlier(deadline, now.Add(o.Harm))
				}
				best, schedule = worst, rec.Schedule()
				done.Best = worst.Kind + ": " + worst.Message
			}
			if best.Kind != wire.Race {
				break
			}
		}
		if now.After(deadline) {
			break
		}
		if now.Sub(reported) >= reportEvery {
			reported = now
			p := done.Progress
			p.Classes, p.Note, p.Elapsed = len(classes), strategy.Progress(), now.Sub(start)
			if err := s.out.Encode(&wire.Report{Progress: &p}); err != nil {
				return nil, fmt.Errorf("reporting progress: %w", err)
			}
		}
	}
	done.Classes, done.Note, done.Elapsed = len(classes), strategy.Progress(), time.Since(start)
	done.Exhausted = strategy.Exhausted()
	done.Before = s.before
	switch {
	case best == nil:
	case o.NoShrink:
		done.Outcome = &trace.Outcome{Result: "failed", Failures: []trace.Failure{*best}, Schedule: schedule.String()}
	default:
		s.shrink(i, o, best, schedule, done)
	}
	return done, nil
}

func newStrategy(o *wire.Order) (sched.Strategy, error) {
	var byChance sched.Strategy
	switch o.Strategy {
	case "pct":
		byChance = sched.NewPCT(o.Seed, 0)
	case "random":
		byChance = sched.NewRandom(o.Seed)
	case "dfs":
		return sched.NewDFS(o.Preemptions), nil
	default:
		return nil, fmt.Errorf("unknown strategy %q: use pct, random or dfs", o.Strategy)
	}
	// A process that runs once has no time to look.
	if o.Cold {
		return byChance, nil
	}
	return sched.NewFew(byChance), nil
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
	best := &trace.Outcome{Result: "failed", Failures: []trace.Failure{*f}}
	small := sched.Shrink(from, func(strategy sched.Strategy) bool {
		if time.Now().After(until) {
			return false
		}
		out := outcome(s.run(i, o, strategy, nil))
		worst := wire.Worst(out)
		if worst == nil || !wire.Same(worst, f) {
			return false
		}
		best = out
		return true
	}, shrinkRuns)
	best.Schedule = small.Schedule.String()
	done.Outcome, done.Shrinking, done.Minimal = best, small.Runs, small.Minimal && time.Now().Before(until)
}
