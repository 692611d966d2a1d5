package stm_test

import (
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/stm"
)

func TestMapDoesWhatAMapDoes(t *testing.T) {
	var m stm.Map[int, int]
	model := map[int]int{}
	random := rand.New(rand.NewPCG(7, 7))
	for range 4000 {
		k, v := random.IntN(300), random.IntN(1000)
		switch random.IntN(4) {
		case 0:
			commit(func(tx *stm.Tx) { m.Delete(tx, k) })
			delete(model, k)
		default:
			commit(func(tx *stm.Tx) { m.Store(tx, k, v) })
			model[k] = v
		}
	}
	got, n := map[int]int{}, 0
	commit(func(tx *stm.Tx) {
		clear(got)
		for k, v := range m.All(tx) {
			got[k] = v
		}
		n = m.Len(tx)
	})
	if !maps.Equal(got, model) || n != len(model) {
		t.Errorf("%d entries, length %d, want %d: %v", len(got), n, len(model), got)
	}
	commit(func(tx *stm.Tx) {
		for k, v := range model {
			if u, ok := m.Load(tx, k); u != v || !ok {
				t.Errorf("m[%d] = %d, %t, want %d", k, u, ok, v)
			}
		}
		if _, ok := m.Load(tx, -1); ok {
			t.Error("-1 is there")
		}
	})
}

func TestMapGrowsWhileOthersUseIt(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var m stm.Map[int, int]
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				for i := range 150 {
					o.Atomically(func(tx *stm.Tx) error {
						m.Store(tx, g*1000+i, i)
						n, _ := m.Load(tx, -1)
						m.Store(tx, -1, n+1)
						return nil
					})
				}
			})
		}
		all.Wait()
		commit(func(tx *stm.Tx) {
			if n, _ := m.Load(tx, -1); n != 600 || m.Len(tx) != 601 {
				t.Errorf("counted %d, length %d", n, m.Len(tx))
			}
		})
	})
}

func TestQueueKeepsOrderAndLimit(t *testing.T) {
	q := stm.NewQueue[int](3)
	const values = 300
	got := await.Start(func() []int {
		var all []int
		for range values {
			v, _ := stm.Value(func(tx *stm.Tx) (int, error) { return q.Take(tx), nil })
			all = append(all, v)
		}
		return all
	})
	for i := range values {
		commit(func(tx *stm.Tx) {
			q.Put(tx, i)
			if n := q.Len(tx); n > 3 {
				t.Errorf("%d values", n)
			}
		})
	}
	for i, v := range await.Receive(t, "all values", got) {
		if v != i {
			t.Fatalf("value %d is %d", i, v)
		}
	}
	commit(func(tx *stm.Tx) {
		if _, ok := q.TryTake(tx); ok {
			t.Error("there is one more")
		}
	})
}

// TestConflictsAreBounded: no transaction is run more often than Patience and once, however
// many goroutines want the same.
func TestConflictsAreBounded(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		const goroutines, turns = 64, 20
		var words [8]int
		worst := make([]int, goroutines)
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				leader := myTx()
				for i := range turns {
					attempts := 0
					o.Atomically(func(tx *stm.Tx) error {
						if tx == leader {
							attempts++
						}
						for k := range words {
							w := &words[(g+i+k)%len(words)]
							stm.Store(tx, w, stm.Load(tx, w)+1)
						}
						return nil
					})
					worst[g] = max(worst[g], attempts)
				}
			})
		}
		all.Wait()
		for g, n := range worst {
			if n > stm.Patience+1 {
				t.Errorf("a transaction of goroutine %d was run %d times", g, n)
			}
		}
		for i, n := range words {
			if n != goroutines*turns {
				t.Errorf("word %d is %d", i, n)
			}
		}
	})
}
