package latest

import (
	"fmt"
	"strings"
	"testing"
)

type node struct {
	left, right int
	name        string
	flag        named
	next        *node
	sub         struct{ x, y int }
	arr         [4]int
	m           map[string]int
	s           []int
	f           func() int
	e           error
	i           any
}

type named bool

type tree struct{ nodes []node }

func (t *tree) add() int {
	t.nodes = append(t.nodes, node{})
	return len(t.nodes) - 1
}

func TestStoreAfterCallThatMovesTheSlice(t *testing.T) {
	var tr tree
	tr.add()
	for i := 0; i < 20; i++ {
		tr.nodes[0].left = tr.add()
		tr.nodes[i].right = tr.add() + tr.add()
	}
	fmt.Println(tr.nodes[0].left, tr.nodes[3].right, len(tr.nodes))
}

func trace(name string, v int) int {
	fmt.Print(name, " ")
	return v
}

func TestOrderOfEvaluation(t *testing.T) {
	n := &node{m: map[string]int{}}
	pick := func(s string) *node { fmt.Print("pick", s, " "); return n }
	pick("a").arr[trace("i", 1)] = trace("v", 7)
	pick("b").arr[trace("j", 2)], pick("c").m["k"] = trace("v1", 8), trace("v2", 9)
	pick("d").arr[trace("k", 1)] += trace("v3", 1)
	pick("e").m[fmt.Sprint(trace("l", 1))]++
	n.s = append(n.s, trace("x", 1), trace("y", 2))
	fmt.Println(n.arr, n.m, n.s)
}

func TestSwapAndParallelAssignment(t *testing.T) {
	a := []int{1, 2, 3}
	i, j := 0, 2
	a[i], a[j] = a[j], a[i]
	i, a[i] = 1, 9 // the old i
	fmt.Println(a, i)
	x := []int{1, 2, 3}
	i = 0
	i, x[i] = 1, 2
	i = 0
	x[i], i = 2, 1
	x[0], x[0] = 1, 2
	fmt.Println(x, i)
	n := &node{next: &node{name: "second"}}
	old := n
	n, n.next = n.next, n
	fmt.Println(n.name, old.next == old)
	func() {
		defer func() { fmt.Println(recover(), x) }()
		x[1], x[5] = 4, 5
	}()
	func() {
		var p *node
		defer func() { fmt.Println(recover()) }()
		x[2], p.left = 6, 7
	}()
	fmt.Println(x)
	type pair struct{ a, b *int }
	var q pair
	q.a, q.b = new(int), nil
	*q.a, q.b = 5, q.a
	fmt.Println(*q.b)
	m := map[string]int{}
	m["a"], m["b"] = len(m), len(m)
	var nilmap map[string]int
	func() {
		defer func() { fmt.Println(recover(), m) }()
		m["c"], nilmap["d"] = 3, trace("late", 4)
	}()
}

func TestPanicsComeWhenTheyDid(t *testing.T) {
	var p *node
	func() {
		defer func() { fmt.Println(recover()) }()
		p.left = trace("before the nil dereference", 1)
	}()
	var s []int
	func() {
		defer func() { fmt.Println(recover()) }()
		s[3] = trace("before the index", 1)
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		var m map[int]int
		m[trace("key", 1)] = trace("value", 2)
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		n := &node{}
		n.left /= n.right
	}()
}

func two() (int, error)    { return 4, fmt.Errorf("four") }
func three() (a, b, c int) { return 1, 2, 3 }

func TestTuples(t *testing.T) {
	n := &node{m: map[string]int{"a": 1}}
	n.left, n.e = two()
	_, n.e = two()
	var ok named
	n.right, n.flag = n.m["a"]
	n.i = "x"
	n.name, ok = n.i.(string)
	_, ok = n.i.(int)
	fmt.Println(n.left, n.e, n.right, n.flag, n.name, ok)
	n.arr[0], _, n.arr[n.arr[0]+1] = three()
	ch := make(chan int, 2)
	ch <- 3
	n.left, n.flag = <-ch
	close(ch)
	fmt.Println(n.arr, n.left, n.flag)
	var i any
	i, n.i = n.m["zz"]
	fmt.Println(i, n.i)
	x, err := two()
	get := func() int { x++; err = nil; return x }
	y, err := two()
	fmt.Println(x, y, err, get(), err)
	z, err := 3, error(nil)
	w, err := 5, fmt.Errorf("w")
	fmt.Println(z, w, err)
	v, ok := n.m["a"]
	grab := func() named { ok = !ok; v++; return ok }
	u, ok := n.m["b"]
	grabbed := grab()
	fmt.Println(v, u, ok, grabbed)
}

func TestUntypedOperands(t *testing.T) {
	n := &node{}
	k := uint(3)
	type wide struct {
		a int64
		b uint8
		f float64
		c complex128
		s string
	}
	w := &wide{}
	w.a = 1 << k
	w.b = 1<<k | 1
	w.f = 2
	w.f /= 3
	w.c = 2i
	w.c *= 2
	w.s = "a"
	w.s += "b"
	w.a <<= 2.0
	w.a >>= k
	w.a, w.b = 1<<k, 2
	w.a &^= 8
	w.a ^= 5
	w.a |= 64
	w.a %= 50
	w.b++
	w.f--
	n.flag = len(w.s) == trace("cmp", 2)
	n.flag, n.name = w.a > 3, "n"
	n.flag = n.flag && n.left == 0
	n.i = w.a == 3
	n.e = nil
	n.next, n.e = nil, nil
	fmt.Println(*w, n.flag, n.i, n.next, n.e)
}

func TestInitStatements(t *testing.T) {
	n := &node{s: []int{3, 4}, m: map[string]int{"k": 1}}
	if n.left, n.e = two(); n.e != nil {
		fmt.Println("if", n.left)
	}
	if n.left = trace("one", 1); n.left == 1 {
		fmt.Println("if")
	}
	if n.left++; n.left == 2 {
		fmt.Println("inc")
	}
	switch n.left, n.right = 5, trace("sw", 6); n.right {
	case 6:
		fmt.Println("six")
	}
	for n.left, n.right = 0, 3; n.left < n.right; n.left, n.right = n.left+1, n.right-1 {
		fmt.Println(n.left, n.right)
	}
	for n.left = 0; n.left < 2; n.left++ {
		n.m["k"] += n.left + trace("m", 1)
	}
	if v, ok := n.m["k"]; ok && v > 1 {
		p := &v
		*p++
		fmt.Println(v)
	} else if v = 3; v > 0 {
		fmt.Println("no")
	}
	switch x := any(n.m).(type) {
	case map[string]int:
		x["q"] = 1
		f := func() { x = nil }
		f()
		fmt.Println(len(x), len(n.m))
	}
}

func TestMultiLine(t *testing.T) {
	n := &node{
		s: []int{
			1,
			2,
		},
		m: make(map[string]int,
			4),
	}
	n.f =
		func() int {
			return n.
				left
		}
	n.left =
		trace("multi",
			2,
		)
	n.s = append(
		n.s,
		3,
		4,
	)
	n.s = append(
		n.s,
		n.s...,
	)
	copy(
		n.s,
		n.s[1:],
	)
	n.left,
		n.right = 1,
		trace("x",
			2)
	n.m["a"] += trace(
		"y", 3)
	n.left += // a comment
		1
	fmt.Println(n.f(), n.s, n.left, n.right, n.m, strings.Repeat("x",
		n.right,
	))
}
