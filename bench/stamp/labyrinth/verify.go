package labyrinth

import "fmt"

// Verify checks that the paths are connected, from start to end, that no cell is
// of two of them or of a wall, and that what is not connected cannot be.
func (in *Input) Verify(r *Result) error {
	if len(r.Paths) != len(in.pairs) {
		return fmt.Errorf("labyrinth: a result for %d pairs, and there are %d", len(r.Paths), len(in.pairs))
	}
	grid := append([]int(nil), in.maze...)
	routed := 0
	for i, path := range r.Paths {
		if path == nil {
			continue
		}
		routed++
		if err := in.verifyPath(path, in.pairs[i]); err != nil {
			return fmt.Errorf("labyrinth: path %d: %w", i+1, err)
		}
		for _, cell := range between(path) {
			if grid[cell] != free {
				return fmt.Errorf("labyrinth: path %d is in cell %s, which belongs to %d", i+1, in.shape.name(cell), grid[cell])
			}
			grid[cell] = i + 1
		}
	}
	if r.Routed != routed {
		return fmt.Errorf("labyrinth: %d paths are counted, and there are %d", r.Routed, routed)
	}
	return in.verifyRest(r, grid)
}

func (in *Input) verifyPath(path []int, p pair) error {
	if len(path) < 2 || path[0] != p.start || path[len(path)-1] != p.end {
		return fmt.Errorf("%v does not go from %s to %s", path, in.shape.name(p.start), in.shape.name(p.end))
	}
	for i, cell := range path {
		if !in.shape.inside(cell) {
			return fmt.Errorf("it leaves the maze, to %s", in.shape.name(cell))
		}
		if i > 0 && in.shape.distance(path[i-1], cell) != 1 {
			return fmt.Errorf("it jumps from %s to %s", in.shape.name(path[i-1]), in.shape.name(cell))
		}
	}
	return nil
}

// verifyRest looks for paths that were not found, in the grid as it is at the
// end, which has no more free cells than it had before.
func (in *Input) verifyRest(r *Result, grid []int) error {
	s := in.newSearch()
	for i, path := range r.Paths {
		if path != nil {
			continue
		}
		in.shape.rows(func(first, end int) { s.copy(grid[first:end], first) })
		if s.path(in.pairs[i]) != nil {
			return fmt.Errorf("labyrinth: path %d was given up, and there is a way", i+1)
		}
	}
	return nil
}

// name returns a cell's name in messages.
func (s *shape) name(cell int) string {
	x, y, z := s.position(cell)
	return fmt.Sprintf("(%d, %d, %d)", x, y, z)
}
