package linearhash

import "sync"

// heapPart is a part on the Go heap.
type heapPart struct {
	mu        sync.Mutex
	shape     shape
	directory [maxSegments]*heapSegment
}

type heapSegment struct {
	chains [segmentSize]*heapEntry
}

type heapEntry struct {
	hash, value uint64
	key         word
	next        *heapEntry
}

func newHeapPart() *heapPart {
	p := &heapPart{shape: smallest}
	p.directory[0] = new(heapSegment)
	return p
}

func (p *heapPart) put(hash uint64, key string, value uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.find(hash, key)
	if *at != nil {
		(*at).value = value
		return false
	}
	*at = &heapEntry{hash: hash, key: newWord(key), value: value}
	p.shape.entries++
	if p.shape.crowded() {
		p.split()
	}
	return true
}

func (p *heapPart) get(hash uint64, key string) (value uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.find(hash, key)
	if *at == nil {
		return 0, false
	}
	return (*at).value, true
}

func (p *heapPart) delete(hash uint64, key string) (value uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.find(hash, key)
	e := *at
	if e == nil {
		return 0, false
	}
	*at = e.next
	p.shape.entries--
	if p.shape.sparse() {
		p.merge()
	}
	return e.value, true
}

// chain is where the chain of a bucket begins.
func (p *heapPart) chain(bucket uint64) **heapEntry {
	return &p.directory[bucket/segmentSize].chains[bucket%segmentSize]
}

// find returns the place in the chain of a key that points to it, or the end.
func (p *heapPart) find(hash uint64, key string) **heapEntry {
	at := p.chain(p.shape.bucket(hash))
	for *at != nil && ((*at).hash != hash || !(*at).key.is(key)) {
		at = &(*at).next
	}
	return at
}

// split adds a bucket and moves the entries that belong there.
func (p *heapPart) split() {
	from, to := p.shape.grow()
	if to%segmentSize == 0 {
		p.directory[to/segmentSize] = new(heapSegment)
	}
	stay, move := p.chain(from), p.chain(to)
	for *stay != nil {
		e := *stay
		if p.shape.bucket(e.hash) == from {
			stay = &e.next
			continue
		}
		*stay = e.next
		e.next = *move
		*move = e
	}
}

// merge takes the last bucket away and appends its entries to another.
func (p *heapPart) merge() {
	from, to := p.shape.shrink()
	end := p.chain(to)
	for *end != nil {
		end = &(*end).next
	}
	last := p.chain(from)
	*end, *last = *last, nil
	if from%segmentSize == 0 {
		p.directory[from/segmentSize] = nil
	}
}

func (p *heapPart) each(visit func(s shape, bucket uint64, key string, value uint64) error) (shape, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for b := range p.shape.buckets() {
		for e := *p.chain(b); e != nil; e = e.next {
			if err := visit(p.shape, b, e.key.String(), e.value); err != nil {
				return p.shape, err
			}
		}
	}
	return p.shape, nil
}

func (p *heapPart) free() error { return nil }
