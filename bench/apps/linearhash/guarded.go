package linearhash

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/bench/apps/variant"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// guardedPart is a part in guarded memory. Its methods take the lock and the
// view of the root; the root's methods do the work, in the view they are given.
type guardedPart struct {
	mu   *variant.Lock
	root *root // shared
}

type root struct {
	shape     shape
	directory [maxSegments]isolate.Ref[segment]
}

type segment struct {
	chains [segmentSize]isolate.Ref[entry]
}

type entry struct {
	hash, value uint64
	key         word
	next        isolate.Ref[entry]
}

func newGuardedPart(v measure.Variant, number int) *guardedPart {
	mu := variant.NewLock(v, fmt.Sprintf("part %d of a hash table", number))
	p := &guardedPart{mu, isolate.New[root](&mu.Guard)}
	mu.Lock()
	defer mu.Unlock()
	r := p.view()
	r.shape = smallest
	_, r.directory[0] = variant.Fresh[segment](mu, r)
	return p
}

func (p *guardedPart) view() *root { return variant.View(p.mu, p.root) }

func (p *guardedPart) put(hash uint64, key string, value uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.view()
	at, e := r.find(hash, key)
	if e != nil {
		e.value = value
		return false
	}
	e, *at = variant.Fresh[entry](p.mu, r)
	e.hash, e.key, e.value = hash, newWord(key), value
	r.shape.entries++
	if r.shape.crowded() {
		r.split(p.mu)
	}
	return true
}

func (p *guardedPart) get(hash uint64, key string) (value uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.view()
	_, e := r.find(hash, key)
	if e == nil {
		return 0, false
	}
	return e.value, true
}

func (p *guardedPart) delete(hash uint64, key string) (value uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.view()
	at, e := r.find(hash, key)
	if e == nil {
		return 0, false
	}
	*at = e.next
	value = e.value
	isolate.Free(&p.mu.Guard, e)
	r.shape.entries--
	if r.shape.sparse() {
		r.merge(p.mu)
	}
	return value, true
}

// chain is where the chain of a bucket begins.
func (r *root) chain(bucket uint64) *isolate.Ref[entry] {
	s := isolate.Follow(r, r.directory[bucket/segmentSize])
	return &s.chains[bucket%segmentSize]
}

// find returns the place in the chain of a key that refers to it, and the entry;
// or the end, and nil.
func (r *root) find(hash uint64, key string) (*isolate.Ref[entry], *entry) {
	at := r.chain(r.shape.bucket(hash))
	e := isolate.Follow(r, *at)
	for e != nil && (e.hash != hash || !e.key.is(key)) {
		at = &e.next
		e = isolate.Follow(r, *at)
	}
	return at, e
}

// split adds a bucket and moves the entries that belong there.
func (r *root) split(mu *variant.Lock) {
	from, to := r.shape.grow()
	if to%segmentSize == 0 {
		_, r.directory[to/segmentSize] = variant.Fresh[segment](mu, r)
	}
	stay, move := r.chain(from), r.chain(to)
	for !stay.IsNil() {
		ref := *stay
		e := isolate.Follow(r, ref)
		if r.shape.bucket(e.hash) == from {
			stay = &e.next
			continue
		}
		*stay = e.next
		e.next = *move
		*move = ref
	}
}

// merge takes the last bucket away and appends its entries to another.
func (r *root) merge(mu *variant.Lock) {
	from, to := r.shape.shrink()
	end := r.chain(to)
	for !end.IsNil() {
		end = &isolate.Follow(r, *end).next
	}
	last := r.chain(from)
	*end, *last = *last, isolate.Ref[entry]{}
	if from%segmentSize == 0 {
		at := &r.directory[from/segmentSize]
		isolate.Free(&mu.Guard, isolate.Follow(r, *at))
		*at = isolate.Ref[segment]{}
	}
}

func (p *guardedPart) each(visit func(s shape, bucket uint64, key string, value uint64) error) (shape, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.view()
	for b := range r.shape.buckets() {
		for e := isolate.Follow(r, *r.chain(b)); e != nil; e = isolate.Follow(r, e.next) {
			if err := visit(r.shape, b, e.key.String(), e.value); err != nil {
				return r.shape, err
			}
		}
	}
	return r.shape, nil
}

func (p *guardedPart) free() error { return p.mu.Close() }
