package latest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

type number interface{ ~int | ~float64 }

type stack[T any] struct {
	items []T
	n     int
}

func (s *stack[T]) push(v T) { s.items = append(s.items, v); s.n++ }
func (s *stack[T]) pop() (v T, ok bool) {
	if s.n == 0 {
		return v, false
	}
	s.n--
	v, s.items = s.items[s.n], s.items[:s.n]
	return v, true
}

func sum[S ~[]E, E number](s S) (total E) {
	for _, v := range s {
		total += v
	}
	add := func() { total *= 2 }
	add()
	return total
}

func apply[M ~map[K]V, K comparable, V any](m M, f func(V) V) M {
	for k, v := range m {
		m[k] = f(v)
	}
	return m
}

func drain[C ~chan T, T any](c C) (out []T) {
	close(c)
	for v := range c {
		out = append(out, v)
	}
	return out
}

func relay[T any](in <-chan T, out chan<- T) {
	select {
	case v := <-in:
		out <- v
	}
}

type sends chan<- int

type receives <-chan int

func waiting[C ~chan<- T | ~chan T, T any](c C, v T) int { c <- v; return len(c) }

func taken[C ~<-chan T | ~chan T, T any](c C) (T, int) {
	v := <-c
	select {
	case v = <-c:
	default:
	}
	for range c {
		break
	}
	return v, len(c)
}

func TestDirections(t *testing.T) {
	c := make(chan int, 8)
	s, r := sends(c), receives(c)
	s <- 1
	select {
	case s <- 2:
	default:
	}
	fmt.Println(len(s), cap(s), len(r), waiting(s, 3), waiting(c, 4))
	fmt.Println(taken(r))
	s <- 5
	s <- 6
	s <- 7
	fmt.Println(taken(c))
	close(s)
	for v := range r {
		fmt.Println(v)
	}
}

func index[T ~[]byte | ~string](s T, i int) byte { return s[i] }

func field[T any](p *struct{ v T }) T { p.v = *&p.v; return p.v }

func double[T number](p *T) { *p += *p; *p++ }

func clearAll[T ~[]int](s T) T { clear(s); return s }

type list[T any] struct {
	next *list[T]
	v    T
}

func TestGenerics(t *testing.T) {
	var s stack[string]
	s.push("a")
	s.push("b")
	v, ok := s.pop()
	fmt.Println(v, ok, s.n)
	fmt.Println(sum([]int{1, 2, 3}), sum([]float64{1.5}))
	fmt.Println(apply(map[string]int{"a": 1}, func(i int) int { return i + 1 }))
	c := make(chan int, 2)
	c <- 1
	fmt.Println(drain(c))
	type mychan chan string
	mc := make(mychan, 1)
	mc <- "x"
	fmt.Println(<-mc, len(mc), cap(mc))
	mc <- "y"
	other := make(chan string, 1)
	relay(mc, other)
	fmt.Println(<-other)
	fmt.Println(index("abc", 1), index([]byte("abc"), 2))
	x := 3
	double(&x)
	fmt.Println(x, field(&struct{ v int }{4}), clearAll([]int{1}))
	l := &list[int]{v: 1}
	l.next = &list[int]{nil, 2}
	l.next.v++
	go s.push("c")
	f := (*stack[string]).push
	f(&s, "d")
	fmt.Println(l.next.v)
}

type embedsAtomic struct {
	atomic.Int64
	p *atomic.Int32
	v atomic.Value
}

func TestAtomics(t *testing.T) {
	var e embedsAtomic
	e.p = new(atomic.Int32)
	e.Add(2)
	e.p.Store(4)
	e.v.Store("s")
	var n int64
	atomic.AddInt64(&n, e.Load())
	if atomic.CompareAndSwapInt64(&n, 2, 5) {
		fmt.Println(atomic.LoadInt64(&n), e.p.Load(), e.v.Load())
	}
	var ptr atomic.Pointer[node]
	ptr.Store(&node{name: "p"})
	fmt.Println(ptr.Load().name, ptr.Swap(nil) != nil)
	var wg sync.WaitGroup
	wg.Add(1)
	func() {
		defer wg.Done()
		defer atomic.AddInt64(&n, 1)
		defer e.Add(1)
	}()
	wg.Wait()
	add := e.Add
	fmt.Println(n, e.Load(), add(1))
	wg.Go(func() { atomic.StoreInt64(&n, 9) })
	wg.Wait()
	var up unsafe.Pointer
	atomic.StorePointer(&up, unsafe.Pointer(&n))
	fmt.Println(*(*int64)(atomic.LoadPointer(&up)))
}

type bytes []byte
type str string

func TestBuiltins(t *testing.T) {
	b := bytes("abc")
	s := str("xyz")
	b = append(b, s...)
	b = append(b, "lit"...)
	n := copy(b, s)
	n += copy(b, "q")
	fmt.Println(string(b), n, len(b), cap(b) >= 9)
	arr := [...]int{5: 1}
	p := &arr
	const size = len(arr)
	var sized [len(arr)]int
	fmt.Println(len(p), cap(p), size, len(sized), len(p[1:3]), unsafe.Offsetof(node{}.right) > 0)
	a4 := [2]int(arr[4:])
	clear(b)
	m := map[int]int{1: 2}
	clear(m)
	fmt.Println(a4, len(m), b[0], min(len(m), 3), max(p[0], p[5]))
	var none []int
	none = append(none, none...)
	none = append(none)
	none = append([]int(nil), none...)
	q := new(int)
	*q = 3
	r := new(*q + 1)
	fmt.Println(none == nil, *q, *r)
	println()
	c := complex(float64(*q), 1)
	fmt.Println(real(c), imag(c))
	pp := &q
	**pp = 8
	*(*pp)++
	fmt.Println(*q)
	st := struct{ a [2][2]int }{}
	sp := &st
	sp.a[1][0] = 4
	sp.a[1][1]++
	row := sp.a[1]
	row[0] = 0
	sl := sp.a[1][:]
	sl[1] += 5
	fmt.Println(st, row, sp.a == st.a, sp.a[1] != row)
	fm := map[string]struct{ v []int }{"k": {[]int{1}}}
	fm["k"].v[0]++
	fmt.Println(fm["k"].v[0], fm["none"].v == nil)
	mm := map[string]map[string]int{"a": {}}
	mm["a"]["b"]++
	mm["a"]["b"] <<= 3
	fmt.Println(mm)
	func() (int, string) { return 1, "" }()
	keyed := map[node2]int{{1, 2}: 3}
	keyed[node2{1, 2}]++
	fmt.Println(keyed, [...]string{2: "x", 0: "y"}, []*node2{{3, 4}, nil}[0].a)
}

type node2 struct{ a, b int }

func init() { fmt.Println("init") }

var global, other = func() (int, string) { return counter(), "o" }()

var count int

func counter() int { count++; return count }

var table = []func() int{counter, func() int { return count }}

func TestGlobals(t *testing.T) {
	global++
	count, other = count+1, "p"
	fmt.Println(global, other, count, table[1](), table[0]())
}

func TestShadowing(t *testing.T) {
	len := func(x []int) int { return 100 }
	true, false := false, true
	nil := 3
	append := 4
	panic := func(any) {}
	uint := 5
	s := []int{1, 2}
	n := &node{}
	for i, v := range s {
		n.left += i + v
	}
	n.left <<= 2
	ch := make(chan int, 1)
	select {
	case ch <- 1:
	}
	f := func() { nil++; append++; uint++ }
	f()
	panic(1)
	fmt.Println(len(s), true, false, nil, append, uint, n.left)
	cofferdamrt := 1
	cofferdam1 := func() int { cofferdamrt++; return cofferdamrt }
	fmt.Println(cofferdam1())
}

func goCalls(a int, rest ...string) { results <- fmt.Sprint(a, rest) }

var results = make(chan string, 1)

type starter struct{ n int }

func (s starter) byValue(x int)       { results <- fmt.Sprint("value ", s.n, x) }
func (s *starter) byPointer(x ...int) { results <- fmt.Sprint("pointer ", s.n, x) }

func multi() (int, string) { return 3, "m" }

func genericGo[T any](v T) { results <- fmt.Sprintf("%T", v) }

func TestGoStatements(t *testing.T) {
	say := func() { fmt.Println(<-results) }
	go goCalls(1, "a", "b")
	say()
	go goCalls(1, []string{"c"}...)
	say()
	go goCalls(multi())
	say()
	s := starter{1}
	go s.byValue(2)
	s.n = 5
	say()
	sp := &s
	go sp.byValue(3)
	say()
	go sp.byPointer()
	say()
	go sp.byPointer(1, 2)
	say()
	go genericGo(1)
	say()
	go genericGo[float64](1)
	say()
	go func(x int64, f float32, i any, e error, y uint8) {
		results <- fmt.Sprintf("%T %T %v %v %d", x, f, i, e, y)
	}(1, 2, nil, nil, 'x')
	say()
	var i interface{ byPointer(...int) } = sp
	go i.byPointer(4)
	say()
	f := goCalls
	go f(7)
	f = func(int, ...string) {}
	say()
	fs := map[string]func(string){"k": func(s string) { results <- s }}
	go fs["k"](
		"from a map",
	)
	say()
	go func() int { results <- "result"; return 1 }()
	say()
	c := make(chan int)
	go close(c)
	<-c
	b := named(false)
	go func(b named) { results <- fmt.Sprint(b) }(len(fs) == 1)
	_ = b
	say()
	type T struct{ starter }
	x := &T{}
	go x.byPointer(9)
	say()
	go (*starter).byPointer(sp, 8)
	say()
	var once sync.Once
	go once.Do(func() { results <- "once" })
	say()
	func() {
		defer func() { fmt.Println("recovered:", recover() != nil) }()
		var ni interface{ m() }
		go ni.m()
	}()
}
