package container

import "github.com/cofferdam-go/cofferdam/stm"

// FindTx is Find in a transaction.
func (t *Tree[V]) FindTx(tx *stm.Tx, key int) (value V, ok bool) {
	n := stm.Load(tx, &t.root)
	for n != nil && n.key != key {
		n = stm.Load(tx, &n.child[side(key, n.key)])
	}
	if n == nil {
		return value, false
	}
	return n.value, true
}

// InsertTx is Insert in a transaction.
func (t *Tree[V]) InsertTx(tx *stm.Tx, key int, value V) bool {
	added, _ := insertTx(tx, &t.root, key, value)
	return added
}

// RemoveTx is Remove in a transaction.
func (t *Tree[V]) RemoveTx(tx *stm.Tx, key int) bool {
	removed, _ := removeTx(tx, &t.root, key)
	return removed
}

func insertTx[V any](tx *stm.Tx, link **treeNode[V], key int, value V) (added, higher bool) {
	n := stm.Load(tx, link)
	switch {
	case n == nil:
		stm.Store(tx, link, &treeNode[V]{key: key, value: value})
		return true, true
	case n.key == key:
		return false, false
	}
	s := side(key, n.key)
	added, higher = insertTx(tx, &n.child[s], key, value)
	return added, higher && riseTx(tx, link, n, s)
}

func removeTx[V any](tx *stm.Tx, link **treeNode[V], key int) (removed, lower bool) {
	n := stm.Load(tx, link)
	if n == nil {
		return false, false
	}
	if n.key != key {
		s := side(key, n.key)
		removed, lower = removeTx(tx, &n.child[s], key)
		return removed, lower && sinkTx(tx, link, n, s)
	}
	l, r := stm.Load(tx, &n.child[left]), stm.Load(tx, &n.child[right])
	switch {
	case l == nil:
		stm.Store(tx, link, r)
		return true, true
	case r == nil:
		stm.Store(tx, link, l)
		return true, true
	}
	heir, lower := removeLeastTx(tx, &n.child[right])
	stm.Store(tx, &heir.child[left], l)
	stm.Store(tx, &heir.child[right], stm.Load(tx, &n.child[right]))
	stm.Store(tx, &heir.tilt, stm.Load(tx, &n.tilt))
	stm.Store(tx, link, heir)
	return true, lower && sinkTx(tx, link, heir, right)
}

func removeLeastTx[V any](tx *stm.Tx, link **treeNode[V]) (least *treeNode[V], lower bool) {
	n := stm.Load(tx, link)
	if stm.Load(tx, &n.child[left]) == nil {
		stm.Store(tx, link, stm.Load(tx, &n.child[right]))
		return n, true
	}
	least, lower = removeLeastTx(tx, &n.child[left])
	return least, lower && sinkTx(tx, link, n, left)
}

func riseTx[V any](tx *stm.Tx, link **treeNode[V], n *treeNode[V], s int) (higher bool) {
	switch stm.Load(tx, &n.tilt) {
	case 0:
		stm.Store(tx, &n.tilt, direction(s))
		return true
	case direction(s):
		rotateTx(tx, link, n, s)
		return false
	default:
		stm.Store(tx, &n.tilt, 0)
		return false
	}
}

func sinkTx[V any](tx *stm.Tx, link **treeNode[V], n *treeNode[V], s int) (lower bool) {
	switch stm.Load(tx, &n.tilt) {
	case 0:
		stm.Store(tx, &n.tilt, -direction(s))
		return false
	case direction(s):
		stm.Store(tx, &n.tilt, 0)
		return true
	default:
		return rotateTx(tx, link, n, 1-s)
	}
}

func rotateTx[V any](tx *stm.Tx, link **treeNode[V], n *treeNode[V], s int) (lower bool) {
	d := direction(s)
	c := stm.Load(tx, &n.child[s])
	tilt := stm.Load(tx, &c.tilt)
	if tilt != -d {
		stm.Store(tx, &n.child[s], stm.Load(tx, &c.child[1-s]))
		stm.Store(tx, &c.child[1-s], n)
		stm.Store(tx, link, c)
		if tilt == 0 {
			stm.Store(tx, &n.tilt, d)
			stm.Store(tx, &c.tilt, -d)
			return false
		}
		stm.Store(tx, &n.tilt, 0)
		stm.Store(tx, &c.tilt, 0)
		return true
	}
	g := stm.Load(tx, &c.child[1-s])
	stm.Store(tx, &c.child[1-s], stm.Load(tx, &g.child[s]))
	stm.Store(tx, &g.child[s], c)
	stm.Store(tx, &n.child[s], stm.Load(tx, &g.child[1-s]))
	stm.Store(tx, &g.child[1-s], n)
	stm.Store(tx, link, g)
	nTilt, cTilt := 0, 0
	switch stm.Load(tx, &g.tilt) {
	case d:
		nTilt = -d
	case -d:
		cTilt = d
	}
	stm.Store(tx, &n.tilt, nTilt)
	stm.Store(tx, &c.tilt, cTilt)
	stm.Store(tx, &g.tilt, 0)
	return true
}
