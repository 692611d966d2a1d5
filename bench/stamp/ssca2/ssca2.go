// Package ssca2 is the program ssca2 of the STAMP suite (Minh et al., 2008): it
// builds a large graph from a list of its edges. It is the first kernel of
// Scalable Synthetic Compact Applications 2 (Bader and Madduri, 2006).
//
// # Terms
//
// The vertices of the graph are numbers. Edges are directed and have weights.
// There may be several from one vertex to another, which are parallel: one edge
// of the graph with several weights. An edge that is not answered, by one in the
// opposite direction, implies that its start is noted at its end: it is an implied
// edge there.
//
// # Phases
//
// The edges are sorted by their vertices. Each phase is shared out among the
// goroutines, and begins when all are done with the last:
//
//	survey    finds the greatest vertex, in a part of the edges
//	measure   counts the edges that leave each vertex, parallel ones once
//	fill      writes them to arrays, one after the other
//	imply     looks for edges that are not answered, and notes them at their ends
//	gather    writes these to arrays, too
//
// # Transactions
//
//	survey   the greatest vertex of a part     1 word read, perhaps written
//	imply    an edge is noted at its end       1 word read, 2 written
//
// The other phases need none, as no two goroutines have the same vertex. An edge
// can end anywhere, but there are many vertices, so that two goroutines seldom
// meet.
//
//	length of transactions   short
//	read and write sets      small
//	time in transactions     low
//	contention               low
//
// [Sequential] is the plain program, [Mutex] has one lock where [Transactional]
// has transactions. These say beforehand what memory they are going to access, because from
// one commit, or one lock, a processor does not see into the next; the plain program is faster
// without. The implied edges of a vertex are in the order in which they
// were found; everything else is the same in every run.
//
// They are in sequential.go, mutex.go, transactional.go and, as plain code, atomic.go; generate.go makes the input,
// construction.go has the phases, graph.go is the result, verify.go checks it.
package ssca2

import "time"

// Params say what the graph is like.
type Params struct {
	Scale          int     // -s: there are 1<<Scale vertices
	InterClique    float64 // -i: the probability of edges between neighbouring cliques
	Unidirectional float64 // -u: the probability that an edge is not answered
	MaxPath        int     // -l: the length of paths in a later kernel, not used in this one
	MaxParallel    int     // -p: the greatest number of parallel edges
	Seed           uint64
}

// clique is the number of vertices of the largest clique.
func (p Params) clique() int { return 1 << (p.Scale / 3) }

// The parameters of STAMP for simulators and for real machines, and some between
// that take about half a second.
var (
	Simulator = Params{Scale: 13, InterClique: 1.0, Unidirectional: 1.0, MaxPath: 3, MaxParallel: 3}
	Medium    = Params{Scale: 18, InterClique: 1.0, Unidirectional: 1.0, MaxPath: 3, MaxParallel: 3}
	Native    = Params{Scale: 20, InterClique: 1.0, Unidirectional: 1.0, MaxPath: 3, MaxParallel: 3}
)

// An Input is the edges of a graph. Runs only read it.
type Input struct {
	Params
	edges []edge // by their starts, then by their ends
}

// An edge leads from one vertex to another. There are some 40 million in a native
// input, hence the size of the numbers.
type edge struct {
	from, to, weight int32
}

// parallel reports whether two edges connect the same vertices.
func (e edge) parallel(o edge) bool { return e.from == o.from && e.to == o.to }

// A Result is a graph.
type Result struct {
	Elapsed time.Duration
	Graph   Graph
}
