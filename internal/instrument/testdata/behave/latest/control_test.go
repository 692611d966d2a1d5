package latest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"testing"
)

func terminating(ch chan int) int {
	select {
	case v := <-ch:
		return v
	}
}

func terminatingLoop(ch chan int) int {
	for {
		select {
		case v, ok := <-ch:
			if !ok {
				return -1
			}
			if v > 2 {
				return v
			}
		}
	}
}

func blocks() int {
	select {}
}

func TestSelect(t *testing.T) {
	a, b := make(chan int, 3), make(chan string, 1)
	a <- 1
	fmt.Println(terminating(a))
	a <- 2
	a <- 5
	fmt.Println(terminatingLoop(a))
	close(a)
	fmt.Println(terminatingLoop(a))
	var n node
	p := &n
	var unready chan string
	b <- "b"
outer:
	for i := 0; ; i++ {
		select {
		case p.left, p.flag = <-a:
			if i > 3 {
				break outer
			}
			if i == 2 {
				continue outer
			}
			break
		case unready <- fmt.Sprint(trace("sent", i)):
			fmt.Println("sent")
		}
		fmt.Println("after", i)
	}
	select {
	case s := <-b:
		s += "!"
		f := func() { s = "captured " + s }
		f()
		fmt.Println(s)
	default:
		fmt.Println("nothing")
	}
	select {
	case <-b:
	default:
		fmt.Println("default")
	}
	select {
	default:
	}
	var none chan int
	select {
	case none <- 1:
	case <-none:
	case p.arr[trace("index", 2)] = <-a:
		fmt.Println("closed", p.arr)
	}
	select {
	case x, ok := <-a:
		fmt.Println(x, ok)
	}
	go func() {
		select {
		case v := <-func() chan int {
			return a
		}():
			_ = v
		}
		b <- "x"
	}()
	<-b
}

func TestLabelsAndGoto(t *testing.T) {
	i := 0
	inc := func() { i++ }
again:
	inc()
	if i < 3 {
		goto again
	}
	m := map[int]int{1: 1, 2: 2, 3: 3}
loop:
	for k := range m {
		for range m {
			if k > 0 {
				continue loop
			}
			break loop
		}
	}
	n := 0
more:
	for range m {
		n++
		if n < 7 {
			goto more
		}
	}
	s := []int{1, 2, 3}
slices:
	for i, v := range s {
		switch {
		case v == 2:
			continue slices
		case i == 2:
			break slices
		}
		fmt.Println(i, v)
	}
	ch := make(chan int, 5)
	for i := range 5 {
		ch <- i
	}
	close(ch)
channel:
	for v := range ch {
		v := v * 2
		for {
			if v == 4 {
				continue channel
			}
			break
		}
		fmt.Println("v", v)
	}
	fmt.Println(i, n)
}

func TestRange(t *testing.T) {
	s := []int{1, 2, 3}
	for i, v := range s {
		s[2] = 10
		s = append(s, v)
		i += 5
		v := v + i
		fmt.Print(v, " ")
	}
	arr := [3]int{1, 2, 3}
	for i, v := range arr {
		arr[2] = 10
		fmt.Print(i, v, " ")
	}
	for i, v := range &arr {
		arr[2] = 20
		fmt.Print(i, v, " ")
	}
	p := &arr
	for i := range p {
		p[i]++
	}
	var np *[3]int
	for i := range np {
		fmt.Print(i)
	}
	for i := range len(np) {
		fmt.Print(i)
	}
	var n node
	q := &n
	for q.left, q.right = range s {
		if q.left == 2 {
			break
		}
	}
	for q.left = range arr {
	}
	for q.arr[0], q.arr[q.arr[0]] = range []int{3, 2, 1} {
	}
	fmt.Println(q.left, q.right, q.arr)
	for k, v := range map[string]int{"a": 1} {
		k += "b"
		f := func() { v++ }
		f()
		fmt.Println(k, v)
	}
	for q.name, q.left = range map[string]int{"z": 26} {
	}
	for i, r := range "héy" {
		fmt.Print(i, string(r))
	}
	for q.left = range 4 {
	}
	var fs []func() int
	for i, v := range s {
		fs = append(fs, func() int { i++; v += i; return v })
	}
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { i++; return i })
	}
	for _, f := range fs {
		fmt.Print(f(), f(), " ")
	}
	ch := make(chan int, 3)
	for i := range 3 {
		ch <- i
	}
	close(ch)
	var cs []func() int
	for v := range ch {
		cs = append(cs, func() int { v += 10; return v })
	}
	for _, f := range cs {
		fmt.Print(f(), " ")
	}
	for q.left = range ch {
	}
	for range ch {
	}
	for range s {
	}
	var count int
	for range map[int]bool{1: true} {
		count++
	}
	fmt.Println(q.left, q.name, count)
	for x := range seq(5) {
		if x == 3 {
			break
		}
		defer fmt.Println("deferred", x)
	}
	fmt.Println(slices.Sorted(maps.Keys(map[string]int{"b": 1, "a": 2})))
	for i, x := range [][]int{{1}, {2, 3}} {
		x[0] += i
		fmt.Print(x)
	}
	type pt struct{ x, y int }
	pts := []pt{{1, 2}, {3, 4}}
	for i, p := range pts {
		p.x = 9
		pts[i].y++
		fmt.Print(p, pts[i])
	}
	for _, pp := range []*pt{{5, 6}} {
		pp.x++
		fmt.Println(*pp)
	}
	for range []int{1}[:] {
		fmt.Println("x")
	}
}

func seq(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

type shape interface{ area() int }
type sq struct{ n int }

func (s sq) area() int  { return s.n * s.n }
func (s *sq) grow()     { s.n++ }
func (s *sq) self() *sq { return s }
func (s sq) value() sq  { return s }

type outer struct {
	*inner
	sq
	shape
}
type inner struct {
	deep
	v int
}
type deep struct{ z int }

func (d *deep) inc() int { d.z++; return d.z }
func (d deep) get() int  { return d.z }

func TestMethods(t *testing.T) {
	o := &outer{inner: &inner{}, sq: sq{2}, shape: sq{7}}
	o.inc()
	o.z++
	o.v = o.get() + o.inc()
	f, g := o.inc, o.get
	f()
	fmt.Println(o.z, g(), o.v, o.n, o.shape.area(), o.sq.area())
	o.grow()
	o.self().grow()
	h := (*sq).grow
	h(&o.sq)
	k := sq.area
	fmt.Println(k(o.sq), o.value().n, o.self().value().area(), shape.area(o.shape))
	o.z, o.v = o.v, o.z
	fmt.Println(o.z, o.v)
	var s shape = &o.sq
	fmt.Println(s.area(), s.(*sq).n)
	vals := []sq{{1}, {2}}
	vals[1].grow()
	ptr := &vals[0]
	ptr.grow()
	m := map[string]*sq{"a": ptr}
	m["a"].grow()
	m["a"].n *= 2
	fmt.Println(vals, m["a"].area())
	func() {
		defer func() { fmt.Println(recover()) }()
		var np *sq
		np.area()
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		var ni shape
		ni.area()
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		(&outer{}).inc()
	}()
}

func TestDeferAndRecover(t *testing.T) {
	f := func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("recovered %v", r)
			}
		}()
		panic("p")
	}
	fmt.Println(f())
	func() {
		defer func() { fmt.Println(recover()) }()
		defer recover() // does nothing
		panic("direct")
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		defer func() { func() { recover() }() }() // too deep
		panic("nested")
	}()
	func() {
		defer rec()
		panic("named")
	}()
	m := map[int]int{1: 1}
	func() {
		k := 1
		defer delete(m, k)
		k = 2
		m[2] = 2
	}()
	fmt.Println(m)
	func() {
		ch := make(chan int)
		defer func() { _, ok := <-ch; fmt.Println(ok) }()
		defer close(ch)
	}()
	named := func() (n int, err error) {
		defer func() { n *= 2; err = errors.Join(err, errors.New("joined")) }()
		if n = 3; n > 2 {
			return n + 1, errors.New("first")
		}
		return
	}
	fmt.Println(named())
	func() {
		defer func() {
			e := recover().(runtime.Error)
			fmt.Println(e)
		}()
		var s []int
		s[0]++
	}()
	x := 1
	func() {
		defer fmt.Println("arg", x)
		x++
	}()
	for i := range 2 {
		defer func() { fmt.Println("loop", i, x) }()
	}
	func() {
		defer func() { fmt.Println(recover()) }()
		defer panic(fmt.Sprint("deferred panic ", x))
		x++
	}()
}

func rec() { fmt.Println("rec", recover()) }

func TestGoexit(t *testing.T) {
	done := make(chan string)
	go func() {
		defer func() { done <- fmt.Sprint("exited ", recover()) }()
		runtime.Gosched()
		runtime.Goexit()
	}()
	fmt.Println(<-done)
}

func where(skip int) string {
	_, file, line, _ := runtime.Caller(skip)
	return fmt.Sprint(file[max(0, len(file)-15):], ":", line)
}

func TestPositionsStay(t *testing.T) {
	ch := make(chan string, 1)
	ch <- where(1)
	fmt.Println(<-ch, where(1))
	select {
	case s := <-func() chan string {
		ch <- where(1)
		return ch
	}():
		fmt.Println(s, where(1))
	case ch2(where(1)) <- where(1):
	}
	fmt.Println(where(1))
	n := &node{}
	n.name, n.left =
		where(1),
		len(where(1))
	fmt.Println(n.name, n.left, where(1))
	n.name = where(
		1)
	fmt.Println(n.name, where(1))
	go func(s string,
		i int,
	) {
		ch <- s + where(1)
	}(where(1),
		2,
	)
	fmt.Println(<-ch, where(1))
	for i, v := range []string{
		where(1),
	} {
		fmt.Println(i, v, where(1))
	}
	for k := range map[string]int{
		where(1): 1,
	} {
		fmt.Println(k, where(1))
	}
	fmt.Println(where(1))
}

func ch2(s string) chan string { fmt.Println("ch2", s); return nil }

func TestMain(m *testing.M) {
	code := m.Run()
	fmt.Println("main", code)
	os.Exit(code)
}
