// want package:"analyzed"

// Package helper is called by transactions of other packages: what it does is known
// there by facts.
package helper

import (
	"fmt"
	"iter"
	"sync"

	"github.com/cofferdam-go/cofferdam/stm"
)

func Print(s string) { fmt.Println(s) } // want Print:"effect: calls fmt.Println"

func Deep(s string) { Print(s) } // want Deep:"effect: calls fmt.Println"

func Format(n int) string { return fmt.Sprint(n) }

type Table struct {
	mu sync.Mutex
	m  map[string]int
	N  int
}

func (t *Table) Get(k string) int { // want Get:"effect: calls sync.Mutex.Lock"
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.m[k]
}

func (t *Table) Size() int { return t.N }

func (t *Table) Grow() { t.N++ } // want Grow:"mutates 1$"

func Gcd(a, b int) int { // want Gcd:"loop: helper.go"
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func Numbers(n int) []int { return make([]int, n) } // want Numbers:"allocates 10$"

func Times(n int, do func()) { // want Times:"counts 10$"
	for range n {
		do()
	}
}

func Sum(s []int) (n int) {
	for i := 0; i < len(s); i++ {
		n += s[i]
	}
	return n
}

// Halves is finite, Collatz may not be.
func Halves(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(n>>i); i++ {
		}
	}
}

func Collatz(n int) iter.Seq[int] { // want Collatz:"loop: helper.go"
	return func(yield func(int) bool) {
		for n != 1 && yield(n) {
			n = n*3 + 1
		}
	}
}

func Fact(n int) int { // want Fact:"loop: helper.go"
	if n <= 1 {
		return 1
	}
	return n * Fact(n-1)
}

// Get is a checkpoint.
func Get(tx *stm.Tx, p *int) int { return stm.Load(tx, p) } // want Get:"^checks$"

// Maybe is none: it returns early.
func Maybe(tx *stm.Tx, p *int) int {
	if p == nil {
		return 0
	}
	return stm.Load(tx, p)
}

func Alone(tx *stm.Tx) { tx.Irrevocable() } // want Alone:"checks; irrevocable"

func Catch() { recover() } // want Catch:"recovers"

var counter int

func Next() int { // want Next:"writes: counter"
	counter++
	return counter
}

func Later(s string) func() { return func() { fmt.Println(s) } }

func Fill(p *int) { *p = 1 } // want Fill:"mutates 10$"

func Read(p *int) int { return *p }
