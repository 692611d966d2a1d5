package labyrinth

import (
	"math"
	"slices"
)

// A search looks for a way in its own copy of a grid. It belongs to one goroutine
// and is used for one path after the other.
type search struct {
	steps [6]step
	bend  int32

	cost  []int32 // by cell: the cost to get there, or blocked or unreached
	queue []int   // cells from which costs spread
	row   []int   // of the grid, for variants that cannot copy from there

	checkpoint func() // called from time to time, if there is one
}

// A step goes to a neighbour.
type step struct {
	by   int // cells
	cost int32
}

// What a cell is before costs spread to it. No cost is below blocked, and all are
// below unreached, so that one comparison says whether to go there.
const (
	blocked   int32 = -1
	unreached int32 = math.MaxInt32
)

// newSearch returns a search in which every cell is blocked, also those of the
// border, which are never copied.
func (in *Input) newSearch() *search {
	x, y, z := int32(in.XCost), int32(in.YCost), int32(in.ZCost)
	row, plane := in.shape.row, in.shape.plane
	return &search{
		steps: [6]step{{1, x}, {-1, x}, {row, y}, {-row, y}, {plane, z}, {-plane, z}},
		bend:  int32(in.BendCost),
		cost:  slices.Repeat([]int32{blocked}, in.shape.cells),
		row:   make([]int, in.shape.width),
	}
}

// copy copies a row of a grid.
func (s *search) copy(row []int, first int) {
	to := s.cost[first : first+len(row)]
	for i, c := range row {
		if c == free {
			to[i] = unreached
		} else {
			to[i] = blocked
		}
	}
}

// path returns the cells of a way through the copy, which needs to be copied
// again afterwards, or nil if there is none.
func (s *search) path(p pair) []int {
	s.cost[p.start], s.cost[p.end] = 0, unreached
	if !s.expand(p) {
		return nil
	}
	return s.trace(p)
}

// checkpointEvery is the number of cells that costs spread from between two
// checkpoints, some microseconds.
const checkpointEvery = 1024

// expand spreads costs until they have reached the end.
func (s *search) expand(p pair) bool {
	s.queue = append(s.queue[:0], p.start)
	for i := 0; i < len(s.queue); i++ {
		at := s.queue[i]
		if at == p.end {
			return true
		}
		if i%checkpointEvery == 0 && s.checkpoint != nil {
			s.checkpoint()
		}
		here := s.cost[at]
		for _, step := range &s.steps {
			next := at + step.by
			if cost := here + step.cost; cost < s.cost[next] {
				s.cost[next] = cost
				s.queue = append(s.queue, next)
			}
		}
	}
	return false
}

// trace goes back from the end, always down in cost, which every cell but the
// start has a neighbour for.
func (s *search) trace(p pair) []int {
	path := []int{p.end}
	for at, last := p.end, 0; at != p.start; {
		best, least := 0, unreached
		for _, step := range &s.steps {
			cost := s.cost[at+step.by]
			if cost == blocked || cost >= s.cost[at] {
				continue
			}
			if last != 0 && step.by != last {
				cost += s.bend
			}
			if cost < least {
				best, least = step.by, cost
			}
		}
		at, last = at+best, best
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}

// between returns the cells of a path without its start and end, which are its
// own from the beginning.
func between(path []int) []int { return path[1 : len(path)-1] }
