// Functions in which names of the language mean something else, and one that does not build
// when it is rewritten: it is left alone.
package main

import (
	"fmt"
	"sync"
)

type node struct{ n, k int }

type T struct {
	mu sync.Mutex
	n  int
	m  map[string]*node
}

func (t *T) plain() {
	t.mu.Lock()
	t.n++
	e := t.m["a"]
	e.n++
	e.k += e.n
	t.mu.Unlock()
}

func (t *T) odd() {
	type int string
	t.mu.Lock()
	e := t.m["a"]
	e.n++
	e.k += e.n
	t.n++
	t.mu.Unlock()
	fmt.Println(int("x"))
}

func (t *T) truth() {
	true := false
	t.mu.Lock()
	t.n++
	fmt.Println(true)
	t.n++
	t.mu.Unlock()
}

func (t *T) lengths() {
	len := func(x any) int { return 7 }
	t.mu.Lock()
	t.n += len(t.m)
	t.m["b"] = &node{n: t.n}
	t.n++
	t.mu.Unlock()
	fmt.Println(len(nil))
}

func main() {
	t := &T{m: map[string]*node{"a": {}}}
	var wg sync.WaitGroup
	wg.Go(t.plain)
	wg.Go(t.odd)
	wg.Wait()
	t.truth()
	t.lengths()
	t.mu.Lock()
	fmt.Println(t.n, *t.m["a"])
	t.mu.Unlock()
}
