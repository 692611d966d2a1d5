package stm_test

// What happens at the edges of a transaction's life: panics that the function
// recovers, Goexit, actions that run transactions, Retry and errors of a transaction
// that runs alone, a timer that has stopped, clones and helpers that are late. Each
// test was written for a way in which a transaction could hang, vanish or crash the
// program.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/stm"
)

// commit runs a function as a transaction in another goroutine, and returns when it
// has committed.
func commit(fn func(tx *stm.Tx)) {
	done := make(chan bool)
	go func() {
		defer close(done)
		stm.Atomically(func(tx *stm.Tx) error { fn(tx); return nil })
	}()
	<-done
}

func increment(p *int) func(tx *stm.Tx) {
	return func(tx *stm.Tx) { stm.Store(tx, p, stm.Load(tx, p)+1) }
}

func TestFunctionThatRecoversTheUnwindingIsRunAgainAllTheSame(t *testing.T) {
	if !alone(t) {
		return
	}
	var x, y, z int
	runs := 0
	err := stm.Atomically(func(tx *stm.Tx) error { // Eager: the next Load sees the conflict
		runs++
		stm.Store(tx, &z, stm.Load(tx, &x))
		if runs == 1 {
			commit(increment(&x))
		}
		func() {
			defer func() { recover() }() // as fmt does around String methods
			stm.Load(tx, &y)
		}()
		return nil
	})
	if err != nil || z != 1 || runs != 2 {
		t.Errorf("%v: z is %d after %d runs; want 1, which is x, after 2", err, z, runs)
	}
}

// TestAnAttemptThatIsOverDoesNotReadItsOwnStores: a loop that waits for what it has stored itself
// would never end.
func TestAnAttemptThatIsOverDoesNotReadItsOwnStores(t *testing.T) {
	if !alone(t) {
		return
	}
	var x, y int
	runs, wentOn := 0, 0
	err := stm.Atomically(func(tx *stm.Tx) error {
		runs++
		stm.Store(tx, &x, 1)
		stm.Load(tx, &y)
		if runs == 1 {
			commit(increment(&y))
		}
		func() {
			defer func() { recover() }()
			stm.Load(tx, new(int))
		}()
		stm.Load(tx, &x)
		wentOn++
		return nil
	})
	if err != nil || runs != 2 || wentOn != 1 {
		t.Errorf("%v: of %d runs %d came to their end; want 1 of 2", err, runs, wentOn)
	}
}

func TestFunctionThatRecoversARetryWaitsAllTheSame(t *testing.T) {
	if !alone(t) {
		return
	}
	var x, y int
	entered := make(chan bool, 10)
	done := await.Start(func() error {
		return stm.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &y, 1)
			defer func() { recover() }()
			v := stm.Load(tx, &x)
			entered <- true
			if v == 0 {
				stm.Retry(tx)
			}
			return nil
		})
	})
	await.Receive(t, "the function", entered)
	commit(increment(&x))
	await.Receive(t, "the transaction", done)
	if len(entered) != 1 {
		t.Errorf("the function was run %d times more after its Retry, want once", len(entered))
	}
}

func TestGoexitLeavesNothingBehindForTheNextGoroutine(t *testing.T) {
	if !alone(t) {
		return
	}
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		exit := func(doomed bool) {
			done := make(chan bool)
			go func() {
				defer close(done)
				var x int
				me := myTx()
				o.Atomically(func(tx *stm.Tx) error {
					stm.Load(tx, &x)
					if doomed && tx == me {
						commit(increment(&x))
					}
					runtime.Goexit() // as t.FailNow does
					return nil
				})
			}()
			<-done
		}
		for i := range 50 {
			exit(i%2 == 0)
		}
		// The runtime has used the goroutines' descriptors again by now.
		var n int
		const goroutines = 200
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() { stm.Atomically(func(tx *stm.Tx) error { increment(&n)(tx); return nil }) })
		}
		wg.Wait()
		if n != goroutines {
			t.Errorf("%d increments were counted, want %d", n, goroutines)
		}
	})
}

func TestErrorOfAnIrrevocableTransactionIsReturned(t *testing.T) {
	if !alone(t) {
		return
	}
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var x int
		oops := errors.New("oops")
		done := await.Start(func() error {
			for range 500 {
				err := o.Atomically(func(tx *stm.Tx) error {
					stm.Load(tx, &x)
					tx.Irrevocable()
					stm.Store(tx, &x, 1)
					return oops
				})
				if err != oops || x != 0 {
					return fmt.Errorf("%w, x is %d", err, x)
				}
			}
			return oops
		})
		if err := await.Receive(t, "Atomically", done); err != oops {
			t.Error(err)
		}
	})
}

// contended runs a transaction whose first Patience attempts meet a commit of x, and
// so conflict: the next one runs alone, and is told so.
func contended(o stm.Options, x *int, fn func(tx *stm.Tx, alone bool) error) error {
	me := myTx()
	var attempts atomic.Int32
	var y int
	return o.Atomically(func(tx *stm.Tx) error {
		if tx != me {
			stm.Load(tx, x)
			return nil
		}
		n := attempts.Add(1)
		stm.Load(tx, x)
		if n <= stm.Patience {
			commit(increment(x))
			stm.Load(tx, &y)
		}
		return fn(tx, n > stm.Patience)
	})
}

func TestRetryAfterManyConflictsWaits(t *testing.T) {
	if !alone(t) {
		return
	}
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var x, ready int
		waits := make(chan bool, 1000)
		done := await.Start(func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("the user, who never called Irrevocable, was told: %v", r)
					waits <- true
				}
			}()
			return contended(o, &x, func(tx *stm.Tx, alone bool) error {
				if stm.Load(tx, &ready) == 0 {
					if alone {
						waits <- true
					}
					stm.Retry(tx)
				}
				return nil
			})
		})
		await.Receive(t, "the attempt that runs alone", waits)
		commit(increment(&ready))
		if err := await.Receive(t, "the transaction", done); err != nil {
			t.Error(err)
		}
	})
}

func TestErrorAfterManyConflictsIsReturned(t *testing.T) {
	if !alone(t) {
		return
	}
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		oops := errors.New("oops")
		for range 20 {
			var x int
			done := await.Start(func() error {
				return contended(o, &x, func(tx *stm.Tx, alone bool) error {
					if alone {
						return oops
					}
					return nil
				})
			})
			if err := await.Receive(t, "the transaction", done); err != oops {
				t.Errorf("got %v, want oops", err)
			}
		}
	})
}

func TestOrElseAfterManyConflictsTakesTheSecond(t *testing.T) {
	if !alone(t) {
		return
	}
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var x, y int
		done := await.Start(func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("panic: %v", r)
				}
			}()
			return contended(o, &x, func(tx *stm.Tx, alone bool) error {
				return stm.OrElse(tx,
					func(tx *stm.Tx) error { stm.Store(tx, &y, 1); stm.Retry(tx); return nil },
					func(tx *stm.Tx) error { stm.Store(tx, &y, stm.Load(tx, &y)+10); return nil })
			})
		})
		if err := await.Receive(t, "the transaction", done); err != nil || y != 10 {
			t.Errorf("%v and %d, want 10", err, y)
		}
	})
}

func TestOrElseTakesTheSecondIfTheFirstHasReadNothing(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var x int
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("panic: %v; only a transaction that would wait has to have read something", r)
			}
		}()
		err := o.Atomically(func(tx *stm.Tx) error {
			return stm.OrElse(tx,
				func(tx *stm.Tx) error { stm.Retry(tx); return nil },
				func(tx *stm.Tx) error { stm.Store(tx, &x, 1); return nil })
		})
		if err != nil || x != 1 {
			t.Errorf("%v and %d, want 1", err, x)
		}
	})
}

func TestOrElseForgetsTheActionsOfTheFirst(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var log []string
		var x int
		err := o.Atomically(func(tx *stm.Tx) error {
			stm.Load(tx, &x)
			tx.OnCommit(func() { log = append(log, "outer") })
			return stm.OrElse(tx,
				func(tx *stm.Tx) error {
					tx.OnCommit(func() { log = append(log, "first") })
					stm.Retry(tx)
					return nil
				},
				func(tx *stm.Tx) error {
					tx.OnCommit(func() { log = append(log, "second") })
					return nil
				})
		})
		if got := fmt.Sprint(log); err != nil || got != "[outer second]" {
			t.Errorf("%v; on commit there ran %v, want outer and second", err, got)
		}
	})
}

func TestOnAbortOfARetryRunsBeforeItWaits(t *testing.T) {
	if !alone(t) {
		return
	}
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var x int
		aborts := make(chan bool, 100)
		done := await.Start(func() error {
			return o.Atomically(func(tx *stm.Tx) error {
				tx.OnAbort(func() { aborts <- true }) // say, gives back a token
				if stm.Load(tx, &x) == 0 {
					stm.Retry(tx)
				}
				return nil
			})
		})
		await.Receive(t, "OnAbort", aborts) // only then
		commit(increment(&x))
		if err := await.Receive(t, "the transaction", done); err != nil {
			t.Error(err)
		}
	})
}

func TestTransactionInOnAbortDoesNotChangeItsOwner(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var x, y, aborts int
		me, runs := myTx(), 0
		err := o.Atomically(func(tx *stm.Tx) error {
			if tx != me {
				return nil
			}
			runs++
			tx.OnAbort(func() { stm.Atomically(func(tx *stm.Tx) error { increment(&aborts)(tx); return nil }) })
			stm.Load(tx, &x)
			if runs <= stm.Patience {
				commit(increment(&x))
				stm.Load(tx, &y)
				return nil
			}
			// From here on nobody can come between.
			blocked := await.Start(func() bool { commit(increment(&x)); return true })
			for range 100 {
				runtime.Gosched()
			}
			stm.Load(tx, &y)
			tx.OnCommit(func() { <-blocked })
			if runs > 2*stm.Patience {
				return errors.New("it never gets to run alone")
			}
			return nil
		})
		if err != nil || aborts != stm.Patience {
			t.Errorf("after %d runs and %d aborts: %v", runs, aborts, err)
		}
	})
}

func TestPanicInAnActionLeavesTheGoroutineUsable(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var x int
		for _, end := range []error{nil, errors.New("oops")} {
			func() {
				defer func() {
					if r := recover(); r != "in an action" {
						t.Errorf("recovered %v", r)
					}
				}()
				o.Atomically(func(tx *stm.Tx) error {
					increment(&x)(tx)
					tx.OnCommit(func() { panic("in an action") })
					tx.OnAbort(func() { panic("in an action") })
					return end
				})
			}()
		}
		if err := o.Atomically(func(tx *stm.Tx) error { increment(&x)(tx); return nil }); err != nil || x != 2 {
			t.Errorf("%v and %d, want 2", err, x)
		}
	})
}

func TestPanicsPassedOnAmongCommits(t *testing.T) {
	if !alone(t) {
		return
	}
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var stop atomic.Bool
		var n int
		writer := await.Start(func() bool {
			for !stop.Load() {
				stm.Atomically(func(tx *stm.Tx) error { increment(&n)(tx); return nil })
			}
			return true
		})
		pointers := make([]*int, 2000)
		for i := range pointers {
			pointers[i] = new(int)
		}
		// An eager reader compares all that it has read after every commit: under the
		// race detector a round takes tens of milliseconds.
		for range 30 {
			func() {
				defer func() {
					if r := recover(); r != "boom" {
						t.Errorf("recovered %v, want boom", r)
					}
				}()
				o.Atomically(func(tx *stm.Tx) error {
					for i := range pointers {
						stm.Load(tx, &pointers[i])
						if i%100 == 0 {
							runtime.Gosched()
						}
					}
					panic("boom")
				})
			}()
		}
		stop.Store(true)
		await.Receive(t, "the writer", writer)
	})
}

func TestContextThatEndsLeavesNothingBehind(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var x, y int
		me := myTx()
		ctx, cancel := context.WithCancel(t.Context())
		o.Context = ctx
		v, err := stm.ValueWith(o, func(tx *stm.Tx) (int, error) {
			a := stm.Load(tx, &x)
			stm.Store(tx, &y, 100)
			if tx == me {
				commit(increment(&x))
				cancel()
			}
			return a + 7, nil
		})
		if !errors.Is(err, context.Canceled) || v != 0 || y != 0 {
			t.Errorf("got %d, %v and y is %d; want nothing, that the context has ended, and 0", v, err, y)
		}
		o.Context = nil
		if err := o.Atomically(func(tx *stm.Tx) error { increment(&y)(tx); return nil }); err != nil || y != 1 {
			t.Errorf("%v and %d, want 1", err, y)
		}
	})
}

func TestTimerRunsAsLongAsATransactionDoes(t *testing.T) {
	if !alone(t) {
		return
	}
	o := stm.Options{Mode: stm.Timer}
	var x, y int
	attempts := 0
	done := await.Start(func() error {
		return o.Atomically(func(tx *stm.Tx) error {
			attempts++
			if attempts == 1 {
				// A long computation without accesses: the timer may find that nobody
				// has needed it for a second, and must not be gone for good.
				//stmcheck:ok it ends when the timer does
				for end := time.Now().Add(2 * time.Second); stm.TimerRuns() && time.Now().Before(end); {
					runtime.Gosched()
				}
			}
			a := stm.Load(tx, &x)
			if attempts == 1 {
				commit(func(tx *stm.Tx) { increment(&x)(tx); increment(&y)(tx) })
			}
			for a != stm.Load(tx, &y) {
			}
			return nil
		})
	})
	if err := await.Receive(t, "a doomed loop", done); err != nil {
		t.Error(err)
	}
}

func TestManyGoroutinesHaveATxEach(t *testing.T) {
	var n int
	const goroutines = 3000
	var start, all sync.WaitGroup
	start.Add(goroutines)
	for range goroutines {
		all.Go(func() {
			start.Done()
			start.Wait() // all are there at once
			stm.Atomically(func(tx *stm.Tx) error { increment(&n)(tx); return nil })
		})
	}
	all.Wait()
	if n != goroutines {
		t.Errorf("counted %d, want %d", n, goroutines)
	}
}

// TestTheTimerIsFasterTheMoreItFinds: between 20 and 1000 times a second.
func TestTheTimerIsFasterTheMoreItFinds(t *testing.T) {
	tick := 10 * time.Millisecond
	for range 20 {
		if next := stm.NextTick(tick, true); next > tick || next < time.Millisecond {
			t.Fatalf("%v after %v, with a find", next, tick)
		} else {
			tick = next
		}
	}
	if tick != time.Millisecond {
		t.Errorf("%v after many finds", tick)
	}
	for range 40 {
		if next := stm.NextTick(tick, false); next < tick || next > 50*time.Millisecond {
			t.Fatalf("%v after %v, without a find", next, tick)
		} else {
			tick = next
		}
	}
	if tick != 50*time.Millisecond {
		t.Errorf("%v after no finds", tick)
	}
}
