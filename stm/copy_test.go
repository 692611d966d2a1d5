package stm_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// Two words that are always the same, and a type that is no whole number of words.
type (
	twins struct{ a, b int }
	odd   [3]byte
)

// A writer sets all elements to one value after the other; a copy in between has the
// same everywhere.
func TestCopyIsOfOneMoment(t *testing.T) {
	t.Run("words", func(t *testing.T) { testCopy(t, func(i int) int { return i }) })
	t.Run("structs", func(t *testing.T) { testCopy(t, func(i int) twins { return twins{i, i} }) })
	t.Run("bytes", func(t *testing.T) { testCopy(t, func(i int) byte { return byte(i) }) })
	t.Run("odd", func(t *testing.T) { testCopy(t, func(i int) odd { return odd{byte(i), byte(i), byte(i)} }) })
	t.Run("strings", func(t *testing.T) { testCopy(t, func(i int) string { return "abcdefgh"[:i%8] }) })
	t.Run("pointers", func(t *testing.T) {
		all := make([]int, 256)
		testCopy(t, func(i int) *int { return &all[i%256] })
	})
}

func testCopy[T comparable](t *testing.T, value func(i int) T) {
	const writes = 2000
	shared := make([]T, 24)
	for i := range shared {
		shared[i] = value(0)
	}
	done := make(chan bool)
	var all sync.WaitGroup
	all.Go(func() {
		defer close(done)
		for w := range writes {
			stm.Atomically(func(tx *stm.Tx) error {
				for i := range shared {
					stm.Store(tx, &shared[i], value(w))
				}
				return nil
			})
		}
	})
	defer all.Wait()
	look := func(copied []T) bool {
		same := slices.Equal(copied, slices.Repeat(copied[:1], len(copied)))
		if !same {
			t.Errorf("a copy has %v", copied)
		}
		return same
	}
	mine := make([]T, len(shared))
	for copies := 0; ; copies++ {
		select {
		case <-done:
			if copies == 0 {
				t.Error("nothing was copied")
			}
			return
		default:
		}
		if n := stm.Copy(mine, shared); n != len(shared) {
			t.Errorf("%d elements were copied, and there are %d", n, len(shared))
		}
		alone := look(mine)
		stm.Atomically(func(tx *stm.Tx) error {
			stm.Copy(mine, shared)
			return nil
		})
		if !alone || !look(mine) {
			return
		}
	}
}

func TestCopyInATransactionIsPartOfIt(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		shared := []int{1, 2, 3}
		var sum, other int
		var once sync.Once
		err := o.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &shared[1], 20)
			var got [3]int
			stm.Copy(got[:], shared)
			once.Do(func() { commit(increment(&shared[0])) }) // what was copied is not there any more
			stm.Store(tx, &other, stm.Load(tx, &other)+1)
			stm.Store(tx, &sum, got[0]+got[1]+got[2])
			return nil
		})
		if err != nil || sum != 2+20+3 || other != 1 {
			t.Errorf("the sum is %d after a transaction that was run again, %d times with effect (%v)", sum, other, err)
		}
	})
}

func TestCopyOfDifferentLengths(t *testing.T) {
	long, short := []int{1, 2, 3}, []int{8, 9}
	if n := stm.Copy(long, short); n != 2 || !slices.Equal(long, []int{8, 9, 3}) {
		t.Errorf("%d elements copied into a longer slice: %v", n, long)
	}
	if n := stm.Copy(short, long[1:]); n != 2 || !slices.Equal(short, []int{9, 3}) {
		t.Errorf("%d elements copied into a slice of the same length: %v", n, short)
	}
	if n := stm.Copy(nil, long); n != 0 {
		t.Errorf("%d elements copied into nothing", n)
	}
}

func TestCopyOfWordsNeedsNoAllocation(t *testing.T) {
	dst, src := make([]int, 64), make([]int, 64)
	if got := testing.AllocsPerRun(1000, func() { stm.Copy(dst, src) }); got != 0 {
		t.Errorf("%v allocations in a copy of words, want none", got)
	}
}

// A function that is made once is all that is allocated with options.
func TestOptionsNeedNoFurtherAllocation(t *testing.T) {
	for name, o := range map[string]stm.Options{"eager": {}, "timer": {Mode: stm.Timer}} {
		var x int
		add := func(tx *stm.Tx) error { stm.Store(tx, &x, stm.Load(tx, &x)+1); return nil }
		get := func(tx *stm.Tx) (int, error) { return stm.Load(tx, &x), nil }
		o.Atomically(add)
		if got := testing.AllocsPerRun(1000, func() { o.Atomically(add); stm.ValueWith(o, get) }); got != 0 {
			t.Errorf("%s: %v allocations, want none", name, got)
		}
	}
}
