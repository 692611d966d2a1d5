package tolerate_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// collecting collects garbage all the time until the function that it returns is
// called.
func collecting() (stop func()) {
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !over.Load() {
			runtime.GC()
		}
	})
	return func() {
		over.Store(true)
		wg.Wait()
	}
}

func rounds(t testing.TB) int {
	if testing.Short() {
		return 2_000
	}
	return 20_000
}

// A node holds a value that can be checked: memory that was freed too early would
// not pass. Careless code makes nodes, and hands them over without telling the race
// detector.
type node struct {
	value, complement uint64
	next              *node
}

//go:norace
func newNode(v uint64) *node { return &node{value: v, complement: ^v} }

//go:norace
func (n *node) sound() bool { return n.value == ^n.complement }

func TestCarefulSectionsNeverRace(t *testing.T) {
	defer collecting()()
	var mu tolerate.Mutex
	var rw tolerate.RWMutex
	var a, b, n int64
	list := newNode(0)
	va, vlist := tolerate.Guard(&mu, &a), tolerate.Guard(&mu, &list)
	vb, vn := tolerate.Guard(&rw, &b, tolerate.Delta), tolerate.Guard(&rw, &n)
	names := map[int]int{}
	vnames := tolerate.GuardMap(&mu, &names)

	const goroutines = 4
	races := classesSince(func() {
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for i := range rounds(t) {
					mu.Lock()
					*va.Own()++
					n := newNode(uint64(i))
					n.next, (*vlist.Own()).next = *vlist.Own(), nil
					*vlist.Own() = n
					if i%100 == 0 {
						(*vnames.Own())[i]++
					}
					mu.Unlock()

					rw.Lock()
					*vb.Own()++
					*vn.Own()--
					rw.Unlock()
					rw.RLock()
					if *vb.Own() != -*vn.Own() {
						t.Errorf("a reader sees %d and %d", *vb.Own(), *vn.Own())
					}
					rw.RUnlock()
				}
			})
		}
		wg.Wait()
	})
	want := int64(goroutines * rounds(t))
	if a != want || b != want || n != -want {
		t.Errorf("got %d, %d and %d, want %d, as much, and less that", a, b, n, want)
	}
	if !list.sound() || !list.next.sound() {
		t.Error("the list is broken")
	}
	if names[0] != goroutines {
		t.Errorf("the map counts %d, want %d", names[0], goroutines)
	}
	if len(races) != 0 {
		t.Errorf("races %v", races)
	}
}

// TestNoUpdateIsLost: careless code that adds without the lock, but atomically, and
// sections that add: every addition counts, because there is no window between
// comparing and publishing.
func TestNoUpdateIsLost(t *testing.T) {
	var mu, second tolerate.Mutex
	var x, y uintptr // of one word everywhere
	var small int32
	vx, vsmall := tolerate.Guard(&mu, &x, tolerate.Delta), tolerate.Guard(&mu, &small, tolerate.Delta)
	vy := tolerate.Guard(&second, &y, tolerate.Delta).Named(t.Name())
	stats := tolerate.ReadStats()
	races := func() uint64 { return tolerate.ReadStats().Resolved - stats.Resolved }
	const enough = 500

	var careless, careful sync.WaitGroup
	var over atomic.Bool
	var added, sections atomic.Int64
	careless.Go(func() {
		for !over.Load() {
			atomic.AddUintptr(&x, 1000)
			atomic.AddUintptr(&y, 1000)
			atomic.AddInt32(&small, 1000)
			added.Add(1000)
			// Then lets a section end: one that writes all the time would win
			// against a resolver for ever, and be overruled.
			for n := sections.Load(); n == sections.Load() && !over.Load(); {
				runtime.Gosched()
			}
		}
	})
	for range 2 {
		careful.Go(func() {
			for i := 0; i < 1000 || races() < enough; i++ {
				mu.Lock()
				*vx.Own()++
				*vsmall.Own()++
				runtime.Gosched()
				mu.Unlock()
				second.Lock()
				*vy.Own()++
				runtime.Gosched()
				second.Unlock()
				sections.Add(1)
			}
		})
	}
	careful.Wait()
	over.Store(true)
	careless.Wait()
	if tolerate.ReadStats().Forced != stats.Forced {
		t.Fatal("published by force: the careless writer was too fast for this test")
	}
	if want := added.Load() + sections.Load(); x != uintptr(want) || y != uintptr(want) || small != int32(want) {
		t.Errorf("got %d, %d and %d, want %d: updates were lost", x, y, small, want)
	}
}

//go:norace
func carelessStore(p **node, n *node) { *p = n }

// TestPointerIsThereToTheEndOfTheSection is figure 1 under load: careless code takes
// the pointer away all the time, and no section ever finds it gone after it has
// looked.
func TestPointerIsThereToTheEndOfTheSection(t *testing.T) {
	defer collecting()()
	var mu tolerate.Mutex
	script := newNode(0)
	v := tolerate.Guard(&mu, &script)
	stats := tolerate.ReadStats()
	races := func() uint64 {
		now := tolerate.ReadStats()
		return now.Tolerated + now.Resolved - stats.Tolerated - stats.Resolved
	}
	const enough = 200
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := uint64(1); !over.Load(); i++ {
			carelessStore(&script, newNode(i))
			if i%2 == 0 {
				carelessStore(&script, nil)
			}
			runtime.Gosched()
		}
	})
	for i := 0; i < 500 || races() < enough; i++ {
		mu.Lock()
		if *v.Own() != nil {
			runtime.Gosched()
			if n := *v.Own(); n == nil || !n.sound() {
				t.Errorf("round %d: the script has changed under a section", i)
			}
		}
		if i%4 == 0 {
			*v.Own() = newNode(uint64(i))
		}
		mu.Unlock()
	}
	over.Store(true)
	wg.Wait()
}
