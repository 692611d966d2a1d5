package filescan

import (
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/apps/variant"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// guardedQueue is the queue in guarded memory. The ring is taken anew after each
// Wait, which ends one section and begins another.
type guardedQueue struct {
	notFull, notEmpty *sync.Cond

	mu   *variant.Lock
	ring *ring // shared
}

func newGuardedQueue(v measure.Variant) *guardedQueue {
	mu := variant.NewLock(v, "files to scan")
	return &guardedQueue{
		notFull:  mu.Cond(),
		notEmpty: mu.Cond(),
		mu:       mu,
		ring:     isolate.New[ring](&mu.Guard),
	}
}

func (q *guardedQueue) view() *ring { return variant.View(q.mu, q.ring) }

func (q *guardedQueue) put(name string) {
	q.mu.Lock()
	ring := q.view()
	for ring.full() {
		q.notFull.Wait()
		ring = q.view()
	}
	ring.push(name)
	q.mu.Unlock()
	q.notEmpty.Signal()
}

func (q *guardedQueue) take() (name string, ok bool) {
	q.mu.Lock()
	ring := q.view()
	for ring.empty() && !ring.closed {
		q.notEmpty.Wait()
		ring = q.view()
	}
	if ok = !ring.empty(); ok {
		name = ring.pop()
	}
	q.mu.Unlock()
	q.notFull.Signal()
	return name, ok
}

func (q *guardedQueue) close() {
	q.mu.Lock()
	q.view().closed = true
	q.mu.Unlock()
	q.notEmpty.Broadcast()
}

func (q *guardedQueue) free() error { return q.mu.Close() }
