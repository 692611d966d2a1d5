// Sections in which memory is reached in ways that the syntax does not show. Each function
// runs by itself and shows what it leaves.
package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
)

type S struct{ a, b int }

func (s S) sum() int   { return s.a + s.b }
func (s *S) add(n int) { s.a += n }

type inner struct{ deep int }

func (i inner) get() int { return i.deep }

type T struct {
	mu    sync.Mutex
	n     int
	bytes [8]byte
	nums  [4]int
	s     S
	p     *int
	slice []int
	c     chan int
	inner
}

func (t T) copyOf() int { return t.n }

type shower interface{ sum() int }

var (
	mu     sync.Mutex
	total  int
	table  [4]int
	struc  S
	whole  *S
	number *int
)

var tests []func()

func test(f func()) bool { tests = append(tests, f); return true }

func show(args ...any) { fmt.Println(args...) }

var _ = test(func() { // a range over a channel synchronises
	t := &T{c: make(chan int)}
	done := make(chan bool)
	go func() {
		for i := range 3 {
			t.c <- i
			<-done
		}
		close(t.c)
	}()
	t.mu.Lock()
	for v := range t.c {
		t.n += v + 1
		done <- true
	}
	t.n++
	t.mu.Unlock()
	show("channel", t.n)
})

var _ = test(func() { // handing over by the end of a range
	t := &T{c: make(chan int)}
	seen := make(chan int)
	go func() {
		t.c <- 1
		seen <- t.n
	}()
	t.mu.Lock()
	t.n = 5
	for range t.c {
		t.n++
		show("handed", <-seen)
		break
	}
	t.mu.Unlock()
	show(t.n)
})

var _ = test(func() { // slices of a guarded array
	t := &T{}
	b := t.bytes[:]
	t.mu.Lock()
	t.bytes[0] = 1
	copy(b[1:], []byte{2, 3})
	show("copy", t.bytes, string(b[:3]))
	t.bytes[3] = 9
	show(b[3], [4]byte(b), *(*[2]byte)(b))
	t.bytes[4] = 'x'
	text := string(b)
	show(text[4])
	b = append(b[:5], 'y')
	t.bytes[6]++
	show(t.bytes)
	clear(b[:2])
	t.bytes[7]++
	binary.LittleEndian.PutUint32(b[:4], 77)
	t.bytes[2]++
	show(t.bytes, binary.LittleEndian.Uint32(b))
	t.mu.Unlock()
	show(t.bytes)
})

var _ = test(func() { // sorting it
	t := &T{nums: [4]int{3, 1, 2, 0}}
	list := t.nums[:]
	t.mu.Lock()
	t.nums[0]++
	slices.Sort(list)
	t.nums[3]++
	sort.Ints(list)
	t.nums[0]--
	slices.Reverse(list)
	show("sort", t.nums, slices.Max(list), list[0])
	for _, v := range list {
		t.nums[0] += v
	}
	for i, v := range &t.nums {
		t.nums[0] += v * i
	}
	p := &t.nums
	for _, v := range p {
		t.nums[1] += v
	}
	show(len(p), t.nums, p[0])
	t.mu.Unlock()
})

var _ = test(func() { // methods with copies of their receivers
	t := &T{n: 1, s: S{1, 2}}
	t.mu.Lock()
	t.n++
	show("method", t.copyOf())
	t.n++
	f := t.copyOf
	t.n++
	show(f())
	t.s.a++
	show(t.s.sum())
	t.s.add(3)
	g := t.s.sum
	t.s.a++
	var i shower = t.s
	t.s.b++
	show(i.sum(), g())
	h := T.copyOf
	t.n++
	show(h(*t))
	t.deep++
	show(t.get(), inner.get(t.inner))
	t.mu.Unlock()
})

var _ = test(func() { // a pointer that is only a name
	t := &T{}
	t.mu.Lock()
	p := &t.n
	*p = 5
	t.n++
	*p += 10
	show("pointer", t.n)
	q := &t.s
	q.a = 3
	t.s.a++
	show(q.a, *q, q.sum())
	r := &t.nums[1]
	*r = 4
	t.nums[1]++
	show(*r, t.nums)
	if w := &t.n; *w > 0 {
		*w = 100
		t.n++
	}
	t.mu.Unlock()
	show(t.n, *p)
})

var _ = test(func() { // the same for variables of a package
	mu.Lock()
	p := &total
	*p = 5
	total++
	*p += 10
	show("global", total)
	q := &table
	q[1] = 3
	table[1]++
	show(q[1], table)
	r := table[:]
	r[1]++
	table[1]++
	show(r[1], table)
	s := &struc
	s.a = 3
	struc.a++
	show(s.sum(), struc.sum(), *s)
	mu.Unlock()
	show(total, table, struc)
})

var _ = test(func() { // pointers that were made elsewhere
	mu.Lock()
	total = 1
	number = &total
	whole = &struc
	mu.Unlock()
	mu.Lock()
	total++
	*number += 5
	total++
	show("elsewhere", total, *number)
	struc.a = 1
	whole.a++
	struc.a++
	show(struc, whole.sum())
	mu.Unlock()
})

func recovering(f func()) {
	defer func() {
		if r := recover(); r != nil {
			show("recovered", fmt.Sprint(r))
		}
	}()
	f()
}

var _ = test(func() { // a panic that leaves the section
	t := &T{}
	var m map[string]int
	recovering(func() {
		t.mu.Lock()
		t.n = 7
		m["x"] = 1
		t.mu.Unlock()
	})
	show("panic", t.n, t.mu.TryLock())
	t.mu.Unlock()
	recovering(func() {
		for i := range 3 {
			t.mu.Lock()
			t.n += i
			t.nums[0]++
			show(10 / (1 - i))
			t.mu.Unlock()
		}
	})
	show(t.n, t.nums, t.mu.TryLock())
	t.mu.Unlock()
	recovering(func() {
		defer func() { show("deferred", t.n) }()
		t.mu.Lock()
		t.n++
		defer func() { show("later", t.n); t.n++ }()
		t.n++
		var p *T
		p.n++
		t.mu.Unlock()
	})
	show(t.n)
	t.mu.Unlock()
	var list []int
	recovering(func() {
		t.mu.Lock()
		t.n++
		t.n, list[3] = 50, 1
		t.mu.Unlock()
	})
	show(t.n)
	t.mu.Unlock()
	recovering(func() {
		t.mu.Lock()
		t.n++
		t.fails(4)
		t.mu.Unlock()
	})
	show(t.n)
	t.mu.Unlock()
	recovering(func() {
		t.mu.Lock()
		t.n++
		t.mu.Unlock()
		defer func() { show("between", t.n) }()
		t.mu.Lock()
		t.n++
		t.slice[0]++
		t.mu.Unlock()
	})
	show(t.n)
	t.mu.Unlock()
})

func (t *T) fails(n int) {
	t.n += n
	t.nums[t.n*1000]++
}

var _ = test(func() { // objects that are found on the way
	type node struct {
		n, k int
		next *node
	}
	var guard sync.Mutex
	a, b := &node{n: 1}, &node{n: 2}
	m := map[string]*node{"a": a, "b": b}
	recovering(func() {
		guard.Lock()
		e := m["a"]
		e.n++
		e.k = e.n
		e = m["none"]
		e.n++
		guard.Unlock()
	})
	show("found", a.n, a.k)
	guard.Unlock()
	guard.Lock()
	for e := range m {
		x := m[e]
		x.n++
		p := &x.k
		x.k++
		*p += 5
		x.n += x.k
		y := *x
		show(y.n+y.k > 0)
	}
	guard.Unlock()
	show(a.n, a.k, b.n, b.k)
})

var _ = test(func() { // new objects of the same type
	t := &T{n: 1}
	t.mu.Lock()
	t.n++
	u := &T{n: t.n}
	u.n++
	t.n += u.n
	u = t
	u.n++
	t.n++
	*u = T{n: t.n + 1, s: S{a: t.n}}
	u.mu.Lock()
	t.n++
	show("new", t.n, u.n, t.s)
	t.mu.Unlock()
})

var _ = test(func() { // text that is built of it
	t := &T{bytes: [8]byte{'a', 'b'}}
	view := t.bytes[:2]
	t.mu.Lock()
	t.bytes[0] = 'c'
	show("text", string(view), strings.ToUpper(string(view)), slices.Contains(view, 'c'), slices.Index(view, 'b'))
	t.bytes[1]++
	var total int
	for i := range view {
		total += int(view[i])
	}
	t.bytes[0]++
	show(total, min(int(view[0]), 3), cap(view))
	t.mu.Unlock()
})

var _ = test(func() { // a jump leads past the second of two steps that the section is interrupted for
	t := &T{c: make(chan int, 20)}
	t.mu.Lock()
	for i := range 4 {
		t.n++
		t.c <- i
		if i == 1 {
			continue
		}
		t.c <- i
	}
	for t.n < 9 {
		t.n++
		t.c <- 0
		if t.c != nil {
			break
		}
		t.c <- 0
	}
outer:
	for i := range 2 {
		for j := range 3 {
			t.n++
			t.c <- j
			switch {
			case i == j:
				continue outer
			case j == 2:
				break
			}
			t.c <- j
		}
	}
	t.mu.Unlock()
	show("jumps", t.n, len(t.c))
})

func main() {
	for _, f := range tests {
		f()
	}
}
