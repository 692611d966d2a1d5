// Package labyrinth is the program labyrinth of the STAMP suite (Minh et al.,
// 2008): it routes paths through a grid, like the wires of a circuit board.
//
// # Phases
//
// There is a list of pairs of points to be connected. Each goroutine takes the
// next pair, looks for the cheapest way through the cells that are free, and
// claims its cells. It looks in a copy of the grid of its own, with the algorithm
// of Lee (1961): from the start, costs spread to neighbouring cells until they
// reach the end (expand); from there, a way back goes down in cost, and straight
// on where it can (trace). A pair that cannot be connected is given up.
//
// # Transactions
//
//	take    the next pair                     1 word read and written
//	look    at a row, for the copy            Width words read
//	claim   the cells of a path               one word per cell read and written
//
// A claim fails if a cell has been taken since the grid was copied; then the
// goroutine copies the grid again and looks for another way. Nothing else needs
// to be as it was in the copy, so the copy is made outside of the claim, row by row,
// with stm.Copy. STAMP has copy, search and claim in one transaction, but does not
// log the reads of the copy, to the same effect; in Go those would be data races.
//
// A compiler that makes transactions of blocks logs the copy, too, as the one did
// that the sandboxing paper was written with. Params.Whole is for that:
//
//	take      the next pair                   1 word read and written
//	connect   it: copy, search and claim      every cell read, those of the path written
//
// Then a path is in conflict with every other that is claimed meanwhile, and what
// table 2 of that paper says is true of it:
//
//	length of transactions   long
//	read and write sets      large
//	time in transactions     high
//	contention               high
//
// Cells are claimed and never freed, so a way that was not there in a copy is not
// there at the end either. Verify relies on that.
//
// [Sequential] is the plain program, [Mutex] has one lock where [Transactional]
// has transactions.
//
// They are in sequential.go, mutex.go, transactional.go and, as plain code, atomic.go; shape.go is the grid, search.go
// finds a way through it, verify.go checks the outcome.
package labyrinth

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Params say what the grid is like and what is routed.
type Params struct {
	XCost    int // -x: the cost of a step in the direction of x
	YCost    int // -y
	ZCost    int // -z
	BendCost int // -b: the cost of a bend

	Whole bool // one transaction connects a pair, with its copy of the grid; not in STAMP

	// The maze, which STAMP reads from a file:
	// -i random-x<Width>-y<Height>-z<Depth>-n<Paths>.txt
	Width, Height, Depth int
	Paths                int
	Walls                int // cells that are walls, none in the files of STAMP
	Seed                 uint64
}

// The parameters of STAMP for simulators and for real machines, and some between
// that take about half a second.
var (
	Simulator = Params{XCost: 1, YCost: 1, ZCost: 2, BendCost: 1, Width: 32, Height: 32, Depth: 3, Paths: 96}
	Medium    = Params{XCost: 1, YCost: 1, ZCost: 2, BendCost: 1, Width: 256, Height: 256, Depth: 5, Paths: 384}
	Native    = Params{XCost: 1, YCost: 1, ZCost: 2, BendCost: 1, Width: 512, Height: 512, Depth: 7, Paths: 512}
)

// An Input is a maze and pairs of points to be connected in it. Runs only read
// it.
type Input struct {
	Params
	shape shape
	pairs []pair
	maze  []int // the grid before the first path
}

// A pair is two cells to be connected.
type pair struct {
	start, end int
}

// What a cell of a grid can be. Anything else is the number of a path, from 1 on.
const (
	free = 0
	wall = -1 // or the start or end of a path, which no other may use
)

// A Result is the paths that were found.
type Result struct {
	Elapsed time.Duration
	Paths   [][]int // by pair: its cells from start to end; nil if there is no way
	Routed  int     // the number of paths
	Again   int     // claims that failed
}

// Generate makes a maze with random walls and random pairs of points. No two
// points are in the same place. Near ones are connected first, as they need the
// least room.
func Generate(p Params) *Input {
	r := rand.New(rand.NewPCG(p.Seed, 1961))
	in := &Input{Params: p, shape: newShape(p)}
	in.maze = make([]int, in.shape.cells)
	place := func() (cell int) {
		for {
			cell = in.shape.cell(r.IntN(p.Width), r.IntN(p.Height), r.IntN(p.Depth))
			if in.maze[cell] == free {
				in.maze[cell] = wall
				return cell
			}
		}
	}
	for range p.Walls {
		place()
	}
	for range p.Paths {
		in.pairs = append(in.pairs, pair{start: place(), end: place()})
	}
	slices.SortStableFunc(in.pairs, func(a, b pair) int {
		return cmp.Compare(in.shape.distance(a.start, a.end), in.shape.distance(b.start, b.end))
	})
	return in
}

// result returns the result of a run.
func result(paths [][]int, again int, elapsed time.Duration) *Result {
	r := &Result{Elapsed: elapsed, Paths: paths, Again: again}
	for _, p := range paths {
		if p != nil {
			r.Routed++
		}
	}
	return r
}
