// Elements, entries and nodes that a section has copies of are the same memory by other names: slices of one array, a
// pointer to an element, two nodes that are one, a map that is exchanged. Values panic before addresses, and what was written before a
// panic stays.
package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
)

type cell struct {
	a, b int
	in   [3]int
	name string
}

type node struct {
	val         int
	note        string
	left, right *node
}

type store struct {
	mu    sync.Mutex
	rw    sync.RWMutex
	list  []int            // guarded by mu
	same  []int            // guarded by mu
	rows  []cell           // guarded by mu
	refs  []*cell          // guarded by mu
	grid  [][]int          // guarded by mu
	m     map[string]int   // guarded by mu
	sets  map[float64]bool // guarded by mu
	lists map[int][]int    // guarded by mu
	byKey map[string]*node // guarded by mu
	root  *node            // guarded by mu
	p     *int             // guarded by mu
	hits  []uint8          // guarded by rw
	texts []string         // guarded by mu
	faces []any            // guarded by mu
	array [4]int           // guarded by mu
	in    chan int
}

func newStore() *store {
	s := &store{list: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, rows: make([]cell, 3), m: map[string]int{"a": 1}, sets: map[float64]bool{}, lists: map[int][]int{},
		byKey: map[string]*node{}, root: &node{left: &node{val: 2}, right: &node{val: 3}}, hits: make([]uint8, 3), texts: make([]string, 3), faces: make([]any, 2), in: make(chan int)}
	s.same = s.list[2:]
	s.p = &s.list[3]
	s.refs = []*cell{&s.rows[0], &s.rows[1], &s.rows[0]}
	s.grid = [][]int{s.list[:3], s.list[1:4], {1, 2}}
	return s
}

func (s *store) show() {
	fmt.Println(s.list, s.same, s.rows, s.grid, s.m, len(s.sets), s.lists, *s.p, s.hits, s.texts, s.faces, s.array, s.root.val, s.root.note, s.root.left.val, s.root.right.val)
}

func (s *store) names(i int) {
	s.mu.Lock()
	s.list[i]++
	s.list[i] += 2
	s.same[i-2] *= 3
	s.list[i]--
	*s.p += 5
	s.list[3] += *s.p
	s.grid[1][2] += s.list[3]
	s.grid[0], s.grid[1] = s.grid[1], s.grid[0]
	s.grid[0][1], s.grid[1][1] = s.grid[1][1], s.grid[0][1]
	s.refs[0].a++
	s.rows[0].a += 2
	s.refs[2].a *= 5
	s.rows[0].in[1]++
	s.refs[0].in[1] += 2
	s.rows[0], s.rows[1] = s.rows[1], s.rows[0]
	s.rows[0].b = s.refs[0].a
	s.rows[1] = cell{a: s.rows[1].a, in: s.rows[0].in}
	s.mu.Unlock()
}

func (s *store) many() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.list {
		s.list[i]++
		s.list[len(s.list)-1-i] += s.list[i]
	}
	for i := 0; i < len(s.list) && s.list[i] < 1000; i++ {
		s.list[0] += s.list[i]
	}
	for i, v := range s.list {
		s.list[(i+1)%len(s.list)] = v
		n += s.list[i]
	}
	s.list = append(s.list, s.list[0])
	s.list[0]++
	s.list = append(s.list[:2], s.list[1:]...)
	s.list[1]--
	slices.Sort(s.list)
	s.list[2]++
	return n + s.list[2]
}

func (s *store) entries(k string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[k]++
	s.m["a"] += s.m[k]
	n += len(s.m)
	old := s.m["a"]
	s.m = maps.Clone(s.m)
	s.m["a"] *= 2
	delete(s.m, k)
	if _, ok := s.m[k]; !ok {
		s.m["new"] = old
	}
	for k := range s.m {
		s.m[k]++
		delete(s.m, "new")
	}
	s.m["x"], s.m["y"] = 1, 2
	s.m["x"] = s.m["y"] + s.count()
	s.sets[math.NaN()] = true
	s.sets[math.NaN()] = true
	s.sets[0] = true
	s.sets[math.Copysign(0, -1)] = false
	for i := range 12 {
		s.lists[i%10] = append(s.lists[i%10], i)
	}
	s.lists[3][0] += 4
	n += s.lists[3][0] + len(s.sets)
	return n + s.m["x"]
}

func (s *store) count() int { return len(s.m) + s.m["a"] }

func (s *store) nodes(a, b *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.val++
	b.val += 2
	a.val *= 3
	s.root.left.val += a.val
	s.root.left.val += b.val
	s.root.left, s.root.right = s.root.right, s.root.left
	s.root.left.note += "l"
	s.root.left.note += "r"
	s.byKey["k"] = s.root.left
	s.byKey["k"].val++
	s.byKey["k"].val += s.root.left.val
	for n := s.root; n != nil; n = n.right {
		n.val++
		if n.left != nil {
			n.left.val += n.val
			n.val--
		}
	}
	*s.root.left = node{val: s.root.left.val, left: s.root.left.left}
	s.root.left.val++
}

func (s *store) wide() {
	s.mu.Lock()
	s.texts[0] += "a"
	s.texts[0] += "b"
	s.texts[1] = s.texts[0] + s.texts[2]
	s.faces[0] = s.texts[1]
	s.faces[1] = s.faces[0]
	s.faces[0] = nil
	s.array[1]++
	s.array[2] += s.array[1]
	s.mu.Unlock()
	s.rw.Lock()
	s.hits[0]++
	s.hits[1] -= s.hits[0]
	s.hits[2] ^= s.hits[1] << 1
	s.rw.Unlock()
	s.rw.RLock()
	defer s.rw.RUnlock()
	fmt.Println(s.hits[0]+s.hits[1], s.hits[2])
}

func (s *store) handed() {
	done := make(chan bool)
	s.mu.Lock()
	s.list[0]++
	s.list[0]++
	go func() {
		s.list[0] += 10
		s.m["a"]++
		done <- true
	}()
	<-done
	s.list[0]++
	s.m["a"]++
	s.m["a"]++
	s.list[0] *= 2
	s.mu.Unlock()
}

// try shows what a panic leaves.
func (s *store) try(name string, f func()) {
	defer func() {
		r := recover()
		fmt.Println(name, r)
		s.show()
	}()
	f()
}

func (s *store) failing(i, zero int, none map[string]int) {
	s.try("index of a store", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list[0]++
		s.list[0]++
		s.list[i] = 1 / zero
	})
	s.try("index", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list[1]++
		s.list[1]++
		s.list[i] = s.same[i+1]
	})
	s.try("two", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list[2]++
		s.list[i], s.list[i+1] = s.list[i+1], s.list[i]
	})
	s.try("some assigned", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list[3], s.list[i] = 100, 200
	})
	s.try("entry", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.m["a"]++
		s.m["b"] = 1 / zero
	})
	s.try("no map", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.m["a"]++
		s.m = none
		n := s.m["a"]
		s.m["b"] = n + s.list[0]
	})
	s.m = map[string]int{}
	s.try("no node", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.root.val++
		s.root.val++
		s.root.left.left.val = s.root.val
	})
	s.try("not deferred", func() {
		s.mu.Lock()
		s.list[4]++
		s.list[4]++
		s.list[i]++
		s.mu.Unlock()
	})
	s.mu.Unlock()
}

func main() {
	s := newStore()
	for i := range 3 {
		s.names(i + 2)
		s.show()
		fmt.Println(s.many(), s.entries(fmt.Sprint("k", i)))
		s.nodes(s.root.left, s.root.left)
		s.nodes(s.root, s.root.right)
		s.wide()
		s.handed()
		s.show()
	}
	s.failing(1000, 0, nil)
}
