package tolerate

import (
	"maps"
	"reflect"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// CloneMap copies a map with its entries, and says how many it had.
func CloneMap[M ~map[K]V, K comparable, V any](m M) (entries int, clone M) {
	return len(m), maps.Clone(m)
}

// PutMap publishes what a section has made of a map. If the section has changed entries
// it has done so in a copy, own, of which before had entries many: careless code that
// reads the map meanwhile reads the old one. Careless writes to it are lost, and are
// recognised if they changed the number of its entries.
func PutMap[M ~map[K]V, K comparable, V any](p *M, own, before M, entries int, l *Label) {
	if entries >= 0 && len(before) != entries {
		t := typeOf[M]()
		record("", []*race{{
			policy: l.policy(t), typed: t, address: uint64(uintptr(unsafe.Pointer(p))),
			classes: classify(true, true, false), outcome: finding.Refused,
		}})
	}
	switch {
	case !SamePointer(*p, before):
		Settle(p, own, before, l)
	case !SamePointer(own, before):
		*p = own
	}
}

// PutUnion is [PutMap] for a map whose careless changes are to be kept: the section's changes
// are made to the map as it is now, and where both have changed a key, careless code's stays.
// See [Union]; entries is what the map had when the section copied it. Against careless code
// that writes the map at the same time this comparison is no safer than any other loop over
// the map.
func PutUnion[M ~map[K]V, K comparable, V any](p *M, own, before, entries M, count int, l *Label) {
	if count < 0 || SamePointer(own, before) {
		PutMap(p, own, before, count, l)
		return
	}
	theirs := *p
	same := equality[V]()
	if SamePointer(theirs, before) && maps.EqualFunc(theirs, entries, same) {
		*p = own
		return
	}
	*p = unite(theirs, own, entries, same)
	t := typeOf[M]()
	record("", []*race{{
		policy: l.policy(t), typed: t, address: uint64(uintptr(unsafe.Pointer(p))),
		classes: classify(true, true, false), outcome: finding.Resolved,
	}})
}

// equality reports whether an entry is what it was: by its bits, which says it for what has no
// ==, such as a slice, or by ==.
func equality[V any]() func(a, b V) bool {
	comparable := reflect.TypeFor[V]().Comparable()
	return func(a, b V) (same bool) {
		size := unsafe.Sizeof(a)
		if unsafe.String((*byte)(unsafe.Pointer(&a)), size) == unsafe.String((*byte)(unsafe.Pointer(&b)), size) {
			return true
		}
		defer func() { _ = recover() }() // an interface with something in it that has no ==
		return comparable && any(a) == any(b)
	}
}
