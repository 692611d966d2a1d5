// Values that are equal and differ, values that differ from themselves, and what an assignment
// evaluates first.
package main

import (
	"fmt"
	"math"
	"sync"
)

type data struct{ a, b int }
type fl struct {
	f float64
	g [2]float32
}
type inner struct{ n int }

type T struct {
	mu   sync.Mutex
	n    int
	f    float64
	f32  float32
	c    complex128
	fs   [2]float64
	st   fl
	d    data
	i8   int8
	u8   uint8
	u    uint
	ok   bool
	s    string
	b    []byte
	any  any
	arr  [3]int
	grid [2][2]int
	m    map[string]int
	fn   func(int) int
	ch   chan int
	p    *inner
	*emb
}
type emb struct{ en int }

func (x *T) zero() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.f = math.Copysign(0, -1)
	x.f32 = float32(math.Copysign(0, -1))
	x.c = complex(math.Copysign(0, -1), 0)
	x.fs[1] = math.Copysign(0, -1)
	x.st.f = math.Copysign(0, -1)
	x.st.g[0] = float32(math.Copysign(0, -1))
}

func (x *T) nan() {
	x.mu.Lock()
	x.f = math.NaN()
	x.f32 = float32(math.NaN())
	x.fs[0] = math.NaN()
	x.n++
	x.mu.Unlock()
	x.mu.Lock()
	x.f += 1
	x.fs[0] += 1
	x.st.f = x.f
	x.c = complex(x.f, 0)
	x.n++
	x.mu.Unlock()
	x.mu.Lock()
	if x.f == x.f {
		x.n += 100
	}
	x.n++
	x.mu.Unlock()
}

func (x *T) ints() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.i8 = -128
	x.i8 /= -1
	x.u8 = 255
	x.u8++
	x.u = 1
	x.u <<= x.u + 3
	x.u &^= 1
	x.n = 1 << x.u
	x.ok = x.ok || x.bump() > 0
	x.s += string(x.b)
	x.s = x.s[:min(len(x.s), 3)]
}

func (x *T) bump() int { x.n++; return x.n }

func (x *T) order() (r int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.n + x.bump()*10 + x.n
	x.n += x.bump()
	x.arr[x.n%3] = x.bump()
	x.arr[0], x.arr[1], x.n = x.arr[1], x.n, x.arr[0]
	x.m["k"], x.n = x.n, x.m["j"]
	x.n, x.arr[(x.n+3)%3] = 2, x.n
	return a + x.n
}

func (x *T) named() (r int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer func() { x.n++; r += x.n }()
	defer fmt.Println("deferred with", x.n)
	x.n += 3
	return x.n
}

func (x *T) whole() {
	x.mu.Lock()
	x.d.a++
	y := x.d
	x.d.b = y.a
	if x.d == (data{y.a, y.a}) {
		x.n++
	}
	switch x.d {
	case data{1, 1}:
		x.n += 5
	}
	x.d = data{x.d.b + 1, x.d.a}
	z := x.grid
	x.grid[0] = x.grid[1]
	x.grid[1][0]++
	if z != x.grid {
		x.n += 7
	}
	for i, v := range x.arr {
		x.arr[2] = 9
		x.n += v * i
	}
	for i, v := range &x.arr {
		x.arr[2] = 11
		x.n += v * i
	}
	for x.n = range 3 {
		x.arr[x.n]++
	}
	for x.arr[0], x.n = range []int{4, 5} {
	}
	x.mu.Unlock()
}

func (x *T) chans() {
	x.ch = make(chan int, 4)
	x.mu.Lock()
	x.ch <- 4
	x.n = <-x.ch
	x.ch <- x.n + 1
	x.n, x.ok = <-x.ch
	x.ch <- 7
	select {
	case x.n = <-x.ch:
		x.n++
	default:
		x.n = -1
	}
	x.arr[1]++
	close(x.ch)
	x.n, x.ok = <-x.ch
	x.mu.Unlock()
}

func (x *T) funcs() {
	inc := x.bump
	p := &x.arr[1]
	x.mu.Lock()
	x.n = 1
	inc()
	*p = 50
	func() { x.n *= 2 }()
	x.fn = func(k int) int { x.n += k; return x.n }
	x.n += x.fn(3)
	x.arr[1]++
	x.any = x.d
	x.d.a = 77
	if v, ok := x.any.(data); ok {
		x.n += v.a
	}
	switch v := x.any.(type) {
	case data:
		x.d = v
	}
	x.any = x.f
	x.mu.Unlock()
}

func (x *T) pointers() {
	other := &emb{100}
	in := &inner{5}
	x.mu.Lock()
	x.en++
	old := x.emb
	x.emb = other
	x.en++
	old.en += 10
	x.p = in
	x.p.n++
	in.n++
	x.p = &inner{x.p.n}
	x.p.n++
	x.n = x.en + old.en + in.n + x.p.n
	x.mu.Unlock()
}

func (x *T) labels() {
outer:
	for i := range 4 {
		x.mu.Lock()
		for j := range 4 {
			x.arr[j%3] += i
			if j == 2 && i == 1 {
				x.mu.Unlock()
				continue outer
			}
			if i == 3 {
				x.n = j
				x.mu.Unlock()
				break outer
			}
		}
		x.n++
		x.mu.Unlock()
	}
}

func (x *T) depth(k int) int {
	if k == 0 {
		return x.n
	}
	x.n += k
	x.arr[k%3] = x.n
	return x.depth(k-1) + x.n
}

func (x *T) recursive() {
	x.mu.Lock()
	x.n += x.depth(4)
	x.mu.Unlock()
}

var start = func() int { g.mu.Lock(); defer g.mu.Unlock(); g.n += 2; return g.n }()
var g = struct {
	mu sync.Mutex
	n  int
	f  float64
}{n: 5}

func local() int {
	var mu sync.Mutex
	var n int
	var f float64
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			n += i
			f = math.Copysign(0, -1)
		})
	}
	wg.Wait()
	mu.Lock()
	r := n
	if math.Signbit(f) {
		r += 1000
	}
	mu.Unlock()
	return r
}

func (x *T) show(what string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fmt.Println(what, x.n, x.f, x.f32, x.c, x.fs, x.st, x.d, x.i8, x.u8, x.u, x.ok, x.s, x.any, x.arr, x.grid, x.m, x.en, 1/x.f, 1/x.f32, 1/x.fs[1], math.Signbit(real(x.c)), math.Signbit(x.st.f), math.Signbit(float64(x.st.g[0])))
}

func main() {
	x := &T{m: map[string]int{"j": 8}, b: []byte("ab"), emb: &emb{1}, p: &inner{}}
	fmt.Println(start, local())
	x.zero()
	x.show("zero")
	x.nan()
	x.show("nan")
	x.ints()
	x.show("ints")
	fmt.Println(x.order())
	x.show("order")
	fmt.Println(x.named())
	x.show("named")
	x.whole()
	x.show("whole")
	x.chans()
	x.show("chans")
	x.funcs()
	x.show("funcs")
	x.pointers()
	x.show("pointers")
	x.labels()
	x.show("labels")
	x.recursive()
	x.show("recursive")
	x.zero()
	x.show("again")
	x.zero()
	x.show("again")
}
