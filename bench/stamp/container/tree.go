package container

import "iter"

// A Tree is a map in the order of its keys: an AVL tree. The zero Tree is empty.
//
// Nodes know by how much their right side is higher, and not their height: then a
// change goes up only as far as it matters, and need not look at the other side.
type Tree[V any] struct {
	root *treeNode[V]
}

type treeNode[V any] struct {
	key   int
	value V
	child [2]*treeNode[V]
	tilt  int // height of the right side less that of the left: -1, 0 or 1
}

// The sides of a node. What is written for one holds for the other with the
// direction reversed.
const (
	left  = 0
	right = 1
)

// direction is the sign of a tilt towards a side.
func direction(side int) int { return 2*side - 1 }

// side returns where a key is, from a node that has another.
func side(key, at int) int {
	if key < at {
		return left
	}
	return right
}

// Find returns the value of a key.
func (t *Tree[V]) Find(key int) (value V, ok bool) {
	n := t.root
	for n != nil && n.key != key {
		n = n.child[side(key, n.key)]
	}
	if n == nil {
		return value, false
	}
	return n.value, true
}

// Insert adds a value, unless the key is there already.
func (t *Tree[V]) Insert(key int, value V) bool {
	added, _ := insert(&t.root, key, value)
	return added
}

// Remove takes a key out.
func (t *Tree[V]) Remove(key int) bool {
	removed, _ := remove(&t.root, key)
	return removed
}

// All returns the elements in the order of their keys.
func (t *Tree[V]) All() iter.Seq2[int, V] {
	return func(yield func(int, V) bool) { all(t.root, yield) }
}

func all[V any](n *treeNode[V], yield func(int, V) bool) bool {
	return n == nil ||
		all(n.child[left], yield) && yield(n.key, n.value) && all(n.child[right], yield)
}

func insert[V any](link **treeNode[V], key int, value V) (added, higher bool) {
	n := *link
	switch {
	case n == nil:
		*link = &treeNode[V]{key: key, value: value}
		return true, true
	case n.key == key:
		return false, false
	}
	s := side(key, n.key)
	added, higher = insert(&n.child[s], key, value)
	return added, higher && rise(link, n, s)
}

func remove[V any](link **treeNode[V], key int) (removed, lower bool) {
	n := *link
	switch {
	case n == nil:
		return false, false
	case n.key != key:
		s := side(key, n.key)
		removed, lower = remove(&n.child[s], key)
		return removed, lower && sink(link, n, s)
	case n.child[left] == nil:
		*link = n.child[right]
		return true, true
	case n.child[right] == nil:
		*link = n.child[left]
		return true, true
	}
	heir, lower := removeLeast(&n.child[right])
	heir.child, heir.tilt = n.child, n.tilt
	*link = heir
	return true, lower && sink(link, heir, right)
}

func removeLeast[V any](link **treeNode[V]) (least *treeNode[V], lower bool) {
	n := *link
	if n.child[left] == nil {
		*link = n.child[right]
		return n, true
	}
	least, lower = removeLeast(&n.child[left])
	return least, lower && sink(link, n, left)
}

// rise is called when a side of n has become higher, and tells whether n has.
func rise[V any](link **treeNode[V], n *treeNode[V], s int) (higher bool) {
	switch n.tilt {
	case 0:
		n.tilt = direction(s)
		return true
	case direction(s):
		rotate(link, n, s)
		return false
	default:
		n.tilt = 0
		return false
	}
}

// sink is called when a side of n has become lower, and tells whether n has.
func sink[V any](link **treeNode[V], n *treeNode[V], s int) (lower bool) {
	switch n.tilt {
	case 0:
		n.tilt = -direction(s)
		return false
	case direction(s):
		n.tilt = 0
		return true
	default:
		return rotate(link, n, 1-s)
	}
}

// rotate puts a child or grandchild of n in its place, as its side s is higher than
// the other by two. It tells whether the whole has become lower by that.
func rotate[V any](link **treeNode[V], n *treeNode[V], s int) (lower bool) {
	d := direction(s)
	c := n.child[s]
	if c.tilt != -d {
		n.child[s], c.child[1-s] = c.child[1-s], n
		*link = c
		if c.tilt == 0 {
			n.tilt, c.tilt = d, -d
			return false
		}
		n.tilt, c.tilt = 0, 0
		return true
	}
	g := c.child[1-s]
	c.child[1-s], g.child[s] = g.child[s], c
	n.child[s], g.child[1-s] = g.child[1-s], n
	*link = g
	n.tilt, c.tilt = 0, 0
	switch g.tilt {
	case d:
		n.tilt = -d
	case -d:
		c.tilt = d
	}
	g.tilt = 0
	return true
}
