package explore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/search"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A pass is a search of a target with one kind of processes: some that make one run after
// another, or one for each run. It can be left and taken up again.
type pass struct {
	*search.Pass
	p      *Program
	target string
	o      *Options
	fresh  bool

	mu     sync.Mutex             // guards what follows
	deaths map[string]*DeathError // by what they say as failures
}

func newPass(p *Program, target string, o *Options, fresh bool) *pass {
	s := search.Options{
		PlanOptions: sched.PlanOptions{Method: o.Strategy, Seed: o.Seed, Preemptions: o.Preemptions, AtOnce: o.AtOnce, Runs: o.Runs, Single: fresh},
		Harm:        o.Harm, Deadline: o.Deadline, All: o.All, Leaks: o.Leaks,
	}
	if o.Progress != nil {
		s.Progress = func(p *wire.Progress) { o.Progress(target, p) }
	}
	s.Endless, s.Paths, s.Prints, s.Together = o.Endless, o.Kept, o.Kept, o.Together
	return &pass{Pass: search.New(s), p: p, target: target, o: o, fresh: fresh}
}

// patience is how much longer than its budget and a last run a search may take: to cut that
// run off.
const patience = 5 * time.Second

// run goes on with the search, for so long and with so many processes.
func (x *pass) run(ctx context.Context, idle *idleProcesses, budget time.Duration, jobs int) error {
	if x.o.Elsewhere != nil {
		return x.runElsewhere(ctx, budget, jobs)
	}
	limited, cancel := context.WithTimeout(ctx, budget+x.o.Harm+x.o.within()+patience)
	defer cancel()
	c := &crew{x: x, ctx: ctx, limited: limited, idle: idle, alone: jobs == 1, residue: x.Sum.Residue}
	defer c.dismiss()
	err := x.Run(c, budget, jobs)
	x.Sum.Residue, x.Sum.Before = c.residue, max(x.Sum.Before, c.before)
	return explain(ctx, limited, err)
}

// runElsewhere is run for a search whose units are done elsewhere, where each has its limit of time.
func (x *pass) runElsewhere(ctx context.Context, budget time.Duration, jobs int) error {
	c := &distantCrew{x: x, ctx: ctx, alone: jobs == 1, residue: x.Sum.Residue}
	err := x.Run(c, budget, jobs)
	x.Sum.Residue, x.Sum.Before = c.residue, max(x.Sum.Before, c.before)
	return explain(ctx, ctx, err)
}

// explain says what an error of a pass comes from.
func explain(ctx, limited context.Context, err error) error {
	var died *DeathError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &died) && limited.Err() != nil:
		return &StuckError{Output: died.Output}
	}
	return err
}

// afterDeath is what comes of a run in which its process died. If that happens in another
// process, too, it is a failure, of which there is no schedule. What the system killed is not
// taken for a failure of the program, nor is any death under a limit of memory, which may be why.
func (x *pass) afterDeath(again func() error, died *DeathError) wire.UnitDone {
	done := wire.UnitDone{UnitDone: sched.UnitDone{Runs: 1, CutOff: 1}}
	if died.killed() || x.p.build.Limits.Memory > 0 {
		return done
	}
	var second *DeathError
	if !errors.As(again(), &second) || !second.same(died) {
		return done
	}
	f := x.noteDeath(died)
	done.CutOff, done.Failed, done.Failures = 0, 1, []wire.Found{{Failure: *f, At: 1, Runs: 1}}
	return done
}

// noteDeath takes note of a death that is a failure, and returns that.
func (x *pass) noteDeath(died *DeathError) *trace.Failure {
	f := died.failure()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.deaths == nil {
		x.deaths = map[string]*DeathError{}
	}
	x.deaths[f.Message] = died
	return f
}
