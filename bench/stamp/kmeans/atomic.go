package kmeans

import (
	"sync"

	"github.com/cofferdam-go/cofferdam/stm"
)

// Atomic clusters the points in several goroutines, with transactions that are plain code.
func Atomic(in *Input, goroutines int) *Result {
	return in.run(func(c *clustering) int {
		a := &compiled{clustering: c}
		var all sync.WaitGroup
		for range goroutines {
			all.Go(a.assign)
		}
		all.Wait()
		return a.moved
	})
}

// compiled is one iteration with transactions. While it lasts, next, moved and
// clustering.clusters are accessed in transactions only.
type compiled struct {
	*clustering

	_     [line]int // what comes is written all the time, and what is above only read
	next  int       // the first point that nobody has taken
	moved int
}

// assign assigns points for as long as there are any.
func (a *compiled) assign() {
	moved := 0
	for {
		first := 0
		stm.Atomic(func() {
			first = a.next
			a.next += chunk
		})
		if first >= len(a.points) {
			break
		}
		for i := first; i < min(first+chunk, len(a.points)); i++ {
			point := a.points[i]
			k := a.nearest(point)
			if a.member[i] != k {
				a.member[i] = k
				moved++
			}
			stm.Atomic(func() { a.clusters[k].add(point) })
		}
	}
	stm.Atomic(func() { a.moved += moved })
}
