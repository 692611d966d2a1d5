// want package:"analyzed"

// Package plain has transactions that read without Load what is set by Store.
package plain

import "github.com/cofferdam-go/cofferdam/stm"

type point struct{ x, y int }

type node struct {
	key   int // never stored: it may be read as it is
	value int
	at    point
	next  *node
}

var (
	head  *node
	ready bool
	quiet bool
)

func set(tx *stm.Tx, n *node) {
	stm.Store(tx, &head, n)
	stm.Store(tx, &ready, true)
	stm.Store(tx, &n.value, 1)
	stm.Store(tx, &n.next, nil)
	stm.Store(tx, &n.at.x, 1)
}

func mustReport(tx *stm.Tx, n *node) int {
	if ready { // want `this reads ready without stm.Load`
		return head.key // want `this reads head without stm.Load`
	}
	found := stm.Load(tx, &head)
	if found.value == n.value { // want `this reads found.value without stm.Load` `this reads n.value without stm.Load`
		return stm.Load(tx, &n.next.key) // want `this reads n.next without stm.Load`
	}
	n.value++      // want `this writes n.value without stm.Store`
	found.at.x = 2 // want `this writes found.at.x without stm.Store`
	return n.at.x  // want `this reads n.at.x without stm.Load`
}

func mustNotReport(tx *stm.Tx, n *node) int {
	fresh := &node{value: 1, next: n}
	fresh.value++
	copied := stm.Load(tx, n)
	made := newNode()
	made.value, copied.value = 3, 4
	n = made.next
	if quiet || copied.value == fresh.value || stm.Load(tx, &ready) {
		return stm.Load(tx, &head).key
	}
	tx.OnCommit(func() { println(n.value) })
	return stm.Load(tx, &n.at.x) + n.at.y + n.key
}

func newNode() *node { return &node{} }

func outside() bool { return ready && head.value == 1 }
