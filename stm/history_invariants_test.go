package stm_test

// What must hold of shared structures however many work on them: sums stay, lists
// stay sorted and whole, two variables stay equal, wide values are never torn, and
// memory that only a log refers to is not collected. The collector runs throughout.
// And everybody gets done: a long transaction among fast ones, and a wide load among
// commits that have nothing to do with it.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/stm"
)

// stress runs functions again and again, n times each at the same time, while the
// collector runs.
func stress(t *testing.T, n int, functions ...func(rnd *rand.Rand) error) {
	t.Helper()
	n = times(n)
	var stop atomic.Bool
	collector := await.Start(func() bool {
		for !stop.Load() {
			runtime.GC()
		}
		return true
	})
	var wg sync.WaitGroup
	seed := rand.Uint64()
	for i, f := range functions {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(i)))
			for range n {
				if err := f(rnd); err != nil {
					t.Errorf("seed %d: %v", seed, err)
					return
				}
			}
		})
	}
	await.Receive(t, "the transactions", await.Start(func() bool { wg.Wait(); return true }))
	stop.Store(true)
	await.Receive(t, "the collector", collector)
}

func TestMoneyIsNeitherMadeNorLost(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var accounts [20]struct {
			balance int32 // two to a word
			moves   int32
		}
		for i := range accounts {
			accounts[i].balance = 100
		}
		errPoor := errors.New("not enough")
		transfer := func(rnd *rand.Rand) error {
			from, to, amount := rnd.IntN(len(accounts)), rnd.IntN(len(accounts)), rnd.Int32N(50)
			err := o.Atomically(func(tx *stm.Tx) error {
				a, b := &accounts[from], &accounts[to]
				stm.Store(tx, &b.balance, stm.Load(tx, &b.balance)+amount)
				runtime.Gosched()
				stm.Store(tx, &a.balance, stm.Load(tx, &a.balance)-amount)
				stm.Store(tx, &a.moves, stm.Load(tx, &a.moves)+1)
				if stm.Load(tx, &a.balance) < 0 {
					return errPoor
				}
				return nil
			})
			if errors.Is(err, errPoor) {
				return nil
			}
			return err
		}
		audit := func(*rand.Rand) error {
			return o.Atomically(func(tx *stm.Tx) error {
				sum := int32(0)
				for i := range accounts {
					sum += stm.Load(tx, &accounts[i].balance)
				}
				if sum != 100*int32(len(accounts)) {
					return fmt.Errorf("the sum is %d", sum)
				}
				return nil
			})
		}
		stress(t, 3000, transfer, transfer, transfer, audit)
		if err := audit(nil); err != nil {
			t.Error(err)
		}
	})
}

// A link is an element of a sorted set.
type link struct {
	key  int
	next *link
}

func TestSortedListStaysSortedAndComplete(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var head *link
		const keys, workers = 30, 3
		var present [workers][keys]bool // by those who alone change these keys
		find := func(tx *stm.Tx, key int) (at **link, l *link) {
			for at = &head; ; at = &l.next {
				if l = stm.Load(tx, at); l == nil || l.key >= key {
					return at, l
				}
			}
		}
		worker := func(me int) func(*rand.Rand) error {
			return func(rnd *rand.Rand) error {
				n := rnd.IntN(keys)
				key := n*workers + me
				err := o.Atomically(func(tx *stm.Tx) error {
					at, l := find(tx, key)
					if there := l != nil && l.key == key; there != present[me][n] {
						return fmt.Errorf("%d is there: %v, want %v", key, there, present[me][n])
					}
					if present[me][n] {
						stm.Store(tx, at, stm.Load(tx, &l.next))
						stm.Store(tx, &l.next, nil) // a doomed reader falls off here
					} else {
						stm.Store(tx, at, &link{key, l})
					}
					return nil
				})
				present[me][n] = !present[me][n]
				return err
			}
		}
		walk := func(*rand.Rand) error {
			return o.Atomically(func(tx *stm.Tx) error {
				last := -1
				for l := stm.Load(tx, &head); l != nil; l = stm.Load(tx, &l.next) {
					if l.key <= last {
						return fmt.Errorf("%d after %d", l.key, last)
					}
					last = l.key
				}
				return nil
			})
		}
		stress(t, 3000, worker(0), worker(1), worker(2), walk)
	})
}

func TestTwoVariablesStayEqual(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var a, b int
		write := func(*rand.Rand) error {
			return o.Atomically(func(tx *stm.Tx) error {
				v := stm.Load(tx, &a) + 1
				stm.Store(tx, &a, v)
				runtime.Gosched()
				stm.Store(tx, &b, v)
				return nil
			})
		}
		table := []string{"equal"}
		compare := func(*rand.Rand) error {
			return o.Atomically(func(tx *stm.Tx) error {
				x := stm.Load(tx, &a)
				runtime.Gosched()
				y := stm.Load(tx, &b)
				_ = table[max(x-y, y-x)] // panics if doomed
				if x != y {
					return fmt.Errorf("%d and %d", x, y)
				}
				return nil
			})
		}
		stress(t, 3000, write, write, compare, compare)
	})
}

// A wideValue holds the same number in every shape that spans words.
type wideValue struct {
	small byte
	text  string
	any   any
	list  []int
	sum   fmt.Stringer
	tail  [3]uint16
}

type number int

func (n number) String() string { return fmt.Sprint(int(n)) }

func wideOf(n int) wideValue {
	return wideValue{byte(n), strings.Repeat("x", n), n, make([]int, n), number(n), [3]uint16{uint16(n), uint16(n), uint16(n)}}
}

func (v wideValue) check() error {
	n := len(v.text)
	if v.text != strings.Repeat("x", n) || int(v.small) != n || v.any != n || len(v.list) != n || cap(v.list) != n ||
		v.sum.String() != fmt.Sprint(n) || v.tail != [3]uint16{uint16(n), uint16(n), uint16(n)} {
		return fmt.Errorf("torn: %+v", v)
	}
	for _, x := range v.list {
		if x != 0 {
			return fmt.Errorf("a list with %d in it", x)
		}
	}
	return nil
}

func TestWideValuesAreNeverTorn(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		value := wideOf(0)
		var iface any = 0
		text := ""
		write := func(rnd *rand.Rand) error {
			n := rnd.IntN(100)
			return o.Atomically(func(tx *stm.Tx) error {
				stm.Store(tx, &value, wideOf(n))
				stm.Store(tx, &text, strings.Repeat("y", n))
				if n%2 == 0 {
					stm.Store(tx, &iface, any(n))
				} else {
					stm.Store(tx, &iface, any(strings.Repeat("z", n)))
				}
				return nil
			})
		}
		// Even a doomed transaction must not see a torn value, so the checks are
		// panics that nothing hides.
		read := func(*rand.Rand) error {
			var wrong atomic.Pointer[error]
			o.Atomically(func(tx *stm.Tx) error {
				err := stm.Load(tx, &value).check()
				s := stm.Load(tx, &text)
				if err == nil && s != strings.Repeat("y", len(s)) {
					err = fmt.Errorf("a torn string %q", s)
				}
				switch v := stm.Load(tx, &iface).(type) {
				case int:
				case string:
					if err == nil && v != strings.Repeat("z", len(v)) {
						err = fmt.Errorf("a torn interface %q", v)
					}
				}
				if err != nil {
					wrong.Store(&err)
				}
				return nil
			})
			if err := wrong.Load(); err != nil {
				return *err
			}
			return nil
		}
		swap := func(*rand.Rand) error { // whole from parts
			return o.Atomically(func(tx *stm.Tx) error {
				v := wideOf(int(stm.Load(tx, &value.small)))
				stm.Store(tx, &value.text, v.text)
				stm.Store(tx, &value.list, v.list)
				return nil
			})
		}
		stress(t, 2000, write, write, read, swap)
	})
}

func TestWhatOnlyALogRefersToIsNotCollected(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		var head *link
		var text string
		var boxed any
		for range 5 {
			err := o.Atomically(func(tx *stm.Tx) error {
				for i := range 100 {
					stm.Store(tx, &head, &link{i, stm.Load(tx, &head)})
					stm.Store(tx, &text, fmt.Sprint("text ", i))
					stm.Store(tx, &boxed, any([4]int{i, i, i, i}))
					if i%25 == 0 {
						runtime.GC()
					}
				}
				runtime.GC()
				if s := stm.Load(tx, &text); s != "text 99" {
					return fmt.Errorf("the text is %q", s)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			garbage := make([][]int, 100)
			for i := range garbage {
				garbage[i] = []int{-1, -1, -1, -1}
			}
			i := 99
			for l := head; l != nil; l = l.next {
				if l.key != i {
					t.Fatalf("link %d has key %d", i, l.key)
				}
				i--
			}
			if i != -1 || text != "text 99" || boxed != [4]int{99, 99, 99, 99} {
				t.Fatalf("%d links are missing, text %q, boxed %v", i+1, text, boxed)
			}
			head = nil
		}
	})
}

func TestQueueByRetryLosesNoWakeUp(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		const workers, each = 3, 400
		var queue [2]int // 0 is none: small, so that both sides have to wait
		var wg sync.WaitGroup
		sums := make([]int, workers)
		for worker := range workers {
			wg.Go(func() {
				for i := range each {
					o.Atomically(func(tx *stm.Tx) error {
						return stm.OrElse(tx, put(&queue[0], i+1), put(&queue[1], i+1))
					})
				}
			})
			wg.Go(func() {
				for range each {
					v, _ := stm.ValueWith(o, func(tx *stm.Tx) (v int, err error) {
						err = stm.OrElse(tx, take(&queue[0], &v), take(&queue[1], &v))
						return v, err
					})
					sums[worker] += v
				}
			})
		}
		await.Receive(t, "the workers", await.Start(func() bool { wg.Wait(); return true }))
		sum := 0
		for _, s := range sums {
			sum += s
		}
		if want := workers * each * (each + 1) / 2; sum != want || queue != [2]int{} {
			t.Errorf("the sum of what was taken is %d, want %d; %v is left", sum, want, queue)
		}
	})
}

// put and take wait until there is room, or something.
func put(slot *int, v int) func(tx *stm.Tx) error {
	return func(tx *stm.Tx) error {
		if stm.Load(tx, slot) != 0 {
			stm.Retry(tx)
		}
		stm.Store(tx, slot, v)
		return nil
	}
}

func take(slot, v *int) func(tx *stm.Tx) error {
	return func(tx *stm.Tx) error {
		if *v = stm.Load(tx, slot); *v == 0 {
			stm.Retry(tx)
		}
		stm.Store(tx, slot, 0)
		return nil
	}
}

// among runs a transaction while another goroutine commits as fast as it can.
func among(t *testing.T, fast func(tx *stm.Tx), slow func() error) {
	t.Helper()
	var stop atomic.Bool
	under := make(chan bool)
	writer := await.Start(func() int {
		for commits := 0; ; commits++ {
			switch {
			case commits == 1000:
				close(under)
			case commits > 1000 && stop.Load():
				return commits
			}
			stm.Atomically(func(tx *stm.Tx) error { fast(tx); return nil })
		}
	})
	await.Receive(t, "the fast ones", under)
	err := await.Receive(t, "the slow transaction", await.Start(slow))
	stop.Store(true)
	n := await.Receive(t, "the fast ones", writer)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d commits meanwhile", n)
}

func TestLongReaderEndsAmongFastWriters(t *testing.T) {
	for name, related := range map[string]bool{"of what it reads": true, "of something else": false} {
		t.Run(name, func(t *testing.T) {
			inEveryMode(t, func(t *testing.T, o stm.Options) {
				if !alone(t) {
					return
				}
				vars := make([]int, 20000)
				elsewhere := new(int)
				among(t, func(tx *stm.Tx) {
					if !related {
						increment(elsewhere)(tx)
						return
					}
					i := rand.IntN(len(vars))
					stm.Store(tx, &vars[i], stm.Load(tx, &vars[i])+1)
				}, func() error {
					for range 5 {
						o.Atomically(func(tx *stm.Tx) error {
							for i := range vars {
								stm.Load(tx, &vars[i])
							}
							return nil
						})
					}
					return nil
				})
			})
		})
	}
}

func TestLargeLoadEndsAmongFastWriters(t *testing.T) {
	inEveryMode(t, func(t *testing.T, o stm.Options) {
		if !alone(t) {
			return
		}
		var large [4000]int
		var elsewhere int
		among(t, increment(&elsewhere), func() error {
			for range 20 {
				v, err := stm.ValueWith(o, func(tx *stm.Tx) ([4000]int, error) { return stm.Load(tx, &large), nil })
				if err != nil || v != large {
					return fmt.Errorf("it is another value: %w", err)
				}
			}
			return nil
		})
	})
}
