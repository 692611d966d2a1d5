package stm_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/stm"
)

var modes = map[string]stm.Mode{"eager": stm.Eager, "timer": stm.Timer, "helper": stm.Helper, "clone": stm.Clone}

// inEveryMode runs a test in each mode.
func inEveryMode(t *testing.T, f func(t *testing.T, o stm.Options)) {
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) { f(t, stm.Options{Mode: mode}) })
	}
}

// times is how often a test repeats something: less often with -short, as under the race
// detector, where each time takes ten times as long.
func times(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

func TestCounterByManyGoroutines(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var n int
		const goroutines, each = 4, 500
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for range each {
					err := o.Atomically(func(tx *stm.Tx) error {
						stm.Store(tx, &n, stm.Load(tx, &n)+1)
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if n != goroutines*each {
			t.Errorf("counted %d, want %d", n, goroutines*each)
		}
	})
}

type pair struct {
	a, b int32
	name string
	next *pair
	tail [3]byte
	any  any
}

func TestValuesOfEveryShape(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		check(t, o, int8(-3))
		check(t, o, uint16(65000))
		check(t, o, true)
		check(t, o, int32(-7))
		check(t, o, float32(1.5))
		check(t, o, int64(1<<60))
		check(t, o, 3.25)
		check(t, o, complex(1, 2))
		check(t, o, "some text")
		check(t, o, [3]byte{1, 2, 3})
		check(t, o, [5]int16{1, 2, 3, 4, 5})
		check(t, o, &pair{a: 1})
		check(t, o, any("boxed"))
		check[error](t, o, errors.New("an error"))
		check(t, o, pair{1, 2, "n", &pair{}, [3]byte{7, 8, 9}, 12})
		check(t, o, struct{}{})
		check(t, o, struct {
			a byte
			b [9]byte
		}{1, [9]byte{2, 3, 4, 5, 6, 7, 8, 9, 10}})
	})
}

// check stores a value and loads it, in one transaction and in the next, with
// neighbours that must not change.
func check[T comparable](t *testing.T, o stm.Options, v T) {
	t.Helper()
	var zero T
	x := new(struct {
		before byte
		value  T
		after  byte
	})
	x.before, x.after = 0xaa, 0xbb
	err := o.Atomically(func(tx *stm.Tx) error {
		if got := stm.Load(tx, &x.value); got != zero {
			return fmt.Errorf("before the store %v", got)
		}
		stm.Store(tx, &x.value, v)
		if got := stm.Load(tx, &x.value); got != v {
			return fmt.Errorf("after the store %v", got)
		}
		return nil
	})
	if err != nil {
		t.Errorf("%T: %v, want %v", v, err, v)
	}
	runtime.GC()
	if x.value != v || x.before != 0xaa || x.after != 0xbb {
		t.Errorf("%T: memory has %+v, want %v", v, *x, v)
	}
	got, err := stm.ValueWith(o, func(tx *stm.Tx) (T, error) { return stm.Load(tx, &x.value), nil })
	if err != nil || got != v {
		t.Errorf("%T: the next transaction has %v, %v", v, got, err)
	}
}

func TestFieldsAndTheirStructAreTheSameMemory(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		x := &pair{a: 1, b: 2, name: "x"}
		err := o.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &x.b, 20)
			whole := stm.Load(tx, x)
			if whole.a != 1 || whole.b != 20 || whole.name != "x" {
				return fmt.Errorf("struct is %+v", whole)
			}
			whole.a, whole.name = 10, "y"
			stm.Store(tx, x, whole)
			stm.Store(tx, &x.tail[1], 5)
			if a, name := stm.Load(tx, &x.a), stm.Load(tx, &x.name); a != 10 || name != "y" {
				return fmt.Errorf("fields are %d, %q", a, name)
			}
			if tail := stm.Load(tx, &x.tail); tail != [3]byte{0, 5, 0} {
				return fmt.Errorf("tail is %v", tail)
			}
			return nil
		})
		if err != nil || x.a != 10 || x.b != 20 || x.name != "y" || x.tail != [3]byte{0, 5, 0} {
			t.Errorf("%v; %+v", err, *x)
		}
	})
}

func TestErrorRollsBack(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		n, oops := 1, errors.New("oops")
		err := o.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &n, 2)
			return oops
		})
		if err != oops || n != 1 {
			t.Errorf("got %v and %d, want the error and 1", err, n)
		}
	})
}

func TestPanicOfAValidTransactionIsPassedOnWithItsStack(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		n := 1
		defer func() {
			if r := recover(); r != "boom" || n != 1 {
				t.Errorf("recovered %v with %d, want boom and 1", r, n)
			}
			buf := make([]byte, 1<<16)
			if stack := string(buf[:runtime.Stack(buf, false)]); !strings.Contains(stack, "explode") {
				t.Errorf("the stack has lost the panic's origin:\n%s", stack)
			}
			// And the next transaction is none the worse.
			if err := o.Atomically(func(tx *stm.Tx) error { stm.Store(tx, &n, 3); return nil }); err != nil || n != 3 {
				t.Errorf("afterwards %v and %d", err, n)
			}
		}()
		o.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &n, 2)
			explode()
			return nil
		})
		t.Error("no panic")
	})
}

//go:noinline
func explode() { panic("boom") }

// TestStoreToNilPanicsAtOnce: a commit that found no variable would never give the clock back.
func TestStoreToNilPanicsAtOnce(t *testing.T) {
	type wide struct {
		a, b int
		name string
	}
	for name, store := range map[string]func(tx *stm.Tx){
		"word":    func(tx *stm.Tx) { stm.Store[int](tx, nil, 1) },
		"pointer": func(tx *stm.Tx) { stm.Store[*int](tx, nil, new(int)) },
		"byte":    func(tx *stm.Tx) { stm.Store[byte](tx, nil, 1) },
		"wide":    func(tx *stm.Tx) { stm.Store(tx, nil, wide{1, 2, "x"}) },
		"sum":     func(tx *stm.Tx) { stm.Add[int](tx, nil, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			func() {
				defer func() {
					if _, ok := recover().(runtime.Error); !ok {
						t.Error("there was no panic of the runtime")
					}
				}()
				stm.Atomically(func(tx *stm.Tx) error {
					stm.Store(tx, &n, 1)
					store(tx)
					t.Error("the transaction went on")
					return nil
				})
			}()
			stm.Atomically(func(tx *stm.Tx) error { stm.Store(tx, &n, stm.Load(tx, &n)+2); return nil })
			if n != 2 {
				t.Errorf("after a transaction that stored to nothing, and one that added 2, there is %d", n)
			}
		})
	}
}

func TestGoexitRollsBack(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		n := 1
		done := make(chan bool)
		go func() {
			defer close(done)
			o.Atomically(func(tx *stm.Tx) error {
				stm.Store(tx, &n, 2)
				runtime.Goexit()
				return nil
			})
		}()
		await.Receive(t, "the goroutine", done)
		if err := o.Atomically(func(tx *stm.Tx) error { stm.Store(tx, &n, stm.Load(tx, &n)+10); return nil }); err != nil || n != 11 {
			t.Errorf("%v and %d, want 11", err, n)
		}
	})
}

func TestNestedTransactionIsPartOfTheOuter(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		n, oops := 0, errors.New("oops")
		err := o.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &n, 1)
			err := stm.Atomically(func(inner *stm.Tx) error {
				if inner != tx {
					return errors.New("another Tx")
				}
				stm.Store(inner, &n, stm.Load(inner, &n)+1)
				return nil
			})
			if err != nil {
				return err
			}
			if stm.Load(tx, &n) != 2 {
				return errors.New("the inner store is not seen")
			}
			return oops
		})
		if err != oops || n != 0 {
			t.Errorf("%v and %d, want the outer's error and 0", err, n)
		}
	})
}

func TestRetryWaitsForAChange(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var ready bool
		value := ""
		got := await.Start(func() string {
			v, _ := stm.ValueWith(o, func(tx *stm.Tx) (string, error) {
				if !stm.Load(tx, &ready) {
					stm.Retry(tx)
				}
				return stm.Load(tx, &value), nil
			})
			return v
		})
		o.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &value, "hello")
			stm.Store(tx, &ready, true)
			return nil
		})
		if v := await.Receive(t, "Retry", got); v != "hello" {
			t.Errorf("got %q, want hello", v)
		}
	})
}

func TestRetryEndsWithItsContext(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		ctx, cancel := context.WithCancel(t.Context())
		o.Context = ctx
		var n int
		entered := make(chan bool, 100)
		err := await.Start(func() error {
			return o.Atomically(func(tx *stm.Tx) error {
				if stm.Load(tx, &n) == 0 {
					select {
					case entered <- true:
					default:
					}
					stm.Retry(tx)
				}
				return nil
			})
		})
		await.Receive(t, "the transaction", entered)
		cancel()
		if err := await.Receive(t, "Atomically", err); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that the context was cancelled", err)
		}
	})
}

func TestOrElseTakesTheSecondIfTheFirstRetries(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var a, b, scratch int
		take := func(x *int) func(tx *stm.Tx) error {
			return func(tx *stm.Tx) error {
				stm.Store(tx, &scratch, 99)
				if stm.Load(tx, x) == 0 {
					stm.Retry(tx)
				}
				stm.Store(tx, &scratch, 1)
				stm.Store(tx, x, stm.Load(tx, x)-1)
				return nil
			}
		}
		b = 1
		if err := o.Atomically(func(tx *stm.Tx) error { return stm.OrElse(tx, take(&a), take(&b)) }); err != nil || a != 0 || b != 0 || scratch != 1 {
			t.Errorf("%v: a %d, b %d, scratch %d", err, a, b, scratch)
		}
		done := await.Start(func() error {
			return o.Atomically(func(tx *stm.Tx) error { return stm.OrElse(tx, take(&a), take(&b)) })
		})
		o.Atomically(func(tx *stm.Tx) error { stm.Store(tx, &a, 1); return nil })
		if err := await.Receive(t, "OrElse", done); err != nil {
			t.Error(err)
		}
	})
}

func TestIrrevocableRunsOnceAndAlone(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var n int
		effects := 0
		const goroutines, each = 4, 100
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for range each {
					o.Atomically(func(tx *stm.Tx) error {
						v := stm.Load(tx, &n)
						tx.Irrevocable()
						effects++ // unguarded: nobody else is irrevocable
						stm.Store(tx, &n, v+1)
						return nil
					})
				}
			})
		}
		wg.Wait()
		if n != goroutines*each || effects != goroutines*each {
			t.Errorf("counted %d with %d effects, want %d of each", n, effects, goroutines*each)
		}
	})
}

func TestActionsRunOnCommitOrOnAbort(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var log []string
		note := func(s string) func() { return func() { log = append(log, s) } }
		o.Atomically(func(tx *stm.Tx) error {
			tx.OnCommit(note("commit 1"))
			tx.OnCommit(note("commit 2"))
			tx.OnAbort(note("never"))
			return nil
		})
		o.Atomically(func(tx *stm.Tx) error {
			tx.OnCommit(note("never"))
			tx.OnAbort(note("abort 1"))
			tx.OnAbort(note("abort 2"))
			return errors.New("oops")
		})
		if got, want := strings.Join(log, ", "), "commit 1, commit 2, abort 2, abort 1"; got != want {
			t.Errorf("actions were %q, want %q", got, want)
		}
	})
}

func TestTxIsOfNoUseAfterItsTransaction(t *testing.T) {
	var n int
	var escaped *stm.Tx
	stm.Atomically(func(tx *stm.Tx) error { escaped = tx; return nil })
	for name, use := range map[string]func(){
		"Store":       func() { stm.Store(escaped, &n, 1) },
		"Load":        func() { stm.Load(escaped, &n) },
		"Check":       func() { escaped.Check() },
		"Irrevocable": func() { escaped.Irrevocable() },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, "after its transaction") {
					t.Errorf("got %v, want a panic that says what is wrong", r)
				}
			}()
			use()
		})
	}
}

func TestWordsNeedNoAllocation(t *testing.T) {
	var n int
	var p *int
	x := new(int)
	fn := func(tx *stm.Tx) error {
		stm.Store(tx, &n, stm.Load(tx, &n)+1)
		if stm.Load(tx, &p) == nil {
			stm.Store(tx, &p, x)
		}
		return nil
	}
	stm.Atomically(fn)
	if got := testing.AllocsPerRun(1000, func() { stm.Atomically(fn) }); got != 0 {
		t.Errorf("%v allocations in a transaction of words, want none", got)
	}
}

// TestFunctionThatRecoversEverythingDoesNoHarm: it catches the unwinding, too, and
// goes on.
func TestFunctionThatRecoversEverythingDoesNoHarm(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var ready bool
		var n int
		done := await.Start(func() error {
			return o.Atomically(func(tx *stm.Tx) error {
				func() {
					defer func() { recover() }()
					if !stm.Load(tx, &ready) {
						stm.Retry(tx)
					}
				}()
				stm.Store(tx, &n, stm.Load(tx, &n)+1)
				return nil
			})
		})
		o.Atomically(func(tx *stm.Tx) error { stm.Store(tx, &ready, true); return nil })
		if err := await.Receive(t, "the transaction", done); err != nil || n != 1 {
			t.Errorf("%v and %d, want 1", err, n)
		}
	})
}

func TestErrorOfAnIrrevocableTransactionReleasesEverybody(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		n, oops := 0, errors.New("oops")
		err := o.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &n, stm.Load(tx, &n)+1)
			tx.Irrevocable()
			return oops
		})
		if err != oops || n != 0 {
			t.Errorf("%v and %d, want the error and 0", err, n)
		}
		if err := o.Atomically(func(tx *stm.Tx) error { stm.Store(tx, &n, 5); return nil }); err != nil || n != 5 {
			t.Errorf("afterwards %v and %d", err, n)
		}
	})
}

func TestVarsAreVariables(t *testing.T) {
	x, y := stm.NewVar("a"), new(stm.Var[int])
	got, err := stm.Value(func(tx *stm.Tx) (string, error) {
		y.Store(tx, y.Load(tx)+1)
		x.Store(tx, x.Load(tx)+"b")
		return x.Load(tx), nil
	})
	if err != nil || got != "ab" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestStatsCount(t *testing.T) {
	var n int
	before := stm.ReadStats()
	for range 10 {
		stm.Atomically(func(tx *stm.Tx) error { stm.Store(tx, &n, stm.Load(tx, &n)+1); return nil })
	}
	stm.Atomically(func(tx *stm.Tx) error { return errors.New("oops") })
	helped := stm.ReadStats()
	stm.Options{Mode: stm.Helper}.Atomically(func(tx *stm.Tx) error { stm.Load(tx, &n); return nil })
	now := stm.ReadStats()
	if logged := now.Reads - helped.Reads; logged < 1 {
		t.Errorf("%d reads were counted of a transaction that has a log", logged)
	}
	if now.Commits-before.Commits < 10 || now.Failures-before.Failures < 1 || now.Writes-before.Writes < 10 {
		t.Errorf("counted %+v after %+v", now, before)
	}
}
