package ssca2

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// small is for the modes that need a second goroutine for each transaction. Unlike the sets
// of STAMP it has edges that are answered.
var small = Params{Scale: 9, InterClique: 1.0, Unidirectional: 0.5, MaxParallel: 2}

func TestSequentialBuilds(t *testing.T) {
	for _, p := range []Params{Simulator, small} {
		in := Generate(p)
		verify(t, in, Sequential(in))
	}
}

func TestMutexBuilds(t *testing.T) {
	for _, p := range []Params{Simulator, small} {
		in := Generate(p)
		verify(t, in, Mutex(in, 2))
		verify(t, in, Atomic(in, 2))
	}
}

func TestTransactionsBuild(t *testing.T) {
	for _, m := range []struct {
		name   string
		mode   stm.Mode
		params Params
	}{
		{"eager", stm.Eager, Simulator},
		{"timer", stm.Timer, Simulator},
		{"helper", stm.Helper, small},
		{"clone", stm.Clone, small},
	} {
		in := Generate(m.params)
		for _, goroutines := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/%d", m.name, goroutines), func(t *testing.T) {
				verify(t, in, Transactional(in, goroutines, stm.Options{Mode: m.mode}))
			})
		}
	}
}

// More goroutines than vertices leave some with nothing to do.
func TestManyGoroutinesBuildSmallGraph(t *testing.T) {
	in := Generate(Params{Scale: 2, InterClique: 1, MaxParallel: 1})
	verify(t, in, Mutex(in, 9))
	verify(t, in, Transactional(in, 9, stm.Options{}))
}

func TestOneGoroutineIsSequential(t *testing.T) {
	in := Generate(small)
	want := Sequential(in)
	for name, r := range map[string]*Result{
		"mutex":         Mutex(in, 1),
		"atomic":        Atomic(in, 1),
		"transactional": Transactional(in, 1, stm.Options{}),
	} {
		if !slices.Equal(r.Graph.In, want.Graph.In) {
			t.Errorf("%s has other implied edges than Sequential", name)
		}
	}
}

// Blocks come newest first and are gathered in the order in which edges came, in a
// transaction or not.
func TestGatherKeepsTheOrder(t *testing.T) {
	const room = 3
	for n := range room + 3*blockSize + 1 {
		plain, transactional := &construction{implied: newImplied(2, room)}, &construction{implied: newImplied(2, room)}
		want := make([]int, n)
		for i := range n {
			want[i] = i
			plain.implied.add(1, i)
			stm.Atomically(func(tx *stm.Tx) error {
				transactional.implied.addTx(tx, 1, i)
				return nil
			})
		}
		for name, c := range map[string]*construction{"plain": plain, "transactional": transactional} {
			c.graph.InIndex = []int{0, 0, n}
			c.graph.In = make([]int, n)
			c.gather(0, 2)
			if !slices.Equal(c.graph.In, want) {
				t.Errorf("%s: %d edges are gathered as %v", name, n, c.graph.In)
			}
		}
	}
}

func TestGenerateMakesWhatItIsToldTo(t *testing.T) {
	for _, p := range []Params{Simulator, small} {
		in := Generate(p)
		if !slices.IsSortedFunc(in.edges, func(a, b edge) int {
			return slices.Compare([]int32{a.from, a.to}, []int32{b.from, b.to})
		}) {
			t.Errorf("%+v: the edges are not sorted", p)
		}
		there := map[[2]int32]bool{}
		for _, e := range in.edges {
			if e.from == e.to {
				t.Fatalf("%+v: an edge from %d to itself", p, e.from)
			}
			there[[2]int32{e.from, e.to}] = true
		}
		answered := 0
		for _, e := range in.edges {
			if there[[2]int32{e.to, e.from}] {
				answered++
			}
		}
		share := float64(answered) / float64(len(in.edges))
		t.Logf("%+v: %d edges, %.2f of them answered", p, len(in.edges), share)
		if p.Unidirectional == 1 && share > 0.01 || p.Unidirectional < 1 && share < 0.3 {
			t.Errorf("%+v: %.2f of the edges are answered", p, share)
		}
	}
}

func TestVerifyRejectsWrongResults(t *testing.T) {
	in := Generate(small)
	for name, spoil := range map[string]func(g *Graph){
		"an edge elsewhere":       func(g *Graph) { g.Out[100]++ },
		"an edge implied twice":   func(g *Graph) { v := most(g); v[0] = v[1] },
		"an edge not implied":     func(g *Graph) { g.InIndex[7], g.In = g.InIndex[7]-1, g.In[1:] },
		"another weight":          func(g *Graph) { g.Weights[5]++ },
		"a weight of another":     func(g *Graph) { g.WeightIndex[3]-- },
		"a vertex forgotten":      func(g *Graph) { g.OutIndex = g.OutIndex[1:] },
		"an index that goes back": func(g *Graph) { g.OutIndex[4] = g.OutIndex[9] + 1 },
	} {
		r := Sequential(in)
		spoil(&r.Graph)
		if in.Verify(r) == nil {
			t.Errorf("%s was not noticed", name)
		}
	}
}

// most returns the longest list of implied edges.
func most(g *Graph) (longest []int) {
	for v := range g.Vertices() {
		if in := g.Implied(v); len(in) > len(longest) {
			longest = in
		}
	}
	return longest
}

func TestGenerateIsDeterministic(t *testing.T) {
	if !slices.Equal(Generate(small).edges, Generate(small).edges) {
		t.Error("two inputs of the same parameters differ")
	}
}

func verify(t *testing.T, in *Input, r *Result) {
	t.Helper()
	if err := in.Verify(r); err != nil {
		t.Error(err)
	}
	if r.Elapsed <= 0 {
		t.Errorf("the run took %v", r.Elapsed)
	}
	t.Logf("%d edges, %d of them implied, %v", len(r.Graph.Out), len(r.Graph.In), r.Elapsed)
}
