package explore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A crew is the processes that do the units of a search: one for each worker, which is
// started when it is first needed, or one for each unit.
type crew struct {
	p      *Program
	ctx    context.Context
	fresh  bool // a process for each unit
	target string
	o      *Options
	// deadline is when no run is to be begun any more.
	deadline func() time.Time

	mu      sync.Mutex
	workers []*child // by worker
	live    []wire.Progress
	settled wire.Progress // of orders that are done
	residue wire.Residue
	before  int
	started time.Duration // how long it took to start the first process
	told    time.Time
	tell    func(p wire.Progress)
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
		c.live = append(c.live, wire.Progress{})
	}
	if c.workers[n] == nil {
		child, err := c.p.start(c.ctx)
		if err != nil {
			return nil, err
		}
		c.workers[n] = child
	}
	return c.workers[n], nil
}

// do has a worker do units.
func (c *crew) do(n int, units []sched.Unit) ([]wire.UnitDone, error) {
	begin := time.Now()
	child, err := c.worker(n)
	if err != nil {
		return nil, err
	}
	order := c.p.order(wire.Explore, c.target, c.o)
	order.Units, order.AnyFailure, order.All = units, c.o.Harm == 0 || c.fresh, c.o.All
	order.WarmUp = !c.fresh
	order.Budget = max(0, time.Until(c.deadline()))
	return c.send(n, child, order, begin)
}

// send sends a worker's process an order, and takes note of what came of it.
func (c *crew) send(n int, child *child, order *wire.Order, begin time.Time) ([]wire.UnitDone, error) {
	report, err := child.order(order, func(p *wire.Progress) { c.progress(n, *p) })
	if c.fresh || err != nil {
		c.mu.Lock()
		c.workers[n] = nil
		c.mu.Unlock()
	}
	if err != nil {
		return nil, err
	}
	if c.fresh {
		child.close()
	}
	if report.Done.Residue == wire.ChangesEndings {
		return nil, errChangesEndings
	}
	c.note(n, report.Done, time.Since(begin)-report.Done.Elapsed)
	return report.Done.Units, nil
}

// starting is how long it took until the first process was at work.
func (c *crew) starting() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// note takes note of an order that a worker has done; starting is how long it took until the
// process was at it.
func (c *crew) note(n int, done *wire.Done, starting time.Duration) {
	defer c.progress(n, wire.Progress{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started == 0 && !c.fresh {
		c.started = starting
	}
	if done.Residue != wire.NoResidue {
		c.residue = done.Residue
	}
	c.before = max(c.before, done.Before)
	for i := range done.Units {
		c.settled.Runs += done.Units[i].Runs
		c.settled.Cut += done.Units[i].CutOff
	}
}

// tellEvery is how often the progress of a search is told.
const tellEvery = 200 * time.Millisecond

// progress takes note of how far a worker is with its order, and tells how far all are.
func (c *crew) progress(n int, p wire.Progress) {
	c.mu.Lock()
	c.live[n] = p
	now := time.Now()
	if c.tell == nil || now.Sub(c.told) < tellEvery {
		c.mu.Unlock()
		return
	}
	c.told = now
	all := c.settled
	for i := range c.live {
		all.Runs += c.live[i].Runs
		all.Cut += c.live[i].Cut
		if all.Best == nil {
			all.Best = c.live[i].Best
		}
	}
	c.mu.Unlock()
	c.tell(all)
}

// close lets all processes end.
func (c *crew) close() {
	for _, child := range c.workers {
		if child != nil {
			child.close()
		}
	}
}
