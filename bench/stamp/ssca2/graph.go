package ssca2

import "slices"

// A Graph is the edges by vertex. Each kind of edge is in one array, and an index
// says where those of a vertex begin; where they end, those of the next begin.
type Graph struct {
	OutIndex []int // by vertex: its first edge in Out
	Out      []int // ends of edges, ascending for each vertex

	InIndex []int // by vertex: its first implied edge in In
	In      []int // starts of edges that are not answered

	WeightIndex []int // by edge in Out: the first of its weights in Weights
	Weights     []int // of all edges, also of parallel ones
}

// Vertices returns the number of vertices.
func (g *Graph) Vertices() int { return len(g.OutIndex) - 1 }

// From returns the ends of the edges that leave a vertex.
func (g *Graph) From(v int) []int { return g.Out[g.OutIndex[v]:g.OutIndex[v+1]] }

// Implied returns the starts of the edges that lead to a vertex and are not
// answered.
func (g *Graph) Implied(v int) []int { return g.In[g.InIndex[v]:g.InIndex[v+1]] }

// WeightsOf returns the weights of an edge, which is an index in Out.
func (g *Graph) WeightsOf(edge int) []int {
	return g.Weights[g.WeightIndex[edge]:g.WeightIndex[edge+1]]
}

// unanswered returns the ends of the edges from a vertex from which no edge leads
// back, in memory that is used again. They are looked for in a loop of its own, in
// which a processor waits for several cache misses at once.
func (g *Graph) unanswered(ends []int, from int) []int {
	ends = ends[:0]
	for _, to := range g.From(from) {
		if _, found := slices.BinarySearch(g.From(to), from); !found {
			ends = append(ends, to)
		}
	}
	return ends
}

// accumulate replaces each number by the sum of all up to it: counts that stand
// one to the right of where they belong become an index.
func accumulate(counts []int) {
	sum := 0
	for i, n := range counts {
		sum += n
		counts[i] = sum
	}
}
