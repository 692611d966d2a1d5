package kmeans

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A clustering is the state of a run. While goroutines assign points, the centres
// stand still, each member is written by the one goroutine that has taken the
// point, and the clusters are what they share.
type clustering struct {
	points   [][]float64
	centres  [][]float64
	member   []int // by point: its cluster
	clusters []cluster
}

// A cluster is what its members add up to in this iteration: how many they are, and behind that
// the sums of their coordinates. As in STAMP it has cache lines of its own: goroutines that add
// to different clusters do not share any.
type cluster []float64

// line is the numbers on a cache line.
const line = 8

func newClusters(n, dimensions int) []cluster {
	clusters := make([]cluster, n)
	for k, row := range matrix(n, (1+dimensions+line-1)/line*line) {
		clusters[k] = row[:1+dimensions]
	}
	return clusters
}

func (c cluster) count() int { return int(c[0]) }

func (c cluster) sums() []float64 { return c[1:] }

// add makes a point a member.
func (c cluster) add(point []float64) {
	c[0]++
	sums := c[1:]
	for d, x := range point {
		sums[d] += x
	}
}

// chunk is the number of points that a goroutine takes at a time.
const chunk = 3

// run clusters the points. assign makes every point a member of the nearest
// cluster and returns how many have changed it.
func (in *Input) run(assign func(*clustering) (moved int)) *Result {
	var r *Result
	var elapsed time.Duration
	for k := in.MinClusters; k <= in.MaxClusters; k++ {
		c := in.start(k)
		begin := time.Now()
		r = c.settle(in.Threshold, assign)
		elapsed += time.Since(begin)
	}
	r.Elapsed = elapsed
	return r
}

// start returns a clustering into k clusters that has not begun: its centres are
// points, chosen at random, and no point belongs anywhere.
func (in *Input) start(k int) *clustering {
	r := rand.New(rand.NewPCG(in.Seed, uint64(k)))
	c := &clustering{
		points:   in.points,
		centres:  matrix(k, in.Dimensions),
		member:   slices.Repeat([]int{-1}, len(in.points)),
		clusters: newClusters(k, in.Dimensions),
	}
	for i, p := range r.Perm(len(in.points))[:k] {
		copy(c.centres[i], in.points[p])
	}
	return c
}

// settle assigns the points and moves the centres until few points change their
// cluster.
func (c *clustering) settle(threshold float64, assign func(*clustering) (moved int)) *Result {
	previous := matrix(len(c.centres), len(c.centres[0]))
	r := &Result{Membership: c.member, Sizes: make([]int, len(c.clusters))}
	for {
		r.Moved = assign(c)
		r.Iterations++
		for k := range c.clusters {
			r.Sizes[k] = c.clusters[k].count()
			copy(previous[k], c.centres[k])
			c.move(k)
		}
		if float64(r.Moved) <= threshold*float64(len(c.points)) || r.Iterations == maxIterations {
			r.Centres, r.Previous = c.centres, previous
			return r
		}
	}
}

// move puts the centre of a cluster in the middle of its members and forgets
// them. A centre without members stays where it is.
func (c *clustering) move(k int) {
	cluster := c.clusters[k]
	if n := cluster.count(); n > 0 {
		for d, sum := range cluster.sums() {
			c.centres[k][d] = sum / float64(n)
		}
	}
	clear(cluster)
}

// nearest returns the cluster whose centre is nearest to a point.
func (c *clustering) nearest(point []float64) int {
	best, least := 0, math.Inf(1)
	for k, centre := range c.centres {
		if d := distance(point, centre); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the square of the Euclidean distance.
func distance(a, b []float64) float64 {
	sum := 0.0
	b = b[:len(a)]
	for d, x := range a {
		x -= b[d]
		sum += x * x
	}
	return sum
}
