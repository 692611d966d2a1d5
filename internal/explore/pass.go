package explore

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A pass is a search of a target with one kind of processes: some that make one run after
// another, or one for each run. It can be left and taken up again.
type pass struct {
	p      *Program
	target string
	o      *Options
	fresh  bool
	plan   *sched.Plan
	prints map[uint64]struct{}

	sum   wire.Summary
	held  sched.Held // fixed in all runs
	found found
	over  bool // there is nothing left to do
	// start is when the pass would have begun if it had not been left in between.
	start time.Time

	mu sync.Mutex // guards what follows
	// until is when the search for visible harm ends, once a failure is known.
	until  time.Time
	deaths map[string]*DeathError // by what they say as failures
}

// found are the failures that a pass may end with.
type found struct {
	first   *wire.Found // of any kind
	visible *wire.Found // one that does harm; the first of those
}

// harmRuns is after how many runs more the search for visible harm ends, however short they
// are: so that the result does not depend on the speed of the machine where runs are short.
const harmRuns = 10_000

func newPass(p *Program, target string, o *Options, fresh bool) *pass {
	return &pass{
		p: p, target: target, o: o, fresh: fresh, prints: map[uint64]struct{}{},
		plan: sched.NewPlan(sched.PlanOptions{Method: o.Strategy, Seed: o.Seed, Preemptions: o.Preemptions, Runs: o.Runs, Single: fresh}),
	}
}

// patience is how much longer than its budget and a last run a search may take: to cut that
// run off.
const patience = 5 * time.Second

// hurry is how long one process searches alone: to start another one takes about as long,
// and most targets need none.
const hurry = 50 * time.Millisecond

// run goes on with the search, for so long and with so many processes.
func (x *pass) run(ctx context.Context, budget time.Duration, jobs int) error {
	limited, cancel := context.WithTimeout(ctx, budget+x.o.Harm+x.o.within()+patience)
	defer cancel()
	begin := time.Now()
	x.start = begin.Add(-x.sum.Elapsed)
	c := &crew{p: x.p, ctx: limited, fresh: x.fresh, target: x.target, o: x.o, residue: x.sum.Residue}
	defer c.close()
	c.deadline = func() time.Time { return x.deadline(c, begin, budget) }
	if x.o.Progress != nil {
		c.tell = func(p wire.Progress) { x.o.Progress(x.target, x.soFar(p)) }
	}
	var err error
	for err == nil && !x.over {
		units := x.plan.Wave()
		if len(units) == 0 {
			x.over = true
			break
		}
		if x.sum.Runs > 0 && !time.Now().Before(c.deadline()) {
			break
		}
		workers := jobs
		if !x.fresh && time.Since(begin) < hurry {
			workers = 1
		}
		c.settled = wire.Progress{}
		w := wave{units: units, do: x.watched(c), ends: x.ends, more: func() bool { return time.Now().Before(c.deadline()) }}
		var done []wire.UnitDone
		done, err = w.run(workers)
		if x.sum.Runs == 0 {
			x.start = x.start.Add(c.starting())
			x.leaveSome(c)
		}
		x.merge(done)
	}
	x.over = x.over || x.found.first != nil || x.hopeless()
	x.sum.Elapsed = time.Since(x.start)
	x.sum.Search, x.sum.Residue, x.sum.Before = x.progress(), c.residue, max(x.sum.Before, c.before)
	if best := x.found.best(); best != nil {
		x.sum.Best, x.sum.First = &best.Failure, x.found.first.At
	}
	return explain(ctx, limited, err)
}

// freshShare is which part of a search is left for fresh processes if the target has a
// residue that changes steps: one in so many.
const freshShare = 4

// deadline is when no run is to be begun any more by a crew that began with a budget. The
// time is for schedules: that in which the first process starts does not count.
func (x *pass) deadline(c *crew, begin time.Time, budget time.Duration) time.Time {
	if x.leavesSome(c) {
		budget -= budget / freshShare
	}
	deadline := begin.Add(budget + c.starting())
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.until.IsZero() {
		return deadline
	}
	// The search for harm is not left in between.
	if deadline.Before(x.o.Deadline) {
		deadline = x.o.Deadline
	}
	if x.until.Before(deadline) {
		return x.until
	}
	return deadline
}

// leavesSome reports whether a part of the search is for fresh processes.
func (x *pass) leavesSome(c *crew) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.residue == wire.ChangesSteps && x.o.Strategy != sched.MethodDFS
}

// leaveSome leaves a part of the runs for fresh processes, if so many there are.
func (x *pass) leaveSome(c *crew) {
	if x.o.Runs > 0 && x.leavesSome(c) {
		x.plan.Limit(x.o.Runs - x.o.Runs/freshShare)
	}
}

// harmBegins says that a failure is known: from now on, time is only for finding one that
// does more harm.
func (x *pass) harmBegins() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.until.IsZero() && !x.o.All {
		now := time.Now()
		x.sum.After, x.until = now.Sub(x.start), now.Add(x.o.Harm)
	}
}

// harmOver reports whether the time for that is over.
func (x *pass) harmOver() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !time.Now().Before(x.until)
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

// Of runs that took too long, this many may be left behind, where they may go on computing
// for ever, and this many are enough to give up if most runs are of this kind.
const (
	mostTooLong   = 8
	enoughTooLong = 3
)

// hopeless reports whether runs take too long too often.
func (x *pass) hopeless() bool {
	n := x.sum.TookTooLong
	return n >= mostTooLong || n >= enoughTooLong && 2*n > x.sum.Runs
}

// watched is what a worker of the crew does, which also takes note of when the first
// failure is found, and in fresh processes survives a death.
func (x *pass) watched(c *crew) func(int, []sched.Unit) ([]wire.UnitDone, error) {
	return func(n int, units []sched.Unit) ([]wire.UnitDone, error) {
		done, err := c.do(n, units)
		var died *DeathError
		if x.fresh && errors.As(err, &died) && c.ctx.Err() == nil {
			return []wire.UnitDone{x.afterDeath(c, n, units, died)}, nil
		}
		for i := range done {
			if len(done[i].Failures) > 0 {
				x.harmBegins()
			}
		}
		return done, err
	}
}

// afterDeath is what comes of a run in which its process died. If that happens in another
// process, too, it is a failure, of which there is no schedule. What the system killed is not
// taken for a failure of the program.
func (x *pass) afterDeath(c *crew, n int, units []sched.Unit, died *DeathError) wire.UnitDone {
	done := wire.UnitDone{UnitDone: sched.UnitDone{Runs: 1, CutOff: 1}}
	if died.killed() {
		return done
	}
	_, err := c.do(n, units)
	var again *DeathError
	if !errors.As(err, &again) || !again.same(died) {
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

// ends reports whether a unit has what the search is for.
func (x *pass) ends(u *wire.UnitDone) bool {
	if x.o.All {
		return false
	}
	for i := range u.Failures {
		if u.Failures[i].Kind != event.FailureRace || x.o.Harm == 0 || x.fresh {
			return true
		}
	}
	return false
}

// merge takes note of what came of the units of a wave.
func (x *pass) merge(units []wire.UnitDone) {
	done := make([]sched.UnitDone, len(units))
	for i := range units {
		u := &units[i]
		for j := range u.Failures {
			x.failure(&u.Failures[j])
		}
		u.Fresh = x.fingerprints(u.Prints)
		x.sum.Runs += u.Runs
		x.sum.Cut += u.CutOff
		x.sum.Steps += u.Steps
		x.sum.Outside += u.Outside
		x.sum.Undecided += u.Undecided
		x.held.Merge(u.HeldFixed)
		x.sum.Timing.Add(u.Timing)
		for j := range u.Leaks {
			u.Leaks[j].At += x.sum.Runs - u.Runs
		}
		x.sum.Leaks = wire.Gather(x.sum.Leaks, u.Leaks...)
		x.sum.Unclear = wire.Gather(x.sum.Unclear, u.Unclear...)
		x.sum.Passed += u.Runs - u.Failed
		done[i] = u.UnitDone
	}
	x.plan.Merge(done)
	x.sum.Classes = len(x.prints)
	switch f := &x.found; {
	case x.hopeless():
		x.over = true
	case x.o.All || f.first == nil:
	case f.visible != nil, x.o.Harm == 0, x.fresh, x.sum.Runs >= f.first.At+harmRuns, x.harmOver():
		x.over = true
	}
}

// failure takes note of a failure of a unit whose runs are not counted yet.
func (x *pass) failure(f *wire.Found) {
	f.At += x.sum.Runs
	if x.o.All {
		x.sum.Failures = wire.Gather(x.sum.Failures, *f)
		return
	}
	if x.found.first == nil {
		x.found.first = f
	}
	if f.Kind != event.FailureRace && x.found.visible == nil && f.At <= x.found.first.At+harmRuns {
		x.found.visible = f
	}
}

// best is the failure that the pass ends with; nil if there is none.
func (f *found) best() *wire.Found {
	if f.visible != nil {
		return f.visible
	}
	return f.first
}

// maxClasses is how many fingerprints are kept: some hundred megabytes.
const maxClasses = 1 << 23

// fingerprints takes note of those of some runs, and returns how many are new.
func (x *pass) fingerprints(prints []byte) (fresh int) {
	for ; len(prints) >= 8; prints = prints[8:] {
		print := binary.LittleEndian.Uint64(prints)
		if _, ok := x.prints[print]; ok {
			continue
		}
		fresh++
		if len(x.prints) < maxClasses {
			x.prints[print] = struct{}{}
		}
	}
	return fresh
}

// progress is what was tried.
func (x *pass) progress() sched.Progress {
	p := x.plan.Progress()
	p.Held.Merge(x.held)
	return p
}

// soFar completes the progress of a wave with what was before it.
func (x *pass) soFar(p wire.Progress) *wire.Progress {
	p.Runs += x.sum.Runs
	p.Cut += x.sum.Cut
	p.Classes, p.Search, p.Elapsed, p.Fresh = x.sum.Classes, x.progress(), time.Since(x.start), x.fresh
	if best := x.found.best(); best != nil && p.Best == nil {
		p.Best = &best.Failure
	}
	return &p
}
