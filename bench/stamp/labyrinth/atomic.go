package labyrinth

import (
	"slices"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/stm"
)

// Atomic routes the paths in several goroutines, with transactions that are plain code.
func Atomic(in *Input, goroutines int) *Result {
	a := &compiled{Input: in, grid: slices.Clone(in.maze), paths: make([][]int, len(in.pairs))}
	searches := make([]*search, goroutines)
	for i := range searches {
		searches[i] = in.newSearch()
	}

	begin := time.Now()
	var all sync.WaitGroup
	for _, s := range searches {
		all.Go(func() { a.route(s) })
	}
	all.Wait()
	return result(a.paths, a.again, time.Since(begin))
}

// compiled is a run with transactions. While it lasts, grid, next and again are accessed in
// transactions only, except by look.
type compiled struct {
	*Input
	paths [][]int // each of the goroutine that has taken its pair

	grid  []int
	next  int // the first pair that nobody has taken
	again int
}

// route connects pairs for as long as there are any.
func (a *compiled) route(s *search) {
	for {
		i := 0
		stm.Atomic(func() {
			i = a.next
			a.next++
		})
		if i >= len(a.pairs) {
			return
		}
		if a.Whole {
			stm.Atomic(func() { a.paths[i] = a.connect(s, i) })
			continue
		}
		for {
			a.look(s)
			path := s.path(a.pairs[i])
			if path == nil || a.claim(between(path), i+1) {
				a.paths[i] = path
				break
			}
		}
	}
}

// look copies the grid, row by row.
func (a *compiled) look(s *search) {
	a.shape.rows(func(first, end int) {
		stm.Copy(s.row, a.grid[first:end])
		s.copy(s.row, first)
	})
}

// claim reports whether the cells were free, and are the path's now.
func (a *compiled) claim(cells []int, path int) (claimed bool) {
	stm.Atomic(func() {
		claimed = false
		for _, cell := range cells {
			if a.grid[cell] != free {
				a.again++
				return
			}
		}
		for _, cell := range cells {
			a.grid[cell] = path
		}
		claimed = true
	})
	return claimed
}

// connect does everything for a pair in one transaction.
func (a *compiled) connect(s *search, i int) []int {
	a.shape.rows(func(first, end int) { s.copy(a.grid[first:end], first) })
	path := s.path(a.pairs[i])
	if path == nil {
		return nil
	}
	for _, cell := range between(path) {
		a.grid[cell] = i + 1
	}
	return path
}
