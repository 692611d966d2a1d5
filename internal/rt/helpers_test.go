package rt_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

func TestMain(m *testing.M) {
	// As the driver does: so that addresses are not used twice in a run, and so that a
	// goroutine that has ended is gone when the next one runs.
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1)
	m.Run()
}

// all is a strategy that tries every schedule, one after the other.
type all struct {
	path, width []int
	at          int
	over        bool
}

func (a *all) choose(n int) int {
	if a.at == len(a.path) {
		a.path = append(a.path, 0)
		a.width = append(a.width, n)
	}
	if a.width[a.at] != n {
		panic(fmt.Sprintf("choice %d was between %d, now it is between %d", a.at, a.width[a.at], n))
	}
	a.at++
	return a.path[a.at-1]
}

func (a *all) Begin() { a.at = 0 }

func (a *all) Pick(p *sched.Turn) int {
	if len(p.Ready) == 1 {
		return 0
	}
	return a.choose(len(p.Ready))
}

func (a *all) Branch(c sched.Choice) int { return a.choose(c.N) }
func (a *all) Chance() uint64            { return 0 }

func (a *all) End(event.Ending, sched.Used) {
	a.path, a.width = a.path[:a.at], a.width[:a.at]
	for i := len(a.path) - 1; i >= 0; i-- {
		if a.path[i]++; a.path[i] < a.width[i] {
			return
		}
		a.path, a.width = a.path[:i], a.width[:i]
	}
	a.over = true
}

func (a *all) Watches() bool            { return false }
func (a *all) Next(uint32) uint64       { return 0 }
func (a *all) Exhausted() bool          { return a.over }
func (a *all) Progress() sched.Progress { return sched.Progress{} }

// walk is a random walk that can be repeated.
type walk struct{ seed, state uint64 }

func (w *walk) next(n int) int {
	w.state += 0x9E3779B97F4A7C15
	z := w.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int((z ^ z>>31) % uint64(n))
}

func (w *walk) Begin()                       { w.state = w.seed }
func (w *walk) Pick(p *sched.Turn) int       { return w.next(len(p.Ready)) }
func (w *walk) Branch(c sched.Choice) int    { return w.next(c.N) }
func (w *walk) Chance() uint64               { return 0 }
func (w *walk) End(event.Ending, sched.Used) {}
func (w *walk) Watches() bool                { return false }
func (w *walk) Next(uint32) uint64           { return 0 }
func (w *walk) Exhausted() bool              { return false }
func (w *walk) Progress() sched.Progress     { return sched.Progress{} }

// first always takes the goroutine that runs, or the first.
type first struct{ walk }

func (f *first) Pick(p *sched.Turn) int  { return p.Default() }
func (f *first) Branch(sched.Choice) int { return 0 }

// stubborn never switches as long as it need not.
type stubborn struct{ walk }

func (*stubborn) Pick(p *sched.Turn) int { return 0 }

// outcomeOf names what a run came to.
func outcomeOf(r *Result) string {
	var all []string
	for _, f := range r.Failures {
		words := f.Kind.String() + ": " + f.Message
		if f.Op != event.None {
			words += fmt.Sprintf(" (%v)", f.Op)
		}
		all = append(all, words)
	}
	for _, x := range r.Races {
		a, b := min(x.First.Site, x.Second.Site), max(x.First.Site, x.Second.Site)
		all = append(all, fmt.Sprintf("race %d %d", a, b))
	}
	if r.CutOff {
		all = append(all, "cut off")
	}
	if len(r.Left) > 0 && len(r.Failures) == 0 {
		all = append(all, fmt.Sprintf("%d left", len(r.Left)))
	}
	return strings.Join(all, "; ")
}

// every runs f under every schedule and counts the outcomes. f may return a text of its
// own, for the outcome.
func every(t *testing.T, f func() func() string) map[string]int {
	t.Helper()
	found := map[string]int{}
	a := &all{}
	for n := 0; !a.over; n++ {
		if n == 200_000 {
			t.Fatalf("more than %d schedules; outcomes so far: %v", n, found)
		}
		var text func() string
		r := Run(Config{Races: true, Strategy: a, MaxSteps: 10_000}, func() { text = f() })
		if len(r.Outside) > 0 {
			t.Fatalf("something ran outside control: %v", r.Outside)
		}
		o := outcomeOf(r)
		if text != nil && o == "" {
			o = text()
		}
		found[o]++
	}
	return found
}

// some runs f under random schedules and counts the outcomes.
func some(t *testing.T, runs int, f func() func() string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for seed := range runs {
		var text func() string
		r := Run(Config{Races: true, Strategy: &walk{seed: uint64(seed)}, MaxSteps: 10_000}, func() { text = f() })
		o := outcomeOf(r)
		if text != nil && o == "" {
			o = text()
		}
		found[o]++
	}
	return found
}

// expect checks that exactly the given outcomes were found.
func expect(t *testing.T, found map[string]int, want ...string) {
	t.Helper()
	for _, w := range want {
		if found[w] == 0 {
			t.Errorf("no schedule came to %q; found %v", w, found)
		}
	}
	for f, n := range found {
		ok := false
		for _, w := range want {
			ok = ok || w == f
		}
		if !ok {
			t.Errorf("%d schedules came to %q", n, f)
		}
	}
}

// A listing is the events of a run as text. Addresses are numbered in the order in which
// they are seen: they differ from run to run.
type listing struct {
	lines []string
	names map[uint64]int
}

func (l *listing) add(e *event.Event) {
	if l.names == nil {
		l.names = map[uint64]int{}
	}
	name := 0
	if e.Addr != 0 {
		if l.names[e.Addr] == 0 {
			l.names[e.Addr] = len(l.names) + 1
		}
		name = l.names[e.Addr]
	}
	values := fmt.Sprint(e.Before, e.After)
	if e.Size > 8 {
		values = ""
	}
	l.lines = append(l.lines, fmt.Sprintf("%d g%d %v site %x frame %d @%d+%d arg %d %s", e.Seq, e.G, e.Kind, e.Site, e.Frame, name, e.Size, e.Arg, values))
}

// record runs f under a strategy and returns its events.
func record(strategy sched.Strategy, f func()) ([]string, *Result) {
	var l listing
	r := Run(Config{Races: true, Strategy: strategy, MaxSteps: 10_000, Record: l.add}, f)
	return l.lines, r
}

// What the patched standard library is, as far as it matters: the native object with
// the prologues of internal/instrument/patches.go.

type mutex struct{ state int32 }

func (m *mutex) Lock() {
	if Lock(&m.state) {
		return
	}
	for !m.TryLock() {
		runtime.Gosched()
	}
}

func (m *mutex) TryLock() bool {
	if ok, done := TryLock(&m.state); done {
		return ok
	}
	return atomic.CompareAndSwapInt32(&m.state, 0, 1)
}

func (m *mutex) Unlock() {
	if Unlock(&m.state) {
		return
	}
	atomic.StoreInt32(&m.state, 0)
}

type rwMutex struct {
	w           mutex
	readerCount atomic.Int32
}

func (rw *rwMutex) Lock() {
	if RWLock(rw, &rw.readerCount, rw.TryLock) {
		return
	}
	panic("not under control")
}

func (rw *rwMutex) TryLock() bool {
	if ok, done := TryRWLock(rw, rw.TryLock); done {
		return ok
	}
	if !rw.w.TryLock() {
		return false
	}
	if !rw.readerCount.CompareAndSwap(0, -1<<30) {
		rw.w.Unlock()
		return false
	}
	return true
}

func (rw *rwMutex) Unlock() {
	if RWUnlock(rw, &rw.readerCount, rw.Unlock) {
		return
	}
	rw.readerCount.Add(1 << 30)
	rw.w.Unlock()
}

func (rw *rwMutex) RLock() {
	if RLock(rw, &rw.readerCount, rw.TryRLock) {
		return
	}
	panic("not under control")
}

func (rw *rwMutex) TryRLock() bool {
	if ok, done := TryRLock(rw, rw.TryRLock); done {
		return ok
	}
	c := rw.readerCount.Load()
	return c >= 0 && rw.readerCount.CompareAndSwap(c, c+1)
}

func (rw *rwMutex) RUnlock() {
	if RUnlock(rw, &rw.readerCount, rw.RUnlock) {
		return
	}
	rw.readerCount.Add(-1)
}

type waitGroup struct {
	state atomic.Uint64
	_     uint32
}

func (wg *waitGroup) Add(delta int) {
	if WaitGroupAdd(&wg.state, delta) {
		return
	}
	if int32(wg.state.Add(uint64(delta)<<32)>>32) < 0 {
		panic("sync: negative WaitGroup counter")
	}
}

func (wg *waitGroup) Done() { wg.Add(-1) }

func (wg *waitGroup) Wait() {
	if WaitGroupWait(&wg.state) {
		return
	}
	panic("not under control")
}

type cond struct {
	L interface {
		Lock()
		Unlock()
	}
}

func (c *cond) Wait() {
	if CondAdd(c) {
		c.L.Unlock()
		CondWait(c)
		c.L.Lock()
		return
	}
	panic("not under control")
}

func (c *cond) Signal()    { Signal(c, new(uint32), new(uint32)) }
func (c *cond) Broadcast() { Broadcast(c) }

func lockUnlock(l interface {
	Lock()
	Unlock()
}) {
	l.Lock()
	defer l.Unlock()
}

// heap makes sure that a variable is not on a stack.
func heap[T any](v T) *T {
	p := new(T)
	*p = v
	escape = p
	return p
}

var escape any
