package repair

import (
	"context"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A lock can make a goroutine wait for ever that the test does not wait for: the test then
// passes, and the goroutine is left. So a candidate is dropped if it leaves a goroutine
// waiting where the program without it leaves none. What the program leaves anyway, such as
// workers that live as long as the process, is no fault of the candidate.

// leavesWaiting says which goroutine a candidate leaves waiting that the program does not; ""
// if there is none. leaks are what its schedules left.
func (f *fixer) leavesWaiting(ctx context.Context, program *explore.Program, leaks []wire.Found) (why string, err error) {
	if len(leaks) == 0 {
		return "", nil
	}
	if err := f.findLeaksBefore(ctx); err != nil {
		return "", err
	}
	for i := range leaks {
		for j := range leaks[i].Waiting {
			if w := &leaks[i].Waiting[j]; !f.leaksBefore[program.WaitIdentity(w)] {
				return "with it, a goroutine is left waiting for ever: " + w.Op.String() + " (" + w.Shape.String() + ")", nil
			}
		}
	}
	return "", nil
}

// leakRuns is how many schedules of the program as it is are tried for what it leaves.
const leakRuns = 2000

// findLeaksBefore looks what the program leaves waiting as it is. It is built once more, if a
// candidate leaves something.
func (f *fixer) findLeaksBefore(ctx context.Context) error {
	if f.leaksBefore != nil {
		return nil
	}
	f.detail("looking what the program itself leaves waiting")
	f.leaksBefore = map[string]bool{}
	config, err := f.changedConfig(nil, f.result.run)
	if err != nil {
		return err
	}
	build, err := explore.New(ctx, config, f.args...)
	if err != nil {
		return err
	}
	defer build.Close()
	program := f.programOf(build)
	o := f.opts.Explore
	o.Strategy, o.Runs, o.Budget, o.Races, o.All = sched.MethodPCT, leakRuns, max(f.opts.Proof/10, time.Second), false, true
	res, err := program.Explore(ctx, f.target, &o)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return nil // nothing is known of it: what a candidate leaves counts
	}
	for i := range res.Leaks {
		for j := range res.Leaks[i].Waiting {
			f.leaksBefore[program.WaitIdentity(&res.Leaks[i].Waiting[j])] = true
		}
	}
	return nil
}

// programOf is the program of a build that has the target.
func (f *fixer) programOf(build *explore.Build) *explore.Program {
	for _, p := range build.Programs {
		if p.Package == f.config.Patterns[0] {
			return p
		}
	}
	return build.Programs[0]
}
