package pairs

import (
	"fmt"
	"iter"
	"sync"
	"testing"
)

func twice(f func()) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}
	wg.Wait()
}

type stack[T any] struct {
	items []T
}

func (s *stack[T]) push(v T) { s.items = append(s.items, v) }

type safe[T any] struct {
	mu sync.Mutex
	stack[T]
}

func (s *safe[T]) push(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stack.push(v)
}

func TestBugGeneric(t *testing.T) {
	var s stack[string]
	twice(func() { s.push("x") })
	if len(s.items) != 2 {
		t.Error(len(s.items))
	}
}

func TestFineGeneric(t *testing.T) {
	var s safe[string]
	twice(func() { s.push("x") })
	if len(s.items) != 2 {
		t.Error(len(s.items))
	}
}

type counter struct{ n int }

func (c *counter) add()    { c.n++ }
func (c counter) get() int { return c.n }

func TestBugMethodValue(t *testing.T) {
	var c counter
	f := c.add
	twice(f)
}

func TestBugValueReceiver(t *testing.T) {
	c := &counter{}
	done := make(chan bool)
	go func() {
		c.add()
		done <- true
	}()
	if c.get() > 1 {
		t.Error("impossible")
	}
	<-done
}

func TestFineMethodValueCopies(t *testing.T) {
	c := counter{n: 1}
	f := c.get
	twice(func() {
		if f() != 1 {
			t.Error("it is a copy")
		}
	})
}

type adder interface{ add() }

func TestBugInterface(t *testing.T) {
	var a adder = &counter{}
	twice(func() { a.add() })
}

func TestBugInterfaceVariable(t *testing.T) {
	var a any
	done := make(chan bool)
	go func() {
		a = "text"
		done <- true
	}()
	if _, ok := a.(string); ok {
		t.Error("a string already")
	}
	<-done
}

func TestBugMap(t *testing.T) {
	m := map[string]int{}
	done := make(chan bool)
	go func() {
		m["a"] = 1
		done <- true
	}()
	if m["a"] == 1 {
		t.Error("already")
	}
	<-done
}

func TestBugMapTwoKeys(t *testing.T) {
	m := map[int]int{}
	var mu sync.Mutex
	i := 0
	twice(func() {
		mu.Lock()
		k := i
		i++
		mu.Unlock()
		m[k]++
	})
}

func TestBugMapRange(t *testing.T) {
	m := map[int]bool{1: true}
	done := make(chan bool)
	go func() {
		delete(m, 1)
		done <- true
	}()
	n := 0
	for range m {
		n++
	}
	if n != 1 {
		t.Error("deleted")
	}
	<-done
}

func TestFineMapReaders(t *testing.T) {
	m := map[int]bool{1: true, 2: false}
	twice(func() {
		n := 0
		for k, v := range m {
			if m[k] != v {
				t.Error(k)
			}
			n += len(m)
		}
		if n != 4 {
			t.Error(n)
		}
	})
}

func TestBugSliceElement(t *testing.T) {
	s := []int{0, 0}
	done := make(chan bool)
	go func() {
		for i := range s {
			s[i]++
		}
		done <- true
	}()
	s[1]++
	<-done
	if s[1] != 2 {
		t.Error(s)
	}
}

func TestFineSliceHalves(t *testing.T) {
	s := make([]int, 4)
	done := make(chan bool)
	half := func(h []int) {
		for i := range h {
			h[i] = i + 1
		}
		done <- true
	}
	go half(s[:2])
	go half(s[2:])
	<-done
	<-done
	if s[0]+s[1]+s[2]+s[3] != 6 {
		t.Error(s)
	}
}

func TestBugAppendShares(t *testing.T) {
	base := make([]int, 1, 4)
	done := make(chan []int)
	for i := range 2 {
		go func() { done <- append(base, i) }()
	}
	a, b := <-done, <-done
	if a[1] == b[1] {
		t.Error("both appended into one array")
	}
}

func TestFineAppendCopies(t *testing.T) {
	base := make([]int, 1, 1)
	done := make(chan []int)
	for i := range 2 {
		go func() { done <- append(base, i) }()
	}
	a, b := <-done, <-done
	if a[1] == b[1] {
		t.Error("both appended into one array")
	}
}

func TestBugCopy(t *testing.T) {
	s := []byte("abc")
	done := make(chan bool)
	go func() {
		copy(s, "xyz")
		done <- true
	}()
	if string(s) != "abc" {
		t.Error("overwritten")
	}
	<-done
}

func TestFineStrings(t *testing.T) {
	s := "abc"
	twice(func() {
		n := 0
		for i, r := range s {
			if s[i] != byte(r) {
				t.Error(i)
			}
			n++
		}
		if n != len(s) {
			t.Error(n)
		}
	})
}

func TestBugStringVariable(t *testing.T) {
	s := "a"
	done := make(chan bool)
	go func() {
		s += "b"
		done <- true
	}()
	if len(s) != 1 {
		t.Error("longer already")
	}
	<-done
}

type point struct{ x, y int }

func TestBugStructCopy(t *testing.T) {
	p := &point{}
	done := make(chan bool)
	go func() {
		p.x = 1
		p.y = 1
		done <- true
	}()
	if c := *p; c.x != c.y {
		t.Error("half")
	}
	<-done
}

func TestFineStructFields(t *testing.T) {
	p := &point{}
	done := make(chan bool)
	go func() {
		p.x = 1
		done <- true
	}()
	p.y = 2
	<-done
	if *p != (point{1, 2}) {
		t.Error(*p)
	}
}

func TestBugBitsOfAByteArray(t *testing.T) {
	var flags [8]bool
	done := make(chan bool)
	go func() {
		flags[3] = true
		done <- true
	}()
	if flags != [8]bool{} {
		t.Error("set")
	}
	<-done
}

func TestFineNeighbouringBytes(t *testing.T) {
	var flags [8]bool
	done := make(chan bool)
	go func() {
		flags[3] = true
		done <- true
	}()
	flags[4] = true
	<-done
	if !flags[3] || !flags[4] {
		t.Error(flags)
	}
}

func countTo(n *int, limit int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for *n < limit {
			*n++
			if !yield(*n) {
				return
			}
		}
	}
}

func TestBugRangeOverFunc(t *testing.T) {
	n := 0
	twice(func() {
		for range countTo(&n, 2) {
		}
	})
}

func TestFineRangeOverFunc(t *testing.T) {
	twice(func() {
		n, sum := 0, 0
		for i := range countTo(&n, 5) {
			if i == 2 {
				continue
			}
			if i == 4 {
				break
			}
			sum += i
		}
		if sum != 4 {
			t.Error(sum)
		}
	})
}

func TestFineClosureLoopVariable(t *testing.T) {
	var n [3]int
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			n[i] = i
		}()
	}
	wg.Wait()
	if n != [3]int{0, 1, 2} {
		t.Error(n)
	}
}

func TestBugClosureOuterVariable(t *testing.T) {
	var wg sync.WaitGroup
	var i int
	var mu sync.Mutex
	seen := map[int]bool{}
	for i = 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			seen[i] = true
			mu.Unlock()
		}()
	}
	wg.Wait()
	if !seen[0] || !seen[1] {
		t.Error(seen)
	}
}

var (
	table  = build()
	before = len(table)
)

func build() map[int]string {
	m := map[int]string{}
	c := make(chan int)
	go func() {
		defer close(c)
		c <- 1
	}()
	for i := range c {
		m[i] = fmt.Sprint(i)
	}
	return m
}

func TestFineInitOrder(t *testing.T) {
	twice(func() {
		if before != 1 || table[1] != "1" {
			t.Error(before, table)
		}
	})
}

func TestBugGlobal(t *testing.T) {
	global = 0
	twice(func() { global++ })
	if global != 2 {
		t.Error(global)
	}
}

var global int

func TestBugDoubleCheckedLocking(t *testing.T) {
	var mu sync.Mutex
	var p *point
	get := func() *point {
		if p == nil {
			mu.Lock()
			defer mu.Unlock()
			if p == nil {
				p = &point{}
				p.x = 7
			}
		}
		return p
	}
	twice(func() {
		if get().x != 7 {
			t.Error("half built")
		}
	})
}

func named() (n int, err error) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		n = 3
	}()
	wg.Wait()
	return n, err
}

func TestFineNamedResults(t *testing.T) {
	if n, _ := named(); n != 3 {
		t.Error(n)
	}
}

func early() (n int) {
	go func() { n = 3 }()
	return 1
}

func TestBugNamedResults(t *testing.T) {
	if early() != 1 {
		t.Error("changed after return")
	}
}

func TestFineDeferOrder(t *testing.T) {
	var mu sync.Mutex
	var order []int
	f := func() {
		mu.Lock()
		defer mu.Unlock()
		for i := range 2 {
			defer func() { order = append(order, i) }()
		}
	}
	f()
	if order[0] != 1 || order[1] != 0 {
		t.Error(order)
	}
}

type node struct {
	next *node
	v    int
}

func TestBugList(t *testing.T) {
	var head *node
	twice(func() { head = &node{next: head} })
	n := 0
	for p := head; p != nil; p = p.next {
		n++
	}
	if n != 2 {
		t.Error(n)
	}
}

func TestBugSwap(t *testing.T) {
	a, b := 1, 2
	done := make(chan bool)
	go func() {
		a, b = b, a
		done <- true
	}()
	if a == b {
		t.Error("half swapped")
	}
	<-done
}
