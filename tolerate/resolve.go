package tolerate

import (
	"cmp"
	"fmt"
	"slices"
)

// A Resolver makes one value of two. It is asked at the end of a section in which
// both the section and careless code have changed the variable, and returns what
// the variable shall be: theirs is what careless code wrote (the paper's V), ours
// what the section made of its own copy (V′), before what both began with (V″).
//
// It runs with the lock held, must not use it, and may be asked again if careless
// code writes once more in the meantime. If it panics the variable gets the
// section's value, the lock is released, and the panic goes on.
//
// [Ours], [Theirs], [Refuse], [Delta], [Max], [Min], [Union] and [Append] are
// Resolvers. Without one the closed form of the paper decides, field by field:
// what careless code has written stays, what it has not becomes the section's.
type Resolver[T any] func(theirs, ours, before T) T

// Ours keeps the section's value, as if careless code had run before it. That is
// the truth for class IVb.
func Ours[T any](theirs, ours, before T) T { return ours }

// Theirs keeps what careless code wrote, as if it had run after the section. That
// is the truth for classes I and III.
func Theirs[T any](theirs, ours, before T) T { return theirs }

// Refuse keeps the section's value and panics with a *[Refusal] once the lock has
// been released.
func Refuse[T any](theirs, ours, before T) T {
	panic(&Refusal{Theirs: theirs, Ours: ours, Before: before})
}

// A Refusal is what [Refuse] panics with.
type Refusal struct {
	Variable             string
	Theirs, Ours, Before any
	Classes              Classes
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("tolerate: %s was changed without its lock from %v to %v in a section that changed it to %v (race of class %v): hold the lock where it is changed, or give the variable a resolver that can merge the two",
		r.Variable, r.Before, r.Theirs, r.Ours, r.Classes)
}

// A Number is what can be counted with.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Delta is for counters and balances, which all code only adds to and subtracts
// from: both changes count. It is the resolver of figure 4 of the paper.
func Delta[T Number](theirs, ours, before T) T { return theirs + (ours - before) }

// Max is for high-water marks: the greater value stays.
func Max[T cmp.Ordered](theirs, ours, before T) T { return max(theirs, ours) }

// Min is for low-water marks: the lesser value stays.
func Min[T cmp.Ordered](theirs, ours, before T) T { return min(theirs, ours) }

// Append is for logs and queues, which all code only appends to: theirs come
// first, then what the section appended. If the section did anything else to the
// slice its value stays as it is. Guard the slice with [GuardSlice].
func Append[S ~[]E, E any](theirs, ours, before S) S {
	if len(ours) < len(before) {
		return ours
	}
	return append(slices.Clip(theirs), ours[len(before):]...)
}

// Union is for sets, and for other maps in which the two change different keys:
// what either has added is in the result, what either has removed is not, and
// where both have changed or removed one key theirs stays. Guard the map with [GuardMap].
func Union[M ~map[K]V, K, V comparable](theirs, ours, before M) M {
	return unite(theirs, ours, before, func(a, b V) bool { return a == b })
}

func unite[M ~map[K]V, K comparable, V any](theirs, ours, before M, same func(a, b V) bool) M {
	result := make(M, max(len(theirs), len(ours)))
	for k, v := range theirs {
		was, had := before[k]
		now, has := ours[k]
		switch {
		case had && same(was, v) && !has: // we removed it
		case had && same(was, v):
			result[k] = now
		default:
			result[k] = v
		}
	}
	for k, v := range ours {
		_, there := theirs[k]
		_, had := before[k]
		if !there && !had { // we added it
			result[k] = v
		}
	}
	return result
}
