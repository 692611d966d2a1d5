package kmeans

import "sync"

// Mutex clusters the points in several goroutines, with one lock.
func Mutex(in *Input, goroutines int) *Result {
	return in.run(func(c *clustering) int {
		a := &locked{clustering: c}
		var all sync.WaitGroup
		for range goroutines {
			all.Go(a.assign)
		}
		all.Wait()
		return a.moved
	})
}

// locked is one iteration with a lock.
type locked struct {
	*clustering

	_     [line]int  // what comes is written all the time, and what is above only read
	mu    sync.Mutex // guards next, moved and clustering.clusters
	next  int        // the first point that nobody has taken
	moved int
}

// assign assigns points for as long as there are any.
func (a *locked) assign() {
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

func (a *locked) take() (first int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first = a.next
	a.next += chunk
	return first
}

func (a *locked) join(k int, point []float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clusters[k].add(point)
}

func (a *locked) tally(moved int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moved += moved
}
