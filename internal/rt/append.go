package rt

// AppendSlice is append(s, t...): t's elements are read, and as many are written
// after s's. The store is announced last, because the next announcement completes it.
func AppendSlice[S ~[]E, E any](s S, t []E, site uint32) S {
	t = RS(t, site)
	return append(Append(s, len(t), site), t...)
}

// AppendString is append(s, t...) of a string to bytes.
func AppendString[S ~[]E, E ~byte, T ~string](s S, t T, site uint32) S {
	n := len(s)
	s = append(Append(s, len(t), site), make(S, len(t))...)
	for i := range len(t) {
		s[n+i] = E(t[i])
	}
	return s
}

// Over begins a loop over a channel whose variable is one for all iterations: it
// returns the channel and the variable's first value.
func Over[T any](ch <-chan T) (<-chan T, T) {
	var zero T
	return ch, zero
}
