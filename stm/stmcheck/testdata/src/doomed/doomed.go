// want package:"analyzed"

// Package doomed has loops and allocations by numbers that a transaction has read.
package doomed

import (
	"strings"

	"github.com/cofferdam-go/cofferdam/stm"
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
		mustNotReport(tx, b, 3)
		return nil
	})
}
