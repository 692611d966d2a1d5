package explore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/search"
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
	return &pass{Pass: search.New(s), p: p, target: target, o: o, fresh: fresh}
}

// patience is how much longer than its budget and a last run a search may take: to cut that
// run off.
const patience = 5 * time.Second

// run goes on with the search, for so long and with so many processes.
func (x *pass) run(ctx context.Context, idle *idleProcesses, budget time.Duration, jobs int) error {
	limited, cancel := context.WithTimeout(ctx, budget+x.o.Harm+x.o.within()+patience)
	defer cancel()
	c := &crew{x: x, ctx: ctx, limited: limited, idle: idle, residue: x.Sum.Residue}
	defer c.dismiss()
	err := x.Run(c, budget, jobs)
	x.Sum.Residue, x.Sum.Before = c.residue, max(x.Sum.Before, c.before)
	return explain(ctx, limited, err)
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
// taken for a failure of the program.
func (x *pass) afterDeath(again func() error, died *DeathError) wire.UnitDone {
	done := wire.UnitDone{UnitDone: sched.UnitDone{Runs: 1, CutOff: 1}}
	if died.killed() {
		return done
	}
	var second *DeathError
	if !errors.As(again(), &second) || !second.same(died) {
		return done
	}
	f := died.failure()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.deaths == nil {
		x.deaths = map[string]*DeathError{}
	}
	x.deaths[f.Message] = died
	done.CutOff, done.Failed, done.Failures = 0, 1, []wire.Found{{Failure: *f, At: 1, Runs: 1}}
	return done
}
