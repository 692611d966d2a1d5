package kmeans

import (
	"fmt"
	"math"
	"runtime"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
)

// Verify checks that a result is a clustering of the points: that every point is
// where the nearest centre was, that the centres are the means of their members,
// that it ended when it should, and that it is as good as the sequential one.
func (in *Input) Verify(r *Result) error {
	k := in.MaxClusters
	if len(r.Membership) != len(in.points) || len(r.Sizes) != k || len(r.Centres) != k || len(r.Previous) != k {
		return fmt.Errorf("kmeans: a result for %d points in %d clusters, and there are %d in %d",
			len(r.Membership), len(r.Centres), len(in.points), k)
	}
	if err := in.verifyMembership(r); err != nil {
		return err
	}
	if err := in.verifyCentres(r); err != nil {
		return err
	}
	if float64(r.Moved) > in.Threshold*float64(len(in.points)) && r.Iterations < maxIterations {
		return fmt.Errorf("kmeans: ended after %d iterations, with %d of %d points still moving", r.Iterations, r.Moved, len(in.points))
	}
	got, want := in.cost(r), in.cost(in.reference())
	if math.Abs(got-want) > 0.01*want {
		return fmt.Errorf("kmeans: the points are %g from their centres, and %g in the sequential result", got, want)
	}
	return nil
}

// sequentialByAll computes what Sequential does, to the last bit: the nearest clusters are looked
// for by all processors, and the points added in their order. Verifying would take as long as
// what is verified otherwise.
func (in *Input) sequentialByAll() *Result {
	nearest, parts := make([]int, len(in.points)), runtime.GOMAXPROCS(0)
	return in.run(func(c *clustering) (moved int) {
		team.Run(parts, func(member int) {
			first, last := team.Share(len(c.points), member, parts)
			for i := first; i < last; i++ {
				nearest[i] = c.nearest(c.points[i])
			}
		})
		for i, k := range nearest {
			if c.member[i] != k {
				c.member[i] = k
				moved++
			}
			c.clusters[k].add(c.points[i])
		}
		return moved
	})
}

// rounding is the greatest relative error that the order of additions may cause.
const rounding = 1e-9

func (in *Input) verifyMembership(r *Result) error {
	decided := clustering{centres: r.Previous}
	for i, point := range in.points {
		k := r.Membership[i]
		if k < 0 || k >= len(r.Centres) {
			return fmt.Errorf("kmeans: point %d is in cluster %d of %d", i, k, len(r.Centres))
		}
		best := decided.nearest(point)
		if distance(point, r.Previous[k]) > distance(point, r.Previous[best])*(1+rounding) {
			return fmt.Errorf("kmeans: point %d is in cluster %d, and the centre of %d was nearer", i, k, best)
		}
	}
	return nil
}

func (in *Input) verifyCentres(r *Result) error {
	clusters := newClusters(len(r.Centres), in.Dimensions)
	for i, point := range in.points {
		clusters[r.Membership[i]].add(point)
	}
	for k, c := range clusters {
		if r.Sizes[k] != c.count() {
			return fmt.Errorf("kmeans: cluster %d counts %d members and has %d", k, r.Sizes[k], c.count())
		}
		if c.count() == 0 {
			continue
		}
		for d, sum := range c.sums() {
			mean := sum / float64(c.count())
			if math.Abs(r.Centres[k][d]-mean) > rounding*(1+math.Abs(mean)) {
				return fmt.Errorf("kmeans: the centre of cluster %d is at %g in dimension %d, and the mean of its members at %g",
					k, r.Centres[k][d], d, mean)
			}
		}
	}
	return nil
}

// cost is what clustering minimises: how far points are from their centres.
func (in *Input) cost(r *Result) float64 {
	sum := 0.0
	for i, point := range in.points {
		sum += distance(point, r.Centres[r.Membership[i]])
	}
	return sum
}
