// Package compiled is what transactions call that were compiled from plain code: programs
// that are built by cofferdam with -stm import it, in sources that nobody sees. It is not
// meant to be used by hand; what is, is package stm.
//
//	s = append(s, v)      stm.Store(tx, &s, compiled.On(tx, stm.Load(tx, &s)).Append(v))
//	f(x)                  compiled.Function(tx, f)(x)
//	make([]T, n)          make([]T, compiled.Length(tx, n, 16))
//	recover()             compiled.Recover(tx, recover())
//
// Operations on one value are in compiled.go, on slices in slices.go, on their order in order.go, functions of packages
// slices and maps in sequences.go, what packages sort and container/heap are given in methods.go, errors and what is written out in errors.go, and calls through function values and interfaces in calls_unsafe.go.
package compiled

import (
	"github.com/cofferdam-go/cofferdam/stm"
)

// A Cell is a variable in a transaction, for a value that is assignable to it and of another
// type.
type Cell[T any] struct {
	tx *stm.Tx
	p  *T
}

// At returns a variable as a cell.
func At[T any](tx *stm.Tx, p *T) Cell[T] { return Cell[T]{tx, p} }

// Set is *p = v.
func (c Cell[T]) Set(v T) { stm.Store(c.tx, c.p, v) }

// As is a value as one of the variable's type: that is a constant's, or a shift's.
func (c Cell[T]) As(v T) T { return v }

// Entry is an entry of a map, for a key and a value that are assignable and of other types.
type Entry[K comparable, V any] struct {
	tx *stm.Tx
	m  map[K]V
}

// In returns the entries of a map.
func In[K comparable, V any](tx *stm.Tx, m map[K]V) Entry[K, V] { return Entry[K, V]{tx, m} }

// Get is m[k].
func (e Entry[K, V]) Get(k K) V {
	v, _ := stm.MapLoad(e.tx, e.m, k)
	return v
}

// Find is v, ok := m[k].
func (e Entry[K, V]) Find(k K) (V, bool) { return stm.MapLoad(e.tx, e.m, k) }

// Set is m[k] = v.
func (e Entry[K, V]) Set(k K, v V) { stm.MapStore(e.tx, e.m, k, v) }

// As is a value as one of the type of the map's values.
func (e Entry[K, V]) As(v V) V { return v }

// Delete is delete(m, k).
func (e Entry[K, V]) Delete(k K) { stm.MapDelete(e.tx, e.m, k) }

// checkedLength is how many bytes a transaction may allocate at once without being
// validated.
const checkedLength = 1 << 20

// Integer is what a length can be.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Length returns the length of something that is about to be allocated, of elements of a
// size. If it is large, or none, the transaction is validated first: a doomed one could ask
// for anything.
func Length[T Integer](tx *stm.Tx, n T, size uint64) T {
	if n < 0 || uint64(n) > checkedLength/max(size, 1) {
		tx.Validate()
	}
	return n
}

// Recover returns what was recovered, unless it is not the function's to see: the end of an
// attempt, or a panic of one that is doomed.
func Recover(tx *stm.Tx, recovered any) any {
	if recovered != nil {
		tx.Validate()
	}
	return recovered
}

// Channel returns a channel whose length is about to be read: others may send and receive in
// transactions, too.
func Channel[C any](tx *stm.Tx, c C) C {
	tx.Observe()
	return c
}

// Transaction returns a function with plain accesses as one of a transaction.
func Transaction(fn func()) func(tx *stm.Tx) {
	return func(tx *stm.Tx) { Function(tx, fn)() }
}
