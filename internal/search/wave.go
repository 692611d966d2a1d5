package search

import (
	"cmp"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A wave has some units of a search done by workers side by side, each of which takes the
// next units as soon as it is done with the ones before.
//
// What comes of it is the same for any number of workers: units are independent of each
// other, and where one of them ends the search, none counts that comes after it.
type wave struct {
	units []sched.Unit
	// do has a worker do some units one after the other, and returns what came of them, up
	// to one that ends the search, or as far as there was time.
	do func(worker int, units []sched.Unit) ([]wire.UnitDone, error)
	// ends reports whether a unit ends the search, more whether there is time for others.
	ends func(*wire.UnitDone) bool
	more func() bool
	// apart has a worker take one unit at a time: each needs a process of its own.
	apart bool
	// unitTakes is how long a unit took lately, 0 if that is not known.
	unitTakes time.Duration
	// togetherTime is how long units may take that a worker takes together; 0 for the usual.
	togetherTime time.Duration

	workers int
	mu      sync.Mutex
	next    int             // the first unit that no worker has taken
	limit   int             // no unit from here on counts
	done    []wire.UnitDone // by unit; one without runs was not done
	err     error
}

// togetherUnits is how many units a worker takes together, if a wave has no more than chunks times
// as many: to ask for them takes as long as a few short runs. It takes fewer if they are long, since
// the others wait for it where one of them ends the search, and towards the end of a wave, so that
// the workers are done at the same time.
const (
	togetherUnits = 8
	chunks        = 64
	togetherTime  = 20 * time.Millisecond
	// askingPart is which part of that units should take at least that a worker is asked for: many
	// times what it takes to ask.
	askingPart = 10
)

// run has so many workers do the units. It returns what came of each, and the error of the
// first that could not be done, if no unit before it ends the search.
func (w *wave) run(workers int) ([]wire.UnitDone, error) {
	w.limit, w.workers = len(w.units), min(workers, len(w.units))
	w.done = make([]wire.UnitDone, len(w.units))
	var all sync.WaitGroup
	for worker := range w.workers {
		all.Go(func() {
			for from, to := w.take(); from < to; from, to = w.take() {
				begin := time.Now()
				done, err := w.do(worker, w.units[from:to])
				w.put(from, done, err)
				w.note(len(done), time.Since(begin))
			}
		})
	}
	all.Wait()
	clear(w.done[w.limit:])
	return w.done, w.err
}

// take returns the next units to be done; none if there are no more.
func (w *wave) take() (from, to int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	from = w.next
	if from > 0 && !w.more() {
		return from, from
	}
	w.next = min(from+w.together(), w.limit)
	return from, max(from, w.next)
}

// together is how many units the next worker takes.
func (w *wave) together() int {
	if w.apart {
		return 1
	}
	n := max(togetherUnits, len(w.units)/chunks)
	if w.workers > 1 {
		rest, unitTakes, most := w.limit-w.next, max(w.unitTakes, 1), cmp.Or(w.togetherTime, togetherTime)
		n = min(n, int(most/unitTakes), rest/(2*w.workers))
		if w.unitTakes > 0 {
			n = max(n, min(int(most/askingPart/unitTakes), rest/w.workers))
		}
	}
	return max(1, n)
}

// note takes note of how long some units took.
func (w *wave) note(units int, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if units > 0 {
		w.unitTakes = took / time.Duration(units)
	}
}

// put takes note of what came of units.
func (w *wave) put(from int, done []wire.UnitDone, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range done {
		w.done[from+i] = done[i]
		if at := from + i + 1; at <= w.limit && w.ends(&done[i]) {
			w.limit, w.err = at, nil
		}
	}
	if at := from + len(done); err != nil && at < w.limit {
		w.limit, w.err = at, err
	}
}
