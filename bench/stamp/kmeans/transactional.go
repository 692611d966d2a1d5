package kmeans

import (
	"sync"

	"github.com/cofferdam-go/cofferdam/stm"
)

// Transactional clusters the points in several goroutines, with transactions. A
// clustering runs to its end: the context of the options is not heeded.
func Transactional(in *Input, goroutines int, o stm.Options) *Result {
	o.Context = nil // so that no transaction below can fail
	return in.run(func(c *clustering) int {
		a := &transactional{clustering: c, Options: o}
		var all sync.WaitGroup
		for range goroutines {
			all.Go(a.assign)
		}
		all.Wait()
		return a.moved
	})
}

// transactional is one iteration with transactions. While it lasts, next, moved
// and clustering.clusters are accessed in transactions only.
type transactional struct {
	*clustering
	stm.Options

	next  int // the first point that nobody has taken
	moved int
}

// assign assigns points for as long as there are any.
func (a *transactional) assign() {
	moved := 0
	for {
		first := a.take()
		if first >= len(a.points) {
			break
		}
		for i := first; i < min(first+chunk, len(a.points)); i++ {
			k := a.nearest(a.points[i])
			if a.member[i] != k {
				a.member[i] = k
				moved++
			}
			a.join(k, a.points[i])
		}
	}
	a.tally(moved)
}

func (a *transactional) take() int {
	first, _ := stm.ValueWith(a.Options, func(tx *stm.Tx) (int, error) {
		first := stm.Load(tx, &a.next)
		stm.Store(tx, &a.next, first+chunk)
		return first, nil
	})
	return first
}

func (a *transactional) join(k int, point []float64) {
	c := &a.clusters[k]
	a.Atomically(func(tx *stm.Tx) error {
		stm.Store(tx, &c.count, stm.Load(tx, &c.count)+1)
		for d, x := range point {
			stm.Store(tx, &c.sum[d], stm.Load(tx, &c.sum[d])+x)
		}
		return nil
	})
}

func (a *transactional) tally(moved int) {
	a.Atomically(func(tx *stm.Tx) error {
		stm.Store(tx, &a.moved, stm.Load(tx, &a.moved)+moved)
		return nil
	})
}
