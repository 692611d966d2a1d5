package container

import "iter"

// A Map is a hash table with chains. It has as many buckets for ever as it was made
// with: growing would conflict with everybody.
type Map[K comparable, V any] struct {
	hash    func(K) uint64
	buckets []*mapNode[K, V]
}

type mapNode[K comparable, V any] struct {
	key   K
	value V
	next  *mapNode[K, V]
}

// NewMap returns an empty map with a number of buckets.
func NewMap[K comparable, V any](buckets int, hash func(K) uint64) *Map[K, V] {
	return &Map[K, V]{hash, make([]*mapNode[K, V], buckets)}
}

// Insert adds a value, unless the key is there already.
func (m *Map[K, V]) Insert(key K, value V) bool {
	bucket := m.bucket(key)
	first := *bucket
	for n := first; n != nil; n = n.next {
		if n.key == key {
			return false
		}
	}
	*bucket = &mapNode[K, V]{key, value, first}
	return true
}

// Add adds a value, whether or not the key is there already: [Map.AllOf] finds both.
func (m *Map[K, V]) Add(key K, value V) {
	bucket := m.bucket(key)
	*bucket = &mapNode[K, V]{key, value, *bucket}
}

// Find returns the value of a key, or one of them.
func (m *Map[K, V]) Find(key K) (value V, ok bool) {
	for n := *m.bucket(key); n != nil; n = n.next {
		if n.key == key {
			return n.value, true
		}
	}
	return value, false
}

// Remove takes a key out, with one of its values.
func (m *Map[K, V]) Remove(key K) bool {
	link := m.bucket(key)
	for n := *link; n != nil; n = *link {
		if n.key == key {
			*link = n.next
			return true
		}
		link = &n.next
	}
	return false
}

// AllOf returns the values of a key.
func (m *Map[K, V]) AllOf(key K) iter.Seq[V] {
	return func(yield func(V) bool) {
		for n := *m.bucket(key); n != nil; n = n.next {
			if n.key == key && !yield(n.value) {
				return
			}
		}
	}
}

// Buckets returns the number of buckets.
func (m *Map[K, V]) Buckets() int { return len(m.buckets) }

// Bucket returns what is in a bucket, so that several goroutines can share the work
// of going through a map.
func (m *Map[K, V]) Bucket(i int) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for n := m.buckets[i]; n != nil && yield(n.key, n.value); {
			n = n.next
		}
	}
}

// bucket returns the link to the first node of a key's chain. The product spreads
// what is alike in the lower bits.
func (m *Map[K, V]) bucket(key K) **mapNode[K, V] {
	h := m.hash(key) * 0x9e3779b97f4a7c15 >> 32
	return &m.buckets[h*uint64(len(m.buckets))>>32]
}
