package stm_test

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// TestAddIsLoadAndStore adds to numbers of every size, twice each, beside neighbours in the
// same word that must stay as they are.
func TestAddIsLoadAndStore(t *testing.T) {
	type numbers struct {
		a  int8
		b  uint16
		c  int32
		d  int64
		e  float32
		f  float64
		g  complex64
		h  complex128
		at [2]uint8
	}
	n := numbers{1, 2, 3, 4, 5, 6, 7, 8, [2]uint8{9, 10}}
	err := stm.Atomically(func(tx *stm.Tx) error {
		for range 2 {
			stm.Add(tx, &n.a, 1)
			stm.Add(tx, &n.b, 1)
			stm.Add(tx, &n.c, 1)
			stm.Add(tx, &n.d, 1)
			stm.Add(tx, &n.e, 0.5)
			stm.Add(tx, &n.f, 0.5)
			stm.Add(tx, &n.g, 1i)
			stm.Add(tx, &n.h, 1i)
			stm.Add(tx, &n.at[1], 1)
		}
		return nil
	})
	if want := (numbers{3, 4, 5, 6, 6, 7, 7 + 2i, 8 + 2i, [2]uint8{9, 12}}); err != nil || n != want {
		t.Errorf("got %v (%v), want %v", n, err, want)
	}
}

func TestAddLosesNothing(t *testing.T) {
	var n int
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				stm.Atomically(func(tx *stm.Tx) error { stm.Add(tx, &n, 1); return nil })
			}
		})
	}
	all.Wait()
	if n != 4000 {
		t.Errorf("%d", n)
	}
}

// TestLargeTypesAreReadAsTheirFields is about types whose pointers the runtime describes when
// it needs to, and no sooner: a field that is stored alone is there in the whole, and the
// other way round.
func TestLargeTypesAreReadAsTheirFields(t *testing.T) {
	type large struct {
		words [1 << 15]struct {
			n    int
			text string
			err  error
		}
		last []int
	}
	shared, other := new(large), new(large)
	first, second := errors.New("first"), errors.New("second")
	other.words[7].err, other.words[9].text, other.last = second, "nine", []int{1, 2}
	err := stm.Atomically(func(tx *stm.Tx) error {
		stm.Store(tx, &shared.words[3].err, first)
		stm.Store(tx, &shared.words[5].text, "five")
		whole := stm.Load(tx, shared)
		if whole.words[3].err != first || whole.words[5].text != "five" {
			t.Errorf("%v %q", whole.words[3].err, whole.words[5].text)
		}
		stm.Store(tx, shared, *other)
		if got := stm.Load(tx, &shared.words[7].err); got != second {
			t.Errorf("%v", got)
		}
		if got := stm.Load(tx, &shared.last); !reflect.DeepEqual(got, []int{1, 2}) {
			t.Errorf("%v", got)
		}
		return nil
	})
	if err != nil || !reflect.DeepEqual(shared, other) {
		t.Error("what was stored is not there", err)
	}
}

// TestWhatIsNotLoggedHoldsWhileNobodyCommits reads a variable without a log, in an attempt
// during which another transaction commits. The variable has changed, nothing else that was
// read has, and the attempt is given up all the same.
func TestWhatIsNotLoggedHoldsWhileNobodyCommits(t *testing.T) {
	for _, mode := range []stm.Mode{stm.Eager, stm.Timer} {
		var plain, logged, other, attempts int
		stm.Options{Mode: mode}.Compiled(func(tx *stm.Tx) {
			attempts++
			read := stm.LoadWhole(tx, &plain)
			stm.Load(tx, &logged)
			if attempts == 1 {
				done := make(chan struct{})
				go func() {
					defer close(done)
					plain = 1
					stm.Atomically(func(tx *stm.Tx) error { stm.Add(tx, &other, 1); return nil })
				}()
				<-done
			}
			stm.Store(tx, &logged, read)
		})
		if logged != 1 || attempts != 2 {
			t.Errorf("mode %d: %d was committed, after %d attempts", mode, logged, attempts)
		}
	}
}
