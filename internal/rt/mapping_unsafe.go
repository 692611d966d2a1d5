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

// MW announces that m is about to be written (clear), and returns m.
func MW[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if mapWrite(mapPointer(m), site, nil) {
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
	} else if mapWrite(mapPointer(m.m), site, nil) {
		keepMap(m.m)
	}
	m.m[k] = v
}

// Update announces that m[k] is about to be updated (m[k] op= v), and returns m.
func (m Mapping[K, V]) Update(k K, site uint32) map[K]V {
	if recordsEntry(site) {
		m.recordUpdate(k, site)
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
		return before, event.Entry{Key: before.Key, Value: bytesOf(&v), Held: true}
	})
}

// recordUpdate does not know what the value becomes.
//
//go:noinline
func (m Mapping[K, V]) recordUpdate(k K, site uint32) {
	m.recordWrite(site, func() (before, after event.Entry) {
		before = m.entry(&k)
		return before, event.Entry{Key: before.Key, Held: true}
	})
}

//go:noinline
func (m Mapping[K, V]) recordDelete(k K, site uint32) {
	m.recordWrite(site, func() (before, after event.Entry) {
		before = m.entry(&k)
		return before, event.Entry{Key: before.Key}
	})
}

func (m Mapping[K, V]) recordWrite(site uint32, of lookup) {
	if mapWrite(mapPointer(m.m), site, of) {
		keepMap(m.m)
	}
}

// entry is what the map holds for a key.
func (m Mapping[K, V]) entry(k *K) event.Entry {
	v, held := m.m[*k]
	e := event.Entry{Key: bytesOf(k), Held: held}
	if held {
		e.Value = bytesOf(&v)
	}
	return e
}

// A lookup finds, for a record, what a map holds for a key before and after an access. No code of
// the program runs: keys are compared by the runtime.
type lookup func() (before, after event.Entry)

// emitEntry is emit for an access to a map, with the entry if that is known.
func (s *scheduler) emitEntry(c *goroutine, kind event.Kind, site uint32, addr uintptr, of lookup) {
	if of == nil || !s.recorder.On {
		s.emit(c, kind, site, addr, mapSize, 0)
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

// bytesOf is the memory of a variable.
func bytesOf[T any](p *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p)) }

// mapPointer is what stands for a map.
func mapPointer[M ~map[K]V, K comparable, V any](m M) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&m))
}
