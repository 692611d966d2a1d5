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
	x *pass
	// ctx is for processes that are started, and limited for what the crew does with them.
	ctx, limited context.Context
	// idle is where processes come from that are running already, and go to.
	idle *idleProcesses
	// failure is the only one that counts, if it is set: its schedule is being shrunk.
	failure *trace.Failure
	// alone says that there is one process at a time.
	alone bool

	mu      sync.Mutex
	workers []*worker
	tally   search.Tally
	residue wire.Residue
	before  int
	started time.Duration // how long it took to start the first process
}

// A worker is a process of a crew, which ends when the crew's time is over, unless unlimit is
// called before.
type worker struct {
	*child
	unlimit func() bool
}

// idleProcesses are those of a target that have nothing to do: to start one takes as long as some
// hundred runs, and the same target may have more for it. They are closed at the end of a turn.
type idleProcesses struct {
	all     []*child
	started time.Duration // how long it took to start one
}

// starting is how long it takes until so many processes are at work.
func (i *idleProcesses) starting(jobs int) time.Duration {
	if len(i.all) >= jobs {
		return 0
	}
	return i.started
}

func (i *idleProcesses) take() *child {
	n := len(i.all)
	if n == 0 {
		return nil
	}
	c := i.all[n-1]
	i.all = i.all[:n-1]
	return c
}

func (i *idleProcesses) close() {
	for c := i.take(); c != nil; c = i.take() {
		c.close()
	}
}

// A notBesideError is why a target is run by one process at a time.
type notBesideError string

func (e notBesideError) Error() string { return string(e) }

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
		child, err := c.process()
		if err != nil {
			return nil, err
		}
		c.workers[n] = &worker{child, context.AfterFunc(c.limited, child.end)}
	}
	return c.workers[n].child, nil
}

// process returns a process that nothing else uses.
func (c *crew) process() (*child, error) {
	if !c.x.fresh {
		if child := c.idle.take(); child != nil {
			return child, nil
		}
	}
	return c.x.p.start(c.ctx, c.x.o, nil)
}

// Do has a worker do units. In a fresh process it survives a death.
func (c *crew) Do(n int, units []sched.Unit, deadline func() time.Time) ([]wire.UnitDone, error) {
	do := func() ([]wire.UnitDone, error) { return c.do(n, units, deadline()) }
	done, err := do()
	var died *DeathError
	if c.x.fresh && errors.As(err, &died) && c.limited.Err() == nil {
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
	order.WarmUp, order.Pairs = !c.x.fresh, c.x.o.Pairs
	order.Failure, order.Among = c.failure, c.x.o.All
	order.Budget, order.Alone = max(0, time.Until(deadline)), c.alone
	return c.send(n, child, order, begin)
}

// freshShare is which part of a search is left for fresh processes if the target has a
// residue that changes steps: one in so many.
const freshShare = 4

// Leaves is which part of the search is for fresh processes.
func (c *crew) Leaves() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return leaves(c.residue)
}

// leaves is which part of a search is for fresh processes, by the residue of its runs.
func leaves(residue wire.Residue) int {
	if residue == wire.ChangesSteps {
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
	switch {
	case report.Done.NotBeside != "":
		return nil, notBesideError(report.Done.NotBeside)
	case report.Done.Residue == wire.ChangesEndings:
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

// dismiss has the processes wait for what comes next, or lets them end: if they may be busy still
// with runs that were cut off, or if one that has made many runs goes on in another way than one
// that has made a few, as the process does in which a failure must come back.
func (c *crew) dismiss() {
	for _, w := range c.workers {
		switch {
		case w == nil:
		case w.unlimit() && !c.x.fresh && c.x.Sum.TookTooLong == 0 && c.residue == wire.NoResidue:
			c.idle.all = append(c.idle.all, w.child)
		default:
			w.close()
		}
	}
	c.workers = nil
	c.idle.started = max(c.idle.started, c.started)
}
