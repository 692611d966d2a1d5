package rt

import "unsafe"

// MR announces that m is about to be read (v, ok := m[k], range m), and returns m.
func MR[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	mapRead(*(*unsafe.Pointer)(unsafe.Pointer(&m)), site)
	return m
}

// LenMap is len(m).
func LenMap[M ~map[K]V, K comparable, V any](m M, site uint32) int {
	return len(MR(m, site))
}

// MW announces that m is about to be written (clear, m[k] = v, m[k] op= v), and returns m.
func MW[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if mapWrite(*(*unsafe.Pointer)(unsafe.Pointer(&m)), site) {
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
func (m Mapping[K, V]) Get(k K, site uint32) V { return MR(m.m, site)[k] }

// Delete is delete(m, k).
func (m Mapping[K, V]) Delete(k K, site uint32) { delete(MW(m.m, site), k) }

// Set is m[k] = v.
func (m Mapping[K, V]) Set(k K, v V, site uint32) {
	if mapWrite(*(*unsafe.Pointer)(unsafe.Pointer(&m.m)), site) {
		keepMap(m.m)
	}
	m.m[k] = v
}
