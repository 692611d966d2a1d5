package stm_test

// Transactions that begin and end on the short way: nothing that belongs to a commit is left
// out.

import (
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/stm"
)

func TestUsualTransactionDoesWhatItWasAskedFor(t *testing.T) {
	var x int
	entries := map[string]int{}
	var calls []string
	for range 3 {
		stm.BeLean()
		stm.Atomically(func(tx *stm.Tx) error {
			tx.OnCommit(func() { calls = append(calls, "commit") })
			tx.OnAbort(func() { calls = append(calls, "abort") })
			stm.MapStore(tx, entries, "a", stm.Load(tx, &x)+1)
			stm.Store(tx, &x, 7)
			return nil
		})
	}
	if x != 7 || entries["a"] != 8 {
		t.Errorf("x is %d and the entry %d, want 7 and 8", x, entries["a"])
	}
	if len(calls) != 3 || calls[0] != "commit" || calls[2] != "commit" {
		t.Errorf("what was called is %v, want three times commit", calls)
	}
}

// A value goes back and forth between two goroutines, each of which waits for the other: a
// commit that wakes nobody ends that.
func TestUsualCommitWakesThoseWhoWait(t *testing.T) {
	var turn int
	play := func(me int) int {
		for range 300 {
			stm.BeLean()
			stm.Atomically(func(tx *stm.Tx) error {
				if stm.Load(tx, &turn)%2 != me {
					stm.Retry(tx)
				}
				return nil
			})
			stm.BeLean()
			stm.Atomically(func(tx *stm.Tx) error { stm.Store(tx, &turn, stm.Load(tx, &turn)+1); return nil })
		}
		return me
	}
	players := []<-chan int{await.Start(func() int { return play(0) }), await.Start(func() int { return play(1) })}
	for _, p := range players {
		await.Receive(t, "a player", p)
	}
	if turn != 600 {
		t.Errorf("there were %d turns, want 600", turn)
	}
}

// A panic that comes while the clock is odd, here because of an address that leads nowhere,
// must not leave it so.
func TestUsualCommitThatFaultsLetsOthersCommit(t *testing.T) {
	var x int
	stm.BeLean()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a store to nowhere went through")
			}
		}()
		stm.Atomically(func(tx *stm.Tx) error { stm.Store(tx, (*int)(nil), 1); return nil })
	}()
	commit(increment(&x))
	if x != 1 {
		t.Errorf("x is %d, want 1", x)
	}
}

// More goroutines than there are places at which a Tx is looked for first.
func TestEveryGoroutineHasItsOwnTransaction(t *testing.T) {
	const n = 700
	txs := make([]*stm.Tx, n)
	var inside, all sync.WaitGroup
	inside.Add(n)
	for i := range n {
		all.Go(func() {
			stm.Atomically(func(tx *stm.Tx) error {
				txs[i] = tx
				inside.Done()
				inside.Wait()
				return stm.Atomically(func(inner *stm.Tx) error {
					if inner != tx {
						t.Error("a transaction inside of another has a Tx of its own")
					}
					return nil
				})
			})
		})
	}
	all.Wait()
	owners := map[*stm.Tx]bool{}
	for _, tx := range txs {
		owners[tx] = true
	}
	if len(owners) != n {
		t.Errorf("%d goroutines have %d transactions", n, len(owners))
	}
}
