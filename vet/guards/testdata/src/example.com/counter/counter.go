package counter

import "sync"

type Counter struct {
	mu sync.RWMutex
	N  int // want N:"guarded by mu"
}

func (c *Counter) Add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.N++
}

func (c *Counter) Sub() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.N--
}

// Held has the lock.
func (c *Counter) Held() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.N
}

func (c *Counter) Get() int {
	return c.N // want `read of Counter.N: does not hold Counter.mu, which 3 of 4 lines that access it do`
}

type Table struct {
	mu sync.RWMutex
	m  map[string]int
}

func (t *Table) Add(k string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.m[k]++
}

func (t *Table) Sub(k string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.m[k]--
}

func (t *Table) Has(k string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.m[k] > 0
}

func (t *Table) Get(k string) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.m[k]
}

func (t *Table) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.m)
}

func (t *Table) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.m = map[string]int{}
}

func (t *Table) Set(k string, n int) {
	t.m[k] = n // want `write of Table.m: does not hold Table.mu`
}

// Print calls something, so that nothing is said about how to mend it.
func (t *Table) Print() {
	println(t.name(), t.m["a"]) // want `read of Table.m: does not hold Table.mu`
}

func (t *Table) name() string { return "table" }

// Meant is meant to be so.
func (t *Table) Meant() int {
	return len(t.m) //cofferdam:ignore called before anything else runs
}

// Widget is for one goroutine, but for Write.
type Widget struct {
	mu   sync.Mutex
	text string
}

func (w *Widget) Write(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text += s
	w.text += "\n"
}

func (w *Widget) Text() string { return w.text }

func (w *Widget) Clear() { w.text = "" }
