package structures

import (
	"sync"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// Stock returns the structure on the Go heap, with a sync.Mutex.
func (k Kind) Stock() Structure { return &stock{s: k.stock()} }

type stock struct {
	mu sync.Mutex
	s  Structure
}

func (l *stock) Read(key uint64) (uint64, bool) {
	l.mu.Lock()
	v, ok := l.s.Read(key)
	l.mu.Unlock()
	return v, ok
}

func (l *stock) Insert(key, value uint64) bool {
	l.mu.Lock()
	ok := l.s.Insert(key, value)
	l.mu.Unlock()
	return ok
}

func (l *stock) Delete(key uint64) (uint64, bool) {
	l.mu.Lock()
	v, ok := l.s.Delete(key)
	l.mu.Unlock()
	return v, ok
}

// A Guarded is one structure in guarded memory, and the three ways to use it.
// SameMemory excludes neither of the others: use it alone.
type Guarded struct {
	mu *isolate.Mutex
	guarded
}

// Guarded returns the structure in memory of a new guard.
func (k Kind) Guarded() *Guarded {
	g, mu := k.guarded()
	mu.SetName(k.Name)
	return &Guarded{mu, g}
}

// Close returns the memory.
func (g *Guarded) Close() error { return g.mu.Close() }

type guarded interface {
	// SameMemory is the structure with a sync.Mutex beside it. The guard's own
	// lock is never taken, so that its pages are never sealed.
	SameMemory() Structure
	// Careful is the structure with the guard's lock, used as isolate wants it.
	Careful() Structure
	// Careless is the structure used by code that was not changed for isolate:
	// it takes the same lock, but knows nothing of sections and views. The
	// paper calls that uninstrumented.
	Careless() Structure
}

// A root is the first object of a guarded structure, with its operations.
type root[R any] interface {
	*R
	read(key uint64) (uint64, bool)
	insert(g isolate.Guard, key, value uint64) bool
	remove(g isolate.Guard, key uint64) (uint64, bool)
}

type rooted[R any, P root[R]] struct{ c *careful[R, P] }

func guard[R any, P root[R]]() (guarded, *isolate.Mutex) {
	c := new(careful[R, P])
	c.root = isolate.New[R](&c.mu)
	return rooted[R, P]{c}, &c.mu
}

func (r rooted[R, P]) SameMemory() Structure {
	return &sameMemory[R, P]{guard: &r.c.mu, root: r.c.root}
}
func (r rooted[R, P]) Careful() Structure { return r.c }
func (r rooted[R, P]) Careless() Structure {
	return &careless[R, P]{&r.c.mu, r.c.mu.Plain(), r.c.root}
}

type sameMemory[R any, P root[R]] struct {
	mu    sync.Mutex
	guard *isolate.Mutex
	root  P
}

func (l *sameMemory[R, P]) Read(key uint64) (uint64, bool) {
	l.mu.Lock()
	v, ok := l.root.read(key)
	l.mu.Unlock()
	return v, ok
}

func (l *sameMemory[R, P]) Insert(key, value uint64) bool {
	l.mu.Lock()
	ok := l.root.insert(l.guard, key, value)
	l.mu.Unlock()
	return ok
}

func (l *sameMemory[R, P]) Delete(key uint64) (uint64, bool) {
	l.mu.Lock()
	v, ok := l.root.remove(l.guard, key)
	l.mu.Unlock()
	return v, ok
}

// A careful has its lock inside, as sameMemory has.
type careful[R any, P root[R]] struct {
	mu   isolate.Mutex
	root P // shared
}

func (l *careful[R, P]) Read(key uint64) (uint64, bool) {
	l.mu.Lock()
	v, ok := P(isolate.Own(&l.mu, (*R)(l.root))).read(key)
	l.mu.Unlock()
	return v, ok
}

func (l *careful[R, P]) Insert(key, value uint64) bool {
	l.mu.Lock()
	ok := P(isolate.Own(&l.mu, (*R)(l.root))).insert(&l.mu, key, value)
	l.mu.Unlock()
	return ok
}

func (l *careful[R, P]) Delete(key uint64) (uint64, bool) {
	l.mu.Lock()
	v, ok := P(isolate.Own(&l.mu, (*R)(l.root))).remove(&l.mu, key)
	l.mu.Unlock()
	return v, ok
}

type careless[R any, P root[R]] struct {
	guard *isolate.Mutex
	mu    sync.Locker // the guard's, in the plain way
	root  P
}

func (l *careless[R, P]) Read(key uint64) (uint64, bool) {
	l.mu.Lock()
	v, ok := l.root.read(key)
	l.mu.Unlock()
	return v, ok
}

func (l *careless[R, P]) Insert(key, value uint64) bool {
	l.mu.Lock()
	ok := l.root.insert(l.guard, key, value)
	l.mu.Unlock()
	return ok
}

func (l *careless[R, P]) Delete(key uint64) (uint64, bool) {
	l.mu.Lock()
	v, ok := l.root.remove(l.guard, key)
	l.mu.Unlock()
	return v, ok
}
