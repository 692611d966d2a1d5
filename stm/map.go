package stm

import (
	"hash/maphash"
	"iter"
)

// A Map is a map for many transactions at once: those that use different keys do not conflict,
// but for rare growth. Its zero value is empty. It must not be copied.
//
// A plain map whose entries are accessed by [MapLoad] and [MapStore] is the better choice for
// few goroutines, or if it is read by other code as well.
type Map[K comparable, V any] struct {
	_     noCopy
	table *mapTable[K, V]
}

// A mapTable has a list for each part of the hashes. Which lists there are does not change
// once it is published, and neither do keys.
type mapTable[K comparable, V any] struct {
	seed  maphash.Seed
	lists []*mapNode[K, V]
	// counts are numbers of entries, each of some lists, so that insertions do not all
	// conflict.
	counts [16]int
}

type mapNode[K comparable, V any] struct {
	key   K
	value V
	next  *mapNode[K, V]
}

const (
	fewestLists = 16
	longestList = 8 // before the table grows
)

// list returns where the list of a key begins, and its number.
func (t *mapTable[K, V]) list(k K) (head **mapNode[K, V], i uint64) {
	i = maphash.Comparable(t.seed, k) % uint64(len(t.lists))
	return &t.lists[i], i
}

// find returns the node of a key, nil if there is none.
func (m *Map[K, V]) find(tx *Tx, k K) *mapNode[K, V] {
	t := Load(tx, &m.table)
	if t == nil {
		return nil
	}
	head, _ := t.list(k)
	for n := Load(tx, head); n != nil; n = Load(tx, &n.next) {
		if n.key == k {
			return n
		}
	}
	return nil
}

// Load returns the value of a key, and whether there is one.
func (m *Map[K, V]) Load(tx *Tx, k K) (v V, ok bool) {
	if n := m.find(tx, k); n != nil {
		return Load(tx, &n.value), true
	}
	return v, false
}

// Store sets the value of a key.
func (m *Map[K, V]) Store(tx *Tx, k K, v V) {
	t := Load(tx, &m.table)
	if t == nil {
		t = &mapTable[K, V]{seed: maphash.MakeSeed(), lists: make([]*mapNode[K, V], fewestLists)}
		Store(tx, &m.table, t)
	}
	head, i := t.list(k)
	first, length := Load(tx, head), 0
	for n := first; n != nil; n = Load(tx, &n.next) {
		if n.key == k {
			Store(tx, &n.value, v)
			return
		}
		length++
	}
	Store(tx, head, &mapNode[K, V]{k, v, first})
	count := &t.counts[i%uint64(len(t.counts))]
	Store(tx, count, Load(tx, count)+1)
	if length >= longestList {
		m.grow(tx, t)
	}
}

// Delete removes a key.
func (m *Map[K, V]) Delete(tx *Tx, k K) {
	t := Load(tx, &m.table)
	if t == nil {
		return
	}
	head, i := t.list(k)
	for n := Load(tx, head); n != nil; n = Load(tx, head) {
		if n.key == k {
			Store(tx, head, Load(tx, &n.next))
			count := &t.counts[i%uint64(len(t.counts))]
			Store(tx, count, Load(tx, count)-1)
			return
		}
		head = &n.next
	}
}

// Len returns the number of keys. It conflicts with all that add or remove any.
func (m *Map[K, V]) Len(tx *Tx) (n int) {
	if t := Load(tx, &m.table); t != nil {
		for i := range t.counts {
			n += Load(tx, &t.counts[i])
		}
	}
	return n
}

// All returns the keys and their values, in no order. The map must not be changed meanwhile.
func (m *Map[K, V]) All(tx *Tx) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		t := Load(tx, &m.table)
		if t == nil {
			return
		}
		for i := range t.lists {
			for n := Load(tx, &t.lists[i]); n != nil; n = Load(tx, &n.next) {
				if !yield(n.key, Load(tx, &n.value)) {
					return
				}
			}
		}
	}
}

// grow has more lists: new nodes in a table that nobody else has seen.
func (m *Map[K, V]) grow(tx *Tx, old *mapTable[K, V]) {
	tx.Validate() // the length of the list, and so the need to grow, may never have been
	larger := &mapTable[K, V]{seed: maphash.MakeSeed(), lists: make([]*mapNode[K, V], 4*len(old.lists))}
	for i := range old.lists {
		for n := Load(tx, &old.lists[i]); n != nil; n = Load(tx, &n.next) {
			head, at := larger.list(n.key)
			*head = &mapNode[K, V]{n.key, Load(tx, &n.value), *head}
			larger.counts[at%uint64(len(larger.counts))]++
		}
	}
	Store(tx, &m.table, larger)
}
