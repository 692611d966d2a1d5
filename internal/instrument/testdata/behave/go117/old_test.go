package go117_test

import (
	"fmt"
	"sync/atomic"
	"testing"
)

type any int // a name that was free

type counter struct {
	n int64
	m map[string][]int
}

func TestBeforeGenerics(t *testing.T) {
	c := &counter{m: map[string][]int{}}
	done := make(chan any)
	for i := 0; i < 3; i++ {
		go func(i int) {
			atomic.AddInt64(&c.n, int64(i))
			done <- any(i)
		}(i)
	}
	sum := any(0)
	for i := 0; i < 3; i++ {
		sum += <-done
	}
	c.m["a"] = append(c.m["a"], int(sum))
	keys := map[interface{}]int{c.n: 1}
	keys["a"]++
	delete(keys, "b")
	fmt.Println(c.n, c.m, sum, len(keys), keys["a"])
}
