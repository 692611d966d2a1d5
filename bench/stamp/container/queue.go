package container

import "iter"

// A Queue is a linked queue: first in, first out. The zero Queue is empty.
type Queue[V any] struct {
	first, last *queueNode[V]
}

type queueNode[V any] struct {
	value V
	next  *queueNode[V]
}

// Push adds a value at the end.
func (q *Queue[V]) Push(value V) {
	n := &queueNode[V]{value: value}
	if q.first == nil {
		q.first = n
	} else {
		q.last.next = n
	}
	q.last = n
}

// Pop takes the first value out.
func (q *Queue[V]) Pop() (value V, ok bool) {
	n := q.first
	if n == nil {
		return value, false
	}
	q.first = n.next
	return n.value, true
}

// All returns the values from the first to the last.
func (q *Queue[V]) All() iter.Seq[V] {
	return func(yield func(V) bool) {
		for n := q.first; n != nil && yield(n.value); {
			n = n.next
		}
	}
}
