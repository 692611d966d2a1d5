package compiled

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/cofferdam-go/cofferdam/stm"
)

// Functions of packages slices and maps, as they are in a transaction: each does what the one of
// the same name does, in the same order, with slices and maps that are shared. An iterator finds
// its transaction by itself, as it may be used after the one that made it.

// Insert is slices.Insert(s, i, values...).
func Insert[S ~[]E, E any](tx *stm.Tx, s S, i int, values ...E) S {
	_ = s[i:]
	n, more := len(s), len(values)
	switch {
	case more == 0:
		return s
	case i == n:
		return On(tx, s).AppendSlice(values)
	case n+more > cap(s):
		larger := On(tx, s[:i]).AppendSlice(make(S, n+more-i))
		Copy(tx, larger[i:], values)
		Copy(tx, larger[i+more:], s[i:])
		return larger
	}
	values = Elements(tx, values) // some may be among those that make room
	s = s[:n+more]
	Copy(tx, s[i+more:], s[i:])
	Copy(tx, s[i:], values)
	return s
}

// Delete is slices.Delete(s, i, j).
func Delete[S ~[]E, E any](tx *stm.Tx, s S, i, j int) S {
	_ = s[i:j:len(s)]
	if i == j {
		return s
	}
	rest := On(tx, s[:i]).AppendSlice(s[j:])
	Clear(tx, s[len(rest):])
	return rest
}

// DeleteFunc is slices.DeleteFunc(s, f).
func DeleteFunc[S ~[]E, E any](tx *stm.Tx, s S, f func(E) bool) S {
	f = Function(tx, f)
	kept := 0
	for i := range s {
		tx.Check()
		v := stm.Load(tx, &s[i])
		if f(v) {
			continue
		}
		if kept < i {
			stm.Store(tx, &s[kept], v)
		}
		kept++
	}
	Clear(tx, s[kept:])
	return s[:kept]
}

// Compact is slices.Compact(s).
func Compact[S ~[]E, E comparable](tx *stm.Tx, s S) S {
	return compact(tx, s, func(a, b E) bool { return a == b })
}

// CompactFunc is slices.CompactFunc(s, equal).
func CompactFunc[S ~[]E, E any](tx *stm.Tx, s S, equal func(E, E) bool) S {
	return compact(tx, s, Function(tx, equal))
}

func compact[S ~[]E, E any](tx *stm.Tx, s S, equal func(E, E) bool) S {
	if len(s) < 2 {
		return s
	}
	kept, last := 1, stm.Load(tx, &s[0])
	for i := 1; i < len(s); i++ {
		v := stm.Load(tx, &s[i])
		if !equal(v, last) {
			if kept < i {
				stm.Store(tx, &s[kept], v)
			}
			kept++
		}
		last = v
	}
	Clear(tx, s[kept:])
	return s[:kept]
}

// Grow is slices.Grow(s, n).
func Grow[S ~[]E, E any](tx *stm.Tx, s S, n int) S {
	if more := n - (cap(s) - len(s)); n >= 0 && more > 0 {
		return On(tx, s[:cap(s)]).Append(stm.Make[E](tx, more)...)[:len(s)]
	}
	return slices.Grow(s, n) // as it is, or it panics
}

// Clip is slices.Clip(s).
func Clip[S ~[]E, E any](_ *stm.Tx, s S) S { return slices.Clip(s) }

// Concat is slices.Concat(all...).
func Concat[S ~[]E, E any](tx *stm.Tx, all ...S) S {
	all = Elements(tx, all)
	for i, s := range all {
		all[i] = Elements(tx, s)
	}
	return slices.Concat(all...)
}

// Repeat is slices.Repeat(s, count).
func Repeat[S ~[]E, E any](tx *stm.Tx, s S, count int) S {
	return slices.Repeat(Elements(tx, s), Length(tx, count, sizeOf[E]()*uint64(len(s)))) //stmcheck:ok Length validates
}

// Replace is slices.Replace(s, i, j, values...).
func Replace[S ~[]E, E any](tx *stm.Tx, s S, i, j int, values ...E) S {
	_ = s[i:j]
	if i == j {
		return Insert(tx, s, i, values...)
	}
	values = Elements(tx, values) // some may be among those that are replaced, or move
	if j == len(s) {
		replaced := On(tx, s[:i]).Append(values...)
		if len(replaced) < len(s) {
			Clear(tx, s[len(replaced):])
		}
		return replaced
	}
	n := i + len(values) + len(s) - j
	if n > cap(s) {
		larger := On(tx, s[:i]).Append(make(S, n-i)...)
		Copy(tx, larger[i:], values)
		Copy(tx, larger[i+len(values):], s[j:])
		return larger
	}
	replaced := s[:n]
	Copy(tx, replaced[i+len(values):], s[j:])
	Copy(tx, replaced[i:], values)
	if n < len(s) {
		Clear(tx, s[n:])
	}
	return replaced
}

// Values is slices.Values(s).
func Values[S ~[]E, E any](s S) iter.Seq[E] {
	return Value(iter.Seq[E](func(yield func(E) bool) {
		tx := stm.Current()
		if tx == nil {
			slices.Values(s)(yield)
			return
		}
		yield = Function(tx, yield)
		for i := range s {
			if !yield(stm.Load(tx, &s[i])) {
				return
			}
		}
	}))
}

// All is slices.All(s).
func All[S ~[]E, E any](s S) iter.Seq2[int, E] {
	return Value(iter.Seq2[int, E](func(yield func(int, E) bool) {
		tx := stm.Current()
		if tx == nil {
			slices.All(s)(yield)
			return
		}
		yield = Function(tx, yield)
		for i := range s {
			if !yield(i, stm.Load(tx, &s[i])) {
				return
			}
		}
	}))
}

// Backward is slices.Backward(s).
func Backward[S ~[]E, E any](s S) iter.Seq2[int, E] {
	return Value(iter.Seq2[int, E](func(yield func(int, E) bool) {
		tx := stm.Current()
		if tx == nil {
			slices.Backward(s)(yield)
			return
		}
		yield = Function(tx, yield)
		for i := len(s) - 1; i >= 0; i-- {
			if !yield(i, stm.Load(tx, &s[i])) {
				return
			}
		}
	}))
}

// Chunk is slices.Chunk(s, n).
func Chunk[S ~[]E, E any](s S, n int) iter.Seq[S] {
	chunks := slices.Chunk(s, n)
	return Value(iter.Seq[S](func(yield func(S) bool) {
		tx := stm.Current()
		if tx != nil {
			yield = Function(tx, yield)
		}
		chunks(func(chunk S) bool {
			if tx != nil {
				tx.Check()
			}
			return yield(chunk)
		})
	}))
}

// AppendSeq is slices.AppendSeq(s, all).
func AppendSeq[S ~[]E, E any](tx *stm.Tx, s S, all iter.Seq[E]) S {
	Iterate1[E](tx, all)(func(v E) bool {
		s = On(tx, s).Append(v)
		return true
	})
	return s
}

// Collect is slices.Collect(all).
func Collect[E any](tx *stm.Tx, all iter.Seq[E]) (own []E) {
	Iterate1[E](tx, all)(func(v E) bool {
		tx.Check()
		own = append(own, v)
		return true
	})
	return own
}

// Sorted is slices.Sorted(all).
func Sorted[E cmp.Ordered](tx *stm.Tx, all iter.Seq[E]) []E {
	own := Collect(tx, all)
	slices.Sort(own)
	return own
}

// SortedFunc is slices.SortedFunc(all, compare).
func SortedFunc[E any](tx *stm.Tx, all iter.Seq[E], compare func(E, E) int) []E {
	own := Collect(tx, all)
	slices.SortFunc(own, Function(tx, compare))
	return own
}

// SortedStableFunc is slices.SortedStableFunc(all, compare).
func SortedStableFunc[E any](tx *stm.Tx, all iter.Seq[E], compare func(E, E) int) []E {
	own := Collect(tx, all)
	slices.SortStableFunc(own, Function(tx, compare))
	return own
}

// MapEntries is maps.All(m).
func MapEntries[M ~map[K]V, K comparable, V any](m M) iter.Seq2[K, V] {
	return Value(iter.Seq2[K, V](func(yield func(K, V) bool) {
		tx := stm.Current()
		if tx == nil {
			maps.All(m)(yield)
			return
		}
		yield = Function(tx, yield)
		for k, v := range stm.MapAll(tx, m) {
			if !yield(k, v) {
				return
			}
		}
	}))
}

// MapKeys is maps.Keys(m).
func MapKeys[M ~map[K]V, K comparable, V any](m M) iter.Seq[K] {
	return Value(iter.Seq[K](func(yield func(K) bool) {
		tx := stm.Current()
		if tx == nil {
			maps.Keys(m)(yield)
			return
		}
		yield = Function(tx, yield)
		for k := range stm.MapAll(tx, m) {
			if !yield(k) {
				return
			}
		}
	}))
}

// MapValues is maps.Values(m).
func MapValues[M ~map[K]V, K comparable, V any](m M) iter.Seq[V] {
	return Value(iter.Seq[V](func(yield func(V) bool) {
		tx := stm.Current()
		if tx == nil {
			maps.Values(m)(yield)
			return
		}
		yield = Function(tx, yield)
		for _, v := range stm.MapAll(tx, m) {
			if !yield(v) {
				return
			}
		}
	}))
}

// MapClone is maps.Clone(m).
func MapClone[M ~map[K]V, K comparable, V any](tx *stm.Tx, m M) M {
	if m == nil {
		return nil
	}
	own := make(M)
	for k, v := range stm.MapAll(tx, m) {
		own[k] = v
	}
	return own
}

// MapCollect is maps.Collect(all).
func MapCollect[K comparable, V any](tx *stm.Tx, all iter.Seq2[K, V]) map[K]V {
	own := make(map[K]V)
	Iterate2[K, V](tx, all)(func(k K, v V) bool {
		tx.Check()
		own[k] = v
		return true
	})
	return own
}

// MapInsert is maps.Insert(m, all).
func MapInsert[M ~map[K]V, K comparable, V any](tx *stm.Tx, m M, all iter.Seq2[K, V]) {
	Iterate2[K, V](tx, all)(func(k K, v V) bool {
		stm.MapStore(tx, m, k, v)
		return true
	})
}

// MapEqual is maps.Equal(a, b).
func MapEqual[M1, M2 ~map[K]V, K, V comparable](tx *stm.Tx, a M1, b M2) bool {
	return mapEqual(tx, a, b, func(v, w V) bool { return v == w })
}

// MapEqualFunc is maps.EqualFunc(a, b, equal).
func MapEqualFunc[M1 ~map[K]V1, M2 ~map[K]V2, K comparable, V1, V2 any](tx *stm.Tx, a M1, b M2, equal func(V1, V2) bool) bool {
	return mapEqual(tx, a, b, Function(tx, equal))
}

func mapEqual[M1 ~map[K]V1, M2 ~map[K]V2, K comparable, V1, V2 any](tx *stm.Tx, a M1, b M2, equal func(V1, V2) bool) bool {
	if stm.MapLen(tx, a) != stm.MapLen(tx, b) {
		return false
	}
	for k, v := range stm.MapAll(tx, a) {
		if w, ok := stm.MapLoad(tx, b, k); !ok || !equal(v, w) {
			return false
		}
	}
	return true
}

// MapCopy is maps.Copy(to, from).
func MapCopy[M1 ~map[K]V, M2 ~map[K]V, K comparable, V any](tx *stm.Tx, to M1, from M2) {
	for k, v := range stm.MapAll(tx, from) {
		stm.MapStore(tx, to, k, v)
	}
}

// MapDeleteFunc is maps.DeleteFunc(m, f).
func MapDeleteFunc[M ~map[K]V, K comparable, V any](tx *stm.Tx, m M, f func(K, V) bool) {
	f = Function(tx, f)
	for k, v := range stm.MapAll(tx, m) {
		if f(k, v) {
			stm.MapDelete(tx, m, k)
		}
	}
}
