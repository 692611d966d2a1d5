package search

import (
	"sync"

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
	// atOnce is how many units a worker takes together, at least one.
	atOnce int

	mu    sync.Mutex
	next  int             // the first unit that no worker has taken
	limit int             // no unit from here on counts
	done  []wire.UnitDone // by unit; one without runs was not done
	err   error
}

// chunks is into how many parts at least a wave is divided.
const chunks = 64

// run has so many workers do the units. It returns what came of each, and the error of the
// first that could not be done, if no unit before it ends the search.
func (w *wave) run(workers int) ([]wire.UnitDone, error) {
	w.limit = len(w.units)
	w.done = make([]wire.UnitDone, len(w.units))
	var all sync.WaitGroup
	for worker := range min(workers, len(w.units)) {
		all.Go(func() {
			for from, to := w.take(); from < to; from, to = w.take() {
				done, err := w.do(worker, w.units[from:to])
				w.put(from, done, err)
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
	w.next = min(from+max(1, w.atOnce, len(w.units)/chunks), w.limit)
	return from, max(from, w.next)
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
