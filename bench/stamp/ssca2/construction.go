package ssca2

import (
	"sort"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/stm"
)

// A construction is a graph that is being built. Its methods are the phases in
// which the goroutines share nothing, for a range of vertices. The other two are
// in sequential.go, mutex.go, transactional.go and atomic.go.
type construction struct {
	edges  []edge
	clique int // vertices of the largest
	graph  Graph

	// What goroutines share: greatest during the survey, implied while edges are
	// implied.
	greatest int
	implied  implied
}

// implied is the implied edges by the vertex at their end, in the order in which they
// were found. As in STAMP, each vertex has room for as many as a clique has vertices,
// so that where an edge goes is known from their number alone. What is beyond that is
// in a list of blocks, the newest first, all but which are full.
type implied struct {
	count []int    // by vertex
	room  int      // of a vertex in first
	first []int    // by vertex
	more  []*block // by vertex
}

// A block is a few implied edges, and as large as a cache line.
type block struct {
	from  [blockSize]int
	older *block
}

const blockSize = 7

// newImplied has room for no edges; there is some left at the end of first, so that approach
// need not look at which vertex is the last.
func newImplied(vertices, room int) implied {
	return implied{make([]int, vertices), room, make([]int, vertices*room+usual), make([]*block, vertices)}
}

// add adds an edge to a vertex.
func (l *implied) add(to, from int) {
	n := l.count[to]
	l.count[to] = n + 1
	if n < l.room {
		l.first[to*l.room+n] = from
		return
	}
	n -= l.room
	if n%blockSize == 0 {
		l.more[to] = &block{older: l.more[to]}
	}
	l.more[to].from[n%blockSize] = from
}

// usual is how many implied edges most vertices have.
const usual = 24

// approach says to which vertices edges are about to be added. Where memory is far away, a
// processor fetches it for several at once if it knows; from one transaction it does not see
// into the next.
func (l *implied) approach(ends []int) {
	for _, to := range ends {
		stm.Prefetch(&l.count[to])
		stm.Prefetch((*[usual]int)(l.first[to*l.room:]))
	}
}

// copy copies the edges of a vertex, all of them.
func (l *implied) copy(all []int, to int) {
	rest := all[copy(all, l.first[to*l.room:(to+1)*l.room]):]
	for b := l.more[to]; b != nil; b = b.older {
		full := (len(rest) - 1) / blockSize * blockSize
		copy(rest[full:], b.from[:])
		rest = rest[:full]
	}
}

// run builds the graph. survey sees to greatest for a range of the edges, and
// imply to implied for a range of the vertices.
func (c *construction) run(goroutines int, survey, imply func(begin, end int)) *Result {
	begin := time.Now()
	share(goroutines, len(c.edges), survey)
	n := c.greatest + 1
	c.implied = newImplied(n, c.clique)
	c.graph.OutIndex = make([]int, n+1)
	share(goroutines, n, c.measure)

	accumulate(c.graph.OutIndex)
	c.graph.Out = make([]int, c.graph.OutIndex[n])
	c.graph.WeightIndex = make([]int, len(c.graph.Out)+1)
	c.graph.WeightIndex[len(c.graph.Out)] = len(c.edges)
	c.graph.Weights = make([]int, len(c.edges))
	share(goroutines, n, c.fill)
	share(goroutines, n, imply)

	c.graph.InIndex = make([]int, n+1)
	copy(c.graph.InIndex[1:], c.implied.count)
	accumulate(c.graph.InIndex)
	c.graph.In = make([]int, c.graph.InIndex[n])
	share(goroutines, n, c.gather)
	return &Result{Elapsed: time.Since(begin), Graph: c.graph}
}

// share does the work for 0 to n-1 in goroutines that have a range each.
func share(goroutines, n int, work func(begin, end int)) {
	if goroutines == 1 {
		work(0, n)
		return
	}
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() { work(n*g/goroutines, n*(g+1)/goroutines) })
	}
	all.Wait()
}

// leaving returns the first of the edges that leave a vertex or one after it.
func (c *construction) leaving(v int) int {
	return sort.Search(len(c.edges), func(i int) bool { return int(c.edges[i].from) >= v })
}

// greatestOf returns the greatest vertex in some edges.
func greatestOf(edges []edge) int {
	greatest := int32(0)
	for _, e := range edges {
		greatest = max(greatest, e.from, e.to)
	}
	return int(greatest)
}

// measure counts the edges that leave vertices, to the right of their place in
// the index.
func (c *construction) measure(begin, end int) {
	last := edge{from: -1}
	for _, e := range c.edges[c.leaving(begin):c.leaving(end)] {
		if !e.parallel(last) {
			c.graph.OutIndex[e.from+1]++
		}
		last = e
	}
}

// fill writes the edges that leave vertices.
func (c *construction) fill(begin, end int) {
	out := c.graph.OutIndex[begin]
	last := edge{from: -1}
	first := c.leaving(begin)
	for i, e := range c.edges[first:c.leaving(end)] {
		if !e.parallel(last) {
			c.graph.Out[out] = int(e.to)
			c.graph.WeightIndex[out] = first + i
			out++
		}
		c.graph.Weights[first+i] = int(e.weight)
		last = e
	}
}

// gather writes the implied edges of vertices, in the order in which they came.
func (c *construction) gather(begin, end int) {
	for v := begin; v < end; v++ {
		c.implied.copy(c.graph.Implied(v), v)
	}
}
