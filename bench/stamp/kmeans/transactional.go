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

	_     [line]int // what comes is written all the time, and what is above only read
	next  int       // the first point that nobody has taken
	moved int
}

// assign assigns points for as long as there are any. The functions of its
// transactions are made once: with options, one that captures variables is allocated.
func (a *transactional) assign() {
	i, k, moved := 0, 0, 0
	take := a.take
	join := func(tx *stm.Tx) error {
		a.clusters[k].addTx(tx, a.points[i])
		return nil
	}
	for {
		first, _ := stm.ValueWith(a.Options, take)
		if first >= len(a.points) {
			break
		}
		for i = first; i < min(first+chunk, len(a.points)); i++ {
			k = a.nearest(a.points[i])
			a.clusters[k].fetch()
			if a.member[i] != k {
				a.member[i] = k
				moved++
			}
			a.Atomically(join)
		}
	}
	a.Atomically(func(tx *stm.Tx) error {
		stm.Store(tx, &a.moved, stm.Load(tx, &a.moved)+moved)
		return nil
	})
}

// take takes the next points and returns the first.
func (a *transactional) take(tx *stm.Tx) (int, error) {
	first := stm.Load(tx, &a.next)
	stm.Store(tx, &a.next, first+chunk)
	return first, nil
}

// addTx is add in a transaction.
func (c cluster) addTx(tx *stm.Tx, point []float64) {
	stm.Store(tx, &c[0], stm.Load(tx, &c[0])+1)
	sums := c[1:]
	for d, x := range point {
		stm.Store(tx, &sums[d], stm.Load(tx, &sums[d])+x)
	}
}

// fetch has the processor fetch the cluster, which another one may have written last, all of it
// at once: by itself it goes from one line to the next.
func (c cluster) fetch() {
	for i := 0; i < len(c); i += line {
		stm.Prefetch(&c[i])
	}
}
