package container

import (
	"iter"

	"github.com/cofferdam-go/cofferdam/stm"
)

// LenTx is Len in a transaction.
func (l *List[V]) LenTx(tx *stm.Tx) int { return stm.Load(tx, &l.n) }

// InsertTx is Insert in a transaction.
func (l *List[V]) InsertTx(tx *stm.Tx, key int, value V) bool {
	link, next := l.seekTx(tx, key)
	if next != nil && next.key == key {
		return false
	}
	stm.Store(tx, link, &listNode[V]{key, value, next})
	stm.Store(tx, &l.n, stm.Load(tx, &l.n)+1)
	return true
}

// FindTx is Find in a transaction.
func (l *List[V]) FindTx(tx *stm.Tx, key int) (value V, ok bool) {
	_, n := l.seekTx(tx, key)
	if n == nil || n.key != key {
		return value, false
	}
	return n.value, true
}

// RemoveTx is Remove in a transaction.
func (l *List[V]) RemoveTx(tx *stm.Tx, key int) bool {
	link, n := l.seekTx(tx, key)
	if n == nil || n.key != key {
		return false
	}
	stm.Store(tx, link, stm.Load(tx, &n.next))
	stm.Store(tx, &l.n, stm.Load(tx, &l.n)-1)
	return true
}

// AllTx is All in a transaction.
func (l *List[V]) AllTx(tx *stm.Tx) iter.Seq2[int, V] {
	return func(yield func(int, V) bool) {
		for n := stm.Load(tx, &l.first); n != nil && yield(n.key, n.value); {
			n = stm.Load(tx, &n.next)
		}
	}
}

// seekTx returns the link to the first node whose key is not less, and that node, so
// that the link is not read twice.
func (l *List[V]) seekTx(tx *stm.Tx, key int) (link **listNode[V], n *listNode[V]) {
	link = &l.first
	for n = stm.Load(tx, link); n != nil && n.key < key; n = stm.Load(tx, link) {
		link = &n.next
	}
	return link, n
}
