package compiled

import "github.com/cofferdam-go/cofferdam/stm"

// A Slice is a slice in a transaction, that values are appended to which are assignable to its
// elements, and maybe of other types.
type Slice[S ~[]T, T any] struct {
	tx *stm.Tx
	s  S
}

// On returns a slice to append to.
func On[S ~[]T, T any](tx *stm.Tx, s S) Slice[S, T] { return Slice[S, T]{tx, s} }

// Append is append(s, values...). Elements beyond the length of a slice are shared with
// other slices of the same array, and so written like any others.
func (l Slice[S, T]) Append(values ...T) S {
	before, s := len(l.s), l.s
	if before+len(values) <= cap(s) {
		s = s[:before+len(values)]
		for i, v := range values {
			stm.Store(l.tx, &s[before+i], v)
		}
		return s
	}
	l.tx.Check()
	// A new array is nobody else's: it is written plainly. A slice of the same length and
	// capacity has the runtime choose the capacity that a plain append would have.
	same := make(S, before, Length(l.tx, cap(s), sizeOf[T]()))
	stm.Copy(same, s)
	return append(same, values...)
}

// AppendSlice is append(s, more...), with elements that are shared.
func (l Slice[S, T]) AppendSlice(more []T) S { return l.Append(Elements(l.tx, more)...) }

// AppendText is append(s, text...), for bytes.
func (l Slice[S, T]) AppendText(text string) S {
	values := make([]T, len(text))
	for i := range values {
		values[i] = any(text[i]).(T)
	}
	return l.Append(values...)
}

// Copy is copy(to, from), which may overlap.
func Copy[T any](tx *stm.Tx, to, from []T) int {
	n := min(len(to), len(from))
	values := Elements(tx, from[:n])
	for i := range values {
		stm.Store(tx, &to[i], values[i])
	}
	return n
}

// CopyText is copy(to, from) of a string.
func CopyText[S ~[]B, B ~byte](tx *stm.Tx, to S, from string) int {
	n := min(len(to), len(from))
	for i := range n {
		stm.Store(tx, &to[i], B(from[i]))
	}
	return n
}

// Clear is clear(s).
func Clear[S ~[]T, T any](tx *stm.Tx, s S) {
	var zero T
	for i := range s {
		stm.Store(tx, &s[i], zero)
	}
}

// Elements are the elements of a slice, as a slice of the transaction's own, for a
// conversion that reads them all.
func Elements[S ~[]T, T any](tx *stm.Tx, s S) S {
	if s == nil {
		return nil
	}
	own := make(S, Length(tx, len(s), sizeOf[T]()))
	stm.Copy(own, s)
	return own
}
