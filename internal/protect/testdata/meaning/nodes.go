// Nodes whose lock is in another object, which changes hands.

package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

type item struct {
	key, n     int
	label      string
	next, prev *item
}

type shelf struct {
	mu    sync.RWMutex
	first *item         // guarded by mu
	found map[int]*item // guarded by mu
	count int           // guarded by mu
}

func (h *shelf) link(i *item) {
	i.prev, i.next = nil, h.first
	if h.first != nil {
		h.first.prev = i
	}
	h.first = i
	h.count++
	h.found[i.key] = i
}

func (h *shelf) unlink(i *item) {
	if i.prev != nil {
		i.prev.next = i.next
	} else {
		h.first = i.next
	}
	if i.next != nil {
		i.next.prev = i.prev
	}
	i.next, i.prev = nil, nil
	h.count--
	delete(h.found, i.key)
}

func (h *shelf) put(i *item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.link(i)
	i.n++
	i.label += "p"
}

func (h *shelf) pop() *item {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.first
	if i != nil {
		h.unlink(i)
	}
	return i
}

func (h *shelf) sum() (sum int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for i := h.first; i != nil; i = i.next {
		sum += i.n + len(i.label)
	}
	return sum
}

func (h *shelf) find(key int) (int, bool) {
	h.mu.RLock()
	i := h.found[key]
	if i == nil {
		h.mu.RUnlock()
		return 0, false
	}
	n := i.n
	h.mu.RUnlock()
	return n, true
}

// move holds both locks, and goes on when the item is another goroutine's.
func (h *shelf) move(to *shelf, done func(*item)) {
	h.mu.Lock()
	if i := h.first; i != nil {
		h.unlink(i)
		i.n += 10
		to.mu.Lock()
		to.link(i)
		to.mu.Unlock()
		done(i)
		h.count += 0
	}
	h.mu.Unlock()
}

// nilItem panics after the value was made, as it would.
func nilItem(h *shelf) (text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() { text += fmt.Sprint(recover() != nil, h.count) }()
	var i *item
	i.n = func() int { h.count += 100; return h.count }()
	return "not reached"
}

func main() {
	a, b := &shelf{found: make(map[int]*item)}, &shelf{found: make(map[int]*item)}
	for k := range 8 {
		a.put(&item{key: k, n: k})
	}
	var wg sync.WaitGroup
	passed := make(chan *item, 8)
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if i := a.pop(); i != nil {
					i.n++ // it is this goroutine's
					i.label = "mine"
					b.put(i)
				}
				b.move(a, func(*item) {})
				a.sum()
				b.find(3)
			}
		})
	}
	wg.Wait()
	for i := b.pop(); i != nil; i = b.pop() {
		a.put(i)
	}
	fmt.Println(a.count, len(a.found), b.count)

	// Passed on in the middle of a section, by a channel and by an atomic.
	a.mu.Lock()
	i := a.first
	a.unlink(i)
	i.n = 5
	passed <- i
	got := make(chan int)
	go func() {
		i := <-passed
		i.n *= 2
		got <- i.n
	}()
	fmt.Println(<-got)
	second := a.first
	second.n = 7
	var ready atomic.Bool
	ready.Store(true)
	go func() {
		for !ready.Load() {
		}
		second.n++
		got <- second.n
	}()
	fmt.Println(<-got)
	a.mu.Unlock()
	fmt.Println(nilItem(b))
}
