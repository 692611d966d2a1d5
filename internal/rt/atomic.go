package rt

import "github.com/cofferdam-go/cofferdam/internal/event"

// Operations of package sync/atomic whose arguments have hooks or calls in them. The
// operation is announced when they have been evaluated, right before it is done:
//
//	n.Store(n.Load() + 1)   ->   AtomicStore(&n, 9).Store(A(&n, 5, 8).Load() + 1)
//
// With A(&n, 6, 9).Store(...) the store would be announced before the load is made.

// A Storing is a Store that is going to be made.
type Storing[T, V any, P interface {
	*T
	Store(V)
}] struct {
	p    P
	site uint32
}

// AtomicStore returns the Store of what p points to. It is no step of the goroutine.
func AtomicStore[T, V any, P interface {
	*T
	Store(V)
}](p P, site uint32) Storing[T, V, P] {
	return Storing[T, V, P]{p, site}
}

// Store is p.Store(v).
func (a Storing[T, V, P]) Store(v V) { P(A((*T)(a.p), event.AtomicStore, a.site)).Store(v) }

// An Adding is an Add that is going to be made; the types below it are the same for the other
// updates.
type Adding[T, V any, P interface {
	*T
	Add(V) V
}] struct {
	p    P
	site uint32
}

// AtomicAdd returns the Add of what p points to. It is no step of the goroutine.
func AtomicAdd[T, V any, P interface {
	*T
	Add(V) V
}](p P, site uint32) Adding[T, V, P] {
	return Adding[T, V, P]{p, site}
}

// Add is p.Add(v).
func (a Adding[T, V, P]) Add(v V) V { return P(A((*T)(a.p), event.AtomicUpdate, a.site)).Add(v) }

type Swapping[T, V any, P interface {
	*T
	Swap(V) V
}] struct {
	p    P
	site uint32
}

// AtomicSwap returns the Swap of what p points to. It is no step of the goroutine.
func AtomicSwap[T, V any, P interface {
	*T
	Swap(V) V
}](p P, site uint32) Swapping[T, V, P] {
	return Swapping[T, V, P]{p, site}
}

// Swap is p.Swap(v).
func (a Swapping[T, V, P]) Swap(v V) V {
	return P(A((*T)(a.p), event.AtomicUpdate, a.site)).Swap(v)
}

type Masking[T, V any, P interface {
	*T
	And(V) V
	Or(V) V
}] struct {
	p    P
	site uint32
}

// AtomicAnd returns the And of what p points to. It is no step of the goroutine.
func AtomicAnd[T, V any, P interface {
	*T
	And(V) V
	Or(V) V
}](p P, site uint32) Masking[T, V, P] {
	return Masking[T, V, P]{p, site}
}

// AtomicOr returns the Or of what p points to. It is no step of the goroutine.
func AtomicOr[T, V any, P interface {
	*T
	And(V) V
	Or(V) V
}](p P, site uint32) Masking[T, V, P] {
	return Masking[T, V, P]{p, site}
}

// And is p.And(v).
func (a Masking[T, V, P]) And(v V) V { return P(A((*T)(a.p), event.AtomicUpdate, a.site)).And(v) }

// Or is p.Or(v).
func (a Masking[T, V, P]) Or(v V) V { return P(A((*T)(a.p), event.AtomicUpdate, a.site)).Or(v) }

type Comparing[T, V any, P interface {
	*T
	CompareAndSwap(old, new V) bool
}] struct {
	p    P
	site uint32
}

// AtomicCompareAndSwap returns the CompareAndSwap of what p points to. It is no step of the
// goroutine.
func AtomicCompareAndSwap[T, V any, P interface {
	*T
	CompareAndSwap(old, new V) bool
}](p P, site uint32) Comparing[T, V, P] {
	return Comparing[T, V, P]{p, site}
}

// CompareAndSwap is p.CompareAndSwap(old, new).
func (a Comparing[T, V, P]) CompareAndSwap(old, new V) bool {
	return P(A((*T)(a.p), event.AtomicCompare, a.site)).CompareAndSwap(old, new)
}

// AtomicStoreBy is store(p, v), for the functions StoreInt32 and so on.
func AtomicStoreBy[T, V any](store func(*T, V), p *T, v V, site uint32) {
	store(A(p, event.AtomicStore, site), v)
}

// AtomicUpdateBy is update(p, v), for the functions AddInt32, SwapInt32 and so on.
func AtomicUpdateBy[T, V, R any](update func(*T, V) R, p *T, v V, site uint32) R {
	return update(A(p, event.AtomicUpdate, site), v)
}

// AtomicCompareBy is swap(p, old, new), for the functions CompareAndSwapInt32 and so on.
func AtomicCompareBy[T, V any](swap func(p *T, old, new V) bool, p *T, old, new V, site uint32) bool {
	return swap(A(p, event.AtomicCompare, site), old, new)
}

// AtomicLoad announces that *p is loaded, for files of the standard library that have no hooks.
func AtomicLoad[T any](p *T) { A(p, event.AtomicLoad, 0) }
