package go121

import (
	"fmt"
	"testing"
)

type box struct{ v int }

func TestOneVariableForAllIterations(t *testing.T) {
	var fs []func() int
	for i, v := range []int{1, 2, 3} {
		fs = append(fs, func() int { return i*10 + v })
	}
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { i++; return i })
	}
	ch := make(chan int, 3)
	for i := 0; i < 3; i++ {
		ch <- i
	}
	close(ch)
	for v := range func() chan int { fmt.Println("once"); return ch }() {
		fs = append(fs, func() int { v++; return v })
	}
	for k, v := range map[string]int{"a": 1} {
		fs = append(fs, func() int { v++; return v + len(k) })
	}
	for _, f := range fs {
		fmt.Print(f(), " ")
	}
	var ps []*int
	for _, v := range []int{4, 5} {
		ps = append(ps, &v)
	}
	for i := range ps {
		ps = append(ps, &i)
	}
	for _, p := range ps {
		fmt.Print(*p, " ")
	}
	b := &box{}
	for _, b.v = range []int{7, 8} {
	}
	for i := range [3]int{} {
		defer func() { fmt.Print(i, " ") }()
	}
	for _, v := range []int{1, 2} {
		v := v
		defer func() { fmt.Print(v, " ") }()
	}
	fmt.Println(b.v)
}
