package main

// Guarded data that are pointers, maps, channels and functions, used in all the ways that there are.

import (
	"errors"
	"fmt"
	"runtime"
	"sort"
	"strings"
	"sync"
)

type node struct {
	key         int
	next        *node
	left, right *node
}

// A list has its head and tail beside its lock.
type list struct {
	mu         sync.Mutex
	head, tail *node
	size       int
}

func (l *list) push(k int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := &node{key: k}
	if l.tail == nil {
		l.head, l.tail = n, n
	} else {
		l.tail.next, l.tail = n, n
	}
	l.size++
}

func (l *list) pop() (k int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.head == nil {
		return 0, false
	}
	k, l.head = l.head.key, l.head.next
	if l.head == nil {
		l.tail = nil
	}
	l.size--
	return k, true
}

func (l *list) reverse() {
	l.mu.Lock()
	var done *node
	l.tail = l.head
	for l.head != nil {
		done, l.head, l.head.next = l.head, l.head.next, done
	}
	l.head = done
	l.mu.Unlock()
}

func (l *list) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for n := l.head; n != nil; n = n.next {
		fmt.Fprint(&b, n.key, " ")
	}
	return fmt.Sprint(b.String(), l.size, l.head == nil, l.tail == l.head)
}

// A tree is inserted into by what its sections call.
type tree struct {
	mu   sync.RWMutex
	root *node
	less func(a, b int) bool
	log  map[int]string
}

func (t *tree) insert(k int) {
	t.mu.Lock()
	t.root = t.add(t.root, k)
	t.log[k] += "+"
	t.mu.Unlock()
}

func (t *tree) add(n *node, k int) *node {
	switch {
	case n == nil:
		return &node{key: k}
	case t.less(k, n.key):
		n.left = t.add(n.left, k)
	default:
		n.right = t.add(n.right, k)
	}
	return n
}

func (t *tree) keys() (all []int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var walk func(*node)
	walk = func(n *node) {
		if n != nil {
			walk(n.left)
			all = append(all, n.key)
			walk(n.right)
		}
	}
	walk(t.root)
	return all
}

func (t *tree) order(less func(a, b int) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.less, t.root = less, nil
	for k := range t.log {
		delete(t.log, k)
	}
	if t.less == nil {
		t.less = func(a, b int) bool { return a < b }
	}
}

func (t *tree) logged() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for k, v := range t.log {
		all = append(all, fmt.Sprint(k, v))
	}
	sort.Strings(all)
	return fmt.Sprint(all, len(t.log), t.log[99], t.log == nil)
}

// Variables of the package.
var (
	mu       sync.Mutex
	current  *node
	registry map[string]*node
	wake     chan int
	hook     func(string) string
)

func setCurrent(n *node) (old *node) {
	mu.Lock()
	defer mu.Unlock()
	old, current = current, n
	return old
}

func register(name string, k int) int {
	mu.Lock()
	defer mu.Unlock()
	if registry == nil {
		registry = make(map[string]*node)
	}
	registry[name] = &node{key: k, next: current}
	if n, ok := registry["first"]; ok && n.next != nil {
		current = n.next
	}
	return len(registry)
}

func call(s string) string {
	mu.Lock()
	defer mu.Unlock()
	if hook != nil {
		return hook(s)
	}
	hook = func(s string) string { return strings.ToUpper(s) }
	return s
}

func useChannel() (int, bool) {
	mu.Lock()
	if wake == nil {
		wake = make(chan int, 2)
	}
	wake <- 7
	select {
	case wake <- 8:
	default:
	}
	first := <-wake
	c := wake
	mu.Unlock()
	second, ok := <-c
	mu.Lock()
	defer mu.Unlock()
	close(wake)
	wake = nil
	return first*10 + second, ok
}

// The links of a ring are guarded by a variable.
type link struct {
	key        int
	next, prev *link
	marks      map[string]int
}

var (
	ringLock sync.Mutex
	ring     *link
)

func join(k int) {
	n := &link{key: k, marks: map[string]int{"new": k}}
	n.next, n.prev = n, n
	ringLock.Lock()
	defer ringLock.Unlock()
	if ring != nil {
		n.next, n.prev = ring, ring.prev
		n.prev.next, n.next.prev = n, n
	}
	ring = n
	ring.marks["joined"]++
}

func part() (k int) {
	ringLock.Lock()
	n := ring
	n.prev.next, n.next.prev = n.next, n.prev
	if ring = n.next; ring == n {
		ring = nil
	}
	n.marks = map[string]int{"parted": len(n.marks)}
	ringLock.Unlock()
	return n.key + 100*n.marks["parted"] // it is nobody else's
}

func around(forward bool) (keys []int) {
	ringLock.Lock()
	defer ringLock.Unlock()
	step := func(n *link) *link {
		if forward {
			return n.next
		}
		return n.prev
	}
	if ring == nil {
		return nil
	}
	for n := ring; ; {
		keys = append(keys, n.key+n.marks["joined"]*1000)
		if n = step(n); n == ring {
			return keys
		}
	}
}

// A box leads from one guarded pointer to another.
type box struct {
	mu    sync.Mutex
	inner *box
	value int
	err   func() error
}

func (b *box) fill(depth int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.value = depth
	if depth > 0 {
		b.inner = &box{value: -1, err: func() error { return errors.New("inner") }}
		b.inner.fill(depth - 1)
	}
}

func (b *box) sum() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inner == nil {
		return b.value
	}
	return b.value + b.inner.sum()
}

func (b *box) deep() (text string) {
	defer func() { text = fmt.Sprint(text, recover()) }()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inner.inner.value += 10
	text = fmt.Sprint(b.inner.inner.value, b.inner.err() != nil, " ")
	b.inner.inner.inner.inner.value++ // there is none
	return text
}

// The order in which a statement loads, stores and calls.
func (b *box) replace(v int) *box {
	b.inner = &box{value: v}
	return b.inner
}

func (b *box) order() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inner = &box{value: 1}
	first := fmt.Sprint(b.inner.value, b.replace(2).value)
	b.inner.value = b.replace(3).value + 1
	second := b.inner.value
	b.inner = &box{inner: b.inner, value: b.inner.value + 100}
	return fmt.Sprint(first, " ", second, " ", b.inner.value, " ", b.inner.inner.value)
}

func nilBox() (text string) {
	var b *box
	called := false
	defer func() { text = fmt.Sprint(called, recover()) }()
	b.inner = func() *box { called = true; return nil }()
	return ""
}

func pointers() {
	var l list
	for i := range 5 {
		l.push(i)
	}
	fmt.Println(l.text())
	l.reverse()
	l.push(9)
	fmt.Println(l.text())
	for {
		k, ok := l.pop()
		if !ok {
			break
		}
		runtime.GC()
		fmt.Print(k, " ")
	}
	fmt.Println(l.text())

	t := &tree{less: func(a, b int) bool { return a > b }, log: map[int]string{}}
	for _, k := range []int{5, 2, 8, 1, 9, 3, 5} {
		t.insert(k)
	}
	fmt.Println(t.keys(), t.logged())
	t.order(nil)
	for _, k := range []int{4, 6, 2} {
		t.insert(k)
	}
	fmt.Println(t.keys(), t.logged())

	fmt.Println(setCurrent(&node{key: 1}) == nil, setCurrent(&node{key: 2}).key)
	fmt.Println(register("first", 3), register("second", 4), setCurrent(nil).key)
	fmt.Println(call("a"), call("b"))
	fmt.Println(useChannel())
	fmt.Println(useChannel())

	b := new(box)
	b.fill(3)
	fmt.Println(b.sum(), b.deep(), b.sum())
	fmt.Println(b.order(), nilBox())

	for i := range 4 {
		join(i)
	}
	fmt.Println(around(true), around(false), part(), part(), around(true))

	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 200 {
				join(j)
				if j%2 == 0 {
					part()
				}
				l.push(i*1000 + j)
				t.insert(j)
				setCurrent(&node{key: j})
				if j%3 == 0 {
					l.pop()
				}
				if j%50 == 0 {
					runtime.GC()
				}
			}
		})
	}
	wg.Wait()
	fmt.Println(l.size, len(t.keys()), setCurrent(nil).key, len(around(true)), len(around(false)))
}
