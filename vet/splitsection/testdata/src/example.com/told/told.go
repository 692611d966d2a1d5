package told

import (
	"net/url"
	"sync"
)

func compute(k string) int { return len(k) }

// A Registry has objects, of which a goroutine that was told of one would use another than the next.
type Registry struct {
	mu      sync.Mutex
	entries map[string]*int
	lengths map[string]int
}

func (r *Registry) Entry(k string) *int {
	r.mu.Lock()
	e := r.entries[k]
	r.mu.Unlock()
	if e == nil {
		e = new(int)
		r.mu.Lock()
		r.entries[k] = e // want `write of Registry.entries by what an earlier section of Registry.mu has read`
		r.mu.Unlock()
	}
	return e
}

// Length is computed twice, and is the same each time.
func (r *Registry) Length(k string) int {
	r.mu.Lock()
	n, ok := r.lengths[k]
	r.mu.Unlock()
	if !ok {
		n = compute(k)
		r.mu.Lock()
		r.lengths[k] = n
		r.mu.Unlock()
	}
	return n
}

// A bucket is counted in.
type bucket struct{ n int }

// Rates have buckets, of which one that another goroutine counts in is replaced.
type Rates struct {
	mu      sync.Mutex
	buckets map[string]*bucket
	labels  map[string]*label
}

func (r *Rates) Count(k string) {
	r.mu.Lock()
	b, ok := r.buckets[k]
	r.mu.Unlock()
	if !ok {
		b = &bucket{}
		r.mu.Lock()
		r.buckets[k] = b // want `write of Rates.buckets by what an earlier section of Rates.mu has read`
		r.mu.Unlock()
	}
	r.mu.Lock()
	b.n++
	r.mu.Unlock()
}

// A label is as it was made.
type label struct{ text string }

func (r *Rates) Label(k string) *label {
	r.mu.Lock()
	l, ok := r.labels[k]
	r.mu.Unlock()
	if !ok {
		l = &label{text: k}
		r.mu.Lock()
		r.labels[k] = l
		r.mu.Unlock()
	}
	return l
}

// Defaults have values that are kept in a variable, which had what was found before.
type Defaults struct {
	mu  sync.Mutex
	all map[string]values
}

type values struct{ list []int }

func (d *Defaults) Of(k string) int {
	d.mu.Lock()
	v, ok := d.all[k]
	d.mu.Unlock()
	if !ok {
		v = values{list: []int{compute(k)}}
		d.mu.Lock()
		d.all[k] = v
		d.mu.Unlock()
	}
	use(&v)
	return len(v.list)
}

func use(v *values) { println(v.list) }

// A tube is the package's own, and has one writer.
type tube struct {
	mu   sync.Mutex
	sent int
}

func (p *tube) Write() {
	p.mu.Lock()
	sent := p.sent
	p.mu.Unlock()
	sent += compute("x")
	p.mu.Lock()
	p.sent = sent
	p.mu.Unlock()
}

// Watchers has an entry for each caller, by a pointer that no other has.
type Watchers struct {
	mu  sync.Mutex
	all map[*int]*int
}

func (w *Watchers) Watch(who *int) {
	w.mu.Lock()
	_, ok := w.all[who]
	w.mu.Unlock()
	if !ok {
		n := new(int)
		w.mu.Lock()
		w.all[who] = n
		w.mu.Unlock()
	}
}

// A Clock is moved by one goroutine.
type Clock struct {
	mu  sync.Mutex
	now int
}

// Move moves the clock. It should only be called from a single goroutine at a time.
func (c *Clock) Move() {
	c.mu.Lock()
	now := c.now
	c.mu.Unlock()
	now += compute("x")
	c.mu.Lock()
	c.now = now
	c.mu.Unlock()
}

// A Loop takes its jobs out, and has another list put there.
type Loop struct {
	mu    sync.Mutex
	jobs  []func()
	spare []func()
}

func (l *Loop) Add(f func()) {
	l.mu.Lock()
	l.jobs = append(l.jobs, f)
	l.mu.Unlock()
}

func (l *Loop) Run() {
	l.mu.Lock()
	jobs := l.jobs
	l.jobs = l.spare
	l.mu.Unlock()
	for i, job := range jobs {
		job()
		jobs[i] = nil
	}
}

// An Order is filled by what its name leads to, and by its own number.
type Order struct {
	mu  sync.Mutex
	url url.URL
}

func (o *Order) Fill() {
	o.mu.Lock()
	path := o.url.Path
	o.mu.Unlock()
	host := path + "x"
	o.mu.Lock()
	o.url.Host = host
	o.mu.Unlock()
}

func (o *Order) Extend() {
	o.mu.Lock()
	path := o.url.Path
	o.mu.Unlock()
	path += "x"
	o.mu.Lock()
	o.url.Path = path // want `write of Order.url by what an earlier section of Order.mu has read`
	o.mu.Unlock()
}
