package stm_test

// Transactions that log no reads: what they have read holds while nobody commits, and they
// begin again with a log where one is needed.

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/stm"
)

// leanly runs a transaction without a log, in the middle of whose first attempt another
// goroutine commits, and returns the number of attempts.
func leanly(t *testing.T, other, before, after func(tx *stm.Tx)) (attempts int) {
	t.Helper()
	if !stm.BeLean() {
		t.Log("this build logs every read")
	}
	stm.Atomically(func(tx *stm.Tx) error {
		attempts++
		before(tx)
		if attempts == 1 {
			commit(other)
		}
		after(tx)
		return nil
	})
	return attempts
}

// A commit elsewhere is enough to end an attempt that cannot compare what it has read. The
// next one has a log, and goes on beside such a commit.
func TestLeanAttemptEndsWithTheNextCommit(t *testing.T) {
	var x, elsewhere int
	load := func(tx *stm.Tx) { stm.Load(tx, &x) }
	attempts := leanly(t, increment(&elsewhere), load, load)
	if want := map[bool]int{true: 2, false: 1}[stm.BeLean()]; attempts != want {
		t.Errorf("%d attempts, want %d", attempts, want)
	}
}

// What was read before another commits, and after, is never seen together.
func TestLeanAttemptSeesOneState(t *testing.T) {
	type wide struct {
		a, b int
		s    string
	}
	for name, read := range map[string]func(tx *stm.Tx, x *wide) int{
		"words":   func(tx *stm.Tx, x *wide) int { return stm.Load(tx, &x.b) },
		"values":  func(tx *stm.Tx, x *wide) int { return stm.Load(tx, x).b },
		"strings": func(tx *stm.Tx, x *wide) int { return len(stm.Load(tx, &x.s)) },
	} {
		t.Run(name, func(t *testing.T) {
			var x wide
			a := 0
			leanly(t, func(tx *stm.Tx) { stm.Store(tx, &x, wide{1, 1, "1"}) },
				func(tx *stm.Tx) { a = stm.Load(tx, &x.a) },
				func(tx *stm.Tx) {
					if b := read(tx, &x); a != b {
						t.Errorf("%d and %d were read together", a, b)
					}
				})
			if a != 1 {
				t.Errorf("the last attempt has read %d", a)
			}
		})
	}
}

func TestLeanAttemptWritesByWhatItRead(t *testing.T) {
	var x, y int
	runs := 0
	stm.BeLean()
	stm.Atomically(func(tx *stm.Tx) error {
		runs++
		v := stm.Load(tx, &x)
		if runs == 1 {
			commit(increment(&x))
		}
		stm.Add(tx, &y, v+1) // blind to x from here on
		return nil
	})
	if y != 2 {
		t.Errorf("y is %d, want 2: x was 1 when it was written", y)
	}
}

// Retry needs to know what to wait for.
func TestLeanAttemptThatRetriesWaitsForWhatItRead(t *testing.T) {
	var slot, got int
	stm.BeLean()
	waiter := await.Start(func() error {
		stm.BeLean()
		return stm.Atomically(take(&slot, &got))
	})
	commit(func(tx *stm.Tx) { stm.Store(tx, &slot, 7) })
	if err := await.Receive(t, "the waiting transaction", waiter); err != nil || got != 7 {
		t.Errorf("it got %d, %v", got, err)
	}
}

// An alternative that is given up ends no attempt: the second one goes on at once.
func TestLeanAttemptChoosesAnAlternative(t *testing.T) {
	var slot, other int
	runs := 0
	stm.BeLean()
	err := stm.Atomically(func(tx *stm.Tx) error {
		runs++
		stm.Store(tx, &other, stm.Load(tx, &other)+1)
		return stm.OrElse(tx,
			func(tx *stm.Tx) error {
				if stm.Load(tx, &slot) == 0 {
					stm.Retry(tx)
				}
				return nil
			},
			func(tx *stm.Tx) error { stm.Store(tx, &other, stm.Load(tx, &other)+10); return nil })
	})
	if err != nil || other != 11 || runs != 1 {
		t.Errorf("other is %d after %d runs, %v", other, runs, err)
	}
}

func TestLeanAttemptBecomesIrrevocable(t *testing.T) {
	var x, y int
	stm.BeLean()
	runs := 0
	stm.Atomically(func(tx *stm.Tx) error {
		runs++
		v := stm.Load(tx, &x)
		tx.Irrevocable()
		for range 3000 { // more than a look lets pass
			v += stm.Load(tx, &y)
		}
		stm.Store(tx, &x, v+1)
		return nil
	})
	if x != 1 || runs != 1 {
		t.Errorf("x is %d after %d runs", x, runs)
	}
}

func TestTxOfLeanTransactionIsOfNoUseAfterIt(t *testing.T) {
	var x int
	var kept *stm.Tx
	stm.BeLean()
	stm.Atomically(func(tx *stm.Tx) error { kept = tx; stm.Load(tx, &x); return nil })
	defer func() {
		if message, _ := recover().(string); !strings.Contains(message, "after its transaction had ended") {
			t.Errorf("the access ended with %q", message)
		}
	}()
	stm.Load(kept, &x)
}

// A Tx in another goroutine is noticed when somebody looks, also where no log fills up: when
// somebody has committed, or the transaction has written.
func TestTxOfLeanTransactionIsOfNoUseInAnotherGoroutine(t *testing.T) {
	for name, before := range map[string]func(tx *stm.Tx, x *int){
		"a commit": func(_ *stm.Tx, x *int) {
			await.Receive(t, "the commit", await.Start(func() error {
				return stm.Atomically(func(tx *stm.Tx) error { stm.Add(tx, x, 1); return nil })
			}))
		},
		"a write": func(tx *stm.Tx, _ *int) { stm.Store(tx, new(int), 1) },
	} {
		t.Run(name, func(t *testing.T) { useElsewhere(t, before) })
	}
}

func useElsewhere(t *testing.T, before func(tx *stm.Tx, x *int)) {
	var x int
	var got any
	stm.BeLean()
	stm.Atomically(func(tx *stm.Tx) error {
		if got != nil {
			return nil // again, because of the commit
		}
		before(tx, &x)
		got = await.Receive(t, "the other goroutine", await.Start(func() (got any) {
			defer func() { got = recover() }()
			for range 3000 {
				stm.Load(tx, &x)
			}
			return nil
		}))
		return nil
	})
	if message, _ := got.(string); !strings.Contains(message, "another goroutine") {
		t.Errorf("the accesses ended with %v", got)
	}
}
