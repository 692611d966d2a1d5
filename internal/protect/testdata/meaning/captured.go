// Variables of functions that function literals share, some with the lock that guards them, used by
// literals that sections call, defer, store and hand on.
package main

import (
	"errors"
	"fmt"
	"sync"
)

type pair struct{ a, b int }

func call(do func()) { do() }

// counters has sections and literals of one variable.
func counters(k int) (n int, err error) {
	var mu sync.Mutex
	var total int
	var last pair
	var done sync.WaitGroup
	add := func(d int) {
		mu.Lock()
		total += d
		total++
		last.a = total
		mu.Unlock()
	}
	for i := range 4 {
		done.Go(func() { add(i) })
	}
	done.Wait()
	look := func() int { return total + last.a }
	mu.Lock()
	total++
	n += look()
	total++
	call(func() { total *= 2; last = pair{total, k} })
	n += total + last.b
	inner := func() { total += 3 }
	total++
	inner()
	func() { total -= 1; last.b++ }()
	total++
	mu.Unlock()
	total, err = total+1, errors.New("one")
	total, other := total+k, 2
	n += total + other
	return n, err
}

// deferred has literals that run in the section when it returns.
func deferred(k int) (n int) {
	var mu sync.Mutex
	var total, rest int
	set := func(v int) { mu.Lock(); total, rest = v, v; mu.Unlock() }
	done := make(chan bool)
	go func() { set(k); done <- true }()
	<-done
	func() {
		mu.Lock()
		defer mu.Unlock()
		defer func() { n += total; total++ }()
		total += 2
		defer func() { total *= 3; rest += total }()
		total++
		if total > 3 {
			return
		}
		rest--
		total--
	}()
	mu.Lock()
	defer mu.Unlock()
	n += total + rest
	for i := range 3 {
		if total += i; i == k {
			break
		}
		func() { rest += total }()
	}
	return n + total + rest
}

// turns hands a variable over, in turns.
func turns(k int) int {
	var mu sync.Mutex
	n := k
	ask, answer := make(chan int), make(chan int)
	go func() {
		for d := range ask {
			n += d // in turn
			mu.Lock()
			n++
			n *= 2
			mu.Unlock()
			answer <- n
		}
		close(answer)
	}()
	for i := range 3 {
		mu.Lock()
		n += i
		n++
		mu.Unlock()
		ask <- i
		n -= <-answer / 3
	}
	close(ask)
	<-answer
	mu.Lock()
	if n++; n > 9 {
		n--
	}
	mu.Unlock()
	return n
}

func main() {
	for k := range 5 {
		fmt.Println(counters(k))
		fmt.Println(deferred(k), turns(k))
	}
}
