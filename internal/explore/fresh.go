package explore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// alsoFresh completes a search that found nothing, or no more than a leak, with runs in fresh
// processes.
func (p *Program) alsoFresh(ctx context.Context, res *Result, o *Options, left time.Duration) (*Result, error) {
	rest := *o
	if o.Runs > 0 {
		if rest.Runs = o.Runs - res.Runs; rest.Runs <= 0 {
			return res, nil
		}
	}
	fresh, err := p.searchFresh(ctx, res.Target, &rest, left, errChangesSteps)
	if err != nil {
		return nil, err
	}
	if res.leaks() && fresh.Outcome == nil {
		again, err := p.recordAgain(ctx, res, o, true)
		if err != nil {
			return nil, err
		}
		if again == nil {
			res.Outcome, res.Failure = nil, nil
		}
	}
	return both(res, fresh), nil
}

// recordAgain records a leak again, in whose place another run was recorded. It returns nil
// if there is none, or it did not come back.
func (p *Program) recordAgain(ctx context.Context, leak *Result, o *Options, warmUp bool) (*Result, error) {
	if leak == nil {
		return nil, nil
	}
	err := p.confirm(ctx, leak, o, warmUp)
	if errors.Is(err, errNotReproduced) {
		return nil, nil
	}
	return leak, err
}

// goOnFresh goes on, in fresh processes, with a search whose process has ended. What it had
// come to counts.
func (p *Program) goOnFresh(ctx context.Context, res *Result, o *Options, left time.Duration) (*Result, error) {
	rest := *o
	if o.Runs > 0 {
		rest.Runs = max(o.Runs-res.Runs, 1)
	}
	fresh, err := p.searchFresh(ctx, res.Target, &rest, max(left, leastWithin), res.Ended)
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err != nil:
		return res, nil // why it ended is told
	}
	fresh.Ended = res.Ended
	fresh.Runs, fresh.Cut, fresh.Steps, fresh.Elapsed = fresh.Runs+res.Runs, fresh.Cut+res.Cut, fresh.Steps+res.Steps, fresh.Elapsed+res.Elapsed
	if fresh.Failure != nil {
		fresh.First += res.Runs
	}
	return fresh, nil
}

// both is what two searches of a target came to, the first of which found nothing or a
// leak, and the second of which had a process for each run.
func both(one, fresh *Result) *Result {
	if fresh.Outcome != nil {
		fresh.Runs, fresh.First, fresh.Elapsed = fresh.Runs+one.Runs, fresh.First+one.Runs, fresh.Elapsed+one.Elapsed
		return fresh
	}
	one.FreshRuns, one.WhyFresh = fresh.Runs, fresh.WhyFresh
	one.Runs, one.Cut, one.Elapsed = one.Runs+fresh.Runs, one.Cut+fresh.Cut, one.Elapsed+fresh.Elapsed
	return one
}

// searchFresh is the search with a process for each run.
func (p *Program) searchFresh(ctx context.Context, target string, o *Options, left time.Duration, why error) (*Result, error) {
	res := &Result{Target: target, WhyFresh: why}
	res.Fresh = true
	if o.Strategy == sched.MethodDFS && o.Runs != 1 {
		// The search keeps its place in the process that it runs in. Its first run, by the
		// default schedule, is all that can be had.
		return nil, fmt.Errorf("the search by dfs needs a program whose runs can be repeated in one process, but %w; use -strategy pct or random", why)
	}
	start := time.Now()
	var leak *Result // the first
	var leakOptions Options
	for seed := o.Seed; time.Since(start) < left && (o.Runs == 0 || res.Runs < o.Runs); seed++ {
		one := *o
		one.Seed, one.Runs, one.Harm = seed, 1, 0
		c, err := p.start(ctx)
		if err != nil {
			return nil, err
		}
		order := p.order(target, &one)
		order.WarmUp, order.Shrink = false, false
		report, err := c.order(order, nil)
		res.Runs++
		var died *DeathError
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, &died):
			if p.diesAgain(ctx, order, died) {
				res.First, res.After, res.Elapsed = res.Runs, time.Since(start), time.Since(start)
				res.Failure, res.Death, res.DeathSeed = died.failure(), died, seed
				res.Outcome = &trace.Outcome{Result: event.Failed, Failures: []trace.Failure{*res.Failure}}
				return res, nil
			}
			res.Cut++ // by chance, or by the system
			continue
		case err != nil:
			return nil, err
		}
		c.close()
		res.Steps += report.Done.Steps
		if worst := report.Done.Outcome.Worst(); worst != nil && (leak == nil || worst.Kind != event.FailureLeak) {
			found := *res
			found.Done = *report.Done
			found.Steps, found.Fresh, found.Cut = res.Steps, true, res.Cut
			found.Runs, found.First, found.After, found.Elapsed = res.Runs, res.Runs, time.Since(start), time.Since(start)
			err := p.confirm(ctx, &found, &one, false)
			switch {
			case errors.Is(err, errNotReproduced):
				res.Cut++
				if leak, err = p.recordAgain(ctx, leak, &leakOptions, false); err != nil {
					return nil, err
				}
			case err != nil || !found.leaks():
				return &found, err
			default:
				leak, leakOptions = &found, one
			}
		}
		if o.Progress != nil {
			o.Progress(target, &wire.Progress{Runs: res.Runs, Cut: res.Cut, Elapsed: time.Since(start), Fresh: true})
		}
	}
	res.Elapsed = time.Since(start)
	if leak != nil {
		leak.Runs, leak.Cut, leak.Steps, leak.Elapsed = res.Runs, res.Cut, res.Steps, res.Elapsed
		return leak, nil
	}
	if res.Cut == res.Runs && res.Runs > 0 {
		return nil, fmt.Errorf("no run came to an end under control: %w", why)
	}
	return res, nil
}

// diesAgain reports whether a program that died while it carried out an order, in a fresh
// process, dies in the same way in another one. What the system killed is not taken for a
// failure of the program.
func (p *Program) diesAgain(ctx context.Context, order *wire.Order, died *DeathError) bool {
	if died.killed() {
		return false
	}
	c, err := p.start(ctx)
	if err != nil {
		return false
	}
	_, err = c.order(order, nil)
	var again *DeathError
	if !errors.As(err, &again) {
		if err == nil {
			c.close()
		}
		return false
	}
	return again.same(died)
}
