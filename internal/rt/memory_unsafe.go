package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// R loads *p. The load is made here and not by the caller: what it returned a pointer to
// would be loaded after the hooks of the other operands of the same expression.
func R[T any](p *T, site uint32) T {
	memory(unsafe.Pointer(p), unsafe.Sizeof(*p), event.Load, site)
	return *p
}

// W announces that *p is about to be stored to, and returns p.
func W[T any](p *T, site uint32) *T {
	memory(unsafe.Pointer(p), unsafe.Sizeof(*p), event.Store, site)
	return p
}

// A Place is where a value is going to be stored once it has been computed.
type Place[T any] struct{ p *T }

// P returns the place that p points to. It is no step of the goroutine.
func P[T any](p *T) Place[T] { return Place[T]{p} }

// Set stores v.
func (l Place[T]) Set(v T, site uint32) {
	memory(unsafe.Pointer(l.p), unsafe.Sizeof(*l.p), event.Store, site)
	*l.p = v
}

// A is an access by package sync/atomic to *p, about to happen. op is one of
// AtomicLoad, AtomicStore, AtomicUpdate and, for compare and swap, AtomicCompare.
func A[T any](p *T, op event.Kind, site uint32) *T {
	atomicAccess(unsafe.Pointer(p), unsafe.Sizeof(*p), op, site)
	return p
}

// RS announces that all elements of s are about to be loaded, and returns s.
func RS[S ~[]E, E any](s S, site uint32) S {
	memory(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*unsafe.Sizeof(*new(E)), event.Load, site)
	return s
}

// Append announces that n values are about to be appended to s, and returns s: they
// are stored behind its elements if there is room, otherwise its elements are loaded.
func Append[S ~[]E, E any](s S, n int, site uint32) S {
	size := unsafe.Sizeof(*new(E))
	if n <= cap(s)-len(s) {
		if n > 0 {
			memory(unsafe.Pointer(&s[:cap(s)][len(s)]), uintptr(n)*size, event.Store, site)
		}
	} else {
		memory(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*size, event.Load, site)
	}
	return s
}

// A Growth is a slice to which values are going to be appended once they have been
// computed.
type Growth[S ~[]E, E any] struct{ s S }

// Grow returns the growth of s. It is no step of the goroutine.
func Grow[S ~[]E, E any](s S) Growth[S, E] { return Growth[S, E]{s} }

// Append is append(s, values...).
func (g Growth[S, E]) Append(site uint32, values ...E) S {
	return append(Append(g.s, len(values), site), values...)
}

// Copy is copy(dst, src).
func Copy[E any](dst, src []E, site uint32) int {
	if n := uintptr(min(len(dst), len(src))) * unsafe.Sizeof(*new(E)); n > 0 {
		memory(unsafe.Pointer(unsafe.SliceData(src)), n, event.Load, site)
		memory(unsafe.Pointer(unsafe.SliceData(dst)), n, event.Store, site)
	}
	return copy(dst, src)
}

// CopyString is copy(dst, src).
func CopyString[E ~byte, S ~string](dst []E, src S, site uint32) int {
	if n := min(len(dst), len(src)); n > 0 {
		memory(unsafe.Pointer(unsafe.SliceData(dst)), uintptr(n), event.Store, site)
		return copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), n), src)
	}
	return 0
}

// Clear announces that all elements of s are about to be stored to, and returns s.
func Clear[S ~[]E, E any](s S, site uint32) S {
	memory(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*unsafe.Sizeof(*new(E)), event.Store, site)
	return s
}

// New announces that *p was allocated, and returns p.
func New[T any](p *T, site uint32) *T {
	allocated(unsafe.Pointer(p), unsafe.Sizeof(*p), site)
	return p
}

// Var announces a variable that other goroutines may reach.
func Var[T any](p *T, site uint32) { allocated(unsafe.Pointer(p), unsafe.Sizeof(*p), site) }

// NewSlice announces that the elements of s were allocated, and returns s.
func NewSlice[S ~[]E, E any](s S, site uint32) S {
	allocated(unsafe.Pointer(unsafe.SliceData(s)), uintptr(cap(s))*unsafe.Sizeof(*new(E)), site)
	return s
}

// NewMap announces that m was made, and returns it.
func NewMap[M ~map[K]V, K comparable, V any](m M, site uint32) M {
	allocated(*(*unsafe.Pointer)(unsafe.Pointer(&m)), 1, site)
	return m
}

// NewChan announces that ch was made, and returns it.
func NewChan[C ~chan T, T any](ch C, site uint32) C {
	allocated(*(*unsafe.Pointer)(unsafe.Pointer(&ch)), 1, site)
	return ch
}
