package container

import "github.com/cofferdam-go/cofferdam/stm"

// PushTx is Push in a transaction.
func (q *Queue[V]) PushTx(tx *stm.Tx, value V) {
	n := &queueNode[V]{value: value}
	if stm.Load(tx, &q.first) == nil {
		stm.Store(tx, &q.first, n)
	} else {
		stm.Store(tx, &stm.Load(tx, &q.last).next, n)
	}
	stm.Store(tx, &q.last, n)
}

// PopTx is Pop in a transaction. It leaves last alone, so that it conflicts with a
// push only if the queue is empty or becomes so.
func (q *Queue[V]) PopTx(tx *stm.Tx) (value V, ok bool) {
	n := stm.Load(tx, &q.first)
	if n == nil {
		return value, false
	}
	stm.Store(tx, &q.first, stm.Load(tx, &n.next))
	return n.value, true
}
