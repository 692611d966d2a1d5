package labyrinth

// A shape says where the cells of a grid are. A grid is a slice of cells, by x,
// then y, then z, with a border of one cell all around, so that every cell of the
// maze has six neighbours and a search need not look where it is.
type shape struct {
	width, height, depth int // without the border
	row, plane           int // how far it is to the neighbour in y and in z
	cells                int // with the border
}

func newShape(p Params) shape {
	s := shape{width: p.Width, height: p.Height, depth: p.Depth}
	s.row = s.width + 2
	s.plane = s.row * (s.height + 2)
	s.cells = s.plane * (s.depth + 2)
	return s
}

// cell returns the place of a cell of the maze.
func (s *shape) cell(x, y, z int) int { return (z+1)*s.plane + (y+1)*s.row + x + 1 }

// position is the opposite of cell.
func (s *shape) position(cell int) (x, y, z int) {
	return cell%s.row - 1, cell%s.plane/s.row - 1, cell/s.plane - 1
}

// inside reports whether a cell is of the maze, not of the border or beyond.
func (s *shape) inside(cell int) bool {
	x, y, z := s.position(cell)
	return 0 <= x && x < s.width && 0 <= y && y < s.height && 0 <= z && z < s.depth
}

// distance returns the number of steps between two cells where nothing is in the
// way.
func (s *shape) distance(a, b int) int {
	ax, ay, az := s.position(a)
	bx, by, bz := s.position(b)
	return abs(ax-bx) + abs(ay-by) + abs(az-bz)
}

func abs(n int) int { return max(n, -n) }

// rows calls f with the place of each row of the maze, as two ends of a slice.
func (s *shape) rows(f func(first, end int)) {
	for z := range s.depth {
		for y := range s.height {
			f(s.cell(0, y, z), s.cell(s.width, y, z))
		}
	}
}
