package labyrinth

import (
	"slices"
	"sync"
	"time"
)

// Mutex routes the paths in several goroutines, with one lock.
func Mutex(in *Input, goroutines int) *Result {
	l := &locked{Input: in, grid: slices.Clone(in.maze), paths: make([][]int, len(in.pairs))}
	searches := make([]*search, goroutines)
	for i := range searches {
		searches[i] = in.newSearch()
	}

	begin := time.Now()
	var all sync.WaitGroup
	for _, s := range searches {
		all.Go(func() { l.route(s) })
	}
	all.Wait()
	return result(l.paths, l.again, time.Since(begin))
}

// locked is a run with a lock.
type locked struct {
	*Input
	paths [][]int // each of the goroutine that has taken its pair

	mu    sync.Mutex // guards the following
	grid  []int
	next  int // the first pair that nobody has taken
	again int
}

// route connects pairs for as long as there are any.
func (l *locked) route(s *search) {
	for {
		i := l.take()
		if i >= len(l.pairs) {
			return
		}
		if l.Whole {
			l.paths[i] = l.connect(s, i)
			continue
		}
		for {
			l.look(s)
			l.paths[i] = s.path(l.pairs[i])
			if l.paths[i] == nil || l.claim(between(l.paths[i]), i+1) {
				break
			}
		}
	}
}

func (l *locked) take() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return l.next - 1
}

func (l *locked) look(s *search) {
	l.shape.rows(func(first, end int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.copy(l.grid[first:end], first)
	})
}

// claim reports whether the cells were free, and are the path's now.
func (l *locked) claim(cells []int, path int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, cell := range cells {
		if l.grid[cell] != free {
			l.again++
			return false
		}
	}
	for _, cell := range cells {
		l.grid[cell] = path
	}
	return true
}

// connect does everything for a pair in one section.
func (l *locked) connect(s *search, i int) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shape.rows(func(first, end int) { s.copy(l.grid[first:end], first) })
	path := s.path(l.pairs[i])
	if path == nil {
		return nil
	}
	for _, cell := range between(path) {
		l.grid[cell] = i + 1
	}
	return path
}
