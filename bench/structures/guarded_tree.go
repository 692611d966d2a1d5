package structures

import "github.com/cofferdam-go/cofferdam/isolate"

// The tree of tree.go in guarded memory. Its functions take a reference and
// follow it in the view of the root, because a reference alone has no view.

type treeRoot struct {
	root isolate.Ref[node]
}

type node struct {
	key, value  uint64
	left, right isolate.Ref[node]
	height      int
}

func (t *treeRoot) at(r isolate.Ref[node]) *node { return isolate.Follow(t, r) }

func (t *treeRoot) read(key uint64) (uint64, bool) {
	n := t.at(t.root)
	for n != nil && n.key != key {
		if key < n.key {
			n = isolate.Follow(n, n.left)
		} else {
			n = isolate.Follow(n, n.right)
		}
	}
	if n == nil {
		return 0, false
	}
	return n.value, true
}

func (t *treeRoot) insert(g isolate.Guard, key, value uint64) (added bool) {
	t.root, added = t.insertAt(g, t.root, key, value)
	return added
}

func (t *treeRoot) remove(g isolate.Guard, key uint64) (uint64, bool) {
	root, gone := t.removeAt(t.root, key)
	t.root = root
	n := t.at(gone)
	if n == nil {
		return 0, false
	}
	value := n.value
	isolate.Free(g, n)
	return value, true
}

func (t *treeRoot) insertAt(g isolate.Guard, r isolate.Ref[node], key, value uint64) (top isolate.Ref[node], added bool) {
	n := t.at(r)
	switch {
	case n == nil:
		n, r = fresh[treeRoot, node](g, t)
		*n = node{key: key, value: value, height: 1}
		return r, true
	case key < n.key:
		n.left, added = t.insertAt(g, n.left, key, value)
	case key > n.key:
		n.right, added = t.insertAt(g, n.right, key, value)
	default:
		n.value = value
		return r, false
	}
	return t.balance(r, n), added
}

func (t *treeRoot) removeAt(r isolate.Ref[node], key uint64) (top, gone isolate.Ref[node]) {
	n := t.at(r)
	switch {
	case n == nil:
		return r, r
	case key < n.key:
		n.left, gone = t.removeAt(n.left, key)
	case key > n.key:
		n.right, gone = t.removeAt(n.right, key)
	case n.left.IsNil():
		return n.right, r
	case n.right.IsNil():
		return n.left, r
	default:
		right, least := t.removeLeast(n.right)
		l := t.at(least)
		l.left, l.right = n.left, right
		return t.balance(least, l), r
	}
	return t.balance(r, n), gone
}

func (t *treeRoot) removeLeast(r isolate.Ref[node]) (top, least isolate.Ref[node]) {
	n := t.at(r)
	if n.left.IsNil() {
		return n.right, r
	}
	n.left, least = t.removeLeast(n.left)
	return t.balance(r, n), least
}

func (t *treeRoot) tall(r isolate.Ref[node]) int {
	if n := t.at(r); n != nil {
		return n.height
	}
	return 0
}

func (t *treeRoot) measure(n *node) { n.height = 1 + max(t.tall(n.left), t.tall(n.right)) }

// balance restores the invariant at n, which r refers to.
func (t *treeRoot) balance(r isolate.Ref[node], n *node) isolate.Ref[node] {
	switch t.tall(n.left) - t.tall(n.right) {
	case 2:
		if left := t.at(n.left); t.tall(left.left) < t.tall(left.right) {
			n.left = t.rotateLeft(n.left, left)
		}
		return t.rotateRight(r, n)
	case -2:
		if right := t.at(n.right); t.tall(right.right) < t.tall(right.left) {
			n.right = t.rotateRight(n.right, right)
		}
		return t.rotateLeft(r, n)
	}
	t.measure(n)
	return r
}

func (t *treeRoot) rotateLeft(r isolate.Ref[node], n *node) isolate.Ref[node] {
	topRef := n.right
	top := t.at(topRef)
	n.right, top.left = top.left, r
	t.measure(n)
	t.measure(top)
	return topRef
}

func (t *treeRoot) rotateRight(r isolate.Ref[node], n *node) isolate.Ref[node] {
	topRef := n.left
	top := t.at(topRef)
	n.left, top.right = top.right, r
	t.measure(n)
	t.measure(top)
	return topRef
}
