// Fields of all kinds beside their lock, which are isolated where they are if they can be, in programs whose
// goroutines take turns: in sections, in functions that sections call, and without the lock where that is right.
package main

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
)

type pair[K comparable, V any] struct {
	key K
	val V
}

type box[K comparable, V any] struct {
	mu    sync.Mutex
	last  pair[K, V]
	all   []pair[K, V]
	index map[K]int
	calls int
	each  func(K)
}

func (b *box[K, V]) add(k K, v V) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.index == nil {
		b.index = make(map[K]int)
	}
	b.last = pair[K, V]{k, v}
	b.all, b.calls = append(b.all, b.last), b.calls+1
	b.index[k]++
	if b.each != nil {
		b.each(k)
	}
	return b.count()
}

func (b *box[K, V]) count() int { return len(b.all) + b.calls }

type base struct {
	mu    sync.RWMutex
	total int64
	text  string
	err   error
	grid  [3][2]int
	mixed struct{ a, b int }
	ratio float64
	flags uint8
	on    bool
	next  *base
}

type derived struct {
	base
	name string
}

// on pages, because it is updated in a header; the others of its lock are not.
type both struct {
	mu sync.Mutex
	n  int    // guarded by mu
	m  int    // guarded by mu
	s  string // guarded by mu
}

func (b *both) loop() (sum int) {
	for b.n = 0; b.n < 3; b.n++ {
		sum += b.n
	}
	b.m -= sum
	b.s += fmt.Sprint(b.n)
	return sum
}

func (b *both) section() {
	b.mu.Lock()
	b.n++
	b.m += 2
	b.s = strings.Repeat("x", b.m%5)
	b.mu.Unlock()
}

func (d *derived) raise(n int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, err := d.total, d.err
	d.total, d.err = d.total+n, nil
	d.text += fmt.Sprint(n)
	d.grid[n%3][n%2]++
	d.mixed.a, d.mixed.b = d.mixed.b, int(n)
	d.ratio /= float64(n + 1)
	d.flags |= 1 << (n % 8)
	d.on = !d.on
	if d.total > 20 {
		d.err = errors.New("much")
	}
	for ; d.total > 30; d.total -= 7 {
	}
	if d.next == nil {
		d.next = &base{total: old}
	}
	return errors.Join(err, d.err)
}

func (d *derived) look() string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return fmt.Sprint(d.total, d.text, d.err, d.grid, d.mixed, d.flags, d.on, d.next.total)
}

// quiet uses the fields without the lock: no other goroutine does.
func (d *derived) quiet() {
	d.total++
	d.total += d.total % 5
	d.text = strings.ToUpper(d.text) + "/"
	d.err, d.on = nil, d.total > 3
	d.flags <<= 1
	d.grid[1] = [2]int{7, len(d.grid)}
	d.mixed.a -= 2
	if d.next != nil {
		d.next.total--
		d.next.text += "q"
	}
	switch d.total % 2 {
	case 0:
		d.ratio = 1
	default:
		d.ratio += 2
	}
	fmt.Println(d.total, d.text, d.on, d.flags, d.grid, d.mixed.a, d.ratio, d.err)
}

func panics(d *derived) (why any) {
	defer func() { why = recover() }()
	var none *derived
	if d == nil {
		none = &derived{}
	}
	d.total /= int64(len(d.text) - len(d.text))
	return none.total
}

// Entries of maps, with and without the lock.
type table[K comparable] struct {
	mu    sync.Mutex
	count map[K]int            // guarded by mu
	names map[string][]string  // guarded by mu
	inner map[int]map[int]bool // guarded by mu
	kinds map[any]pair[K, int] // guarded by mu
}

func (t *table[K]) section(k K, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count, t.names = map[K]int{}, map[string][]string{}
		t.inner = make(map[int]map[int]bool)
		t.kinds = make(map[any]pair[K, int])
	}
	t.count[k] += n
	t.names["all"] = append(t.names["all"], fmt.Sprint(k))
	if t.inner[n%3] == nil {
		t.inner[n%3] = map[int]bool{}
	}
	t.inner[n%3][n] = true
	t.kinds[n%2 == 0] = pair[K, int]{k, n}
	if n%7 == 0 {
		delete(t.count, k)
	}
}

func (t *table[K]) quiet(k K, by int) {
	t.count[k]++
	t.count[k] += by
	t.count[k] <<= 1
	t.count[k] %= 1000
	v, ok := t.count[k]
	if n := t.count[k]; n != v || !ok {
		fmt.Println("lost", n, v)
	}
	t.names["quiet"] = append(t.names["quiet"], fmt.Sprint(len(t.names), len(t.names["all"])))
	t.names[strings.Repeat("q", by%3)] = nil
	delete(t.names, "q")
	t.inner[by%3][by] = false
	t.kinds[by] = pair[K, int]{val: t.kinds[true].val}
	var p, found = t.kinds["none"]
	_, here := t.inner[9]
	fmt.Println(v, ok, len(t.count), t.kinds[by].val, t.inner[by%3][by], p.val, found, here)
}

func (t *table[K]) sums() (sums [4]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.count {
		sums[0] += n
	}
	for k, list := range t.names {
		sums[1] += len(k) + len(list)
	}
	for k, m := range t.inner {
		sums[2] += k + len(m)
	}
	for _, p := range t.kinds {
		sums[3] += p.val
	}
	return sums
}

func (t *table[K]) refuses() (why any) {
	defer func() { why = recover() }()
	t.kinds[[]int{}] = pair[K, int]{}
	return nil
}

func nilMap() (why any) {
	defer func() { why = recover() }()
	var t table[int]
	t.count[1]++
	return nil
}

func main() {
	turn := make(chan int, 1)
	turn <- 0
	var wg sync.WaitGroup
	d := &derived{base: base{ratio: 1, text: "t"}, name: "d"}
	b := &box[string, int]{}
	var seen []string
	b.each = func(s string) { seen = append(seen, s) }
	x := &both{m: 1}
	tab := new(table[string])
	for g := range 3 {
		wg.Go(func() {
			for range 6 {
				n := <-turn
				fmt.Println(g >= 0, d.raise(int64(n)), b.add(fmt.Sprint("k", n%4), n))
				x.section()
				tab.section(fmt.Sprint("t", n%3), n)
				if n%5 == 4 {
					tab.quiet(fmt.Sprint("t", n%2), n)
					d.quiet()
					fmt.Println(x.loop(), x.m, x.s)
				}
				turn <- n + 1
			}
		})
	}
	wg.Wait()
	fmt.Println(d.look(), panics(d), x.n, x.m, x.s)
	fmt.Println(tab.sums(), tab.refuses(), nilMap())
	tab.section("last", 3)
	fmt.Println(tab.sums())
	sort.Strings(seen)
	fmt.Println(seen, b.index, b.last, len(b.all), b.calls)
}
