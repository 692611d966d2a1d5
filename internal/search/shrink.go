package search

import (
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Shrink has the schedule of a failure shrunk by a crew, for which no other failure counts, with
// so many runs and workers at most. It also returns the failure that the smallest schedule leads
// to; nil if the failure did not come back.
func Shrink(from sched.Schedule, c Crew, until time.Time, runs, workers int) (sched.Shrunk, *trace.Failure, error) {
	r := &shrinking{crew: c, begin: time.Now(), until: until, workers: workers, failures: map[string]*trace.Failure{}}
	small := sched.Shrink(from, r, runs)
	if r.err != nil {
		return small, nil, r.err
	}
	small.Minimal = small.Minimal && !r.Over()
	return small, r.failures[small.Schedule.String()], nil
}

// A shrinking makes the runs of shrinking, side by side (sched.Runs).
type shrinking struct {
	crew         Crew
	begin, until time.Time
	workers      int
	begun        bool // a run was made
	unitTakes    time.Duration
	failures     map[string]*trace.Failure // by the schedule that led to them
	err          error
}

// Over reports whether no run is to be made any more.
func (r *shrinking) Over() bool { return r.err != nil || !time.Now().Before(r.until) }

// Replay runs schedules until one fails in the same way.
func (r *shrinking) Replay(all []sched.Schedule) (failing int, ran sched.Schedule) {
	units := make([]sched.Unit, len(all))
	for i := range all {
		units[i] = sched.Unit{Method: sched.MethodReplay, Schedule: all[i].String(), Runs: 1}
	}
	done, schedule := r.do(units)
	if schedule == nil {
		return len(all), sched.Schedule{}
	}
	return len(done) - 1, *schedule
}

// Search does units until a run fails in the same way.
func (r *shrinking) Search(units []sched.Unit) (done []sched.UnitDone, failing *sched.Schedule) {
	all, failing := r.do(units)
	for i := range all {
		if all[i].Runs == 0 { // there was no time for it
			break
		}
		done = append(done, all[i].UnitDone)
	}
	return done, failing
}

// do has units done up to the first with a run that fails in the same way, and returns the
// schedule of that.
func (r *shrinking) do(units []sched.Unit) (done []wire.UnitDone, failing *sched.Schedule) {
	workers := r.workers
	if !r.begun || alone(r.crew, r.begin) {
		workers = 1
	}
	r.begun = true
	fails := func(u *wire.UnitDone) bool { return len(u.Failures) > 0 }
	do := func(n int, units []sched.Unit) ([]wire.UnitDone, error) {
		return r.crew.Do(n, units, func() time.Time { return r.until })
	}
	w := wave{units: units, unitTakes: r.unitTakes, do: do, ends: fails, more: func() bool { return !r.Over() }}
	done, err := w.run(workers)
	r.unitTakes = w.unitTakes
	if err != nil {
		r.err = err
		return nil, nil
	}
	for i := range done {
		if !fails(&done[i]) {
			continue
		}
		found := &done[i].Failures[0]
		schedule, err := sched.ParseSchedule(found.Schedule)
		if err != nil {
			r.err = err
			return nil, nil
		}
		r.failures[found.Schedule] = &found.Failure
		return done[:i+1], &schedule
	}
	return done, nil
}
