package stm_test

// Doomed transactions, provoked: in the lazy modes a transaction is made to see two
// values that were never there together, and then does each of the things that the
// sandboxing paper's error model lists. Nobody may notice: the function is run again
// and its result is right. The same faults in a transaction that is valid are passed
// on as they are.

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/stm"
)

// A fault is what a function does with a and b, which are the same in every state
// that memory ever has.
type fault struct {
	do func(tx *stm.Tx, a, b int) (int, error)
	// raises: it panics at once, without another access.
	raises bool
	// endless: it does not end by itself, and so cannot be tried in a valid
	// transaction.
	endless bool
	// unreachedUnderRace: a build with -race spends nearly all of it where nothing can be
	// interrupted, and whether the timer is in time is left to chance.
	unreachedUnderRace bool
}

var errDiffer = errors.New("a and b differ")

var faults = map[string]fault{
	"index out of range": {do: func(tx *stm.Tx, a, b int) (int, error) {
		table := []int{a}
		return table[b-a], nil
	}, raises: true},
	"slice out of range": {do: func(tx *stm.Tx, a, b int) (int, error) {
		return a + len("x"[b-a+b-a:]) - 1, nil
	}, raises: true},
	"nil dereference": {do: func(tx *stm.Tx, a, b int) (int, error) {
		p := &a
		if a != b {
			p = nil
		}
		return *p, nil
	}, raises: true},
	"nil dereference in Load": {do: func(tx *stm.Tx, a, b int) (int, error) {
		p := &a
		if a != b {
			p = nil
		}
		return stm.Load(tx, p), nil
	}},
	"division by zero": {do: func(tx *stm.Tx, a, b int) (int, error) {
		return a / (1 - (b - a)), nil
	}, raises: true},
	"type assertion": {do: func(tx *stm.Tx, a, b int) (int, error) {
		v := any(a)
		if a != b {
			v = "text"
		}
		return v.(int), nil
	}, raises: true},
	"nil map": {do: func(tx *stm.Tx, a, b int) (int, error) {
		m := map[int]int{}
		if a != b {
			m = nil
		}
		m[a] = a
		return m[a], nil
	}, raises: true},
	"send on a closed channel": {do: func(tx *stm.Tx, a, b int) (int, error) {
		c := make(chan int, 1)
		if a != b {
			close(c)
		}
		c <- a
		return <-c, nil
	}, raises: true},
	"panic": {do: func(tx *stm.Tx, a, b int) (int, error) {
		if a != b {
			panic(errDiffer)
		}
		return a, nil
	}, raises: true},
	"error": {do: func(tx *stm.Tx, a, b int) (int, error) {
		if a != b {
			return -1, errDiffer
		}
		return a, nil
	}},
	"nonsensical length": {do: func(tx *stm.Tx, a, b int) (int, error) {
		return a + len(stm.Make[byte](tx, a-b)), nil
	}},
	"huge length": {do: func(tx *stm.Tx, a, b int) (int, error) {
		return a + len(stm.Make[[1 << 20]byte](tx, (b-a)<<40)), nil
	}},
	"length beyond all memory": {do: func(tx *stm.Tx, a, b int) (int, error) {
		// This one Go does not survive: it must not come to be tried.
		return a + len(stm.Make[byte](tx, (b-a)<<45)), nil
	}, endless: true},
	"endless loop of loads": {do: func(tx *stm.Tx, a, b int) (int, error) {
		var other int
		for i := b; i != a; i++ {
			stm.Load(tx, &other)
			other++
		}
		return a, nil
	}, endless: true},
	"endless loop of stores": {do: func(tx *stm.Tx, a, b int) (int, error) {
		other := new(int)
		for i := b; i != a; i++ {
			stm.Store(tx, other, i)
		}
		return a, nil
	}, endless: true},
	"endless loop of wide loads": {do: func(tx *stm.Tx, a, b int) (int, error) {
		other := new(string)
		for i := b; i != a; i++ {
			stm.Load(tx, other)
		}
		return a, nil
	}, endless: true},
	"endless loop of checks": {do: func(tx *stm.Tx, a, b int) (int, error) {
		for i := b; i != a; i++ {
			tx.Check()
		}
		return a, nil
	}, endless: true},
	"endless loop of nested transactions": {do: func(tx *stm.Tx, a, b int) (int, error) {
		for i := b; i != a; i++ {
			stm.Atomically(func(tx *stm.Tx) error { return nil })
		}
		return a, nil
	}, endless: true},
	"counted loop with a bound that never was": {do: func(tx *stm.Tx, a, b int) (int, error) {
		return a + count((b-a)<<62), nil
	}, endless: true},
	"endless loop without a checkpoint": {do: func(tx *stm.Tx, a, b int) (int, error) {
		for i := uint(1); a != b; i = i*5 + 1 {
			if i == 0 {
				a++
			}
		}
		return a, nil
	}, endless: true},
	"endless loop of calls": {do: func(tx *stm.Tx, a, b int) (int, error) {
		for i := b; i != a; {
			i = turn(i)
		}
		return a, nil
	}, endless: true},
	"endless loop in the standard library": {do: func(tx *stm.Tx, a, b int) (int, error) {
		table := []int{3, 1, 2}
		for range (b - a) << 62 {
			slices.Sort(table)
		}
		return a, nil
	}, endless: true},
	"growing map": {do: func(tx *stm.Tx, a, b int) (int, error) {
		m := map[int]int{}
		for i := range (b - a) << 62 {
			m[i] = count(100)
		}
		return a + len(m), nil
	}, endless: true},
	"growing slice": {do: func(tx *stm.Tx, a, b int) (int, error) {
		var s []int
		for i := range (b - a) << 62 {
			s = append(s, i+count(100))
		}
		return a + len(s), nil
	}, endless: true},
	"slice that does nothing but grow": {do: func(tx *stm.Tx, a, b int) (int, error) {
		var s []int
		for i := range (b - a) << 62 {
			s = append(s, i)
		}
		return a + len(s), nil
	}, endless: true},
	"slice of pointers that does nothing but grow": {do: func(tx *stm.Tx, a, b int) (int, error) {
		var s [][2]*int
		for range (b - a) << 62 {
			s = append(s, [2]*int{&a, &b})
		}
		return a + len(s), nil
	}, endless: true},
	"slice that grows by much at once": {do: func(tx *stm.Tx, a, b int) (int, error) {
		var s []byte
		piece := make([]byte, 1<<20)
		for range (b - a) << 62 {
			s = append(s, piece...)
		}
		return a + len(s), nil
	}, endless: true},
	"map that does nothing but grow": {do: func(tx *stm.Tx, a, b int) (int, error) {
		m := map[int]int{}
		for i := range (b - a) << 62 {
			m[i] = i
		}
		return a + len(m), nil
	}, endless: true},
	"long string that grows": {do: func(tx *stm.Tx, a, b int) (int, error) {
		s := string(make([]byte, 1<<20))
		for range (b - a) << 62 {
			s += "x"
		}
		return a + len(s)>>20 - 1, nil
	}, endless: true},
	"endless recursion without a checkpoint": {do: func(tx *stm.Tx, a, b int) (int, error) {
		return a + descend(b-a), nil
	}, endless: true, unreachedUnderRace: true},
	"endless recursion of a function that defers": {do: func(tx *stm.Tx, a, b int) (int, error) {
		return a + descendDeferring(b-a), nil //stmcheck:ok the timer interrupts it
	}, endless: true, unreachedUnderRace: true},
	"endless loop of a function that defers": {do: func(tx *stm.Tx, a, b int) (n int, err error) {
		defer func() { n += a }()
		for range (b - a) << 62 {
			n = turn(n)
		}
		return n, nil
	}, endless: true},
	"loop that allocates what it drops": {do: func(tx *stm.Tx, a, b int) (int, error) {
		var last *[512]int
		for range (b - a) << 62 {
			last = dropped(last)
		}
		return a, nil
	}, endless: true},
	"text that grows": {do: func(tx *stm.Tx, a, b int) (int, error) {
		s := ""
		for i := range (b - a) << 62 {
			s = fmt.Sprint(s, i)
		}
		return a + len(s), nil
	}, endless: true},
	"endless recursion of loads": {do: func(tx *stm.Tx, a, b int) (int, error) {
		other := new(int)
		return a, recurse(b-a, func() { stm.Load(tx, other) })
	}, endless: true},
	"endless recursion of loads of its own store": {do: func(tx *stm.Tx, a, b int) (int, error) {
		other := new(int)
		stm.Store(tx, other, 1)
		return a, recurse(b-a, func() { stm.Load(tx, other) })
	}, endless: true},
	"endless recursion of stores": {do: func(tx *stm.Tx, a, b int) (int, error) {
		other := new(int)
		return a, recurse(b-a, func() { stm.Store(tx, other, 1) })
	}, endless: true},
	"endless recursion of checks": {do: func(tx *stm.Tx, a, b int) (int, error) {
		return a, recurse(b-a, tx.Check)
	}, endless: true},
}

// count counts to n.
//
//go:noinline
func count(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum = 0
	}
	return sum
}

// turn is a call that does not end a loop.
//
//go:noinline
func turn(i int) int { return i ^ 2 }

// descend calls itself for ever, unless n is 0.
//
//go:noinline
func descend(n int) int {
	if n == 0 {
		return 0
	}
	return descend(n) + 1
}

// descendDeferring is descend with something to do at each return.
//
//go:noinline
func descendDeferring(n int) (depth int) {
	if n == 0 {
		return 0
	}
	defer func() { depth++ }()
	return descendDeferring(n)
}

// dropped returns what nobody needs.
//
//go:noinline
func dropped(*[512]int) *[512]int { return new([512]int) }

// recurse calls itself for ever, with a frame of some size, unless n is 0.
//
//go:noinline
func recurse(n int, step func()) error {
	if n == 0 {
		return nil
	}
	var frame [1024]byte
	frame[n&1023] = 1
	step()
	err := recurse(n+1, step)
	if frame[n&1023] != 1 {
		return errors.New("a frame has changed")
	}
	return err
}

// A company is a lazy mode, and when the second goroutine of it comes into play.
type company struct {
	stm.Options
	// before the commit that dooms the leader, a clone has run to its end; or
	// else it only begins after it.
	early bool
	// after that commit, whoever helps has time to look at what it can see.
	idle bool
}

var companies = map[string]company{
	"timer":            {Options: stm.Options{Mode: stm.Timer}},
	"helper":           {Options: stm.Options{Mode: stm.Helper}},
	"helper with time": {Options: stm.Options{Mode: stm.Helper}, idle: true},
	"early clone":      {Options: stm.Options{Mode: stm.Clone}, early: true},
	"late clone":       {Options: stm.Options{Mode: stm.Clone}},
}

// A doomed is the story of a transaction whose first attempt saw 0 in x and 1 in y.
type doomed struct {
	result  int
	err     error
	runs    int    // of the leader
	reached bool   // the fault, with values that differ
	hidden  uint64 // panics, by the statistics
}

// doom runs the story: the leader reads x, another transaction sets x and y to 1,
// the leader reads y and goes on to the fault.
func doom(c company, f fault) doomed {
	var d doomed
	var x, y int
	leader, before := myTx(), stm.ReadStats()
	set, cloned := make(chan bool), make(chan bool, 1)
	d.result, d.err = stm.ValueWith(c.Options, func(tx *stm.Tx) (int, error) {
		if tx != leader {
			if !c.early {
				<-set
			}
			a, b := stm.Load(tx, &x), stm.Load(tx, &y)
			select {
			case cloned <- true:
			default:
			}
			return f.do(tx, a, b)
		}
		d.runs++
		a := stm.Load(tx, &x)
		if d.runs == 1 {
			if c.early {
				<-cloned
			}
			commit(func(tx *stm.Tx) { stm.Store(tx, &x, 1); stm.Store(tx, &y, 1) })
			close(set)
			if c.idle {
				for range 3000 {
					runtime.Gosched()
				}
			}
		}
		b := stm.Load(tx, &y)
		if a != b {
			d.reached = true
		}
		return f.do(tx, a, b)
	})
	d.hidden = stm.ReadStats().Hidden - before.Hidden
	return d
}

func TestDoomedTransactionsStayInvisible(t *testing.T) {
	for name, c := range companies {
		t.Run(name, func(t *testing.T) {
			if !alone(t) {
				return
			}
			for name, f := range faults {
				if f.unreachedUnderRace && stm.RaceDetector {
					continue
				}
				t.Run(name, func(t *testing.T) { testDoomed(t, c, f) })
			}
		})
	}
}

// testDoomed dooms a transaction until one gets as far as the fault; a helper may
// be faster than that.
func testDoomed(t *testing.T, c company, f fault) {
	const most = 20
	reached := 0
	for range most {
		d := await.Receive(t, "a doomed transaction", await.Start(func() doomed { return doom(c, f) }))
		if d.err != nil || d.result != 1 || d.runs != 2 {
			t.Fatalf("result %d, error %v after %d runs; want 1 after 2", d.result, d.err, d.runs)
		}
		want := uint64(0)
		if d.reached && f.raises {
			want = 1
		}
		if d.reached {
			reached++
		}
		if !f.endless && f.raises && d.hidden != want {
			t.Fatalf("%d panics were hidden, want %d", d.hidden, want)
		}
		if f.endless && reached == 1 {
			break
		}
	}
	if reached == 0 && c.Mode == stm.Timer {
		t.Errorf("none of %d transactions got as far as the fault", most)
	}
}

func TestFaultsOfValidTransactionsArePassedOn(t *testing.T) {
	outcome := func(run func() (int, error)) (s string) {
		defer func() {
			if r := recover(); r != nil {
				s = fmt.Sprintf("panic %T %v", r, r)
			}
		}()
		v, err := run()
		return fmt.Sprintf("%d, %v", v, err)
	}
	for name, f := range faults {
		if f.endless {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := ""
			inEveryMode(t, func(t *testing.T, o stm.Options) {
				x, y := 0, 1
				before := stm.ReadStats().Hidden
				got := outcome(func() (int, error) {
					return stm.ValueWith(o, func(tx *stm.Tx) (int, error) {
						a, b := stm.Load(tx, &x), stm.Load(tx, &y)
						// A commit that changes nothing of what was read is no excuse.
						commit(increment(new(int)))
						return f.do(tx, a, b)
					})
				})
				if want == "" {
					want = got
				}
				if got != want || got == "0, <nil>" || got == "1, <nil>" {
					t.Errorf("got %s; in another mode it was %s", got, want)
				}
				if n := stm.ReadStats().Hidden - before; n != 0 {
					t.Errorf("%d panics of a valid transaction were hidden", n)
				}
			})
		})
	}
}

// A node is for privatisation: whoever unlinks it owns it.
type node struct {
	index int
	text  string
	next  *node
}

func TestPrivatisedNodesAreWrittenPlainly(t *testing.T) {
	for name, c := range companies {
		t.Run(name, func(t *testing.T) {
			if !alone(t) {
				return
			}
			for range 200 {
				testPrivatised(t, c)
			}
		})
	}
}

// testPrivatised has a transaction load a pointer to a node, which another unlinks
// and then writes plainly: the first must not be seen to have looked at it.
func testPrivatised(t *testing.T, c company) {
	head := &node{index: 1, text: "one", next: &node{index: 0}}
	table := []string{"zero", "one", "two"}
	unlinked, written := make(chan bool), make(chan bool)
	var looked atomic.Bool
	got := await.Start(func() string {
		leader := myTx()
		first := true
		s, err := stm.ValueWith(c.Options, func(tx *stm.Tx) (string, error) {
			p := stm.Load(tx, &head)
			if tx == leader && first {
				first = false
				close(unlinked)
				<-written
				looked.Store(true)
			}
			if p == nil {
				return "none", nil
			}
			i := stm.Load(tx, &p.index)
			if text := stm.Load(tx, &p.text); text != table[i] {
				return "", fmt.Errorf("%q is not %q", text, table[i])
			}
			return table[i] + "," + table[stm.Load(tx, &stm.Load(tx, &p.next).index)], nil
		})
		if err != nil {
			return err.Error()
		}
		return s
	})
	<-unlinked
	mine := make(chan *node, 1)
	commit(func(tx *stm.Tx) {
		mine <- stm.Load(tx, &head)
		stm.Store(tx, &head, nil)
	})
	private := <-mine
	private.index, private.text, private.next = 99, "private", nil
	close(written)
	if s := await.Receive(t, "the transaction", got); s != "none" || !looked.Load() {
		t.Fatalf("got %q, want none", s)
	}
}
