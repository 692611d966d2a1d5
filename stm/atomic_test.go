package stm_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/stm"
)

func TestAtomicExcludesTransactionsWithPlainAccesses(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var a, b int
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 500 {
					stm.Atomic(func() { a++; runtime.Gosched(); b-- })
				}
			})
			all.Go(func() {
				for range 500 {
					sum, err := stm.ValueWith(o, func(tx *stm.Tx) (int, error) { return stm.Load(tx, &a) + stm.Load(tx, &b), nil })
					if sum != 0 || err != nil {
						t.Errorf("a + b = %d, %v", sum, err)
					}
				}
			})
		}
		all.Wait()
		if a != 2000 || b != -2000 {
			t.Errorf("a = %d, b = %d", a, b)
		}
	})
}

func TestAPanicInAtomicLeavesWhatWasDone(t *testing.T) {
	for name, run := range map[string]func(x *int){
		"plain":    func(x *int) { stm.Atomic(func() { *x = 1; panic("out") }) },
		"compiled": func(x *int) { stm.Options{}.Compiled(func(tx *stm.Tx) { stm.Store(tx, x, 1); panic("out") }) },
	} {
		t.Run(name, func(t *testing.T) {
			x := 0
			func() {
				defer func() {
					if r := recover(); r != "out" {
						t.Errorf("recovered %v", r)
					}
				}()
				run(&x)
			}()
			if x != 1 {
				t.Errorf("x = %d", x)
			}
			// The clock is free: somebody else can commit.
			await.Receive(t, "a commit", await.Start(func() bool { commit(increment(&x)); return true }))
			if x != 2 {
				t.Errorf("x = %d after a commit", x)
			}
		})
	}
}

func TestGoexitInAtomicFreesTheClock(t *testing.T) {
	x := 0
	done := make(chan bool)
	go func() {
		defer close(done)
		stm.Atomic(func() { x = 1; runtime.Goexit() })
	}()
	<-done
	await.Receive(t, "a commit", await.Start(func() bool { commit(increment(&x)); return true }))
	if x != 2 {
		t.Errorf("x = %d", x)
	}
}

func TestPerformWritesBackAndWorksInPlace(t *testing.T) {
	var a int
	var s string
	var b byte
	m := map[string]int{"there": 1}
	err := stm.Atomically(func(tx *stm.Tx) error {
		stm.Store(tx, &a, 1)
		stm.MapStore(tx, m, "new", 2)
		tx.Perform()
		if a != 1 || m["new"] != 2 {
			t.Errorf("before: a = %d, m = %v", a, m)
		}
		stm.Store(tx, &a, 2)
		stm.Store(tx, &s, "text")
		stm.Store(tx, &b, 'b')
		stm.MapDelete(tx, m, "there")
		if a != 2 || s != "text" || b != 'b' || len(m) != 1 {
			t.Errorf("a = %d, s = %q, b = %q, m = %v", a, s, b, m)
		}
		a, m["plain"] = 3, 3
		if v, ok := stm.MapLoad(tx, m, "plain"); v != 3 || !ok || stm.Load(tx, &a) != 3 || stm.MapLen(tx, m) != 2 {
			t.Errorf("what was written plainly is not seen: a = %d, m = %v", a, m)
		}
		return nil
	})
	if err != nil || a != 3 {
		t.Errorf("a = %d, %v", a, err)
	}
}

func TestMapsInTransactions(t *testing.T) {
	m := map[string]int{"a": 1, "b": 2, "c": 3}
	stm.Atomically(func(tx *stm.Tx) error {
		stm.MapStore(tx, m, "a", 10)
		stm.MapStore(tx, m, "d", 4)
		stm.MapDelete(tx, m, "b")
		got := map[string]int{}
		for k, v := range stm.MapAll(tx, m) {
			got[k] = v
		}
		if fmt.Sprint(got) != "map[a:10 c:3 d:4]" || stm.MapLen(tx, m) != 3 {
			t.Errorf("inside: %v, %d entries", got, stm.MapLen(tx, m))
		}
		if _, ok := stm.MapLoad(tx, m, "b"); ok {
			t.Error("b is still there")
		}
		if fmt.Sprint(m) != "map[a:1 b:2 c:3]" {
			t.Errorf("seen before the commit: %v", m)
		}
		return nil
	})
	if fmt.Sprint(m) != "map[a:10 c:3 d:4]" {
		t.Errorf("after: %v", m)
	}
	stm.Atomically(func(tx *stm.Tx) error {
		stm.MapClear(tx, m)
		stm.MapStore(tx, m, "x", 1)
		if v, ok := stm.MapLoad(tx, m, "a"); ok {
			t.Errorf("a = %d after clear", v)
		}
		return nil
	})
	if fmt.Sprint(m) != "map[x:1]" {
		t.Errorf("after clear: %v", m)
	}
}

// TestMapsAreConsistentWithVariables: a variable always has the number of entries, and the sum
// of two entries is always the same.
func TestMapsAreConsistentWithVariables(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		m := map[int]int{0: 50, 1: 50}
		n := 2
		var all sync.WaitGroup
		for w := range 4 {
			all.Go(func() {
				for i := range 300 {
					o.Atomically(func(tx *stm.Tx) error {
						v, _ := stm.MapLoad(tx, m, 0)
						u, _ := stm.MapLoad(tx, m, 1)
						stm.MapStore(tx, m, 0, v-1)
						stm.MapStore(tx, m, 1, u+1)
						if k := 2 + w; i%2 == 0 {
							stm.MapStore(tx, m, k, 0)
							stm.Store(tx, &n, stm.Load(tx, &n)+1)
						} else {
							stm.MapDelete(tx, m, k)
							stm.Store(tx, &n, stm.Load(tx, &n)-1)
						}
						return nil
					})
					if i%50 == 0 {
						stm.Atomic(func() { m[0], m[1] = m[1], m[0] })
					}
					sum, err := stm.ValueWith(o, func(tx *stm.Tx) (int, error) {
						sum, entries := 0, 0
						for _, v := range stm.MapAll(tx, m) {
							sum += v
							entries++
						}
						if entries != stm.MapLen(tx, m) || entries != stm.Load(tx, &n) {
							return 0, fmt.Errorf("%d entries, length %d, counted %d", entries, stm.MapLen(tx, m), stm.Load(tx, &n))
						}
						return sum, nil
					})
					if err != nil || sum != 100 {
						t.Errorf("the sum is %d, %v", sum, err)
					}
				}
			})
		}
		all.Wait()
	})
}
