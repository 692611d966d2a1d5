package explore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/search"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// How much is spent on shrinking a schedule: runs, and time. leastShrinking is what it gets
// though the time is up.
const (
	shrinkRuns     = 5000
	shrinkWithin   = 3 * time.Second
	leastShrinking = 300 * time.Millisecond
)

// shrinking is how long shrinking may take now.
func (o *Options) shrinking() time.Duration {
	if o.Deadline.IsZero() {
		return shrinkWithin
	}
	return min(shrinkWithin, max(leastShrinking, time.Until(o.Deadline)))
}

// shrink has the schedule of a failure shrunk by as many processes as the search has. It also
// returns the failure that the smallest schedule leads to.
func (s *Search) shrink(ctx context.Context, f *wire.Found) (sched.Shrunk, *trace.Failure, error) {
	from, err := sched.ParseSchedule(f.Schedule)
	if err != nil {
		return sched.Shrunk{}, nil, fmt.Errorf("shrinking a schedule: %w", err)
	}
	small, failure, err := s.shrinkFrom(ctx, from, f)
	var notBeside notBesideError
	if errors.As(err, &notBeside) {
		s.idle.close()
		s.jobs, s.notBeside = 1, notBeside
		small, failure, err = s.shrinkFrom(ctx, from, f)
	}
	return small, failure, err
}

func (s *Search) shrinkFrom(ctx context.Context, from sched.Schedule, f *wire.Found) (sched.Shrunk, *trace.Failure, error) {
	o := *s.o
	o.Progress = nil // of the search
	c := &crew{x: newPass(s.p, s.target, &o, false), ctx: ctx, limited: ctx, idle: &s.idle, failure: &f.Failure, alone: s.jobs == 1, started: s.idle.starting(s.jobs)}
	defer c.dismiss()
	small, failure, err := search.Shrink(from, c, time.Now().Add(o.shrinking()), shrinkRuns, s.jobs)
	if failure == nil {
		failure = &f.Failure // it did not come back, which is found out when it is recorded
	}
	return small, failure, err
}
