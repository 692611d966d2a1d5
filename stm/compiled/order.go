package compiled

import (
	"sort"

	"github.com/cofferdam-go/cofferdam/stm"
)

// Arrange is f(s), for a function that changes the order of the elements and touches nothing
// else. It is given a copy, whose elements are stored afterwards: also if it panics, as what it
// has done until then is done.
func Arrange[S ~[]T, T any](tx *stm.Tx, s S, f func(S)) {
	own := Elements(tx, s)
	defer stored(tx, s, own)
	f(own)
}

// ArrangeBy is f(s, by), likewise.
func ArrangeBy[S ~[]T, T, F any](tx *stm.Tx, s S, f func(S, F), by F) {
	own := Elements(tx, s)
	defer stored(tx, s, own)
	f(own, by)
}

func stored[T any](tx *stm.Tx, s, own []T) {
	for i := range own {
		stm.Store(tx, &s[i], own[i])
	}
}

// SortPlaces is sort.Slice(s, less), or sort.SliceStable, by the function of package sort that
// has the same order of comparisons: sort.Sort, or sort.Stable. What less compares are elements
// at their places, so that they change places in the transaction.
func SortPlaces[T any](tx *stm.Tx, s []T, less func(i, j int) bool, f func(sort.Interface)) {
	f(places[T]{tx, s, less})
}

// places are the elements of a slice, for package sort.
type places[T any] struct {
	tx   *stm.Tx
	s    []T
	less func(i, j int) bool
}

func (p places[T]) Len() int           { return len(p.s) }
func (p places[T]) Less(i, j int) bool { return p.less(i, j) }

func (p places[T]) Swap(i, j int) {
	a, b := stm.Load(p.tx, &p.s[i]), stm.Load(p.tx, &p.s[j])
	stm.Store(p.tx, &p.s[i], b)
	stm.Store(p.tx, &p.s[j], a)
}
