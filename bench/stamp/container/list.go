package container

import "iter"

// A List is a singly linked list, sorted by key, without duplicates. The zero List
// is empty.
type List[V any] struct {
	first *listNode[V]
	n     int
}

type listNode[V any] struct {
	key   int
	value V
	next  *listNode[V]
}

// Len returns the number of elements.
func (l *List[V]) Len() int { return l.n }

// Insert adds a value, unless the key is there already.
func (l *List[V]) Insert(key int, value V) bool {
	link := l.seek(key)
	next := *link
	if next != nil && next.key == key {
		return false
	}
	*link = &listNode[V]{key, value, next}
	l.n++
	return true
}

// Find returns the value of a key.
func (l *List[V]) Find(key int) (value V, ok bool) {
	n := *l.seek(key)
	if n == nil || n.key != key {
		return value, false
	}
	return n.value, true
}

// Remove takes a key out.
func (l *List[V]) Remove(key int) bool {
	link := l.seek(key)
	n := *link
	if n == nil || n.key != key {
		return false
	}
	*link = n.next
	l.n--
	return true
}

// All returns the elements in the order of their keys.
func (l *List[V]) All() iter.Seq2[int, V] {
	return func(yield func(int, V) bool) {
		for n := l.first; n != nil && yield(n.key, n.value); {
			n = n.next
		}
	}
}

// seek returns the link to the first node whose key is not less.
func (l *List[V]) seek(key int) **listNode[V] {
	link := &l.first
	for n := *link; n != nil && n.key < key; n = *link {
		link = &n.next
	}
	return link
}
