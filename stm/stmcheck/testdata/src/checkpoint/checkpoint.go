// want package:"analyzed"

// Package checkpoint has loops and recursions with and without checkpoints.
package checkpoint

import (
	"iter"
	"maps"

	"example.com/transactions/src/helper"
	"github.com/cofferdam-go/cofferdam/stm"
)

type node struct {
	key         int
	next        *node
	left, right *node
}

var (
	head  *node
	limit int
	flag  stm.Var[bool]
)

func mustReport(tx *stm.Tx, n *node, c chan int, s []int, seq iter.Seq[int]) {
	for { // want `this loop can go round without a checkpoint`
		if n.key == 0 {
			break
		}
	}
	for n != nil { // want `this loop can go round without a checkpoint`
		n = n.next
	}
	for n.key > 0 { // want `this loop can go round without a checkpoint`
		if n.key == 2 {
			continue
		}
		n = stm.Load(tx, &n.next)
	}
	for i := 0; i != n.key; i++ { // want `this loop can go round without a checkpoint`
		s[0] += i
	}
	for i := 1; i < n.key; i *= 2 { // want `this loop can go round without a checkpoint`
		s[0] += i
	}
	for i := 0; i < len(s); i++ { // want `this loop can go round without a checkpoint`
		i -= s[i]
	}
	for range seq { // want `this loop can go round without a checkpoint`
	}
	for n != nil { // want `this loop can go round without a checkpoint`
		for range s {
			stm.Load(tx, &n.key)
		}
		n = n.next
	}
	for n != nil { // want `this loop can go round without a checkpoint`
		for n.key > 0 { // want `this loop can go round without a checkpoint`
			n = n.left
		}
		n = n.next
	}
	for n != nil { // want `this loop can go round without a checkpoint`
		helper.Maybe(tx, &n.key)
		n = n.next
	}
	for n != nil { // want `this loop can go round without a checkpoint`
		defer tx.Check()
		n = n.next
	}
	for n.key > 0 || stm.Load(tx, &limit) > 0 { // want `this loop can go round without a checkpoint`
		n = n.next
	}
again: // want `this loop can go round without a checkpoint`
	n = n.next
	if n != nil {
		goto again
	}
}

func noName(_ *stm.Tx, n *node) {
	for n != nil { // want `this loop can go round without a checkpoint`
		n = n.next
	}
}

func shadowed(tx *stm.Tx, n *node) {
	for n != nil { // want `this loop can go round without a checkpoint`
		n = n.next
	}
	{
		tx := 0
		for n != nil { // want `this loop can go round without a checkpoint`
			n, tx = n.next, tx+1
		}
	}
}

func mustNotReport(t *stm.Tx, n *node, s []int, m map[int]int) {
	for n != nil {
		n = stm.Load(t, &n.next)
	}
	for n := stm.Load(t, &head); n != nil; n = stm.Load(t, &n.next) {
		if n.key == 3 {
			continue
		}
	}
	for n != nil && stm.Load(t, &n.key) < 7 {
		n = n.next
	}
	for !(n == nil || stm.Load(t, &n.key) < 7) {
		n = n.next
	}
	for {
		t.Check()
		if n == nil {
			break
		}
	}
	for !flag.Load(t) {
	}
	for n != nil {
		stm.Store(t, &limit, 1)
		for i := 0; i < 10; i++ {
			s[i]++
		}
	}
	for n != nil {
		n.key = helper.Get(t, &limit)
		n = n.next
	}
	for range s {
	}
	for range m {
	}
	for range 10 {
	}
	for range maps.Keys(m) {
	}
	for range helper.Halves(n.key) {
	}
	for range n.all(t) {
	}
	for range "text" {
	}
	for i := len(s) - 1; i >= 0; i-- {
		s[i]++
	}
	for i := 0; i < n.key && s[i] != 0; i += 2 {
		s[i]++
	}
	for n != nil {
		if n.key == 0 {
			stm.Retry(t)
		}
		if n.key == 1 {
			panic("one")
		}
		if n.key == 2 {
			return
		}
		t.Check()
	}
	t.OnCommit(func() {
		for limit > 0 {
			limit--
		}
	})
	t.Irrevocable()
	for n != nil {
		n = n.next
	}
}

func (n *node) all(tx *stm.Tx) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for ; n != nil && yield(n); n = stm.Load(tx, &n.next) {
		}
	}
}

func (n *node) unchecked(tx *stm.Tx) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for ; n != nil && yield(n); n = n.next { // want `this loop can go round`
		}
	}
}

func outside(n *node) {
	for n != nil {
		n = n.next
	}
}

func down(tx *stm.Tx, n *node) int { // want `down can call itself without a checkpoint`
	if n == nil {
		return 0
	}
	return down(tx, n.left) + stm.Load(tx, &n.key)
}

func checked(tx *stm.Tx, n *node) int {
	if n == nil {
		return 0
	}
	return checked(tx, stm.Load(tx, &n.left)) + 1
}

func both(tx *stm.Tx, n *node) bool {
	return n == nil || both(tx, stm.Load(tx, &n.left)) && both(tx, stm.Load(tx, &n.right))
}

func even(tx *stm.Tx, n *node) bool { // want `even can call itself without a checkpoint`
	return n == nil || odd(tx, n.next)
}

func self(tx *stm.Tx, n *node) bool { return n == nil || self(tx, n.next) } // want `self can call itself`

func odd(tx *stm.Tx, n *node) bool { return n != nil && even(tx, n.next) }

func ping(tx *stm.Tx, n *node) bool { return n == nil || pong(tx, n.next) }

func pong(tx *stm.Tx, n *node) bool {
	tx.Check()
	return n != nil && ping(tx, n.next)
}

func literals(n *node) {
	stm.Atomically(func(tx *stm.Tx) error {
		var visit func(n *node)
		visit = func(n *node) { // want `the function literal can call itself without a checkpoint`
			if n != nil {
				visit(n.left)
			}
		}
		visit(n)
		walk := func() {
			for n.key > 0 { // want `this loop can go round without a checkpoint`
			}
		}
		walk()
		func() {
			for n.key > 0 { // want `this loop can go round without a checkpoint`
			}
		}()
		return stm.OrElse(tx, func(tx *stm.Tx) error {
			for n.key > 0 { // want `this loop can go round without a checkpoint`
			}
			return nil
		}, func(inner *stm.Tx) error {
			for n.key > 0 { // want `this loop can go round without a checkpoint`
			}
			return nil
		})
	})
}

func calls(tx *stm.Tx, s []int) int {
	n := helper.Gcd(s[0], s[1]) // want `Gcd can go on without a checkpoint \(helper.go:\d+\)`
	n += helper.Fact(s[0])      // want `Fact can go on without a checkpoint \(helper.go:\d+\)`
	n += helper.Sum(s)
	for range helper.Collatz(n) { // want `Collatz can go on without a checkpoint`
	}
	spin(n) // want `spin can go on without a checkpoint \(checkpoint.go:\d+\)`
	return n
}

func spin(n int) {
	for n != 1 {
		n = n*3 + 1
	}
}

type list[T any] struct {
	value T
	next  *list[T]
	head  *list[T]
}

func (l *list[T]) last(tx *stm.Tx) *list[T] {
	for l.value = l.value; l != l.head; { // want `this loop can go round`
		l = l.head
	}
	for stm.Load(tx, &l.next) != nil {
		l = l.next // want `this reads l.next without stm.Load`
	}
	stm.Store(tx, &l.next, nil)
	return l
}

func length[T any](l *list[T]) (n int) {
	for ; l != nil; l = l.next {
		n++
	}
	return n
}

func generic(tx *stm.Tx, l *list[int]) int {
	for l != nil {
		l = l.last(tx) // no checkpoint is sure in it
		stm.Atomically(func(tx *stm.Tx) error { return nil })
	}
	return length(l) // want `length can go on without a checkpoint`
}

func meant(tx *stm.Tx, n *node) {
	//stmcheck:ok the list is private and has an end
	for n != nil {
		n = n.next
	}
	/* no reason */ //stmcheck:ok
	for n != nil {  // want `this loop can go round`
		n = n.next
	}
}
