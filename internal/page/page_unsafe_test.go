//go:build linux && amd64

package page

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/goroutine"
)

// A guarded is a gate with its lock and some pages.
type guarded struct {
	*Gate
	lock *Latch
	data *int64 // in the shared view
}

func newGuarded(t testing.TB, pages int) guarded {
	t.Helper()
	g := guarded{lock: new(Latch)}
	var err error
	if g.Gate, err = NewGate(g.lock, true); err != nil {
		t.Fatal(err)
	}
	offset, err := g.Grow(pages)
	if err != nil {
		t.Fatal(err)
	}
	g.data = (*int64)(unsafe.Add(Base, offset))
	return g
}

// section runs f as the holder of the gate.
//
//go:noinline
func (g guarded) section(f func()) {
	g.lock.Mu.Lock()
	defer g.lock.Mu.Unlock()
	if !Enter(g.Gate) {
		g.Settle()
	}
	f()
	g.Leave()
}

func TestBackendOfThisMachine(t *testing.T) {
	if s := Setup(); s.Backend == None && os.Getenv(BackendVariable) != string(None) {
		t.Fatalf("no protection: %s", s.Reason)
	}
}

// TestOffsetsIntoG: the handler reads the bounds of the stack, the runtime's wish
// to stop the goroutine, and its number, by offsets that the compiler and the
// runtime agree on but publish nowhere.
func TestOffsetsIntoG(t *testing.T) {
	Setup()
	for range 3 {
		done := make(chan bool)
		go func() {
			defer close(done)
			var g [gWords]uint64
			copyG(&g)
			here := uint64(uintptr(unsafe.Pointer(&g)))
			lo, hi, guard := g[0], g[1], g[2]
			if here < lo || here >= hi {
				t.Errorf("a local at %#x is not within the stack, %#x to %#x", here, lo, hi)
			}
			const stackPreempt = ^uint64(0x521)
			if guard != stackPreempt && (guard <= lo || guard >= hi) {
				t.Errorf("stackguard0 is %#x, the stack %#x to %#x", guard, lo, hi)
			}
			if status := uint32(g[ctl.status/8] >> (ctl.status % 8 * 8)); ctl.status == 0 || status&^statusScan != statusRunning {
				t.Errorf("the status of a running goroutine, at offset %d, is %d", ctl.status, status)
			}
			if ctl.preempt == 0 {
				t.Error("the flag for a preemption was not found")
			}
			id := goroutine.ID()
			if ctl.goid == 0 || g[ctl.goid/8] != id {
				t.Errorf("the goroutine's number, %d, is not at offset %d", id, ctl.goid)
			}
		}()
		<-done
	}
}

func TestSealedPagesAreOpenedByAFaultAndSealedAgain(t *testing.T) {
	g := newGuarded(t, 100)
	for i := range 3 {
		g.section(func() {})
		before := Count()
		for page := range 100 {
			*(*int64)(unsafe.Add(unsafe.Pointer(g.data), page*Size)) = int64(i)
		}
		opened := Count().Opened - before.Opened
		if opened == 0 || opened > 8 {
			t.Errorf("100 pages in a row took %d faults, want a few", opened)
		}
		if i > 0 && Count().Seals-before.Seals != 0 {
			t.Errorf("a fault sealed")
		}
	}
}

func TestClosedGatesReturnTheirMemory(t *testing.T) {
	Setup()
	used := func() int64 {
		var st syscall.Stat_t
		if err := syscall.Fstat(memory, &st); err != nil {
			t.Fatal(err)
		}
		return st.Blocks * 512
	}
	before, reserved := used(), Reserved()
	var gates []guarded
	for range 50 {
		g := newGuarded(t, 10)
		*g.data = 1
		gates = append(gates, g)
	}
	if got := used() - before; got != 50*10*Size {
		t.Errorf("50 gates of 10 pages take %d bytes, want %d", got, 50*10*Size)
	}
	for _, g := range gates {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := used() - before; got != 0 || Reserved() != reserved {
		t.Errorf("after Close %d bytes are in use and %d reserved", got, Reserved()-reserved)
	}
}

// TestPagesAreUsedAgainLast: the pages of closed gates are handed out only when
// there are no others, the longest closed first.
func TestPagesAreUsedAgainLast(t *testing.T) {
	var runs []run
	for range 3 {
		g := newGuarded(t, 4)
		runs = append(runs, run{g.extents[0].first, 4})
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	arena.mu.Lock()
	fresh, retired := arena.fresh, arena.retired
	defer func() { arena.fresh, arena.retired = fresh, retired; arena.mu.Unlock() }()
	if r, err := takeRun(4); err != nil || r.first != fresh {
		t.Errorf("with fresh pages left got %v, %v, want those at %d", r, err, fresh)
	}
	arena.fresh, arena.retired = uint32(len(arena.owners)), append([]run{}, runs...)
	for _, want := range []run{{runs[0].first, 3}, {runs[1].first, 4}, {runs[0].first + 3, 1}, {runs[2].first, 2}} {
		if got, err := takeRun(want.pages); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	if r, err := takeRun(3); err == nil {
		t.Errorf("got %v of a full arena", r)
	}
}

func TestClosedGatesRestBeforeTheyAreUsedAgain(t *testing.T) {
	first, err := NewGate(new(Latch), true)
	if err != nil {
		t.Fatal(err)
	}
	index := first.Index()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * quarantine {
		g, err := NewGate(new(Latch), true)
		if err != nil {
			t.Fatal(err)
		}
		if g.Index() == index {
			if i < quarantine {
				t.Errorf("a closed gate was used again after %d others", i)
			}
			return
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("closed gates are not used again")
}

func TestGateHoldsManyExtentsAndNoMore(t *testing.T) {
	var gates [2]*Gate
	for i := range gates {
		g, err := NewGate(new(Latch), true)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		gates[i] = g
	}
	for range MaxExtents {
		for _, g := range gates { // in turn, so that no run is beside another one of its gate
			if _, err := g.Grow(1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := gates[0].Grow(1); err == nil {
		t.Error("a gate grew beyond its extents")
	}
	if g := gates[0]; g.Pages() != MaxExtents {
		t.Errorf("%d pages, want %d", g.Pages(), MaxExtents)
	}
}

// TestGateThatGrowsByItselfHasOneExtent: each extent that was opened costs a seal a system call, and the
// other processors an interrupt.
func TestGateThatGrowsByItselfHasOneExtent(t *testing.T) {
	g := newGuarded(t, 1)
	defer g.Close()
	pages := 1
	for n := 1; n <= 64; n *= 2 {
		offset, err := g.Grow(n)
		if err != nil {
			t.Fatal(err)
		}
		if want := uintptr(unsafe.Pointer(g.data)) - uintptr(Base) + uintptr(pages)*Size; offset != want {
			t.Fatalf("another gate has grown meanwhile: the new pages are at %#x, and not at %#x", offset, want)
		}
		pages += n
	}
	if g.nextents != 1 || g.Pages() != pages {
		t.Errorf("the gate has %d extents and %d pages, want 1 and %d", g.nextents, g.Pages(), pages)
	}
	// What was added is sealed and opened like the first page.
	last := (*int64)(unsafe.Add(unsafe.Pointer(g.data), (pages-1)*Size))
	for i := range int64(3) {
		*g.data, *last = i, i
		done := make(chan int64)
		g.section(func() {
			own := (*int64)(unsafe.Add(unsafe.Pointer(last), OwnBit))
			*own = -1
			go func() { done <- *last }()
			for Count().Waiting == 0 {
				runtime.Gosched()
			}
			*own = i
		})
		if got := <-done; got != i {
			t.Errorf("round %d: a careless read of the last page got %d", i, got)
		}
	}
}

// TestRingThatNobodyEmptiesLosesAndCounts: nothing is silent, and nothing blocks.
func TestRingThatNobodyEmptiesLosesAndCounts(t *testing.T) {
	Drain(func(*Fault) {})
	g := newGuarded(t, 1)
	defer g.Close()
	p := g.data
	before := Count()
	const n = ringSlots + 100
	for range n {
		g.section(func() { *p++ }) // through the shared view: bypasses
	}
	now := Count()
	if got := now.Bypassed - before.Bypassed; got != n {
		t.Errorf("%d bypasses were counted, want %d", got, n)
	}
	if got := now.Lost - before.Lost; got != n-ringSlots {
		t.Errorf("%d were lost, want %d", got, n-ringSlots)
	}
	kept := 0
	Drain(func(f *Fault) {
		kept++
		if f.Outcome != Bypassed || f.Gate != g.Index() || f.Address != uintptr(unsafe.Pointer(p)) || f.Goroutine != f.Holder {
			t.Errorf("recorded %+v", f)
		}
	})
	if kept != ringSlots {
		t.Errorf("%d were kept, want %d", kept, ringSlots)
	}
	if *p != n {
		t.Errorf("%d increments were made, want %d", *p, n)
	}
}

func TestMutexIsKnown(t *testing.T) {
	if !mutexIsKnown() {
		t.Error("sync.Mutex is not what the handler takes it for: sections pay for a fence until gate_unsafe.go knows the new one")
	}
}

// TestLocksWithWaitersAreTakenByTheSection: with more goroutines than processors most sections find a lock that is
// free, with goroutines that wait. They must not need the slow way for that, which doubled what a section takes.
func TestLocksWithWaitersAreTakenByTheSection(t *testing.T) {
	if raceBuild {
		return // locks are sync.Mutex's alone there
	}
	const woken, waiter = 2, 8
	l := new(Latch)
	gate, err := NewGate(l, true)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	l.Arm(gate)
	slowly := Slowly
	defer func() { Slowly = slowly }()
	locks, unlocks := 0, 0
	Slowly.Lock = func(*Latch, [2]uintptr, bool) { locks++ }
	Slowly.Unlock = func(*Latch) { unlocks++ }
	for _, free := range []uint32{0, woken, woken | waiter, woken | 5*waiter} {
		*l.word() = free
		l.Lock()
		if *l.word() != free|mutexLocked || l.Holder() != G() {
			t.Errorf("a lock whose word was %d has %d, and its section the holder %#x", free, *l.word(), l.Holder())
		}
		l.Unlock()
		if *l.word() != free || l.Holder() != 0 {
			t.Errorf("a lock whose word was %d has %d after its section, and the holder %#x", free, *l.word(), l.Holder())
		}
	}
	if locks+unlocks > 0 {
		t.Errorf("%d Locks and %d Unlocks took the slow way", locks, unlocks)
	}
	*l.word() = mutexStarving | waiter // it is handed to what waits
	l.Lock()
	if l.Holder() != 0 {
		t.Errorf("%#x is in a section of a lock that is handed on", l.Holder())
	}
	l.Unlock()
	if locks != 1 || unlocks != 1 || *l.word() != mutexStarving|waiter {
		t.Errorf("a lock that is handed on was taken: its word is %d; %d Locks and %d Unlocks took the slow way", *l.word(), locks, unlocks)
	}
	*l.word() = 0
}

// TestGatesWithoutAKnownLock: the handler goes by the holder then.
func TestGatesWithoutAKnownLock(t *testing.T) {
	g := newGuarded(t, 1)
	defer g.Close()
	g.Gate.lock = 0
	before := Count()
	for i := range int64(100) {
		done := make(chan int64)
		g.section(func() {
			own := (*int64)(unsafe.Add(unsafe.Pointer(g.data), OwnBit))
			*own = -1
			go func() { done <- *g.data }()
			for Count().Waiting == 0 {
				runtime.Gosched()
			}
			*own = i
		})
		if got := <-done; got != i {
			t.Fatalf("a careless read got %d, want %d", got, i)
		}
	}
	if n := Count().Delayed - before.Delayed; n != 100 {
		t.Errorf("%d accesses were delayed, want 100", n)
	}
}

func TestWaitsAreForgotten(t *testing.T) {
	Setup()
	g := new(Gate)
	for range 3 * len(waits) {
		Awaited(Await(g))
	}
	for i := range waits {
		if waits[i].g != 0 || waits[i].gate != 0 {
			t.Fatalf("entry %d is still there: %+v", i, waits[i])
		}
	}
	if i := Await(g); i < 0 || waits[i].g != G() || waits[i].gate != uintptr(unsafe.Pointer(g)) {
		t.Errorf("entry %d is %+v", i, waits[i])
	} else if again := Await(g); again != i {
		t.Errorf("a goroutine has two entries, %d and %d", i, again)
	} else {
		Awaited(i)
	}
}

func BenchmarkFault(b *testing.B) {
	g := newGuarded(b, 1)
	p := g.data
	var seals, faults time.Duration
	for b.Loop() {
		start := time.Now()
		g.section(func() {})
		sealed := time.Now()
		*p++
		seals += sealed.Sub(start)
		faults += time.Since(sealed)
	}
	b.ReportMetric(float64(seals.Nanoseconds())/float64(b.N), "ns/seal")
	b.ReportMetric(float64(faults.Nanoseconds())/float64(b.N), "ns/fault")
}
