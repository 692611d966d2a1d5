package labyrinth

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/stm"
)

// Transactional routes the paths in several goroutines, with transactions. It
// runs to its end: the context of the options is not heeded.
func Transactional(in *Input, goroutines int, o stm.Options) *Result {
	o.Context = nil // so that no transaction below fails but for its own reasons
	t := &transactional{Input: in, Options: o, grid: slices.Clone(in.maze), paths: make([][]int, len(in.pairs))}
	t.searches.New = func() any { return in.newSearch() }
	for range goroutines {
		t.searches.Put(in.newSearch())
	}

	begin := time.Now()
	var all sync.WaitGroup
	for range goroutines {
		all.Go(t.route)
	}
	all.Wait()
	return result(t.paths, int(t.again.Load()), time.Since(begin))
}

// transactional is a run with transactions. While it lasts, grid and next are
// accessed in transactions only.
type transactional struct {
	*Input
	stm.Options
	searches sync.Pool // of *search
	paths    [][]int   // each of the goroutine that has taken its pair
	again    atomic.Int64

	grid []int
	next int // the first pair that nobody has taken
}

// route connects pairs for as long as there are any.
func (t *transactional) route() {
	connect := t.connect
	if t.Whole {
		connect = t.connectWhole
	}
	for {
		i := t.take()
		if i >= len(t.pairs) {
			return
		}
		t.paths[i] = connect(i)
	}
}

func (t *transactional) take() int {
	i, _ := stm.ValueWith(t.Options, func(tx *stm.Tx) (int, error) {
		i := stm.Load(tx, &t.next)
		stm.Store(tx, &t.next, i+1)
		return i, nil
	})
	return i
}

// connect connects a pair: it looks for a way until it finds one whose cells are
// still free then.
func (t *transactional) connect(i int) []int {
	s := t.searches.Get().(*search)
	defer t.searches.Put(s)
	s.checkpoint = nil
	for {
		t.look(s)
		path := s.path(t.pairs[i])
		if path == nil || t.claim(between(path), i+1) == nil {
			return path
		}
		t.again.Add(1)
	}
}

// look copies the grid, row by row.
func (t *transactional) look(s *search) {
	t.shape.rows(func(first, end int) {
		stm.Copy(s.row, t.grid[first:end])
		s.copy(s.row, first)
	})
}

var errTaken = errors.New("a cell of the path belongs to another")

// claim gives cells to a path, or none if one of them is taken.
func (t *transactional) claim(cells []int, path int) error {
	return t.Atomically(func(tx *stm.Tx) error {
		for _, cell := range cells {
			if stm.Load(tx, &t.grid[cell]) != free {
				return errTaken
			}
			stm.Store(tx, &t.grid[cell], path)
		}
		return nil
	})
}

// connectWhole connects a pair in one transaction. Every call of its function has
// a search of its own. What it copies may never have been in the grid at once; a
// search ends in any copy, but is in vain in such a one, hence the checkpoints.
func (t *transactional) connectWhole(i int) []int {
	path, _ := stm.ValueWith(t.Options, func(tx *stm.Tx) ([]int, error) {
		s := t.searches.Get().(*search)
		defer t.searches.Put(s)
		s.checkpoint = tx.Check
		t.look(s)
		path := s.path(t.pairs[i])
		if path == nil {
			return nil, nil
		}
		for _, cell := range between(path) {
			stm.Store(tx, &t.grid[cell], i+1)
		}
		return path, nil
	})
	return path
}
