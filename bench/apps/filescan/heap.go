package filescan

import "sync"

// heapQueue is the queue on the Go heap.
type heapQueue struct {
	notFull, notEmpty *sync.Cond

	mu   sync.Mutex
	ring *ring
}

func newHeapQueue() *heapQueue {
	q := &heapQueue{ring: new(ring)}
	q.notFull = sync.NewCond(&q.mu)
	q.notEmpty = sync.NewCond(&q.mu)
	return q
}

func (q *heapQueue) put(name string) {
	q.mu.Lock()
	for q.ring.full() {
		q.notFull.Wait()
	}
	q.ring.push(name)
	q.mu.Unlock()
	q.notEmpty.Signal()
}

func (q *heapQueue) take() (name string, ok bool) {
	q.mu.Lock()
	for q.ring.empty() && !q.ring.closed {
		q.notEmpty.Wait()
	}
	if ok = !q.ring.empty(); ok {
		name = q.ring.pop()
	}
	q.mu.Unlock()
	q.notFull.Signal()
	return name, ok
}

func (q *heapQueue) close() {
	q.mu.Lock()
	q.ring.closed = true
	q.mu.Unlock()
	q.notEmpty.Broadcast()
}

func (q *heapQueue) free() error { return nil }
