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

// A crew is the processes that do the units of a search: one for each worker, which is
// started when it is first needed, or one for each unit.
type crew struct {
	x   *pass
	ctx context.Context
	// failure is the only one that counts, if it is set: its schedule is being shrunk.
	failure *trace.Failure

	mu      sync.Mutex
	workers []*child // by worker
	tally   search.Tally
	residue wire.Residue
	before  int
	started time.Duration // how long it took to start the first process
}

// errChangesEndings and errChangesSteps are why a target gets a process for each run, or
// for some.
var (
	errChangesEndings = errors.New("a run leaves something behind that changes how the next one in the process ends")
	errChangesSteps   = errors.New("the first run in a process takes other steps than those after it")
)

// worker returns the process of a worker.
func (c *crew) worker(n int) (*child, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n >= len(c.workers) {
		c.workers = append(c.workers, nil)
	}
	if c.workers[n] == nil {
		child, err := c.x.p.start(c.ctx)
		if err != nil {
			return nil, err
		}
		c.workers[n] = child
	}
	return c.workers[n], nil
}

// Do has a worker do units. In a fresh process it survives a death.
func (c *crew) Do(n int, units []sched.Unit, deadline func() time.Time) ([]wire.UnitDone, error) {
	do := func() ([]wire.UnitDone, error) { return c.do(n, units, deadline()) }
	done, err := do()
	var died *DeathError
	if c.x.fresh && errors.As(err, &died) && c.ctx.Err() == nil {
		again := func() error { _, err := do(); return err }
		return []wire.UnitDone{c.x.afterDeath(again, died)}, nil
	}
	return done, err
}

func (c *crew) do(n int, units []sched.Unit, deadline time.Time) ([]wire.UnitDone, error) {
	begin := time.Now()
	child, err := c.worker(n)
	if err != nil {
		return nil, err
	}
	order := c.x.p.order(wire.Explore, c.x.target, c.x.o)
	order.Units, order.AnyFailure, order.All = units, c.x.AnyFailure(), c.x.o.All
	order.WarmUp = !c.x.fresh
	order.Failure, order.Among = c.failure, c.x.o.All
	order.Budget = max(0, time.Until(deadline))
	return c.send(n, child, order, begin)
}

// freshShare is which part of a search is left for fresh processes if the target has a
// residue that changes steps: one in so many.
const freshShare = 4

// Leaves is which part of the search is for fresh processes.
func (c *crew) Leaves() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.residue == wire.ChangesSteps && c.x.o.Strategy != sched.MethodDFS {
		return freshShare
	}
	return 0
}

// send sends a worker's process an order, and takes note of what came of it.
func (c *crew) send(n int, child *child, order *wire.Order, begin time.Time) ([]wire.UnitDone, error) {
	report, err := child.order(order, func(p *wire.Progress) { c.tally.Note(c.x.Pass, n, *p) })
	if c.x.fresh || err != nil {
		c.mu.Lock()
		c.workers[n] = nil
		c.mu.Unlock()
	}
	if err != nil {
		return nil, err
	}
	if c.x.fresh {
		child.close()
	}
	if report.Done.Residue == wire.ChangesEndings {
		return nil, errChangesEndings
	}
	c.note(n, report.Done, time.Since(begin)-report.Done.Elapsed)
	return report.Done.Units, nil
}

// Starting is how long it took until the first process was at work.
func (c *crew) Starting() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// note takes note of an order that a worker has done; starting is how long it took until the
// process was at it.
func (c *crew) note(n int, done *wire.Done, starting time.Duration) {
	defer c.tally.Note(c.x.Pass, n, wire.Progress{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started == 0 && !c.x.fresh {
		c.started = starting
	}
	if done.Residue != wire.NoResidue {
		c.residue = done.Residue
	}
	c.before = max(c.before, done.Before)
}

// close lets all processes end.
func (c *crew) close() {
	for _, child := range c.workers {
		if child != nil {
			child.close()
		}
	}
}
