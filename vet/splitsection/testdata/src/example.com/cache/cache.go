package cache

import "sync"

type Cache struct {
	mu sync.Mutex
	m  map[string]int
	n  int
}

func compute(k string) int { return len(k) }

func (c *Cache) Get(k string) int {
	c.mu.Lock()
	v, ok := c.m[k]
	c.mu.Unlock()
	if !ok {
		v = compute(k)
		c.mu.Lock()
		c.m[k] = v // want `write of Cache.m by what an earlier section of Cache.mu has read`
		c.mu.Unlock()
	}
	return v
}

// GetAgain looks again.
func (c *Cache) GetAgain(k string) int {
	c.mu.Lock()
	v, ok := c.m[k]
	c.mu.Unlock()
	if !ok {
		v = compute(k)
		c.mu.Lock()
		if old, ok := c.m[k]; ok {
			v = old
		} else {
			c.m[k] = v
		}
		c.mu.Unlock()
	}
	return v
}

// GetOnce has one section.
func (c *Cache) GetOnce(k string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.m[k]
	if !ok {
		v = compute(k)
		c.m[k] = v
	}
	return v
}

func (c *Cache) Add(n int) {
	c.mu.Lock()
	old := c.n
	c.mu.Unlock()
	c.mu.Lock()
	c.n = old + n // want `write of Cache.n by what an earlier section of Cache.mu has read`
	c.mu.Unlock()
}

// Meant is meant to be so.
func (c *Cache) Meant(n int) {
	c.mu.Lock()
	old := c.n
	c.mu.Unlock()
	c.mu.Lock()
	//cofferdam:ignore the last one wins
	c.n = old + n
	c.mu.Unlock()
}

type pipe struct {
	mu  sync.Mutex
	c   sync.Cond
	b   buffer
	err error
}

type buffer interface{ Len() int }

func (p *pipe) Set(b buffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.b = b
}

// Len may be that of a buffer of pipes: it releases another lock than the one that Read holds.
func (p *pipe) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Len()
}

// Read looks at b again each time that it has waited.
func (p *pipe) Read() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.c.L == nil {
		p.c.L = &p.mu
	}
	for {
		if p.b != nil && p.b.Len() > 0 {
			return p.b.Len(), nil
		}
		if p.err != nil {
			p.b = nil
			return 0, p.err
		}
		p.c.Wait()
	}
}

// A latch is a flag, which is to be set afterwards whatever it was.
type latch struct {
	mu   sync.Mutex
	open bool
}

func (l *latch) Open() {
	l.mu.Lock()
	open := l.open
	l.mu.Unlock()
	if !open {
		compute("x")
		l.mu.Lock()
		l.open = true
		l.mu.Unlock()
	}
}

func (l *latch) Close() {
	l.mu.Lock()
	l.open = false
	l.mu.Unlock()
}

// retry looks again on the only way back to its write.
func (c *Cache) retry() {
	c.mu.Lock()
	for {
		if len(c.m) == 0 {
			c.n = compute("x")
		}
		n := c.n
		c.mu.Unlock()
		compute("y")
		c.mu.Lock()
		if n != c.n {
			continue
		}
		c.mu.Unlock()
		return
	}
}

// Shards are replaced under another lock, which is held for both sections.
type Shards struct {
	resize sync.Mutex
	mu     sync.RWMutex
	list   []int
}

func (s *Shards) Grow() {
	s.resize.Lock()
	defer s.resize.Unlock()
	s.mu.RLock()
	old := s.list
	s.mu.RUnlock()
	grown := grow(old)
	s.mu.Lock()
	s.list = grown
	s.mu.Unlock()
}

func (s *Shards) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.list)
}

func (s *Shards) GrowInTwo() {
	s.resize.Lock()
	s.mu.RLock()
	old := s.list
	s.mu.RUnlock()
	s.resize.Unlock()
	grown := grow(old)
	s.resize.Lock()
	s.mu.Lock()
	s.list = grown // want `write of Shards.list by what an earlier section of Shards.mu has read`
	s.mu.Unlock()
	s.resize.Unlock()
}

// Conns has a mark for each connection that is being made.
type Conns struct {
	mu      sync.Mutex
	pending map[string]bool
	open    map[string]int
	dials   int
}

func (c *Conns) Dial(k string) {
	c.mu.Lock()
	if _, ok := c.open[k]; ok || c.pending[k] {
		c.mu.Unlock()
		return
	}
	c.pending[k] = true
	c.mu.Unlock()
	n := compute(k)
	c.mu.Lock()
	delete(c.pending, k)
	c.open[k] = n
	c.mu.Unlock()
}

// DialAnyway counts, which keeps nobody away.
func (c *Conns) DialAnyway(k string) {
	c.mu.Lock()
	if _, ok := c.open[k]; ok {
		c.mu.Unlock()
		return
	}
	c.dials = 1
	c.mu.Unlock()
	n := compute(k)
	c.mu.Lock()
	c.open[k] = n // want `write of Conns.open by what an earlier section of Conns.mu has read`
	c.mu.Unlock()
}

// A feed is written by one goroutine, which Start starts.
type feed struct {
	mu  sync.Mutex
	seq int
}

func Start() *feed {
	f := &feed{}
	go f.run()
	return f
}

func (f *feed) run() {
	for {
		f.mu.Lock()
		seq := f.seq
		f.mu.Unlock()
		next := seq + compute("x")
		f.mu.Lock()
		f.seq = next
		f.mu.Unlock()
	}
}

// A tally is written by one function, which users run at once.
type Tally struct {
	mu  sync.Mutex
	sum int
}

func (t *Tally) Add() { t.add() }

func (t *Tally) add() {
	t.mu.Lock()
	sum := t.sum
	t.mu.Unlock()
	sum += compute("x")
	t.mu.Lock()
	t.sum = sum // want `write of Tally.sum by what an earlier section of Tally.mu has read`
	t.mu.Unlock()
}

func (f *feed) Seq() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

func grow(list []int) []int { return append(make([]int, 1), list...) }

// A group runs a function once at a time for a key.
type group struct {
	mu      sync.Mutex
	running map[string]chan struct{}
}

func (g *group) Do(key string, f func() int) int {
	g.mu.Lock()
	for g.running[key] != nil {
		done := g.running[key]
		g.mu.Unlock()
		<-done
		g.mu.Lock()
	}
	done := make(chan struct{})
	g.running[key] = done
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.running, key)
		g.mu.Unlock()
		close(done)
	}()
	return f()
}

type Flights struct {
	flight  group
	mu      sync.Mutex
	results map[string]int
}

// Get looks and stores in what runs once at a time for a key.
func (f *Flights) Get(k string) int {
	return f.flight.Do(k, func() int {
		f.mu.Lock()
		v, ok := f.results[k]
		f.mu.Unlock()
		if ok {
			return v
		}
		v = compute(k)
		f.mu.Lock()
		f.results[k] = v
		f.mu.Unlock()
		return v
	})
}

// GetTwice does the same where nothing keeps it from running twice.
func (f *Flights) GetTwice(k string) int {
	get := func() int {
		f.mu.Lock()
		v, ok := f.results[k]
		f.mu.Unlock()
		if ok {
			return v
		}
		v = compute(k)
		f.mu.Lock()
		f.results[k] = v // want `write of Flights.results by what an earlier section of Flights.mu has read`
		f.mu.Unlock()
		return v
	}
	return get()
}

type Dialer struct {
	mu       sync.Mutex
	failures map[string]int
	open     map[string]int
}

// Dial waits if it has failed before, and writes down that it fails, whatever was there.
func (d *Dialer) Dial(k string, stop chan bool) bool {
	d.mu.Lock()
	failed := d.failures[k]
	d.mu.Unlock()
	if failed != 0 {
		select {
		case <-stop:
			return false
		case <-after(10 - failed):
		}
	}
	if compute(k) == 0 {
		now := compute("now")
		d.mu.Lock()
		d.failures[k] = now
		d.mu.Unlock()
		return false
	}
	return true
}

func after(n int) chan bool { return make(chan bool, n) }

// CloseAll has what was open for itself.
func (d *Dialer) CloseAll(more []string) {
	d.mu.Lock()
	if d.open == nil {
		d.mu.Unlock()
		return
	}
	open := d.open
	d.open = nil
	d.mu.Unlock()
	for _, k := range more {
		if _, ok := open[k]; !ok {
			open[k] = compute(k)
		}
	}
}

func (d *Dialer) Open(k string) {
	d.mu.Lock()
	d.open[k]++
	d.failures[k]++
	d.mu.Unlock()
}
