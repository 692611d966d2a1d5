// Sections that end by a panic before their function has deferred a release, and one that
// has: what they wrote is found by whatever recovers.
package main

import (
	"fmt"
	"sync"
)

type T struct {
	mu    sync.Mutex
	n     int
	b     int
	array [3]int
	head  *node
}

type node struct {
	next *node
	n, m int
}

// twice has a section whose release is deferred after one that is released by itself.
func (x *T) twice(k int) int {
	x.mu.Lock()
	x.b++
	x.n, x.array[k] = 3, 4
	x.b++
	x.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.n++
	return x.n
}

// late defers the release after the section has begun, so that the lock stays held.
func (x *T) late(k int) {
	x.mu.Lock()
	x.n += 5
	x.array[k]++
	defer x.mu.Unlock()
	x.n++
}

// between defers calls before the release is, inside and outside of sections.
func (x *T) between(k int) {
	x.mu.Lock()
	defer func() { fmt.Println("first:", x.n, x.b) }()
	x.n += 7
	x.array[k%3]++
	x.mu.Unlock()
	defer func() { fmt.Println("second:", x.n, x.b) }()
	x.mu.Lock()
	x.b += x.n
	x.n++
	x.array[k]++
	x.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	defer func() { fmt.Println("third:", x.n, x.b) }()
	x.b++
	x.n += x.array[k]
}

// nodes writes to what a list has.
func (x *T) nodes(k int) {
	for range 2 {
		x.mu.Lock()
		for e := x.head; e != nil; e = e.next {
			e.n++
			e.m += e.n
			e.n += x.array[k]
		}
		x.mu.Unlock()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.head.n++
	x.head.m += x.head.n
	x.array[k]++
}

// again jumps.
func (x *T) again(k int) {
	round := 0
again:
	x.mu.Lock()
	x.n++
	x.array[k] += x.n
	x.mu.Unlock()
	if round++; round < 3 {
		goto again
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.n++
	x.array[k+round]++
}

func (x *T) try(what string, f func(int), k int) {
	defer func() {
		r := recover()
		free := x.mu.TryLock()
		fmt.Println(what, k, r, free, x.n, x.b, x.array, x.head.n, x.head.m, x.head.next.n, x.head.next.m)
		x.mu.Unlock()
	}()
	f(k)
}

func main() {
	x := &T{head: &node{next: &node{}}}
	for _, k := range []int{0, 3, 2} {
		x.try("twice", func(k int) { x.twice(k) }, k)
		x.try("late", x.late, k)
		x.try("between", x.between, k)
		x.try("nodes", x.nodes, k)
		x.try("again", x.again, k)
	}
	done := make(chan bool)
	go func() { x.twice(1); close(done) }()
	<-done
	fmt.Println(x.n)
}
