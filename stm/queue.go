package stm

// A Queue is first in, first out, and may have a limit. Transactions that put and others that
// take conflict with each other only where the queue is nearly empty or full. Its zero value
// is an empty queue without a limit. It must not be copied.
type Queue[T any] struct {
	_          noCopy
	limit      int
	first      *queueNode[T] // the next to be taken
	last       *queueNode[T] // nil, or the one that was put last
	put, taken int
}

type queueNode[T any] struct {
	value T
	next  *queueNode[T]
}

// NewQueue returns a queue of at most so many values, 0 for any number.
func NewQueue[T any](limit int) *Queue[T] { return &Queue[T]{limit: limit} }

// Put adds a value. If the queue is full, the transaction waits as in [Retry].
func (q *Queue[T]) Put(tx *Tx, v T) {
	if q.limit > 0 && q.Len(tx) >= q.limit {
		Retry(tx)
	}
	n := &queueNode[T]{value: v}
	if last := Load(tx, &q.last); last != nil {
		Store(tx, &last.next, n)
	} else {
		Store(tx, &q.first, n)
	}
	Store(tx, &q.last, n)
	Store(tx, &q.put, Load(tx, &q.put)+1)
}

// Take removes the oldest value. If there is none, the transaction waits as in [Retry].
func (q *Queue[T]) Take(tx *Tx) T {
	v, ok := q.TryTake(tx)
	if !ok {
		Retry(tx)
	}
	return v
}

// TryTake removes the oldest value, if there is one.
func (q *Queue[T]) TryTake(tx *Tx) (v T, ok bool) {
	n := Load(tx, &q.first)
	if n == nil {
		return v, false
	}
	next := Load(tx, &n.next)
	Store(tx, &q.first, next)
	if next == nil {
		Store(tx, &q.last, nil)
	}
	Store(tx, &q.taken, Load(tx, &q.taken)+1)
	return n.value, true
}

// Len returns the number of values. It conflicts with all that put or take any.
func (q *Queue[T]) Len(tx *Tx) int { return Load(tx, &q.put) - Load(tx, &q.taken) }
