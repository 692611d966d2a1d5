package main

import "sync"

// tree is an AVL tree.
type tree struct {
	mu   sync.Mutex
	root *node
	size int
}

type node struct {
	key, value  uint64
	left, right *node
	height      int
}

func (t *tree) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

func (t *tree) Read(key uint64) (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.root
	for n != nil && n.key != key {
		if key < n.key {
			n = n.left
		} else {
			n = n.right
		}
	}
	if n == nil {
		return 0, false
	}
	return n.value, true
}

func (t *tree) Insert(key, value uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	root, added := t.root.insert(key, value)
	t.root = root
	if added {
		t.size++
	}
	return added
}

func (t *tree) Delete(key uint64) (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	root, gone := t.root.remove(key)
	t.root = root
	if gone == nil {
		return 0, false
	}
	t.size--
	return gone.value, true
}

func (n *node) insert(key, value uint64) (top *node, added bool) {
	switch {
	case n == nil:
		return &node{key: key, value: value, height: 1}, true
	case key < n.key:
		n.left, added = n.left.insert(key, value)
	case key > n.key:
		n.right, added = n.right.insert(key, value)
	default:
		n.value = value
		return n, false
	}
	return n.balance(), added
}

// remove returns the tree without the key, and the node that had it.
func (n *node) remove(key uint64) (top, gone *node) {
	switch {
	case n == nil:
		return nil, nil
	case key < n.key:
		n.left, gone = n.left.remove(key)
	case key > n.key:
		n.right, gone = n.right.remove(key)
	case n.left == nil:
		return n.right, n
	case n.right == nil:
		return n.left, n
	default:
		right, least := n.right.removeLeast()
		least.left, least.right = n.left, right
		return least.balance(), n
	}
	return n.balance(), gone
}

func (n *node) removeLeast() (top, least *node) {
	if n.left == nil {
		return n.right, n
	}
	n.left, least = n.left.removeLeast()
	return n.balance(), least
}

func (n *node) tall() int {
	if n == nil {
		return 0
	}
	return n.height
}

func (n *node) measure() { n.height = 1 + max(n.left.tall(), n.right.tall()) }

func (n *node) balance() *node {
	switch n.left.tall() - n.right.tall() {
	case 2:
		if n.left.left.tall() < n.left.right.tall() {
			n.left = n.left.rotateLeft()
		}
		return n.rotateRight()
	case -2:
		if n.right.right.tall() < n.right.left.tall() {
			n.right = n.right.rotateRight()
		}
		return n.rotateLeft()
	}
	n.measure()
	return n
}

func (n *node) rotateLeft() *node {
	top := n.right
	n.right, top.left = top.left, n
	n.measure()
	top.measure()
	return top
}

func (n *node) rotateRight() *node {
	top := n.left
	n.left, top.right = top.right, n
	n.measure()
	top.measure()
	return top
}
