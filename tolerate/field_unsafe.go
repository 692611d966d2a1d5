package tolerate

import (
	"sync"
	"unsafe"
)

// A Field is what is known of a kind of variable, such as a field of a struct: how it
// is called in findings, and how it is copied and resolved. The zero value is what
// the function [Guard] does. It must not be copied or changed once it is in use.
//
//	var balance = tolerate.Field[int64]{Name: "Account.balance", Resolve: tolerate.Delta[int64]}
//
//	own := balance.Guard(&a.mu, &a.balance)
type Field[T any] struct {
	Name    string
	Resolve Resolver[T]

	// Copy makes the section's copy, if assignment is not enough, and Equal says
	// whether two copies are the same: they are given together or not at all.
	Copy  func(T) T
	Equal func(a, b T) bool

	once sync.Once
	made *policy
}

// Guard is the function [Guard] for a variable with the name and the functions of
// the field.
func (f *Field[T]) Guard(l Lock, p *T) *Var[T] {
	g := l.guard()
	policy := *f.policy() // a copy, for the site and perhaps another name
	policy.site = callerSite()
	v := &Var[T]{guard: g}
	v.init(p, &policy)
	g.add(guarded{cell: &v.cell})
	return v
}

func (f *Field[T]) policy() *policy {
	f.once.Do(func() {
		if (f.Copy == nil) != (f.Equal == nil) {
			panic("tolerate: a Field needs both Copy and Equal, or neither")
		}
		f.made = &policy{typed: typeOf[T](), name: f.Name}
		if f.Resolve != nil {
			f.made.resolve = func(result, theirs, ours, before unsafe.Pointer) {
				*(*T)(result) = f.Resolve(*(*T)(theirs), *(*T)(ours), *(*T)(before))
			}
		}
		if f.Copy != nil {
			f.made.copy = func(to, from unsafe.Pointer) { *(*T)(to) = f.Copy(*(*T)(from)) }
			f.made.equal = func(a, b unsafe.Pointer) bool { return f.Equal(*(*T)(a), *(*T)(b)) }
		}
	})
	return f.made
}
