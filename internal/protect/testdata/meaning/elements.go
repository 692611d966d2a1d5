// Elements of slices and parts of arrays beside their lock, used in sections, in functions that sections call, and without
// the lock where that is right: by one goroutine after the other. Indices and values have effects of their own, and some are
// out of range.
package main

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
)

type row struct {
	n    int
	text string
}

func (r *row) grow(n int) int { r.n += n; r.text += "g"; return r.n }
func (r row) size() int       { return r.n + len(r.text) }

type table[V any] struct {
	mu     sync.Mutex
	list   []V
	rows   []row
	grid   [][]int
	fixed  [3]row
	words  [2]string
	errs   []error
	calls  []func() int
	number int
}

func (t *table[V]) next() int { t.number++; return t.number }
func (t *table[V]) push(v V) int {
	t.list = append(t.list, v)
	return len(t.list) - 1
}

func (t *table[V]) section(v V) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n = t.push(v)
	t.rows = append(t.rows, row{n, "r"})
	for i := range t.rows {
		r := &t.rows[i]
		r.grow(i)
	}
	t.grid = append(t.grid, []int{n, 1}, make([]int, 2))
	t.grid[0][1] += t.grid[len(t.grid)-1][0]
	t.fixed[n%3].n += n
	t.words[n&1] += "w"
	t.errs = append(t.errs, errors.New(t.words[0]))
	t.calls = append(t.calls, func() int { return t.next() + len(t.list) })
	sort.Slice(t.rows, func(i, j int) bool { return t.rows[i].n > t.rows[j].n })
	return n + t.sum()
}

func (t *table[V]) sum() (n int) {
	for _, r := range t.rows {
		n += r.size()
	}
	for _, line := range t.grid {
		n += slices.Max(line)
	}
	return n
}

// outside uses all of it where no other goroutine runs, each time in one step.
func (t *table[V]) outside(v V, i int) (n int) {
	t.list[i] = v
	t.list[t.next()%len(t.list)] = t.list[i]
	t.list = append(t.list, v, t.list[0])
	t.list = append(t.list, t.last())
	t.rows[i].n = t.next() + t.rows[0].n
	t.rows[i].n -= t.next() + t.rows[0].n
	t.rows[i+1].text += strings.Repeat("x", t.next()%3)
	t.grid[i][i&1] = t.rows[i].n
	t.grid[i][1]++
	t.grid[i][0] ^= t.grid[1][i]
	t.fixed[i].n = t.next() + t.fixed[2].n
	t.fixed[i] = row{t.fixed[i].n, "f"}
	t.words[i&1] = fmt.Sprint(t.fixed[i].n) + t.words[0]
	t.errs[i] = nil
	n = t.calls[i]()
	n += len(t.list) + t.rows[i].size()
	if t.errs[0] == nil && t.words[1] != "" || t.list == nil {
		n++
	}
	for i := range t.fixed {
		n += t.fixed[i].n
	}
	for _, w := range t.words {
		t.words[1] += "v"
		n += len(w)
	}
	return n
}

func (t *table[V]) last() V { t.push(t.list[0]); return t.list[len(t.list)-1] }

// A spare is used without its lock in ways that are more than one step.
type spare struct {
	mu     sync.Mutex
	rows   []row
	grid   [][]int
	fixed  [3]row
	number int
}

func (s *spare) next() int { s.number++; s.rows = append(s.rows, row{n: s.number}); return s.number }

func (s *spare) section() {
	s.mu.Lock()
	s.next()
	s.rows[0].n++
	s.grid = append(s.grid, []int{1, 2})
	s.fixed[1].n++
	s.mu.Unlock()
}

func (s *spare) outside() (n int) {
	n = s.rows[0].n + s.next()
	s.rows[0].n = s.rows[len(s.rows)-1].n + s.next()
	s.grid[0], s.grid[1] = s.grid[1], s.grid[0]
	s.rows[1].n, n = n, s.rows[0].n
	i := 0
	move := func() int { i++; return i }
	s.rows[i].n = move()
	s.rows[i].n += move()
	s.rows[s.number%len(s.rows)].text += strings.Repeat("x", s.next()%3)
	p := &s.rows[2]
	p.grow(3)
	for _, r := range s.rows {
		n += r.size()
	}
	return n + s.fixed[1].grow(2) + s.fixed[1].n
}

// beyond does something out of range, and tells how that ended.
func (t *table[V]) beyond(what int, v V) (text string) {
	defer func() { text = fmt.Sprint(recover(), t.number, len(t.list)) }()
	switch what {
	case 0:
		t.list[99] = v
	case 1:
		i := len(t.rows)
		t.rows[i].n = t.next()
	case 2:
		t.grid[0][7] += t.next()
	case 3:
		t.fixed[what].n++
	case 4:
		n := t.next() + t.rows[what*9].n
		_ = n
	case 5:
		var none *table[V]
		none.list[0] = v
	case 6:
		t.rows[0].n /= t.number - t.number
	case 7:
		far := uint64(len(t.list)) << 62
		t.list[far|1<<63] = v
	}
	return ""
}

func try[V any](v, w V) {
	t := new(table[V])
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { t.section(v) })
		wg.Wait()
	}
	fmt.Println(t.outside(w, 0), t.outside(v, 1), t.section(w))
	for what := range 8 {
		fmt.Println(t.beyond(what, v))
	}
	t.show()
}

func (t *table[V]) show() {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Println(t.list, t.rows, t.grid, t.fixed, t.words, t.errs, t.number)
}

func main() {
	try(1, 2)
	try("a", "b")
	try([]int{1}, nil)
	s := new(spare)
	s.section()
	s.section()
	s.section()
	fmt.Println(s.outside(), s.rows, s.grid, s.fixed)
}
