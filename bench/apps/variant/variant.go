// Package variant is what the variants of the applications have in common: the
// list of them, and the lock of those that keep their data in guarded memory.
//
// Each application keeps its shared data in structures that are written twice:
// in heap.go with pointers and a sync.Mutex, as a program has them today, and in
// guarded.go with isolate.Ref and a [Lock]. The two files side by side show
// everything that isolate asks of a program.
//
// The guarded structures run in two variants, which a [Lock] tells apart. Both
// use the same memory and the same code; a walk begins at the root that [View]
// returns and stays in its view:
//
//	same memory   Lock is a sync.Mutex's, View returns the shared pointer
//	isolate       Lock begins a section, View returns isolate.Own
//
// So the ratio of these two is the cost of protection and of nothing else, while
// the ratio to the heap also has the cost of another allocator and of references
// in the place of pointers.
package variant

import (
	"fmt"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// Contenders enters an application in all its variants.
func Contenders(prepare func(measure.Variant) measure.Trial) []measure.Contender {
	var all []measure.Contender
	for _, v := range []measure.Variant{measure.Heap, measure.SameMemory, measure.Isolate} {
		all = append(all, measure.Contender{Variant: v, Prepare: func() measure.Trial { return prepare(v) }})
	}
	return all
}

// A Lock is the lock of a guarded structure.
type Lock struct {
	// Guard owns the memory. It is never locked in the same-memory variant, so
	// that its pages are never sealed.
	Guard isolate.Mutex

	plain    sync.Mutex
	sections bool
}

// NewLock returns the lock of a guarded structure in a variant.
func NewLock(v measure.Variant, name string) *Lock {
	l := new(Lock)
	l.Guard.SetName(name)
	switch v {
	case measure.Isolate:
		l.sections = true
	case measure.SameMemory:
	default:
		panic(fmt.Sprintf("variant: nothing is guarded in the variant %q", v))
	}
	return l
}

// Lock takes the lock.
func (l *Lock) Lock() {
	if l.sections {
		l.Guard.Lock()
	} else {
		l.plain.Lock()
	}
}

// Unlock releases the lock.
func (l *Lock) Unlock() {
	if l.sections {
		l.Guard.Unlock()
	} else {
		l.plain.Unlock()
	}
}

// Cond returns a condition variable on the lock. A Wait is the end of one
// section and the beginning of another, so that a View must be taken again.
func (l *Lock) Cond() *sync.Cond {
	if l.sections {
		return isolate.NewCond(&l.Guard)
	}
	return sync.NewCond(&l.plain)
}

// Close returns the memory.
func (l *Lock) Close() error { return l.Guard.Close() }

// View returns the view of a guarded object that the holder of the lock is to
// use. The caller is the holder.
func View[T any](l *Lock, p *T) *T {
	if l.sections {
		return isolate.Own(&l.Guard, p)
	}
	return p
}

// Fresh allocates an object and returns it in the view of another, together with
// the reference to it. The pointer that isolate.New returns is the shared one: a
// section that wrote through it would bypass its own guard.
func Fresh[T, R any](l *Lock, view *R) (*T, isolate.Ref[T]) {
	ref := isolate.RefTo(&l.Guard, isolate.New[T](&l.Guard))
	return isolate.Follow(view, ref), ref
}
