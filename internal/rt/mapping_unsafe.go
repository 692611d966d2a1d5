package rt

import "unsafe"

// MR announces that m is about to be read (m[k], len(m), range m), and returns m.
func MR[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	mapRead(*(*unsafe.Pointer)(unsafe.Pointer(&m)), site)
	return m
}

// MW announces that m is about to be written (delete, clear, m[k] = v, m[k] op= v),
// and returns m.
func MW[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	if mapWrite(*(*unsafe.Pointer)(unsafe.Pointer(&m)), site) {
		keepMap(m)
	}
	return m
}

// A Mapping is a map of which an element is going to be set once it has been computed.
type Mapping[K comparable, V any] struct{ m map[K]V }

// Map returns the mapping of m. It is no step of the goroutine.
func Map[K comparable, V any](m map[K]V) Mapping[K, V] { return Mapping[K, V]{m} }

// Set is m[k] = v.
func (m Mapping[K, V]) Set(k K, v V, site uint32) {
	if mapWrite(*(*unsafe.Pointer)(unsafe.Pointer(&m.m)), site) {
		keepMap(m.m)
	}
	m.m[k] = v
}
