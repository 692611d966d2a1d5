// Sections that end by a panic, or with their goroutine, and whose lock is released by what recovers: other goroutines, which
// are told so, use the data without the lock and wait for nobody.
package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

type node struct {
	val  int
	next *node
}

type list struct {
	mu    sync.Mutex
	head  *node
	n     int
	total float64
	paged int // guarded by mu
}

type table struct {
	rw   sync.RWMutex
	hits int
	m    map[string]int
}

var (
	gmu   sync.Mutex
	count int
	names map[string]int
)

func (l *list) push(v int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head = &node{val: v, next: l.head}
	l.head.val++
	l.n++
	l.paged++
}

// once panics in a section of its own.
func (l *list) once(by []int) {
	l.mu.Lock()
	l.n++
	l.head.val++
	l.paged++
	l.head.next.val += by[3]
	l.head.val--
	l.mu.Unlock()
}

// again panics in the third of several sections, in a loop.
func (l *list) again(by []int) {
	for i := range 4 {
		l.mu.Lock()
		l.n += 2
		l.head.val++
		l.head.next.val += by[i]
		l.total += float64(by[i])
		l.paged++
		l.mu.Unlock()
	}
}

// told panics in a loop, and has deferred what tells another goroutine.
func (l *list) told(by []int, done chan bool) {
	defer close(done)
	defer l.release()
	for i := range 4 {
		l.mu.Lock()
		l.n += 2
		l.head.val++
		l.head.next.val += by[i]
		l.mu.Unlock()
	}
}

// between has calls deferred between its sections.
func (l *list) between(by []int, done chan bool) {
	l.mu.Lock()
	l.n++
	l.head.val++
	l.mu.Unlock()
	defer close(done)
	defer l.release()
	l.mu.Lock()
	l.head.val++
	l.n += by[3]
	l.mu.Unlock()
}

// calls ends in code that is not known.
func (l *list) calls(f func()) {
	for range 2 {
		l.mu.Lock()
		l.n++
		l.head.val++
		f()
		l.n++
		l.head.val++
		l.mu.Unlock()
	}
}

// release does so for a section that has not.
func (l *list) release() {
	if recover() != nil {
		l.mu.Unlock()
	}
}

// read is a section that only reads.
func (t *table) read(by []int) int {
	t.rw.RLock()
	n := t.hits
	n += by[3] + t.hits
	t.rw.RUnlock()
	return n
}

func (t *table) readAll(by []int) (n int) {
	for i := range 4 {
		t.rw.RLock()
		n += t.hits
		n += by[i] + t.hits
		t.rw.RUnlock()
	}
	return n
}

func (t *table) write(key string) {
	t.rw.Lock()
	t.hits++
	t.m[key]++
	t.hits++
	t.rw.Unlock()
}

func counts(by []int) {
	gmu.Lock()
	count++
	names["a"]++
	count += by[3]
	gmu.Unlock()
}

func countsAll(by []int) {
	for i := range 4 {
		gmu.Lock()
		count++
		count += by[i]
		gmu.Unlock()
	}
}

// attempt runs what panics, and has what recovers release the lock.
func attempt(release func(), f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			release()
			err = errors.New("recovered")
		}
	}()
	f()
	return nil
}

// elsewhere runs a function in a goroutine that lives on, and waits for the function.
func elsewhere(f func()) (end func()) {
	done, over := make(chan bool), make(chan bool)
	go func() {
		f()
		close(done)
		<-over
	}()
	<-done
	return func() { close(over) }
}

// exits has a goroutine end in a section.
func (l *list) exits(wg *sync.WaitGroup) {
	defer wg.Done()
	defer l.free()
	for {
		l.mu.Lock()
		l.n++
		l.head.val++
		if l.n > 3 {
			leave()
		}
		l.head.val++
		l.mu.Unlock()
	}
}

func (l *list) free() { l.mu.Unlock() }

func leave() { runtime.Goexit() }

func (l *list) show() {
	l.n++
	l.head.val++
	l.paged++
	fmt.Println(l.n, l.head.val, l.head.next.val, l.total, l.paged)
	for i := 0; i < 2; l.paged++ { // which keeps the field on a page
		i++
	}
}

func main() {
	l := new(list)
	l.push(1)
	l.push(2)
	short := []int{1, 2}
	for _, f := range []func([]int){l.once, l.again} {
		end := elsewhere(func() { fmt.Println(attempt(l.mu.Unlock, func() { f(short) })) })
		l.show()
		end()
	}
	for _, f := range []func([]int, chan bool){l.told, l.between} {
		done := make(chan bool)
		go f(short, done)
		<-done
		l.show()
	}
	end := elsewhere(func() { fmt.Println(attempt(l.mu.Unlock, func() { l.calls(func() { panic(1) }) })) })
	l.show()
	end()
	var wg sync.WaitGroup
	wg.Add(1)
	go l.exits(&wg)
	wg.Wait()
	l.show()
	t := new(table)
	for _, f := range []func([]int) int{t.read, t.readAll} {
		end := elsewhere(func() { fmt.Println(attempt(t.rw.RUnlock, func() { f(short) })) })
		t.hits++
		fmt.Println(t.hits)
		end()
	}
	end = elsewhere(func() { fmt.Println(attempt(t.rw.Unlock, func() { t.write("k") })) })
	t.hits++
	fmt.Println(t.hits, len(t.m))
	end()
	for _, f := range []func([]int){counts, countsAll} {
		end := elsewhere(func() { fmt.Println(attempt(gmu.Unlock, func() { f(short) })) })
		count++
		fmt.Println(count, len(names))
		end()
	}
}
