package drive

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/search"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A crew is emulated processes of one program that do the units of a search side by side: one
// for each worker, which is loaded when it is first needed. Loading is deterministic, so all
// are alike.
type crew struct {
	ctx    context.Context
	o      *Options
	search *search.Pass // nil for shrinking
	// failure is the only one that counts, if there is one: its schedule is shrunk, which what
	// memory is shared belongs to.
	failure *trace.Failure

	mu       sync.Mutex
	programs []*Program // by worker; the first is the one that is explored
	tally    search.Tally

	// early is a race that was found while it was not known yet what memory is shared, and
	// earlyShared what was known then, which its schedule depends on.
	early       *wire.Found
	earlyShared map[uint64]*[8]uint64
}

// Starting is nothing: the program is loaded before the search.
func (c *crew) Starting() time.Duration { return 0 }

// Leaves is nothing: no run leaves anything behind.
func (c *crew) Leaves() int { return 0 }

// program returns the process of a worker, with what is known to be shared in this wave.
func (c *crew) program(n int) (*Program, error) {
	c.mu.Lock()
	first := c.programs[0]
	for n >= len(c.programs) {
		c.programs = append(c.programs, nil)
	}
	p := c.programs[n]
	c.mu.Unlock()
	if p == nil {
		var err error
		if p, err = first.another(n); err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.programs[n] = p
		c.mu.Unlock()
	}
	if p != first {
		p.shared, p.atomics = wordSet{pages: first.shared.pages}, wordSet{pages: first.atomics.pages}
	}
	return p, nil
}

// another returns the n-th process that is like p, for n from 1. It is kept for later
// searches.
func (p *Program) another(n int) (*Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n >= len(p.others) {
		p.others = append(p.others, nil)
	}
	q := p.others[n]
	if q == nil {
		q = p.fresh()
		if err := q.prepare(); err != nil {
			return nil, err
		}
		p.others[n] = q
	}
	q.judge, q.uses.hidden, q.findsRaces, q.stall = p.judge, p.uses.hidden, p.findsRaces, p.stall
	return q, nil
}

// Do does units one after the other, until one fails or the time is up.
func (c *crew) Do(n int, units []sched.Unit, deadline func() time.Time) ([]wire.UnitDone, error) {
	p, err := c.program(n)
	if err != nil {
		return nil, err
	}
	w := &worker{crew: c, number: n, program: p}
	var all []wire.UnitDone
	for i := range units {
		w.until = deadline()
		if i > 0 && !time.Now().Before(w.until) || c.ctx.Err() != nil {
			break
		}
		done, err := w.unit(&units[i])
		if err != nil {
			return all, err
		}
		if all = append(all, done); w.stop {
			break
		}
	}
	c.note(n, wire.Progress{})
	return all, c.ctx.Err()
}

// note tells how far a worker is.
func (c *crew) note(n int, p wire.Progress) {
	if c.search != nil {
		c.tally.Note(c.search, n, p)
	}
}

// counts reports whether a failure is one that is looked for, ends whether nothing more is
// then.
func (c *crew) counts(f *trace.Failure) bool {
	if c.failure != nil {
		return c.failure.Same(f)
	}
	return c.o.Ignore == nil || !c.o.Ignore(f)
}

func (c *crew) ends(f *trace.Failure) bool { return c.failure != nil || c.search.Ends(f.Kind) }

// A worker does units with a process of its own.
type worker struct {
	crew    *crew
	number  int
	program *Program
	until   time.Time
	// stop: a run failed in a way that ends the search, or it is not wanted any more.
	stop     bool
	progress wire.Progress
}

// unit does one unit.
func (w *worker) unit(u *sched.Unit) (done wire.UnitDone, err error) {
	strategy := u.Strategy()
	if strategy == nil {
		return done, fmt.Errorf("unknown strategy %q: use pct, random or dfs", u.Method)
	}
	rec := sched.NewRecorder(strategy, true)
	prints := map[uint64]bool{}
	for first := true; first || w.more(u, strategy, &done); first = false {
		if err := w.run(rec, &done); err != nil {
			return done, err
		}
		if print := rec.Fingerprint(); !prints[print] {
			prints[print] = true
			done.Prints = binary.LittleEndian.AppendUint64(done.Prints, print)
		}
		w.crew.note(w.number, w.progress)
	}
	steps, cut := done.Steps, done.CutOff
	done.UnitDone = u.Done(strategy)
	done.Steps, done.CutOff = steps, cut
	return done, nil
}

// more reports whether a unit has another run, and there is time for it.
func (w *worker) more(u *sched.Unit, strategy sched.Strategy, done *wire.UnitDone) bool {
	switch {
	case w.stop, strategy.Exhausted(), u.Runs > 0 && done.Runs >= u.Runs, u.Steps > 0 && done.Steps >= u.Steps, w.crew.ctx.Err() != nil:
		return false
	}
	return time.Now().Before(w.until)
}

// run makes one run of a unit.
func (w *worker) run(rec *sched.Recorder, done *wire.UnitDone) error {
	late := time.Now().Add(w.crew.o.within())
	if w.crew.failure != nil && w.until.Before(late) {
		late = w.until
	}
	r := &run{Program: w.program, strategy: rec, learns: w.crew.failure == nil, stop: stopper(w.crew.ctx, late)}
	r.execute()
	if err := w.program.lacks(); err != nil {
		return err
	}
	done.Runs++
	w.progress.Runs++
	done.Steps += r.steps
	if r.cutOff {
		done.CutOff++
		w.progress.Cut++
		if time.Now().After(late) {
			done.Add(wire.Timing{TookTooLong: 1})
		}
	}
	done.HeldFixed.Merge(r.held)
	done.Shared = addNew(done.Shared, r.uses.found)
	done.Atomics = addNew(done.Atomics, r.foundAtomics)
	f := r.failure
	if f == nil || !w.crew.counts(f) {
		return nil
	}
	found := wire.Found{Failure: *f, Schedule: rec.Schedule().String(), At: done.Runs, Runs: 1}
	done.Failed++
	if len(done.Failures) == 0 || f.Kind != done.Failures[0].Kind {
		done.Failures = append(done.Failures, found)
	}
	if w.progress.Best == nil {
		w.progress.Best = f
	}
	w.stop = w.crew.ends(f)
	return nil
}

// addNew adds words that are not among others yet.
func addNew(all, more []uint64) []uint64 {
	for _, w := range more {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// learn makes what the runs of a wave have found to be shared visible from the next wave on.
// It reports whether there is any.
func (c *crew) learn(units []wire.UnitDone) (grown bool) {
	p := c.programs[0]
	for i := range units {
		if c.early == nil && len(units[i].Failures) > 0 {
			c.early, c.earlyShared = c.search.Best(), maps.Clone(p.shared.pages)
			for n, bits := range c.earlyShared {
				kept := *bits
				c.earlyShared[n] = &kept
			}
		}
	}
	for i := range units {
		grown = p.shared.addAll(units[i].Shared) || grown
		p.atomics.addAll(units[i].Atomics)
	}
	return grown
}
