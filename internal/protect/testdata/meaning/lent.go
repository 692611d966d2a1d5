package main

import (
	"fmt"
	"sync"
)

type inner struct {
	mu sync.Mutex
	s  []int
	n  int
	m  map[string]int
}

type outer struct {
	in   inner
	arr  [3]inner
	list []inner
	ptr  *inner
	node
	by map[string]*inner
}

type node struct {
	sync.Mutex
	k    string
	next *node
	s    []string
}

var global outer

func (i *inner) viaGlobal() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.s = append(i.s, 1)
	global.in.s = append(global.in.s, 2)
	i.s = append(i.s, 3)
	i.n = len(global.in.s)*10 + i.n
	global.in.n = i.n + 1
}

func (o *outer) viaLocal() {
	i := &o.in
	i.mu.Lock()
	defer i.mu.Unlock()
	i.s = append(i.s, 1)
	o.in.s = append(i.s, 2)
	i.n = len(o.in.s)*10 + i.n
	o.in.n = i.n + 1
	for k := range i.s {
		i.s[k]++
		o.in.s[k]++
	}
}

func (o *outer) viaArray(k int) {
	i := &o.arr[k]
	i.mu.Lock()
	i.s = append(i.s, 1)
	o.arr[k].s = append(o.arr[k].s, 2)
	i.s = append(i.s, 3)
	o.arr[k%3].n++
	i.n *= 2
	i.mu.Unlock()
}

func (o *outer) viaSlice(k int) {
	i := &o.list[k]
	o.list[k].mu.Lock()
	i.s = append(i.s, 1)
	o.list[k].s = append(o.list[k].s, 2)
	i.s = append(i.s, 3)
	o.list[k].n++
	i.n *= 2
	i.mu.Unlock()
}

func (o *outer) viaPtr() {
	i := o.ptr
	i.mu.Lock()
	i.s = append(i.s, 1)
	o.ptr.s = append(o.ptr.s, 2)
	i.s = append(i.s, 3)
	i.mu.Unlock()
	o.by["x"].mu.Lock()
	i.n++
	o.by["x"].n *= 2
	o.ptr.n++
	i.n *= 3
	o.by["x"].mu.Unlock()
}

func (o *outer) embedded() {
	n := &o.node
	o.Lock()
	n.s = append(n.s, "a")
	o.s = append(o.s, "b")
	o.node.s = append(n.s, o.k)
	n.k += "x"
	o.k += "y"
	o.node.k += "z"
	o.Unlock()
}

func (o *outer) helper(i *inner, p *int, s *[]int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.n++
	*p *= 2
	i.n++
	*s = append(*s, i.n)
	i.s = append(i.s, *p)
	o.touch()
	i.s = append(i.s, 9)
}

func (o *outer) touch() { o.in.s = append(o.in.s, 7) }

func advance(n **node) { *n = (*n).next }

func (o *outer) walk() {
	n := &o.node
	n.Lock()
	n.k = "1"
	n.s = append(n.s, "1")
	advance(&n)
	n.k += "2"
	n.s = append(n.s, "2")
	o.node.s = append(o.node.s, "3")
	o.node.Unlock()
}

func next(i *int) int { *i++; return *i }

func (o *outer) index() {
	o.in.mu.Lock()
	defer o.in.mu.Unlock()
	for i := 0; i < len(o.in.s)-1; i++ {
		o.in.s[i] += 10
		next(&i)
		o.in.s[i] += 100
	}
	k := "a"
	o.in.m[k]++
	rename(&k)
	o.in.m[k]++
	o.in.m["a"] *= 5
}

func rename(s *string) { *s += "b" }

func par(f func()) {
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(f)
	}
	wg.Wait()
}

func main() {
	par(func() { global.in.viaGlobal() })
	fmt.Println(global.in.s, global.in.n)
	o := &outer{list: make([]inner, 2), ptr: new(inner)}
	o.by = map[string]*inner{"x": o.ptr}
	o.in.m = map[string]int{}
	o.node.next = new(node)
	par(o.viaLocal)
	fmt.Println(o.in.s, o.in.n)
	par(func() { o.viaArray(1) })
	fmt.Println(o.arr[1].s, o.arr[1].n)
	par(func() { o.viaSlice(1) })
	fmt.Println(o.list[1].s, o.list[1].n)
	par(o.viaPtr)
	fmt.Println(o.ptr.s, o.ptr.n)
	par(o.embedded)
	fmt.Println(o.s, o.k)
	par(func() { o.helper(&o.in, &o.in.n, &o.in.s) })
	fmt.Println(o.in.s, o.in.n)
	par(o.walk)
	fmt.Println(o.s, o.k, o.next.s, o.next.k)
	par(o.index)
	fmt.Println(o.in.s, o.in.m)
}
