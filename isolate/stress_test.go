package isolate_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// The stress tests run careful and careless goroutines on the same data, with
// garbage collections throughout, until each has done its share and a number of
// careless accesses has fallen into sections. They assert what is promised: a
// section sees nobody else's writes and shows nobody its intermediate states, but
// for accesses that were reported as surrendered.

// stress runs sections on some goroutines and careless code on others, and
// returns the number of sections.
func stress(t *testing.T, section func(rng *rand.Rand), careless ...func(rng *rand.Rand)) int64 {
	t.Helper()
	const sections, accesses, violations = 5000, 2000, 50
	var all sync.WaitGroup
	var stop atomic.Bool
	shares := make([]atomic.Int64, 1+len(careless))
	run := func(share *atomic.Int64, f func(rng *rand.Rand), seed uint64) {
		all.Go(func() {
			for rng := rand.New(rand.NewPCG(seed, 7)); !stop.Load(); share.Add(1) {
				f(rng)
			}
		})
	}
	before := isolate.ReadStats()
	for i := range uint64(3) {
		run(&shares[0], section, i)
	}
	for i, f := range careless {
		run(&shares[1+i], f, uint64(10+i))
	}
	run(new(atomic.Int64), func(*rand.Rand) { runtime.GC() }, 0)
	await.Until(t, "through", func() bool {
		now := isolate.ReadStats()
		done := shares[0].Load() >= sections && now.Delayed+now.Surrendered-before.Delayed-before.Surrendered >= violations
		for i := range careless {
			done = done && shares[1+i].Load() >= accesses
		}
		return done
	})
	stop.Store(true)
	await.Receive(t, "the goroutines", await.Start(func() bool { all.Wait(); return true }))
	return shares[0].Load()
}

// isolation counts what must not happen. If any access was surrendered meanwhile,
// it may have been that one, and nothing is known.
type isolation struct {
	broken atomic.Int64
	before uint64
}

func watchIsolation() *isolation {
	return &isolation{before: isolate.ReadStats().Surrendered}
}

func (w *isolation) check(t *testing.T) {
	t.Helper()
	quiet()
	surrendered := isolate.ReadStats().Surrendered - w.before
	if n := w.broken.Load(); n > 0 && surrendered == 0 {
		t.Errorf("isolation was broken %d times, and nothing was surrendered", n)
	}
	if surrendered > 0 {
		t.Logf("%d accesses were surrendered", surrendered)
	}
}

const intermediate = -1

func TestStressCounters(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	type pair struct{ a, b int64 }
	pairs := isolate.MakeSlice[pair](&mu, 2000) // on several pages
	w := watchIsolation()
	sections := stress(t, func(rng *rand.Rand) {
		mu.Lock()
		defer mu.Unlock()
		p := &isolate.OwnSlice(&mu, pairs)[rng.IntN(len(pairs))]
		a, b := p.a, p.b
		p.a, p.b = intermediate, intermediate
		for range 20 {
			if p.a != intermediate || p.b != intermediate {
				w.broken.Add(1)
			}
		}
		p.a, p.b = a+1, b+1
	}, func(rng *rand.Rand) {
		p := &pairs[rng.IntN(len(pairs))]
		if p.a == intermediate || p.b == intermediate {
			w.broken.Add(1)
		}
	}, func(rng *rand.Rand) {
		pairs[rng.IntN(len(pairs))].a = int64(rng.IntN(1000))
	})
	w.check(t)
	total := int64(0)
	for i := range pairs {
		total += pairs[i].b // written by sections alone
	}
	if total != sections && w.broken.Load() == 0 {
		t.Errorf("%d increments are left of %d", total, sections)
	}
}

func TestStressReadersAndWriters(t *testing.T) {
	if !protected(t) {
		return
	}
	var rw isolate.RWMutex
	closeAfter(t, &rw)
	values := isolate.MakeSlice[int64](&rw, 3000)
	w := watchIsolation()
	stress(t, func(rng *rand.Rand) {
		if rng.IntN(3) == 0 {
			rw.Lock()
			p := &isolate.OwnSlice(&rw, values)[rng.IntN(len(values))]
			v := *p
			*p = intermediate
			for range 20 {
				if *p != intermediate {
					w.broken.Add(1)
				}
			}
			*p = v + 1
			rw.Unlock()
			return
		}
		rw.RLock()
		p := &isolate.OwnSlice(&rw, values)[rng.IntN(len(values))]
		v := *p
		for range 20 {
			if *p != v || v == intermediate {
				w.broken.Add(1)
			}
		}
		rw.RUnlock()
	}, func(rng *rand.Rand) {
		if values[rng.IntN(len(values))] == intermediate {
			w.broken.Add(1)
		}
	}, func(rng *rand.Rand) {
		values[rng.IntN(len(values))] = int64(rng.IntN(1000))
	})
	w.check(t)
}

// TestStressList: sections reverse a list, which is no list half-way through;
// careless code walks it and must come to its end every time.
func TestStressList(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	type root struct{ first isolate.Ref[node] }
	list := isolate.New[root](&mu)
	const length = 200
	for i := range length {
		n := isolate.New[node](&mu)
		n.key, n.next = i, list.first
		list.first = isolate.RefTo(&mu, n)
	}
	w := watchIsolation()
	stress(t, func(*rand.Rand) {
		mu.Lock()
		defer mu.Unlock()
		own := isolate.Own(&mu, list)
		var reversed isolate.Ref[node]
		count := 0
		for at := own.first; !at.IsNil(); count++ {
			n := isolate.Follow(own, at)
			n.key = -n.key // every key is negative or none is, between sections
			at, n.next, reversed = n.next, reversed, at
		}
		own.first = reversed
		if count != length {
			w.broken.Add(1)
		}
	}, func(*rand.Rand) {
		// The list may be reversed between two steps, but never seen in between:
		// a walk of one step sees one state.
		n := isolate.Follow(list, list.first)
		if n == nil || n.key > length || n.key < -length {
			w.broken.Add(1)
		}
	}, func(rng *rand.Rand) {
		// Careless writes that keep the structure: keys within the range.
		n := isolate.Follow(list, list.first)
		n.key = rng.IntN(length)
	})
	w.check(t)
}

// TestStressTree: sections insert into and delete from a search tree and check
// its order; careless code reads keys and writes counters in the nodes.
func TestStressTree(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	tree := isolate.New[treeRoot](&mu)
	w := watchIsolation()
	stress(t, func(rng *rand.Rand) {
		mu.Lock()
		defer mu.Unlock()
		own := isolate.Own(&mu, tree)
		own.balance = intermediate
		if key := rng.IntN(500); rng.IntN(2) == 0 {
			own.insert(&mu, key)
		} else {
			own.remove(&mu, key)
		}
		if rng.IntN(50) == 0 && own.count(own.top, -1, 1<<30) != int(own.size) {
			w.broken.Add(1)
		}
		own.balance = own.size
	}, func(*rand.Rand) {
		if tree.balance == intermediate {
			w.broken.Add(1)
		}
	}, func(*rand.Rand) {
		tree.visits++
		if n := isolate.Follow(tree, tree.top); n != nil && n.key >= 500 {
			w.broken.Add(1)
		}
	})
	w.check(t)
}

type treeRoot struct {
	top           isolate.Ref[node]
	size, balance int64
	visits        int64 // written by careless code alone
}

func (r *treeRoot) insert(mu *isolate.Mutex, key int) {
	at := &r.top
	for !at.IsNil() {
		n := isolate.Follow(r, *at)
		switch {
		case key == n.key:
			return
		case key < n.key:
			at = &n.left
		default:
			at = &n.right
		}
	}
	n := isolate.Own(mu, isolate.New[node](mu))
	n.key = key
	*at = isolate.RefTo(mu, n)
	r.size++
}

func (r *treeRoot) remove(mu *isolate.Mutex, key int) {
	at := &r.top
	for !at.IsNil() {
		n := isolate.Follow(r, *at)
		switch {
		case key < n.key:
			at = &n.left
		case key > n.key:
			at = &n.right
		case n.left.IsNil():
			*at = n.right
			isolate.Free(mu, n)
			r.size--
			return
		default: // the largest of the left side takes its place
			from := &n.left
			for m := isolate.Follow(r, *from); !m.right.IsNil(); m = isolate.Follow(r, *from) {
				from = &m.right
			}
			m := isolate.Follow(r, *from)
			n.key = m.key
			*from = m.left
			isolate.Free(mu, m)
			r.size--
			return
		}
	}
}

// count counts the nodes below at whose keys are in order, between lo and hi.
func (r *treeRoot) count(at isolate.Ref[node], lo, hi int) int {
	n := isolate.Follow(r, at)
	if n == nil || n.key <= lo || n.key >= hi {
		return 0
	}
	return r.count(n.left, lo, n.key) + 1 + r.count(n.right, n.key, hi)
}

// TestStressCopiesDuringCollections: copies cannot be preempted, and collections
// do not wait for sections.
func TestStressCopiesDuringCollections(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	buf := isolate.MakeSlice[byte](&mu, 5*4096)
	w := watchIsolation()
	uniform := func(b []byte) bool {
		for _, c := range b {
			if c != b[0] {
				return false
			}
		}
		return true
	}
	stress(t, func(rng *rand.Rand) {
		mu.Lock()
		defer mu.Unlock()
		own := isolate.OwnSlice(&mu, buf)
		v := byte(rng.Uint32())
		for i := range own {
			own[i] = v
		}
		if !uniform(own) {
			w.broken.Add(1)
		}
	}, func(*rand.Rand) {
		local := make([]byte, 100)
		copy(local, buf) // within a page: all or nothing of a section
		if !uniform(local) {
			w.broken.Add(1)
		}
	}, func(rng *rand.Rand) {
		local := make([]byte, len(buf))
		copy(buf, local)
	})
	w.check(t)
}

// TestStressOfAGuardThatGrows: memory is added to a guard, mostly right behind what it has, while its pages
// are opened and sealed.
func TestStressOfAGuardThatGrows(t *testing.T) {
	if !protected(t) {
		return
	}
	const page, rounds, share = 4096 / 8, 20, 200
	w := watchIsolation()
	for range rounds {
		var mu isolate.Mutex
		all := [9][]int64{isolate.MakeSlice[int64](&mu, page)}
		var known, sections, accesses atomic.Int64
		known.Store(1)
		pick := func(rng *rand.Rand) []int64 {
			s := all[rng.Int64N(known.Load())]
			return s[page*rng.IntN(len(s)/page):][:1]
		}
		var users sync.WaitGroup
		var stop atomic.Bool
		run := func(seed uint64, f func(rng *rand.Rand)) {
			users.Go(func() {
				for rng := rand.New(rand.NewPCG(seed, 9)); !stop.Load(); {
					f(rng)
				}
			})
		}
		for i := range uint64(2) {
			run(i, func(rng *rand.Rand) {
				mu.Lock()
				defer mu.Unlock()
				p := &isolate.OwnSlice(&mu, pick(rng))[0]
				*p = intermediate
				for range 20 {
					if *p != intermediate {
						w.broken.Add(1)
					}
				}
				*p = sections.Add(1)
			})
		}
		run(2, func(rng *rand.Rand) {
			if p := &pick(rng)[0]; *p == intermediate {
				w.broken.Add(1)
			} else {
				*p = accesses.Add(1)
			}
		})
		for i := range int64(len(all)) {
			if i > 0 { // twice what there was
				all[i] = isolate.MakeSlice[int64](&mu, page<<(i-1))
				known.Store(i + 1)
			}
			done := sections.Load() + share
			await.Until(t, "used", func() bool { return sections.Load() >= done && accesses.Load() >= share*i/2 })
		}
		stop.Store(true)
		users.Wait()
		if err := mu.Close(); err != nil {
			t.Fatal(err)
		}
	}
	w.check(t)
}

// TestManyGuardsAreIndependent: ten thousand guards, each sealed and opened.
func TestManyGuardsAreIndependent(t *testing.T) {
	const guards = 10_000
	locks := make([]isolate.Mutex, guards)
	data := make([]*Account, guards)
	for i := range locks {
		closeAfter(t, &locks[i])
		data[i] = isolate.New[Account](&locks[i])
	}
	for range 2 {
		for i := range locks {
			carelessWrite(data[i], int64(i))
			locks[i].Lock()
			isolate.Own(&locks[i], data[i]).Balance++
			locks[i].Unlock()
		}
		for i := range locks {
			if got := carelessRead(data[i]); got != int64(i)+1 {
				t.Fatalf("account %d has %d, want %d", i, got, i+1)
			}
		}
	}
	if n := isolate.ReadStats().SealErrors; n != 0 {
		t.Errorf("the kernel refused to protect %d times", n)
	}
}
