package txprog

// common is what all programs have: the data, and what runs and judges them.
const common = `package main

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/cofferdam-go/cofferdam/stm"
)

type node struct {
	val  int
	next *node
}

type point struct{ x, y int }

type inner struct {
	count int
	*deep
}

type deep struct{ level int }

func (d *deep) sink(n int) int { d.level += n; return d.level }
func (i inner) sum() int       { return i.count + i.level }

type shape interface {
	area(n int) int
}

type square struct{ side int }
type strip struct{ p point }

func (q *square) area(n int) int { q.side = (q.side + n) % 50; return q.side * q.side }
func (t strip) area(_ int) int   { return t.p.x * t.p.y }

// A framed is a square by an embedded pointer.
type framed struct{ *square }

// A record has an identity, a name and tags that only its literal sets.
type record struct {
	id     int
	name   string
	tags   [2]int
	weight int
}

func (r *record) heavier(o *record) bool { return r.weight*r.tags[0] > o.weight*o.tags[0] || r.name < o.name }

// A tally counts, and keeps the least; what adds to it touches nothing else.
type tally struct{ n, least int }

func (t *tally) add(v int) {
	if t.n == 0 || v < t.least {
		t.least = v
	}
	t.n++
}

func (t *tally) merge(o tally) {
	t.add(o.least)
	t.n = small(t.n + o.n)
}

func letters(text string) (sum int) {
	for i := range len(text) {
		sum = small(sum*3 + int(text[i]))
	}
	return sum
}

type list[T any] struct {
	items []T
	n     int
}

func (l *list[T]) push(v T) {
	if len(l.items) > 12 {
		l.items = l.items[3:]
	}
	l.items = append(l.items, v)
	l.n++
}

func (l *list[T]) each(yield func(T) bool) {
	for _, v := range l.items {
		if !yield(v) {
			return
		}
	}
}

func fold[T int | int8](values []T, f func(int, T) int) (r int) {
	for _, v := range values {
		r = f(r, v)
	}
	return r
}

func total(values ...int) (t int) {
	for _, v := range values {
		t += v
	}
	return t
}

func (l *list[T]) pairs() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, v := range l.items {
			if !yield(i, v) {
				return
			}
		}
	}
}

// An index has values by keys, of any types.
type index[K comparable, V any] struct{ of map[K][]V }

func (x *index[K, V]) add(k K, v V) {
	if x.of == nil {
		x.of = make(map[K][]V)
	}
	if x.of[k] = append(x.of[k], v); len(x.of[k]) > 5 {
		x.of[k] = x.of[k][2:]
	}
}

func (x *index[K, V]) count(k K) int { return len(x.of[k]) }

func (x *index[K, V]) last(k K) (v V, ok bool) {
	all := x.of[k]
	if len(all) == 0 {
		return v, false
	}
	x.of[k] = all[:len(all)-1]
	return all[len(all)-1], true
}

func filter[S ~[]E, E any](values S, keep func(E) bool) (kept S) {
	for _, v := range values {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// A wrapper has the methods of whatever it holds.
type wrapper struct {
	shape
	extra int
}

type minima []int

func (h minima) Len() int           { return len(h) }
func (h minima) Less(i, j int) bool { return h[i] < h[j] }
func (h minima) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *minima) Push(v any)        { *h = append(*h, v.(int)) }
func (h *minima) Pop() any {
	v := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return v
}

type failure struct{ code int }

func (f *failure) Error() string { return fmt.Sprint("code ", f.code) }

var errOdd = errors.New("odd")

func both(s *state, a int) (x, y int) {
	defer func() { y += x }()
	s.count++
	x = small(s.n + a)
	return x, s.count
}

func (s *state) rowsOf() [3][4]int { s.count++; return s.grid }

func length(p *node) int {
	if p == nil {
		return 0
	}
	return 1 + length(p.next)
}

type state struct {
	inner
	n       int
	small   int8
	flag    bool
	ratio   float64
	head    *node
	xs      []int
	bytes   []byte
	grid    [3][4]int
	points  []point
	m       map[int]int
	words   map[string]point
	text    string
	shapes  []shape
	any     any
	fn      func(int) int
	queue   list[int]
	records []*record
	kept    tally
	tickets int

	nested  map[string]map[int]int
	lists   map[int][]int
	places  map[point]*node
	rows    [][]int
	index   index[string, int]
	wrapped *wrapper
	unnamed struct {
		a, b int
		tags []string
	}
	pipe chan int
	mu   sync.Mutex
	heap minima
	err  error

	packed packed
	tree   *ordered[string, *seen]
	grades *ordered[int, mark]
}

var (
	global, steps int
	table         [3]int
	registry      map[string]int
)

func newState() *state {
	global, steps = 1, 0
	table, registry = [3]int{1, 2, 3}, map[string]int{"a": 1}
	s := &state{n: 3, head: &node{1, &node{2, nil}}, xs: []int{5, 6, 7}, points: []point{{1, 2}, {3, 4}}, m: map[int]int{1: 10, 2: 20},
		words: map[string]point{"a": {1, 1}}, text: "go", shapes: []shape{&square{2}, strip{point{2, 3}}}, any: 7, bytes: []byte("xyz"),
		records: []*record{{1, "one", [2]int{1, 2}, 3}, {2, "two", [2]int{3, 1}, 1}}}
	s.inner = inner{4, &deep{1}}
	s.nested, s.lists, s.places = map[string]map[int]int{"a": {1: 1}}, map[int][]int{1: {4, 5}}, map[point]*node{{1, 1}: s.head}
	s.rows, s.pipe, s.heap = [][]int{{1, 2}, {3}, nil}, make(chan int, 4), minima{2, 4}
	s.pipe <- 8
	s.fn = func(n int) int { return n + 1 }
	s.queue.push(9)
	return s
}

// at is an index that is there, -1 if nothing is.
func at(i, n int) int {
	if n == 0 {
		return -1
	}
	return ((i % n) + n) % n
}

// others lets other goroutines run, in the middle of a transaction.
func others() int { runtime.Gosched(); return 0 }

func small(n int) int { return ((n % 1000) + 1000) % 1000 }

func (s *state) dump() string {
	var b strings.Builder
	fmt.Fprint(&b, s.n, s.small, s.flag, s.ratio, s.count, s.level, s.xs, string(s.bytes), s.grid, s.points, s.text, s.any, s.queue, s.tickets, global, steps)
	for p := s.head; p != nil; p = p.next {
		fmt.Fprint(&b, ">", p.val)
	}
	keys := []int{}
	for k := range s.m {
		keys = append(keys, k)
	}
	sort.Ints(keys)
	for _, k := range keys {
		fmt.Fprint(&b, " ", k, ":", s.m[k])
	}
	var words []string
	for w, p := range s.words {
		words = append(words, fmt.Sprint(w, p))
	}
	sort.Strings(words)
	fmt.Fprint(&b, words, len(s.shapes))
	for _, h := range s.shapes {
		switch h := h.(type) {
		case *square:
			fmt.Fprint(&b, " square", h.side)
		case strip:
			fmt.Fprint(&b, " strip", h.p)
		case *strip:
			fmt.Fprint(&b, " *strip", h.p)
		case *framed:
			fmt.Fprint(&b, " framed", h.side)
		}
	}
	for _, r := range s.records {
		fmt.Fprint(&b, " ", *r)
	}
	fmt.Fprint(&b, table, registry, s.nested, s.lists, s.rows, s.index, s.unnamed, s.heap, s.err) // maps are printed in order
	for x := range 3 {
		fmt.Fprint(&b, " ", length(s.places[point{x, 1}]))
	}
	if s.wrapped != nil {
		fmt.Fprint(&b, " wrapped", s.wrapped.extra)
	}
	for range len(s.pipe) {
		v := <-s.pipe
		s.pipe <- v
		fmt.Fprint(&b, " piped", v)
	}
	return b.String() + fmt.Sprint(s.kept, " fn", s.fn(1), s.dumpPacked())
}

type program struct {
	seed         uint64
	transactions []func(*state, int) int
}

// A result is what came of a transaction: what it returned, or panicked with.
type result struct{ goroutine, turn, ticket, transaction, argument, value int; panicked bool }

// number is what was panicked with: an error of the runtime is one like any other.
func number(v any) int {
	n, ok := v.(int)
	if !ok {
		return -1
	}
	return n
}

func run(s *state, f func(*state, int) int, a int) (value int, panicked bool) {
	defer func() {
		if v := recover(); v != nil {
			value, panicked = number(v), true
		}
	}()
	return f(s, a), false
}

func sequential(p program) {
	s := newState()
	for i := range 24 {
		value, panicked := run(s, p.transactions[i%len(p.transactions)], i*7%13)
		fmt.Println(p.seed, i, value, panicked)
	}
	fmt.Println(p.seed, s.dump())
}

func concurrent(p program) {
	s := newState()
	var mu sync.Mutex
	var all []result
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 40 {
				k, a := (g+i)%len(p.transactions), (g*5+i)%11
				r := result{goroutine: g, turn: i, transaction: k, argument: a}
				tries := 0 // of an attempt that was given up, nothing is left
				func() {
					defer func() {
						if v := recover(); v != nil {
							r.value, r.panicked = number(v), true
						}
					}()
					mode := stm.Mode(1 + (int(p.seed)+g)%4)
					if mode == stm.Eager { // what it assigns to is kept beside it, and not in a log
						stm.Atomic(func() {
							tries++
							defer func() { s.tickets++; r.ticket = s.tickets }()
							r.value = p.transactions[k](s, a)
						})
						return
					}
					stm.Options{Mode: mode}.Atomic(func() {
						tries++
						defer func() { s.tickets++; r.ticket = s.tickets }()
						r.value = p.transactions[k](s, a)
					})
				}()
				if tries != 1 {
					fmt.Printf("%d: %+v: an attempt that was given up has left its count, %d\n", p.seed, r, tries)
					os.Exit(1)
				}
				mu.Lock()
				all = append(all, r)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	got := s.dump()
	sort.Slice(all, func(i, j int) bool { return all[i].ticket < all[j].ticket })
	s = newState()
	for i, r := range all {
		if r.ticket != i+1 {
			fmt.Printf("%d: %+v has ticket %d, want %d\n", p.seed, r, r.ticket, i+1)
			os.Exit(1)
		}
		value, panicked := run(s, p.transactions[r.transaction], r.argument)
		s.tickets++
		if value != r.value || panicked != r.panicked {
			fmt.Printf("%d: %+v, but in the order of tickets it is %d, %t\n", p.seed, r, value, panicked)
			os.Exit(1)
		}
	}
	if want := s.dump(); got != want {
		fmt.Printf("%d: at the end\n%s, but in the order of tickets\n%s\n", p.seed, got, want)
		os.Exit(1)
	}
}

// What every program imports, and not every one uses.
var (
	_ = heap.Init
	_ = maps.Clone[map[int]int]
	_ = slices.Max[[]int]
	_ = cmp.Compare[int]
	_ iter.Seq[int]
)

func main() {
	for _, p := range programs {
		if os.Args[1] == "sequential" {
			sequential(p)
		} else {
			concurrent(p)
		}
	}
	if os.Args[1] == "concurrent" {
		fmt.Printf("%+v\n", stm.ReadStats())
	}
}

`
