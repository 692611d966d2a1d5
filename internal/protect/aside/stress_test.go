package aside

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// stressVariable says in a process that it is the one under stress, and for how long.
const stressVariable = "COFFERDAM_ASIDE_STRESS"

// The stress lasts as long as this, or an hour.
const shortStress, longStress = 700 * time.Millisecond, time.Hour

// TestNoPointerIsLostUnderStress: sections and careless code load and store pointers on real
// pages, and make and forget objects with such fields, while the collector runs all the time,
// fills what it frees with garbage and checks its marks.
func TestNoPointerIsLostUnderStress(t *testing.T) {
	if duration, err := time.ParseDuration(os.Getenv(stressVariable)); err == nil {
		underStress(t, duration)
		return
	}
	duration := shortStress
	if *long {
		duration = longStress
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=0")
	cmd.Env = append(os.Environ(), stressVariable+"="+duration.String(), "GOGC=1", "GODEBUG=clobberfree=1,gccheckmark=1", "GOTRACEBACK=all")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out[:min(len(out), 8000)])
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "loads") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// A witness knows itself: what clobberfree leaves of one does not.
type witness struct {
	self *witness
	mark uint64
	next *witness
	_    [4]uint64 // so that it is not among other small objects
}

const witnessMark = 0x5ca1ab1e

func newWitness() *witness {
	w := &witness{mark: witnessMark}
	w.self = w
	return w
}

func (w *witness) alive() bool { return w == nil || w.mark == witnessMark && w.self == w }

// stress is what the goroutines have in common.
type stress struct {
	guard  *Guard
	mu     sync.Mutex // around sections
	cells  [4]*Cell[*witness]
	head   *Cell[*witness] // of a queue
	loads  atomic.Int64
	stores atomic.Int64
	stop   atomic.Bool
	dead   atomic.Pointer[string] // where something was found that had been freed
}

func underStress(t *testing.T, duration time.Duration) {
	s := &stress{guard: NewGuard("mu", "stress_test.go", 1)}
	for i := range s.cells {
		s.cells[i] = NewCell(s.guard, "cell", newWitness())
	}
	s.head = NewCell(s.guard, "head", newWitness())
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { s.repeat(func(n int) { s.section(n + i) }) })
		wg.Go(func() { s.repeat(func(n int) { s.careless(n + i) }) })
	}
	wg.Go(func() { s.repeat(s.queue) })
	for range 2 {
	}
	collections := 0
	wg.Go(func() {
		s.repeat(func(int) {
			runtime.GC()
			collections++
		})
	})
	time.AfterFunc(duration, func() { s.stop.Store(true) })
	wg.Wait()
	if where := s.dead.Load(); where != nil {
		t.Fatalf("what was freed was found: %s", *where)
	}
	if s.loads.Load() == 0 || s.stores.Load() == 0 || collections == 0 {
		t.Error("nothing was tried")
	}
	for i, c := range s.cells {
		if n := c.leftOver(); n > 0 {
			t.Errorf("cell %d keeps %d objects that it does not hold", i, n)
		}
	}
	t.Logf("%d loads, %d stores, %d collections", s.loads.Load(), s.stores.Load(), collections)
}

// leftOver counts the entries of a mirror that its word does not hold.
func (m *mirror) leftOver() int {
	all := slices.Clone(m.pair[:])
	if w := m.waiting.Load(); w != nil {
		for _, e := range w.list {
			all = append(all, e.pointer)
		}
	}
	n := 0
	for _, p := range all {
		if p != nil && uintptr(p) != *m.own {
			n++
		}
	}
	return n
}

func (s *stress) repeat(do func(n int)) {
	for n := 0; !s.stop.Load(); n++ {
		do(n)
	}
}

func (s *stress) check(where string, w *witness) *witness {
	if s.loads.Add(1); !w.alive() {
		s.dead.CompareAndSwap(nil, &where)
		s.stop.Store(true)
	}
	return w
}

// section has its cells to itself.
func (s *stress) section(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard.Lock()
	defer s.guard.Unlock()
	a, b := s.cells[n%len(s.cells)], s.cells[(n/3)%len(s.cells)]
	x := s.check("section", a.LoadOwn())
	b.StoreOwn(x)
	a.StoreOwn(newWitness())
	s.check("section, again", b.Load())
	s.stores.Add(2)
}

func (s *stress) careless(n int) {
	c := s.cells[(n/5)%len(s.cells)]
	x := s.check("careless", c.Load())
	switch n % 7 {
	case 0:
		c.Store(newWitness())
	case 1:
		s.cells[n%len(s.cells)].Store(x)
	case 2:
		c.Store(nil)
	default:
		return
	}
	s.stores.Add(1)
}

// queue adds to the end of a queue, and forgets its beginning.
func (s *stress) queue(n int) {
	last := newWitness()
	s.mu.Lock()
	s.guard.Lock()
	w := s.check("head", s.head.LoadOwn())
	for next := w; next != nil; next = s.check("next", w.next) {
		w = next
	}
	w.next = last
	if n%3 > 0 {
		s.head.StoreOwn(s.check("second", s.head.LoadOwn().next))
	}
	if n%50 == 0 {
		s.head.StoreOwn(newWitness())
	}
	s.guard.Unlock()
	s.mu.Unlock()
	s.stores.Add(2)
}

// TestForgottenObjectsLeaveNothingBehind: a cursor that goes through a queue keeps nothing alive that is behind it.
func TestForgottenObjectsLeaveNothingBehind(t *testing.T) {
	g := NewGuard("mu", "stress_test.go", 1)
	g.Lock()
	defer g.Unlock()
	cursor := NewCell(g, "cursor", newWitness())
	var freed atomic.Int64
	const length = 2000
	for range length {
		next := newWitness()
		runtime.AddCleanup(next, func(int) { freed.Add(1) }, 0)
		cursor.LoadOwn().next = next
		cursor.Store(next)
	}
	for tries := 0; freed.Load() < length-1; tries++ {
		if tries == 1000 {
			t.Fatalf("%d of %d objects were freed", freed.Load(), length-1)
		}
		runtime.GC()
		runtime.Gosched()
	}
	runtime.KeepAlive(cursor)
}
