// Package timers is a queue of timers in virtual time, the earliest first. Timers for the same moment are in the order
// in which they were queued.
package timers

// A Place is the place of something in a queue. What is queued embeds one.
type Place struct {
	When  int64
	order uint64
	index int // in the heap, from 1; 0 if it is not queued
}

// Queued reports whether it is in a queue.
func (p *Place) Queued() bool { return p.index > 0 }

// Before reports whether p comes before q in their queue.
func (p *Place) Before(q *Place) bool {
	return p.When < q.When || p.When == q.When && p.order < q.order
}

func (p *Place) place() *Place { return p }

type item interface{ place() *Place }

// A Queue is ordered by time. Its zero value is empty.
type Queue[T item] struct {
	heap   []T
	queued uint64
}

// Len is how many there are.
func (q *Queue[T]) Len() int { return len(q.heap) }

// First returns what comes first. There must be something.
func (q *Queue[T]) First() T { return q.heap[0] }

// All returns what is queued, in no particular order.
func (q *Queue[T]) All() []T { return q.heap }

// Reset forgets all, and keeps the memory.
func (q *Queue[T]) Reset() {
	clear(q.heap)
	q.heap, q.queued = q.heap[:0], 0
}

// Push queues t, which is not queued, for a time.
func (q *Queue[T]) Push(t T, when int64) {
	q.queued++
	q.heap = append(q.heap, t)
	*t.place() = Place{When: when, order: q.queued, index: len(q.heap)}
	q.up(len(q.heap) - 1)
}

// Remove takes t, which is queued, out.
func (q *Queue[T]) Remove(t T) {
	i, n := t.place().index-1, len(q.heap)-1
	if i != n {
		q.swap(i, n)
	}
	var none T
	q.heap[n] = none
	q.heap = q.heap[:n]
	if i != n {
		q.up(i)
		q.down(i)
	}
	t.place().index = 0
}

func (q *Queue[T]) less(i, j int) bool {
	return q.heap[i].place().Before(q.heap[j].place())
}

func (q *Queue[T]) up(i int) {
	for i > 0 && q.less(i, (i-1)/2) {
		q.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (q *Queue[T]) down(i int) {
	for {
		least := i
		for j := 2*i + 1; j <= 2*i+2 && j < len(q.heap); j++ {
			if q.less(j, least) {
				least = j
			}
		}
		if least == i {
			return
		}
		q.swap(i, least)
		i = least
	}
}

func (q *Queue[T]) swap(i, j int) {
	q.heap[i], q.heap[j] = q.heap[j], q.heap[i]
	q.heap[i].place().index, q.heap[j].place().index = i+1, j+1
}
