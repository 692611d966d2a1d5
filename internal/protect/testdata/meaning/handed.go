// Values that are loaded in a section and handed to code that is not known, generic types whose methods call each other, and maps that
// a section makes itself.
package main

import (
	"errors"
	"fmt"
	"sync"
)

type number int

func (n number) String() string { return fmt.Sprint(int(n)) }

type meter struct {
	mu    sync.Mutex
	n     int         // guarded by mu
	rate  float64     // guarded by mu
	parts [3]float64  // guarded by mu
	names [2]string   // guarded by mu
	err   error       // guarded by mu
	m     map[int]int // guarded by mu
	list  []int       // guarded by mu
}

var meddle = func(x *meter, n int) int { x.n++; x.parts[1] *= 2; return n + x.n }

func (x *meter) peek() int { x.n += 2; return x.n }

func (x *meter) report() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.n++
	fmt.Println(number(1), x.n, x.rate, x.parts[2], x.names, len(x.list), x.err == nil)
	return fmt.Sprint(number(2), x.n, x.parts, errors.New("made").Error())
}

func (x *meter) disturbed(n int) (a, b, c, d int) {
	x.mu.Lock()
	a = meddle(x, x.n)
	x.n = meddle(x, x.n)
	b, c = x.n, meddle(x, x.n)
	d = meddle(x, x.peek()) + x.n
	x.parts[n%3] += float64(meddle(x, len(x.list)))
	x.names[n&1] = fmt.Sprint(number(n), x.names[n&1])
	x.mu.Unlock()
	return
}

func (x *meter) handOver(c chan int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	done := make(chan bool)
	go func() {
		x.n += <-c
		done <- true
	}()
	fmt.Println(number(3), x.rate)
	c <- 5
	<-done
	return x.n
}

func (x *meter) remade(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.m = map[int]int{1: n, 2: x.m[1]}
	x.m[2]++
	for k := range x.m {
		x.m[k] += k
	}
	x.m[9] = len(x.m)
	return x.m[1] + x.m[2]
}

type ring[T any] struct {
	mu    sync.Mutex
	buf   []T // guarded by mu
	at, n int // guarded by mu
	last  T   // guarded by mu
}

func (r *ring[A]) length() int { return r.n }
func (r *ring[B]) slot(i int) int {
	return (r.at + i + r.length()) % len(r.buf)
}
func (r *ring[V]) put(v V) { r.last = v; r.buf[r.slot(0)] = v; r.n++ }
func (r *ring[_]) skip()   { r.at++ }
func (r *ring[T]) merge(o *ring[T]) int {
	r.n += o.n
	return o.n
}

func (r *ring[T]) Push(all ...T) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range all {
		if r.length() == len(r.buf) {
			r.skip()
			r.n--
		}
		r.put(v)
	}
	return r.length()
}

func (r *ring[T]) Last() (T, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n += r.merge(r) - r.n
	return r.last, r.slot(1)
}

func pushed(r *ring[string]) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put("direct")
	r.n--
	return r.length() + len(r.last)
}

func main() {
	x := &meter{m: map[int]int{}, list: make([]int, 2), rate: 1.5}
	r, q := &ring[string]{buf: make([]string, 3)}, &ring[[2]int]{buf: make([][2]int, 2)}
	c := make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 4 {
			fmt.Println(x.report())
			fmt.Println(x.disturbed(i))
			fmt.Println(x.handOver(c), x.remade(i))
			fmt.Println(r.Push("a", "b"), q.Push([2]int{i, 1}))
			fmt.Println(pushed(r), x.inLoop(func(yield func(int) bool) { _ = yield(i) && yield(i+1) }))
		}
	})
	wg.Wait()
	fmt.Println(r.Last())
	fmt.Println(q.Last())
	fmt.Println(x.n, x.rate, x.parts, x.names, x.m, r.buf, q.buf)
}

// inLoop has sections in the body of a loop that ranges over a function.
func (x *meter) inLoop(all func(func(int) bool)) int {
	for v := range all {
		x.mu.Lock()
		x.n += v
		x.parts[v%3] += 0.5
		x.mu.Unlock()
		if v > 2 {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.n *= 2
			return x.n
		}
	}
	return 0
}
