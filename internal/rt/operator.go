package rt

// Assignments like x += v. Each is a load, a point, and a store, as it is on the
// machine: that two of them can lose an update is what a schedule has to be able to
// show.

type signed interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64
}

type unsigned interface {
	~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type integer interface{ signed | unsigned }

type number interface {
	integer | ~float32 | ~float64 | ~complex64 | ~complex128
}

// Add is *p += v.
func Add[T number | ~string](p *T, v T, load, store uint32) {
	v = R(p, load) + v
	*W(p, store) = v
}

// Sub is *p -= v.
func Sub[T number](p *T, v T, load, store uint32) {
	v = R(p, load) - v
	*W(p, store) = v
}

// Mul is *p *= v.
func Mul[T number](p *T, v T, load, store uint32) {
	v = R(p, load) * v
	*W(p, store) = v
}

// Quo is *p /= v.
func Quo[T number](p *T, v T, load, store uint32) {
	v = R(p, load) / v
	*W(p, store) = v
}

// Rem is *p %= v.
func Rem[T integer](p *T, v T, load, store uint32) {
	v = R(p, load) % v
	*W(p, store) = v
}

// And is *p &= v.
func And[T integer](p *T, v T, load, store uint32) {
	v &= R(p, load)
	*W(p, store) = v
}

// Or is *p |= v.
func Or[T integer](p *T, v T, load, store uint32) {
	v |= R(p, load)
	*W(p, store) = v
}

// Xor is *p ^= v.
func Xor[T integer](p *T, v T, load, store uint32) {
	v ^= R(p, load)
	*W(p, store) = v
}

// AndNot is *p &^= v.
func AndNot[T integer](p *T, v T, load, store uint32) {
	v = R(p, load) &^ v
	*W(p, store) = v
}

// Shl is *p <<= s.
func Shl[T, S integer](p *T, s S, load, store uint32) {
	v := R(p, load) << s
	*W(p, store) = v
}

// Shr is *p >>= s.
func Shr[T, S integer](p *T, s S, load, store uint32) {
	v := R(p, load) >> s
	*W(p, store) = v
}
