package structures

import "github.com/cofferdam-go/cofferdam/isolate"

// The hash table is chained, with as many buckets as it is meant to hold
// entries.

const (
	hashBits = 12
	buckets  = 1 << hashBits
)

// bucket is Fibonacci hashing.
func bucket(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> (64 - hashBits) }

type stockHash struct {
	buckets []*stockLink
}

func newStockHash() *stockHash { return &stockHash{make([]*stockLink, buckets)} }

func (h *stockHash) find(key uint64) (**stockLink, *stockLink) {
	at := &h.buckets[bucket(key)]
	for *at != nil && (*at).key != key {
		at = &(*at).next
	}
	return at, *at
}

func (h *stockHash) Read(key uint64) (uint64, bool) {
	if _, n := h.find(key); n != nil {
		return n.value, true
	}
	return 0, false
}

func (h *stockHash) Insert(key, value uint64) bool {
	at, n := h.find(key)
	if n != nil {
		n.value = value
		return false
	}
	*at = &stockLink{key, value, nil}
	return true
}

func (h *stockHash) Delete(key uint64) (uint64, bool) {
	at, n := h.find(key)
	if n == nil {
		return 0, false
	}
	*at = n.next
	return n.value, true
}

type hashRoot struct {
	buckets [buckets]isolate.Ref[link]
}

func (h *hashRoot) find(key uint64) (*isolate.Ref[link], *link) {
	at := &h.buckets[bucket(key)]
	n := isolate.Follow(h, *at)
	for n != nil && n.key != key {
		at = &n.next
		n = isolate.Follow(n, *at)
	}
	return at, n
}

func (h *hashRoot) read(key uint64) (uint64, bool) {
	if _, n := h.find(key); n != nil {
		return n.value, true
	}
	return 0, false
}

func (h *hashRoot) insert(g isolate.Guard, key, value uint64) bool {
	at, n := h.find(key)
	if n != nil {
		n.value = value
		return false
	}
	added, ref := fresh[hashRoot, link](g, h)
	added.key, added.value = key, value
	*at = ref
	return true
}

func (h *hashRoot) remove(g isolate.Guard, key uint64) (uint64, bool) {
	at, n := h.find(key)
	if n == nil {
		return 0, false
	}
	*at = n.next
	value := n.value
	isolate.Free(g, n)
	return value, true
}
