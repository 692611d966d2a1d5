package ssca2

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
)

// Generate makes a graph of cliques. Vertices that are in one clique are all
// connected with each other. From a vertex there are also edges to cliques that
// are 1, 2, 4 and so on vertices away, each half as likely as the last. In the
// end the vertices are numbered at random, so that neighbours are far apart in
// memory.
func Generate(p Params) *Input {
	g := &generator{Params: p, random: rand.New(rand.NewPCG(p.Seed, 2))}
	n := 1 << p.Scale
	for first := 0; first < n; {
		g.cliques = append(g.cliques, first)
		first += 1 + g.random.IntN(p.clique())
	}
	g.cliques = append(g.cliques, n)
	for i := range len(g.cliques) - 1 {
		g.connect(g.cliques[i], g.cliques[i+1])
	}
	for v := range n {
		g.leave(v, n)
	}
	number := g.random.Perm(n)
	for i := range g.edges {
		e := &g.edges[i]
		e.from, e.to = int32(number[e.from]), int32(number[e.to])
	}
	return &Input{Params: p, edges: sorted(g.edges, n)}
}

// A generator makes the edges of a graph.
type generator struct {
	Params
	random  *rand.Rand
	cliques []int // their first vertices, and the number of all
	edges   []edge
}

// connect connects the vertices of a clique.
func (g *generator) connect(first, end int) {
	for a := first; a < end; a++ {
		for b := a + 1; b < end; b++ {
			from, to := a, b
			if g.random.IntN(2) == 0 {
				from, to = b, a
			}
			g.add(from, to)
			if g.random.Float64() >= g.Unidirectional {
				g.add(to, from)
			}
		}
	}
}

// leave connects a vertex with other cliques.
func (g *generator) leave(v, n int) {
	own := g.cliqueOf(v)
	probability := g.InterClique
	for distance := 1; distance < n; distance *= 2 {
		other := g.cliqueOf((v + distance) % n)
		if other != own && g.random.Float64() < probability {
			size := g.cliques[other+1] - g.cliques[other]
			g.add(v, g.cliques[other]+g.random.IntN(size))
		}
		probability /= 2
	}
}

// cliqueOf returns the number of the clique that a vertex is in.
func (g *generator) cliqueOf(v int) int { return sort.SearchInts(g.cliques, v+1) - 1 }

// add adds parallel edges.
func (g *generator) add(from, to int) {
	for range 1 + g.random.IntN(g.MaxParallel) {
		weight := 1 + g.random.IntN(1<<g.Scale)
		g.edges = append(g.edges, edge{int32(from), int32(to), int32(weight)})
	}
}

// sorted returns the edges by their starts, then by their ends. It distributes
// them to their starts first, as there are too many to compare.
func sorted(edges []edge, vertices int) []edge {
	end := make([]int, vertices+1)
	for _, e := range edges {
		end[e.from+1]++
	}
	accumulate(end)
	all := make([]edge, len(edges))
	for _, e := range edges {
		all[end[e.from]] = e
		end[e.from]++
	}
	begin := 0
	for _, end := range end[:vertices] {
		slices.SortStableFunc(all[begin:end], func(a, b edge) int { return cmp.Compare(a.to, b.to) })
		begin = end
	}
	return all
}
