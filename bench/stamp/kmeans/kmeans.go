// Package kmeans is the program kmeans of the STAMP suite (Minh et al., 2008):
// it groups points in space into a given number of clusters.
//
// # Phases
//
// A few points are taken as the first centres. Then, in each iteration, every
// point becomes a member of the cluster with the nearest centre, and every centre
// moves to the mean of its members. The program ends when few points have changed
// their cluster. The points of an iteration are shared out among goroutines, a
// few at a time; the centres move when all are done.
//
// # Transactions
//
//	take   the next few points             1 word read and written
//	join   a point joins its cluster       Dimensions+1 words read and written
//	tally  a goroutine's points that       1 word read and written
//	       have changed their cluster
//
// A join adds the coordinates of the point to the sums of the cluster. What takes
// the time is the search for the nearest centre, which is outside: it reads
// centres that do not move meanwhile. With fewer clusters there is less to search
// and more goroutines meet in one cluster, so 15 clusters have high contention
// and 40 have low.
//
//	length of transactions   short
//	read and write sets      medium
//	time in transactions     low
//	contention               low
//
// [Sequential] is the plain program, [Mutex] has one lock where [Transactional]
// has transactions. Sums of floating-point numbers depend on the order, and the
// order on the goroutines, so that two runs agree only to within rounding.
//
// They are in sequential.go, mutex.go, transactional.go and, as plain code, atomic.go; clustering.go has what they
// share, verify.go checks the outcome.
package kmeans

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// Params say what is clustered and when it is good enough.
type Params struct {
	MinClusters int     // -m: the least number of clusters that is tried
	MaxClusters int     // -n: the greatest; the result is that of the last
	Threshold   float64 // -t: the share of points that may still change their cluster at the end

	// The points, which STAMP reads from a file:
	// -i random-n<Points>-d<Dimensions>-c<Centres>.txt
	Points     int
	Dimensions int
	Centres    int // that the points were made around
	Seed       uint64
}

// The parameters of STAMP for simulators and for real machines, and some between
// that take about half a second.
var (
	SimulatorLow  = Params{MinClusters: 40, MaxClusters: 40, Threshold: 0.05, Points: 2048, Dimensions: 16, Centres: 16}
	SimulatorHigh = Params{MinClusters: 15, MaxClusters: 15, Threshold: 0.05, Points: 2048, Dimensions: 16, Centres: 16}
	MediumLow     = Params{MinClusters: 40, MaxClusters: 40, Threshold: 0.005, Points: 32768, Dimensions: 24, Centres: 16, Seed: 1}
	MediumHigh    = Params{MinClusters: 15, MaxClusters: 15, Threshold: 0.0001, Points: 32768, Dimensions: 24, Centres: 16, Seed: 1}
	NativeLow     = Params{MinClusters: 40, MaxClusters: 40, Threshold: 0.00001, Points: 65536, Dimensions: 32, Centres: 16}
	NativeHigh    = Params{MinClusters: 15, MaxClusters: 15, Threshold: 0.00001, Points: 65536, Dimensions: 32, Centres: 16}
)

// maxIterations ends a clustering that does not settle.
const maxIterations = 500

// An Input is points to be clustered. Runs only read it.
type Input struct {
	Params
	points [][]float64

	reference func() *Result // what Sequential computes, made when it is first needed
}

// A Result is a clustering.
type Result struct {
	Elapsed    time.Duration
	Iterations int
	Moved      int         // points that changed their cluster in the last iteration
	Membership []int       // by point: its cluster
	Sizes      []int       // by cluster: its members
	Centres    [][]float64 // by cluster: the mean of its members
	Previous   [][]float64 // the centres that Membership was decided by
}

// Generate makes points that are spread around random centres, and gives every
// dimension the mean 0 and the deviation 1.
func Generate(p Params) *Input {
	r := rand.New(rand.NewPCG(p.Seed, 7))
	centres := matrix(p.Centres, p.Dimensions)
	for _, c := range centres {
		for d := range c {
			c[d] = r.Float64()
		}
	}
	in := &Input{Params: p, points: matrix(p.Points, p.Dimensions)}
	for _, point := range in.points {
		c := centres[r.IntN(p.Centres)]
		for d := range point {
			point[d] = c[d] + spread*(r.Float64()-0.5)
		}
	}
	standardise(in.points)
	in.reference = sync.OnceValue(in.sequentialByAll)
	return in
}

// spread is the width of the cloud of points around a centre. It is greater than
// that of the space in which the centres are, so that the clouds overlap and
// clustering takes some iterations.
const spread = 1.5

// standardise is the z-score transformation.
func standardise(points [][]float64) {
	n := float64(len(points))
	for d := range points[0] {
		var sum, squares float64
		for _, p := range points {
			sum += p[d]
			squares += p[d] * p[d]
		}
		mean := sum / n
		deviation := math.Sqrt(squares/n - mean*mean)
		for _, p := range points {
			p[d] = (p[d] - mean) / deviation
		}
	}
}

// matrix returns rows that lie one after the other in memory.
func matrix(rows, columns int) [][]float64 {
	all := make([]float64, rows*columns)
	m := make([][]float64, rows)
	for i := range m {
		m[i] = all[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return m
}
