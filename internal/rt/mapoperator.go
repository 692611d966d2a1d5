package rt

// Assignments like m[k] += v. Each is one operation on the map, as it is for the runtime. An operator needs to
// know of the elements what a Mapping does not, and a method cannot ask for it: so there is a type for
// each of the constraints that operators have.

// A SumMap is a map with elements that can be added.
type SumMap[K comparable, V number | ~string] struct{ Mapping[K, V] }

// SumsOf returns the mapping of m. It is no step of the goroutine.
func SumsOf[K comparable, V number | ~string](m map[K]V) SumMap[K, V] {
	return SumMap[K, V]{Mapping[K, V]{m}}
}

// A NumberMap is a map with elements that can be computed with.
type NumberMap[K comparable, V number] struct{ Mapping[K, V] }

// NumbersOf returns the mapping of m. It is no step of the goroutine.
func NumbersOf[K comparable, V number](m map[K]V) NumberMap[K, V] {
	return NumberMap[K, V]{Mapping[K, V]{m}}
}

// An IntegerMap is a map with elements that have bits.
type IntegerMap[K comparable, V integer] struct{ Mapping[K, V] }

// IntegersOf returns the mapping of m. It is no step of the goroutine.
func IntegersOf[K comparable, V integer](m map[K]V) IntegerMap[K, V] {
	return IntegerMap[K, V]{Mapping[K, V]{m}}
}

// Add is m[k] += v.
func (m SumMap[K, V]) Add(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordUpdate(k, func(x V) V { return x + v }, site)
	} else {
		MW(m.m, site)
	}
	m.m[k] += v
}

// Sub is m[k] -= v.
func (m NumberMap[K, V]) Sub(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordUpdate(k, func(x V) V { return x - v }, site)
	} else {
		MW(m.m, site)
	}
	m.m[k] -= v
}

// Mul is m[k] *= v.
func (m NumberMap[K, V]) Mul(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordUpdate(k, func(x V) V { return x * v }, site)
	} else {
		MW(m.m, site)
	}
	m.m[k] *= v
}

// Quo is m[k] /= v.
func (m NumberMap[K, V]) Quo(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordUpdate(k, func(x V) V { return x / v }, site)
	} else {
		MW(m.m, site)
	}
	m.m[k] /= v
}

// Rem is m[k] %= v.
func (m IntegerMap[K, V]) Rem(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordUpdate(k, func(x V) V { return x % v }, site)
	} else {
		MW(m.m, site)
	}
	m.m[k] %= v
}

// And is m[k] &= v.
func (m IntegerMap[K, V]) And(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordUpdate(k, func(x V) V { return x & v }, site)
	} else {
		MW(m.m, site)
	}
	m.m[k] &= v
}

// Or is m[k] |= v.
func (m IntegerMap[K, V]) Or(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordUpdate(k, func(x V) V { return x | v }, site)
	} else {
		MW(m.m, site)
	}
	m.m[k] |= v
}

// Xor is m[k] ^= v.
func (m IntegerMap[K, V]) Xor(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordUpdate(k, func(x V) V { return x ^ v }, site)
	} else {
		MW(m.m, site)
	}
	m.m[k] ^= v
}

// AndNot is m[k] &^= v.
func (m IntegerMap[K, V]) AndNot(k K, v V, site uint32) {
	if recordsEntry(site) {
		m.recordUpdate(k, func(x V) V { return x &^ v }, site)
	} else {
		MW(m.m, site)
	}
	m.m[k] &^= v
}
