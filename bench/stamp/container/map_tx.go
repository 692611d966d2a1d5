package container

import (
	"iter"

	"github.com/cofferdam-go/cofferdam/stm"
)

// InsertTx is Insert in a transaction.
func (m *Map[K, V]) InsertTx(tx *stm.Tx, key K, value V) bool {
	bucket := m.bucket(key)
	first := stm.Load(tx, bucket)
	for n := first; n != nil; n = stm.Load(tx, &n.next) {
		if n.key == key {
			return false
		}
	}
	stm.Store(tx, bucket, &mapNode[K, V]{key, value, first})
	return true
}

// AddTx is Add in a transaction.
func (m *Map[K, V]) AddTx(tx *stm.Tx, key K, value V) {
	bucket := m.bucket(key)
	stm.Store(tx, bucket, &mapNode[K, V]{key, value, stm.Load(tx, bucket)})
}

// FindTx is Find in a transaction.
func (m *Map[K, V]) FindTx(tx *stm.Tx, key K) (value V, ok bool) {
	for n := stm.Load(tx, m.bucket(key)); n != nil; n = stm.Load(tx, &n.next) {
		if n.key == key {
			return n.value, true
		}
	}
	return value, false
}

// RemoveTx is Remove in a transaction.
func (m *Map[K, V]) RemoveTx(tx *stm.Tx, key K) bool {
	link := m.bucket(key)
	for n := stm.Load(tx, link); n != nil; n = stm.Load(tx, link) {
		if n.key == key {
			stm.Store(tx, link, stm.Load(tx, &n.next))
			return true
		}
		link = &n.next
	}
	return false
}

// AllOfTx is AllOf in a transaction.
func (m *Map[K, V]) AllOfTx(tx *stm.Tx, key K) iter.Seq[V] {
	return func(yield func(V) bool) {
		for n := stm.Load(tx, m.bucket(key)); n != nil; n = stm.Load(tx, &n.next) {
			if n.key == key && !yield(n.value) {
				return
			}
		}
	}
}
