// want package:"analyzed"

// Package doomed has loops and allocations by numbers that a transaction has read.
package doomed

import (
	"strings"

	"github.com/cofferdam-go/cofferdam/stm"

	"example.com/transactions/src/helper"
)

type box struct {
	n     int
	items []int
	text  string
	m     map[int]int
}

// A function that defers is not interrupted in its own code: here the report is all there is.
func deferring(tx *stm.Tx, b *box) (sum int) {
	defer func() { b = nil }()
	for range stm.Load(tx, &b.n) { // want `this loop can go round`
		sum++
	}
	return sum
}

func mustReport(tx *stm.Tx, b *box) (sum int) {
	n := stm.Load(tx, &b.n)
	for i := 0; i < n; i++ { // want `this loop can go round`
		sum += i
	}
	half := n / 2
	for range half { // want `this loop can go round`
		sum++
	}
	for i := size(tx, b); i >= -n; i-- { // want `this loop can go round`
		sum++
	}
	_ = make([]int, n)                            // want `this allocates as much`
	_ = make(map[int]int, half)                   // want `this allocates as much`
	_ = make(chan int, stm.Load(tx, &b.n))        // want `this allocates as much`
	_ = append([]int(nil), make([]int, 2*n+1)...) // want `this allocates as much`
	_ = strings.Repeat("x", n)                    // want `this allocates as much`
	return sum
}

type pair struct {
	a byte
	b int
}

// What helpers and literals do with numbers that were read is reported where they are given them.
func given(tx *stm.Tx, b *box, p *pair) {
	n := stm.Load(tx, &b.n)
	count(n)              // want `count counts to a number`
	passOn(0, n/2)        // want `passOn counts to a number`
	_ = room(n)           // want `room allocates as much`
	_ = helper.Numbers(n) // want `Numbers allocates as much`
	helper.Times(n, nil)  // want `Times counts to a number`
	b.wait(n)             // want `wait counts to a number`
	k := stm.Load(tx, p).b
	for range k { // want `this loop can go round`
	}
	all := stm.Load(tx, p)
	for i := 0; i < all.b; i++ { // want `this loop can go round`
	}
	local := func(n int) {
		for range n { // want `this loop can go round`
		}
	}
	local(n)
	inside(tx, n)
	if size, err := sizes(tx, b); err == nil {
		_ = make([]int, size) // want `this allocates as much`
	}
}

func sizes(tx *stm.Tx, b *box) (int, error) { return stm.Load(tx, &b.n), nil }

func inside(tx *stm.Tx, n int) {
	for i := 0; i < n; i++ { // want `this loop can go round`
	}
}

func notGiven(tx *stm.Tx, b *box, p *pair) {
	n := stm.Load(tx, &b.n)
	count(10)
	count(len(stm.Load(tx, &b.items)))
	passOn(n, 3)
	_ = room(int(stm.Load(tx, &p.a))) // 255 at most
	tx.Validate()
	_ = room(n)
	for range n {
		tx.Check()
		count(3)
	}
}

func count(n int) {
	for i := 0; i < n; i++ {
	}
}

func passOn(a, b int) int { count(b + 1); return a }

func room(n int) []int { return make([]int, n) }

func (b *box) wait(n int) {
	defer func() { b.n = 0 }()
	for range n {
	}
}

func size(tx *stm.Tx, b *box) int { return stm.Load(tx, &b.n) }

func mustNotReport(tx *stm.Tx, b *box, count int) (sum int) {
	n := stm.Load(tx, &b.n)
	for i := 0; i < n; i++ {
		sum += stm.Load(tx, &b.n)
	}
	for range n {
		tx.Check()
	}
	for i := 0; i < count; i++ {
		sum++
	}
	items := stm.Load(tx, &b.items)
	for i := 0; i < len(items); i++ {
		sum++
	}
	m := stm.Load(tx, &b.m)
	for i := 0; i < n; i++ {
		stm.MapStore(tx, m, i, i)
	}
	_ = make([]int, count)
	_ = make([]int, len(items))
	_ = stm.Make[int](tx, n)
	tx.Validate()
	_ = make([]int, n)
	if n > 0 {
		tx.Perform()
		for i := 0; i < n; i++ {
			sum++
		}
		_ = strings.Repeat("x", n)
	}
	return sum
}

func run(b *box) {
	stm.Atomically(func(tx *stm.Tx) error {
		mustReport(tx, b)
		given(tx, b, new(pair))
		notGiven(tx, b, new(pair))
		mustNotReport(tx, b, 3)
		return nil
	})
}
