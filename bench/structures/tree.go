package structures

// The tree is an AVL tree: the heights of siblings differ by one at most. Its
// guarded half is in guarded_tree.go.

type stockTree struct {
	root *stockNode
}

type stockNode struct {
	key, value  uint64
	left, right *stockNode
	height      int
}

func (t *stockTree) Read(key uint64) (uint64, bool) {
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

func (t *stockTree) Insert(key, value uint64) (added bool) {
	t.root, added = t.root.insert(key, value)
	return added
}

func (t *stockTree) Delete(key uint64) (uint64, bool) {
	root, gone := t.root.remove(key)
	t.root = root
	if gone == nil {
		return 0, false
	}
	return gone.value, true
}

func (n *stockNode) insert(key, value uint64) (top *stockNode, added bool) {
	switch {
	case n == nil:
		return &stockNode{key: key, value: value, height: 1}, true
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
func (n *stockNode) remove(key uint64) (top, gone *stockNode) {
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

func (n *stockNode) removeLeast() (top, least *stockNode) {
	if n.left == nil {
		return n.right, n
	}
	n.left, least = n.left.removeLeast()
	return n.balance(), least
}

func (n *stockNode) tall() int {
	if n == nil {
		return 0
	}
	return n.height
}

func (n *stockNode) measure() { n.height = 1 + max(n.left.tall(), n.right.tall()) }

// balance restores the invariant at n, whose subtrees keep it and differ by two
// in height at most.
func (n *stockNode) balance() *stockNode {
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

func (n *stockNode) rotateLeft() *stockNode {
	top := n.right
	n.right, top.left = top.left, n
	n.measure()
	top.measure()
	return top
}

func (n *stockNode) rotateRight() *stockNode {
	top := n.left
	n.left, top.right = top.right, n
	n.measure()
	top.measure()
	return top
}
