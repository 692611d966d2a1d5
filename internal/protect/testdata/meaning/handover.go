// Sections that have another goroutine work on their data, and wait for it.
package main

import (
	"fmt"
	"sync"
)

type N struct {
	mu sync.Mutex
	n  int
	s  []int
}

//go:noinline
func spin(k int) (t int) {
	for i := range k {
		t += i % 3
	}
	return
}

func (x *N) hand() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.n++
	x.s = append(x.s, x.n)
	done := make(chan int)
	go func() { spin(1000); x.n += 10; x.s = append(x.s, 1); done <- 1 }()
	k := 0
	for i := range 3 {
		k += spin(i * 500000)
	}
	<-done
	x.n -= 10
	return x.n + len(x.s) + k*0
}

func main() {
	x := &N{}
	for range 10 {
		x.hand()
	}
	x.mu.Lock()
	fmt.Println(x.n, len(x.s))
	x.mu.Unlock()
	pointers()
}
