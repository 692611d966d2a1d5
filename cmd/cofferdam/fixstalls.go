package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A test that sleeps for a little longer than what it waits for takes fails whenever the machine stalls,
// and no change of the program helps. If its program is racy as well, that is to be fixed all the same: so
// a failure that needs a stall is looked at after one that needs none.

// budgetWithoutStalls is how long to look for a failure that needs no stall.
const budgetWithoutStalls = 2 * time.Second

// withoutStalls returns another failure of a test, in a run in which the machine does not stall; nil if the
// one that is known needs no stall, or if there is no other.
func (x *fixing) withoutStalls(ctx context.Context, target explore.Target, known *failingTest) (*failingTest, error) {
	if stalls, err := needsStall(known.trace); err != nil || !stalls {
		return nil, err
	}
	x.inv.Status.Phase("looking for a failure of " + known.name + " in which the machine does not stall")
	o := x.Options
	o.Stall, o.Budget, o.Harm, o.Deadline = explore.NoStall, budgetWithoutStalls, min(x.Harm, budgetWithoutStalls), time.Time{}
	o.Trace = filepath.Join(x.temp, "withoutstalls.trace")
	o.Progress = func(_ string, p *wire.Progress) { x.inv.Status.Detail(reachedText(p)) }
	res, err := target.Program.Explore(ctx, target.Test, &o)
	if err != nil || res.Failure == nil || res.Death != nil {
		return nil, err
	}
	return &failingTest{name: known.name, pkg: known.pkg, test: known.test, failure: *res.Failure, trace: o.Trace, config: known.config}, nil
}

// needsStall reports whether the machine stalls in the schedule of a trace, which has none that it can
// do without.
func needsStall(file string) (bool, error) {
	r, err := trace.Open(file)
	if err != nil {
		return false, err
	}
	defer r.Close()
	schedule, err := sched.ParseSchedule(r.Header.Schedule)
	return len(schedule.Stalls) > 0, err
}
