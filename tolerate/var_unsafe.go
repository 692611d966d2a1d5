package tolerate

import (
	"maps"
	"unsafe"
)

// A Var is a variable as the sections of one lock see it. It is made by [Guard],
// once, and used inside sections.
type Var[T any] struct {
	cell                cell
	own, before, origin T
	guard               *guard
}

// Guard says that the lock guards the variable at p: from the next section on, the
// section works on its own copy of it, and the copy is published at the end. If
// careless code has changed the variable in the meantime the resolver decides; see
// [Resolver] for when, and for what happens without one.
//
//	balance := tolerate.Guard(&mu, &acct.balance, tolerate.Delta)
//
// The variable is copied by assignment: what it points to, the elements of a slice
// and the entries of a map are not copied. For those see [GuardSlice], [GuardMap],
// and [Field] with its Copy.
//
// Guard is for variables that live as long as the lock. There is no limit to their
// number, but each section copies all of them.
func Guard[T any](l Lock, p *T, resolve ...Resolver[T]) *Var[T] {
	f := Field[T]{}
	if len(resolve) > 0 {
		f.Resolve = resolve[0]
	}
	return f.Guard(l, p)
}

// GuardSlice is [Guard] for a slice that sections append to. The section's copy has
// no spare capacity, so that its append does not write into the array that careless
// code appends to as well. The elements that are there already are shared.
func GuardSlice[S ~[]E, E any](l Lock, p *S, resolve ...Resolver[S]) *Var[S] {
	f := Field[S]{
		Copy: func(s S) S { return s[:len(s):len(s)] },
		Equal: func(a, b S) bool {
			return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
		},
		Resolve: Append[S],
	}
	if len(resolve) > 0 {
		f.Resolve = resolve[0]
	}
	return f.Guard(l, p)
}

// GuardMap is [Guard] for a map with its entries. Each section copies it, whether it
// uses it or not, and publishes a new map if it has changed anything. Without a
// resolver it is [Union].
//
// The runtime ends a program that it sees writing a map while another goroutine
// reads it. A careless write that falls into the copying, at the beginning of a
// section, or into the comparison at its end can still be seen; one in between cannot.
func GuardMap[M ~map[K]V, K, V comparable](l Lock, p *M, resolve ...Resolver[M]) *Var[M] {
	f := Field[M]{Copy: maps.Clone[M], Equal: maps.Equal[M, M], Resolve: Union[M]}
	if len(resolve) > 0 {
		f.Resolve = resolve[0]
	}
	return f.Guard(l, p)
}

func (v *Var[T]) init(p *T, policy *policy) {
	if p == nil {
		panic("tolerate: Guard of a nil pointer: there is no variable to guard")
	}
	v.cell = cell{
		typed:  policy.typed,
		policy: policy,
		shared: unsafe.Pointer(p),
		own:    unsafe.Pointer(&v.own),
		before: unsafe.Pointer(&v.before),
		origin: unsafe.Pointer(&v.before),
	}
	if policy.copy != nil {
		v.cell.origin = unsafe.Pointer(&v.origin)
	}
}

// Named names the variable in findings, and returns it. It is for the line of the
// Guard.
func (v *Var[T]) Named(name string) *Var[T] {
	v.cell.policy.name = name
	return v
}

// Own returns the section's copy of the variable. It is for the section that is
// running, and for nothing after it: what is written to it later is lost. Own
// panics if the lock is not held; that it is held by the calling goroutine is the
// caller's responsibility.
func (v *Var[T]) Own() *T {
	c := v.current()
	if c.state == untouched {
		c.state = touched
	}
	return (*T)(c.own)
}

// Set assigns to the section's copy. A section that begins with a Set, and not with
// an [Var.Own], says that what it does with the variable does not depend on what
// was there: then every race is tolerated, as if careless code had run before the
// section.
func (v *Var[T]) Set(value T) {
	c := v.current()
	if c.state == untouched {
		c.state = blind
	}
	*(*T)(c.own) = value
}

func (v *Var[T]) current() *cell {
	c := &v.cell
	if c.host != nil {
		return c.host
	}
	if c.state == idle {
		panic(errIdle)
	}
	return c
}

// With says that the lock guards the variable too, and returns the variable as the
// sections of that lock see it. A goroutine that holds both locks has one copy,
// taken at the first Lock and published at the last Unlock. Goroutines that hold
// one lock each have a copy each.
//
// To know which goroutine it is costs each section about a microsecond.
func (v *Var[T]) With(l Lock) *Var[T] {
	g := v.guard
	g.mu.Lock()
	o := g.overlapOf(&v.cell)
	g.mu.Unlock()
	if o == nil {
		o = &overlap{fresh: func() *span {
			copies := &struct {
				span
				v Var[T]
			}{}
			copies.v.init((*T)(v.cell.shared), v.cell.policy)
			copies.span.cell = &copies.v.cell
			return &copies.span
		}}
		g.share(&v.cell, o)
	}
	other := &Var[T]{guard: l.guard()}
	other.init((*T)(v.cell.shared), v.cell.policy)
	other.guard.add(guarded{cell: &other.cell, shared: o})
	return other
}
