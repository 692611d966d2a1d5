package ssca2

import (
	"fmt"
	"slices"
)

// Verify checks that the graph has exactly the edges of the input: with their
// weights where they begin, and where they end if they are not answered.
func (in *Input) Verify(r *Result) error {
	g := &r.Graph
	n := greatestOf(in.edges) + 1
	if len(g.OutIndex) != n+1 || len(g.InIndex) != n+1 || len(g.WeightIndex) != len(g.Out)+1 || len(g.Weights) != len(in.edges) {
		return fmt.Errorf("ssca2: a graph of %d vertices and %d edges, and there are %d and %d",
			g.Vertices(), len(g.Weights), n, len(in.edges))
	}
	for name, index := range map[string][]int{"out": g.OutIndex, "in": g.InIndex, "weight": g.WeightIndex} {
		if index[0] != 0 || !slices.IsSorted(index) {
			return fmt.Errorf("ssca2: the %s index is not one", name)
		}
	}
	if g.OutIndex[n] != len(g.Out) || g.InIndex[n] != len(g.In) || g.WeightIndex[len(g.Out)] != len(g.Weights) {
		return fmt.Errorf("ssca2: an index ends where its array does not")
	}
	if err := in.verifyOut(g); err != nil {
		return err
	}
	return in.verifyIn(g)
}

// verifyOut writes the edges of the graph down again, which gives the input, if
// no edge is in two parts.
func (in *Input) verifyOut(g *Graph) error {
	rest := in.edges
	for v := range g.Vertices() {
		if to := g.From(v); !slices.IsSorted(to) || len(slices.Compact(slices.Clone(to))) != len(to) {
			return fmt.Errorf("ssca2: the edges from %d lead to %v, which is not ascending", v, to)
		}
		for e := g.OutIndex[v]; e < g.OutIndex[v+1]; e++ {
			for _, weight := range g.WeightsOf(e) {
				if got := (edge{int32(v), int32(g.Out[e]), int32(weight)}); got != rest[0] {
					return fmt.Errorf("ssca2: the graph has the edge %+v where the input has %+v", got, rest[0])
				}
				rest = rest[1:]
			}
		}
	}
	return nil
}

// verifyIn compares the implied edges with those of the input that are not
// answered. It goes by the vertex where they end, and not where they begin as the
// program does; verifyOut has checked what answers them.
func (in *Input) verifyIn(g *Graph) error {
	arriving := make([][]int, g.Vertices())
	for i, e := range in.edges {
		if i == 0 || !e.parallel(in.edges[i-1]) {
			arriving[e.to] = append(arriving[e.to], int(e.from))
		}
	}
	for v, all := range arriving {
		answers := g.From(v)
		want := slices.DeleteFunc(all, func(from int) bool { return slices.Contains(answers, from) })
		if got := slices.Sorted(slices.Values(g.Implied(v))); !slices.Equal(got, want) {
			return fmt.Errorf("ssca2: the implied edges of %d are %v, and should be %v", v, got, want)
		}
	}
	return nil
}
