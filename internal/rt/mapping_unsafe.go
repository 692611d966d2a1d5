package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// MR announces that m is about to be read (range m, len(m)), and returns m.
func MR[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	mapRead(mapPointer(m), site, nil)
	return m
}

// LenMap is len(m).
func LenMap[M ~map[K]V, K comparable, V any](m M, site uint32) int {
	return len(MR(m, site))
}

// MW announces that m is about to be written, and returns m.
func MW[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if mapWrite(mapPointer(m), site, nil, 0) {
		keepMap(m)
	}
	return m
}

// ClearMap announces that all entries of m are about to be removed, and returns m.
func ClearMap[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if mapWrite(mapPointer(m), site, nil, len(m)) {
		keepMap(m)
	}
	return m
}

// A Mapping is a map of which an element is going to be read or set once its key, and what it
// is set to, have been computed.
type Mapping[K comparable, V any] struct{ m map[K]V }

// Map returns the mapping of m. It is no step of the goroutine.
func Map[K comparable, V any](m map[K]V) Mapping[K, V] { return Mapping[K, V]{m} }

// Get is m[k].
func (m Mapping[K, V]) Get(k K, site uint32) V {
	if recordsEntry(site) {
		m.recordRead(k, site)
		return m.m[k]
	}
	return MR(m.m, site)[k]
}

// Get2 is v, ok := m[k].
func (m Mapping[K, V]) Get2(k K, site uint32) (v V, ok bool) {
	if recordsEntry(site) {
		m.recordRead(k, site)
		v, ok = m.m[k]
		return v, ok
	}
	v, ok = MR(m.m, site)[k]
	return v, ok
}

// Visit announces that a loop over m has come to k.
func (m Mapping[K, V]) Visit(k K, site uint32) {
	if recordsEntry(site) {
		m.recordRead(k, site)
		return
	}
	MR(m.m, site)
}

// Delete is delete(m, k).
func (m Mapping[K, V]) Delete(k K, site uint32) {
	if recordsEntry(site) {
		m.recordDelete(k, site)
		delete(m.m, k)
		return
	}
	delete(MW(m.m, site), k)
}

// Set is m[k] = v.
func (m Mapping[K, V]) Set(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordSet(k, v, site)
	} else if mapWrite(mapPointer(m.m), site, nil, 0) {
		keepMap(m.m)
	}
	m.m[k] = v
}

// Update announces that m[k] is about to be updated (m[k] <<= s), and returns m.
func (m Mapping[K, V]) Update(k K, site uint32) map[K]V {
	if recordsEntry(site) {
		m.recordUpdate(k, nil, site)
		return m.m
	}
	return MW(m.m, site)
}

// recordsEntry reports whether an access at a site is recorded with the entry. Those of the
// standard library have no site that could say what an entry is.
func recordsEntry(site uint32) bool { return site != 0 && recording.Load() }

// What follows is not inlined, since what a lookup looks at goes to the heap.

//go:noinline
func (m Mapping[K, V]) recordRead(k K, site uint32) {
	mapRead(mapPointer(m.m), site, func() (before, after event.Entry) { return m.entry(&k), event.Entry{} })
}

//go:noinline
func (m Mapping[K, V]) recordSet(k K, v V, site uint32) {
	m.recordWrite(site, func() (before, after event.Entry) {
		before = m.entry(&k)
		return before, withValue(before, &v)
	})
}

// recordUpdate records that the value becomes what an operator makes of it; nil for one that is not known.
//
//go:noinline
func (m Mapping[K, V]) recordUpdate(k K, operator func(V) V, site uint32) {
	m.recordWrite(site, func() (before, after event.Entry) {
		before = m.entry(&k)
		if operator == nil {
			after = before
			after.Value, after.Held = nil, true
			return before, after
		}
		v := operator(m.m[k])
		return before, withValue(before, &v)
	})
}

//go:noinline
func (m Mapping[K, V]) recordDelete(k K, site uint32) {
	m.recordWrite(site, func() (before, after event.Entry) {
		before = m.entry(&k)
		after = before
		after.Value, after.Held = nil, false
		return before, after
	})
}

func (m Mapping[K, V]) recordWrite(site uint32, of lookup) {
	if mapWrite(mapPointer(m.m), site, of, 0) {
		keepMap(m.m)
	}
}

// entry is what the map holds for a key.
func (m Mapping[K, V]) entry(k *K) event.Entry {
	v, held := m.m[*k]
	e := event.Entry{ValueKind: kindOf[V]()}
	e.Key, e.KeyKind = memoryOf(k)
	if held {
		e = withValue(e, &v)
	}
	return e
}

// withValue is an entry that has a value instead of what it has.
func withValue[V any](e event.Entry, v *V) event.Entry {
	e.Value, e.ValueKind = memoryOf(v)
	e.Held = true
	return e
}

// memoryOf is the memory of a variable, and its kind. Of an interface it is what that holds, if this is
// something that does not lie in the interface itself: a number, a string or a bool.
func memoryOf[T any](p *T) (memory []byte, kind uint8) {
	memory, kind = bytesOf(p), kindOf[T]()
	if kind != interfaceKind {
		return memory, kind
	}
	held := any(*p)
	words := *(*[2]unsafe.Pointer)(unsafe.Pointer(&held))
	if words[0] == nil {
		return memory, kind
	}
	if of := kindAt(words[0]); of >= firstPlain && of <= lastPlain || of == stringKind {
		return unsafe.Slice((*byte)(words[1]), *(*uintptr)(words[0])), of // a description begins with the size
	}
	return memory, kind
}

// A lookup finds, for a record, what a map holds for a key before and after an access. No code of
// the program runs: keys are compared by the runtime.
type lookup func() (before, after event.Entry)

// emitEntry is emit for an access to a map, with the entry if that is known, or with how many entries are
// removed.
func (s *scheduler) emitEntry(c *goroutine, kind event.Kind, site uint32, addr uintptr, of lookup, removed int) {
	if of == nil || !s.recorder.On {
		s.emit(c, kind, site, addr, mapSize, uint64(removed))
		return
	}
	before, after, ok := lookUp(of)
	if !ok {
		s.emit(c, kind, site, addr, mapSize, 0)
		return
	}
	s.completeLast()
	s.recorder.Entry(c.id, c.Frame, kind, site, addr, mapSize, before, after)
}

// lookUp calls a lookup. It reports false for a key that cannot be one: the program is about to
// panic.
func lookUp(of lookup) (before, after event.Entry, ok bool) {
	defer func() {
		if !ok {
			_ = recover()
		}
	}()
	before, after = of()
	return before, after, true
}

// Where the runtime describes a type: the type that a pointer points to, and the kind of a type.
const (
	elementOffset = 48
	kindOffset    = 23
	kindMask      = 31
)

// Kinds, as package reflect numbers them. Those from bool to complex128 are plain.
const (
	firstPlain    = 1
	lastPlain     = 16
	interfaceKind = 20
	stringKind    = 24
)

// kindOf is the kind of a type, as package reflect numbers it.
func kindOf[T any]() uint8 {
	pointer := any((*T)(nil))
	described := *(*unsafe.Pointer)(unsafe.Pointer(&pointer))
	element := *(*unsafe.Pointer)(unsafe.Add(described, elementOffset))
	return kindAt(element)
}

// kindAt is the kind of the type that the runtime describes somewhere.
func kindAt(described unsafe.Pointer) uint8 {
	return *(*uint8)(unsafe.Add(described, kindOffset)) & kindMask
}

// bytesOf is the memory of a variable.
func bytesOf[T any](p *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p)) }

// mapPointer is what stands for a map.
func mapPointer[M ~map[K]V, K comparable, V any](m M) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&m))
}
