package main

import "sync"

// The six structures of the Isolator paper as a program has them that nobody has
// changed for Cofferdam: a sync.Mutex stands with what it guards, and each method
// takes it.

// A structure is what the stress client sees.
type structure interface {
	Read(key uint64) (value uint64, ok bool)
	Insert(key, value uint64) bool
	Delete(key uint64) (value uint64, ok bool)
	Len() int
}

// kinds have the sizes of package structures.
var kinds = []struct {
	name string
	size int
	make func() structure
}{
	{"heap", 1024, func() structure { return new(heap) }},
	{"list", 128, func() structure { return new(list) }},
	{"hash", 4096, func() structure { return &hash{buckets: make([]*link, 1<<hashBits)} }},
	{"tree", 4096, func() structure { return new(tree) }},
	{"trie", 1024, func() structure { return &trie{root: new(branch)} }},
	{"stack", 1024, func() structure { return new(stack) }},
}

type timer struct{ key, value uint64 }

func (t timer) less(u timer) bool {
	return t.key < u.key || t.key == u.key && t.value < u.value
}

type heap struct {
	mu     sync.Mutex
	timers []timer
	size   int
}

func (h *heap) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size
}

func (h *heap) Read(uint64) (uint64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.size == 0 {
		return 0, false
	}
	return h.timers[0].value, true
}

func (h *heap) Insert(key, value uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timers = append(h.timers, timer{key, value})
	h.size++
	h.up()
	return true
}

func (h *heap) Delete(uint64) (uint64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.size == 0 {
		return 0, false
	}
	h.size--
	value := h.timers[0].value
	h.timers[0] = h.timers[h.size]
	h.timers = h.timers[:h.size]
	h.down()
	return value, true
}

// up moves the last entry to where it belongs.
func (h *heap) up() {
	i := len(h.timers) - 1
	for t := h.timers[i]; i > 0; {
		parent := (i - 1) / 2
		if !t.less(h.timers[parent]) {
			break
		}
		h.timers[i], h.timers[parent] = h.timers[parent], t
		i = parent
	}
}

// down moves the first entry to where it belongs.
func (h *heap) down() {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(h.timers) {
			return
		}
		if right := least + 1; right < len(h.timers) && h.timers[right].less(h.timers[least]) {
			least = right
		}
		if !h.timers[least].less(h.timers[i]) {
			return
		}
		h.timers[i], h.timers[least] = h.timers[least], h.timers[i]
		i = least
	}
}

type link struct {
	key, value uint64
	next       *link
}

// list is sorted by key.
type list struct {
	mu   sync.Mutex
	head *link
	size int
}

func (l *list) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// find returns the last link before the key, nil if there is none, and the first
// that is not before it.
func (l *list) find(key uint64) (before, at *link) {
	for at = l.head; at != nil && at.key < key; at = at.next {
		before = at
	}
	return before, at
}

func (l *list) Read(key uint64) (uint64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, at := l.find(key); at != nil && at.key == key {
		return at.value, true
	}
	return 0, false
}

func (l *list) Insert(key, value uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, at := l.find(key)
	if at != nil && at.key == key {
		at.value = value
		return false
	}
	added := &link{key, value, at}
	if before == nil {
		l.head = added
	} else {
		before.next = added
	}
	l.size++
	return true
}

func (l *list) Delete(key uint64) (uint64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, at := l.find(key)
	if at == nil || at.key != key {
		return 0, false
	}
	if before == nil {
		l.head = at.next
	} else {
		before.next = at.next
	}
	l.size--
	return at.value, true
}

const hashBits = 12

type hash struct {
	mu      sync.Mutex
	buckets []*link
	size    int
}

func bucket(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> (64 - hashBits) }

func (h *hash) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size
}

func (h *hash) Read(key uint64) (uint64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for at := h.buckets[bucket(key)]; at != nil; at = at.next {
		if at.key == key {
			return at.value, true
		}
	}
	return 0, false
}

func (h *hash) Insert(key, value uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := bucket(key)
	for at := h.buckets[b]; at != nil; at = at.next {
		if at.key == key {
			at.value = value
			return false
		}
	}
	h.buckets[b] = &link{key, value, h.buckets[b]}
	h.size++
	return true
}

func (h *hash) Delete(key uint64) (uint64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := bucket(key)
	var before *link
	for at := h.buckets[b]; at != nil; before, at = at, at.next {
		if at.key != key {
			continue
		}
		if before == nil {
			h.buckets[b] = at.next
		} else {
			before.next = at.next
		}
		h.size--
		return at.value, true
	}
	return 0, false
}

// branch is a node of a trie that takes a key of 16 bits four bits at a time.
type branch struct {
	value    uint64
	present  bool
	children [16]*branch
}

const trieDepth = 4

func nibble(key uint64, d int) int { return int(key >> (4 * (trieDepth - 1 - d)) & 15) }

type trie struct {
	mu   sync.Mutex
	root *branch
	size int
}

func (t *trie) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

func (t *trie) find(key uint64) *branch {
	n := t.root
	for d := 0; d < trieDepth && n != nil; d++ {
		n = n.children[nibble(key, d)]
	}
	return n
}

func (t *trie) Read(key uint64) (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.find(key); n != nil && n.present {
		return n.value, true
	}
	return 0, false
}

func (t *trie) Insert(key, value uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.root
	for d := range trieDepth {
		i := nibble(key, d)
		if n.children[i] == nil {
			n.children[i] = new(branch)
		}
		n = n.children[i]
	}
	added := !n.present
	n.value, n.present = value, true
	if added {
		t.size++
	}
	return added
}

func (t *trie) Delete(key uint64) (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.find(key)
	if n == nil || !n.present {
		return 0, false
	}
	n.present = false
	t.size--
	return n.value, true
}

type frame struct {
	value uint64
	below *frame
}

type stack struct {
	mu   sync.Mutex
	top  *frame
	size int
}

func (s *stack) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

func (s *stack) Read(uint64) (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.top == nil {
		return 0, false
	}
	return s.top.value, true
}

func (s *stack) Insert(_, value uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.top = &frame{value, s.top}
	s.size++
	return true
}

func (s *stack) Delete(uint64) (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.top
	if f == nil {
		return 0, false
	}
	s.top = f.below
	s.size--
	return f.value, true
}
