package labyrinth

import (
	"slices"
	"time"
)

// Sequential routes the paths in one goroutine.
func Sequential(in *Input) *Result {
	grid := slices.Clone(in.maze)
	paths := make([][]int, len(in.pairs))
	s := in.newSearch()

	begin := time.Now()
	for i, pair := range in.pairs {
		in.shape.rows(func(first, end int) { s.copy(grid[first:end], first) })
		paths[i] = s.path(pair)
		if paths[i] == nil {
			continue
		}
		for _, cell := range between(paths[i]) {
			grid[cell] = i + 1
		}
	}
	return result(paths, 0, time.Since(begin))
}
