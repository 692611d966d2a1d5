// Command earlier is of a module for Go 1.16, whose language has neither ranges over integers nor
// type parameters. Its sections use variables, elements, entries, fields of nodes and what they
// capture, so that every kind of text is written for it.
package main

import (
	"errors"
	"fmt"
	"sort"
	"sync"
)

type item struct {
	next  *item
	count int
}

type shop struct {
	mu     sync.Mutex
	total  int
	names  []string
	stock  map[string]int
	shelf  []int
	first  *item
	orders [4]int
	last   interface{}
}

var (
	gmu   sync.RWMutex
	queue []int
	price map[string]int
)

func (s *shop) add(name string, n int) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("add %s: %v", name, r)
		}
	}()
	if n < 0 {
		panic("less than nothing")
	}
	s.total += n
	s.names = append(s.names, name)
	s.stock[name] += n
	for i := 0; i < len(s.shelf); i++ {
		s.shelf[i] += n
		s.orders[i%4]++
	}
	for p := s.first; p != nil; p = p.next {
		p.count += n
	}
	s.first = &item{next: s.first, count: n}
	s.last = n
	return nil
}

func (s *shop) take(name string) error {
	s.mu.Lock()
	if s.stock[name] == 0 {
		s.mu.Unlock()
		return errors.New("there is none")
	}
	s.stock[name]--
	if s.shelf[0] > 0 {
		s.shelf[0]--
	}
	s.mu.Unlock()
	return nil
}

func push(n int) {
	gmu.Lock()
	defer gmu.Unlock()
	each := func(by int) { price["all"] += by }
	queue = append(queue, n)
	queue[0] += n
	each(n)
}

func sum() (n int) {
	gmu.RLock()
	defer gmu.RUnlock()
	for _, q := range queue {
		n += q
	}
	return n + price["all"]
}

func main() {
	s := &shop{stock: make(map[string]int), shelf: make([]int, 3)}
	price = make(map[string]int)
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			name := fmt.Sprint("n", i)
			if err := s.add(name, i); err != nil {
				fmt.Println(err)
			}
			s.take(name)
			push(i)
		}(i)
	}
	all.Wait()
	fmt.Println(s.add("wrong", -1))
	s.mu.Lock()
	sort.Strings(s.names)
	fmt.Println(s.total, s.names, s.stock, s.orders, s.shelf[1:])
	s.mu.Unlock()
	fmt.Println(sum()-queue[0] > 0, len(queue), price)
}
