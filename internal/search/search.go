// Package search does a search: workers do the units that a sched.Plan hands out, wave by
// wave, and what comes of them is gathered, in the order of the units. What is found does not
// depend on how many workers there are.
//
// The workers are a Crew. Package explore has one of processes of an instrumented program,
// package emu/drive one of emulated processes; this package knows nothing of either.
//
// A data race is a failure that has done no visible harm yet: once one is known, the search
// goes on for some time, in the hope of a failure that tells a person more.
//
//	search.go  a search and its crew
//	gather.go  what came of waves: failures, fingerprints, progress
//	wave.go    units done by several workers, with the same result as by one
//	state.go   a search that is left, and taken up by another process
//	shrink.go  the smallest schedule that fails likewise, in waves
package search

import (
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options say how to search.
type Options struct {
	sched.PlanOptions
	// Harm is how long to look for visible harm once a race is known, and Deadline until when
	// that may take, if the search is one of several that have turns.
	Harm     time.Duration
	Deadline time.Time
	// Leaks says that a goroutine that is left waiting is a failure, if nothing else fails.
	Leaks bool
	// All goes on after a failure, and gathers all that are unlike each other.
	All bool
	// Prints is how many fingerprints are kept, 0 for some million; Together how long a worker is to
	// be busy with the units that it takes together, 0 for what suits processes of this machine.
	Prints   int
	Together time.Duration
	// Learn, if it is there, is told what came of the units of a wave, and reports whether the
	// steps of the program are others from now on, as those of a program are of which runs
	// show what memory is shared.
	Learn func([]wire.UnitDone) bool
	// Progress is told what is going on; it may be nil.
	Progress func(*wire.Progress)
}

// A Crew does the units of a search.
type Crew interface {
	// Do has a worker do some units one after the other, and returns what came of them, up
	// to one that ends the search, or as far as there was time: no run but the first is begun
	// after the deadline.
	Do(worker int, units []sched.Unit, deadline func() time.Time) ([]wire.UnitDone, error)
	// Starting is how long it took until the first worker was at work, which is no part of
	// the time for schedules.
	Starting() time.Duration
	// Leaves is which part of the search is not for this crew: one in so many, or 0 for none.
	Leaves() int
}

// A Pass is a search with one crew. It can be left and taken up again.
type Pass struct {
	o    Options
	plan *sched.Plan

	Sum  wire.Summary
	Over bool // there is nothing left to do

	prints map[uint64]struct{}
	held   sched.Held // fixed in all runs
	found  found
	// start is when the pass would have begun if it had not been left in between.
	start time.Time
	// unitTakes is how long a unit took lately.
	unitTakes time.Duration

	mu sync.Mutex // guards what follows
	// until is when the search for visible harm ends, once a failure is known.
	until time.Time
	// settled is what came of units of the wave that is under way.
	settled wire.Progress
}

// New returns a search that has not begun yet.
func New(o Options) *Pass {
	return &Pass{o: o, prints: map[uint64]struct{}{}, plan: sched.NewPlan(o.PlanOptions)}
}

// alone reports whether one worker is enough still, in a search that began then: as long as it
// has not worked longer than it took to start, to start another one takes longer than what
// most targets need. One that starts slowly is not waited for so long.
func alone(c Crew, begin time.Time) bool {
	starting := c.Starting()
	return time.Since(begin) < starting+min(starting, hurry)
}

const hurry = 50 * time.Millisecond

// Run goes on with the search, for so long and with so many workers.
func (x *Pass) Run(c Crew, budget time.Duration, workers int) error {
	begin := time.Now()
	x.start = begin.Add(-x.Sum.Elapsed)
	deadline := func() time.Time { return x.deadline(c, begin, budget) }
	var err error
	for err == nil && !x.Over {
		// Before units are taken from the plan: those of a wave that is not done would be lost.
		if x.Sum.Runs > 0 && !x.plan.Over() && !time.Now().Before(deadline()) {
			break
		}
		units := x.plan.Wave()
		if len(units) == 0 {
			x.Over = true
			break
		}
		side := workers
		if !x.o.Single && (x.Sum.Runs == 0 || alone(c, begin)) {
			side = 1
		}
		x.settled = wire.Progress{}
		w := wave{units: units, unitTakes: x.unitTakes, togetherTime: x.o.Together, do: x.watched(c, deadline), ends: x.ends, apart: x.o.Single, more: func() bool { return time.Now().Before(deadline()) }}
		var done []wire.UnitDone
		done, err = w.run(side)
		x.unitTakes = w.unitTakes
		if x.Sum.Runs == 0 {
			x.start = x.start.Add(c.Starting())
			if n := c.Leaves(); n > 0 && x.o.Runs > 0 {
				x.plan.Limit(x.o.Runs - x.o.Runs/n)
			}
		}
		x.merge(done)
	}
	x.Over = x.Over || x.found.first != nil || x.hopeless()
	x.Sum.Elapsed = time.Since(x.start)
	x.Sum.Search = x.progress()
	if best := x.Best(); best != nil {
		x.Sum.Best, x.Sum.First = &best.Failure, x.found.first.At
	}
	return err
}

// deadline is when no run is to be begun any more by a crew that began with a budget. The
// time is for schedules: that in which the first worker starts does not count.
func (x *Pass) deadline(c Crew, begin time.Time, budget time.Duration) time.Time {
	if n := c.Leaves(); n > 0 {
		budget -= budget / time.Duration(n)
	}
	deadline := begin.Add(budget + c.Starting())
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

// watched is what a worker of the crew does, which also takes note of when the first failure
// is found.
func (x *Pass) watched(c Crew, deadline func() time.Time) func(int, []sched.Unit) ([]wire.UnitDone, error) {
	return func(n int, units []sched.Unit) ([]wire.UnitDone, error) {
		done, err := c.Do(n, units, deadline)
		for i := range done {
			x.settle(&done[i])
		}
		return done, err
	}
}

// settle takes note of a unit that is done. If it has a failure, time is only for finding one
// that does more harm from now on.
func (x *Pass) settle(u *wire.UnitDone) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.settled.Runs += u.Runs
	x.settled.Cut += u.CutOff
	if len(u.Failures) > 0 && x.until.IsZero() && !x.o.All {
		now := time.Now()
		x.Sum.After, x.until = now.Sub(x.start), now.Add(x.o.Harm)
	}
}

// harmOver reports whether the time for that is over.
func (x *Pass) harmOver() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !time.Now().Before(x.until)
}

// ends reports whether a unit has what the search is for.
func (x *Pass) ends(u *wire.UnitDone) bool {
	for i := range u.Failures {
		if x.Ends(u.Failures[i].Kind) {
			return true
		}
	}
	return false
}

// Ends reports whether a failure of a kind ends the search.
func (x *Pass) Ends(kind event.FailureKind) bool {
	return !x.o.All && (kind != event.FailureRace || x.AnyFailure())
}

// AnyFailure reports whether any failure ends the search, even a race.
func (x *Pass) AnyFailure() bool { return x.o.Harm == 0 || x.o.Single }
