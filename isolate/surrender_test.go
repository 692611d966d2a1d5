package isolate_test

import (
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// surrendered checks that the guard with the name has one finding, surrendered
// once, and for the reason.
func surrendered(t *testing.T, name, reason string) {
	t.Helper()
	f := onlyFinding(t, name)
	if f.Outcomes.Surrendered != 1 || f.Outcomes.Delayed != 0 {
		t.Errorf("outcomes are %+v, want one surrender", f.Outcomes)
	}
	if !strings.Contains(f.Explanation, reason) {
		t.Errorf("explanation is %q, want something about %q", f.Explanation, reason)
	}
}

// TestDeadlockOfFigure6IsSurrendered: the section waits for a lock that the
// careless goroutine holds, which would wait for the section for ever.
func TestDeadlockOfFigure6IsSurrendered(t *testing.T) {
	if !protected(t) {
		return
	}
	t.Run("section", func(t *testing.T) { figure6(t, func(l *isolate.Mutex) sync.Locker { return l }) })
	t.Run("plain lock", func(t *testing.T) { figure6(t, (*isolate.Mutex).Plain) })
}

func figure6(t *testing.T, second func(*isolate.Mutex) sync.Locker) {
	var l1, l2 isolate.Mutex
	closeAfter(t, &l1)
	closeAfter(t, &l2)
	name := unique(t)
	l1.SetName(name)
	g1, g2 := isolate.New[Account](&l1), isolate.New[Account](&l2)
	l1.Lock()
	held := make(chan bool)
	careless := await.Start(func() bool {
		second(&l2).Lock()
		defer second(&l2).Unlock()
		close(held)
		g2.Balance++
		carelessWrite(g1, 1)
		return true
	})
	<-held
	untilStopped(t, careless)
	l2.Lock()
	isolate.Own(&l2, g2).Balance++
	l2.Unlock()
	l1.Unlock()
	await.Receive(t, "the careless goroutine", careless)
	reason := "waits for a lock that the careless goroutine holds"
	if strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		reason = "" // the runtime, which cannot preempt the access, may have objected to the wait before
	}
	surrendered(t, name, reason)
}

// TestLongerCycleIsSurrendered: as figure 6, with another goroutine between.
func TestLongerCycleIsSurrendered(t *testing.T) {
	if !protected(t) {
		return
	}
	var l1, l2, l3 isolate.Mutex
	name := unique(t)
	l1.SetName(name)
	g1 := isolate.New[Account](&l1)
	for _, l := range []*isolate.Mutex{&l1, &l2, &l3} {
		closeAfter(t, l)
	}
	// l1 is held by A, which waits for l2, held by B, which waits for l3, held by
	// the careless goroutine, which waits for A's section.
	ready := make(chan bool)
	careless := await.Start(func() bool {
		l3.Lock()
		defer l3.Unlock()
		ready <- true
		<-ready // A and B are on their way
		carelessWrite(g1, 1)
		return true
	})
	<-ready
	b := make(chan bool)
	bDone := await.Start(func() bool {
		l2.Lock()
		defer l2.Unlock()
		b <- true
		l3.Lock()
		defer l3.Unlock()
		return true
	})
	<-b
	a := make(chan bool)
	aDone := await.Start(func() bool {
		l1.Lock()
		defer l1.Unlock()
		a <- true
		l2.Lock()
		defer l2.Unlock()
		return true
	})
	<-a
	ready <- true
	await.Receive(t, "the careless goroutine", careless)
	await.Receive(t, "B", bDone)
	await.Receive(t, "A", aDone)
	surrendered(t, name, "waits for a lock that the careless goroutine holds")
}

// TestTwoSectionsCarelessWithEachOtherAreSurrendered: each section accesses the
// other's data without the lock.
func TestTwoSectionsCarelessWithEachOtherAreSurrendered(t *testing.T) {
	if !protected(t) {
		return
	}
	var locks [2]isolate.Mutex
	var data [2]*Account
	for i := range locks {
		data[i] = isolate.New[Account](&locks[i])
		closeAfter(t, &locks[i])
	}
	var inside atomic.Int32
	section := func(i int) bool {
		locks[i].Lock()
		defer locks[i].Unlock()
		for inside.Add(1); inside.Load() < 2; runtime.Gosched() {
		}
		carelessWrite(data[1-i], 1)
		return true
	}
	before := isolate.ReadStats().Surrendered
	first, second := await.Start(func() bool { return section(0) }), await.Start(func() bool { return section(1) })
	await.Receive(t, "the first section", first)
	await.Receive(t, "the second section", second)
	if n := isolate.ReadStats().Surrendered - before; n < 1 || n > 2 {
		t.Errorf("%d surrenders, want one or two", n)
	}
}

func TestLongestWaitIsSurrendered(t *testing.T) {
	if !protected(t) {
		return
	}
	const longest = 30 * time.Millisecond
	isolate.Configure(isolate.Config{LongestWait: longest, Logger: discard})
	defer quiet()
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	mu.Lock()
	defer mu.Unlock()
	done := await.Start(func() bool { carelessWrite(acct, 1); return true })
	await.Receive(t, "the careless write", done) // the section has not ended
	surrendered(t, name, "longest wait")
	if f := onlyFinding(t, name); f.Waited < longest {
		t.Errorf("waited %v, want at least %v", f.Waited, longest)
	}
	if got := isolate.Own(&mu, acct).Balance; got != 1 {
		t.Errorf("the section sees %d, want the 1 that was let through", got)
	}
}

// TestCollectionDoesNotWaitForASection: accesses that wait for a section are
// preempted where they can be, and surrendered where they cannot.
func TestCollectionDoesNotWaitForASection(t *testing.T) {
	if !protected(t) {
		return
	}
	type Page [4096]byte
	for _, test := range []struct {
		name   string
		access func(p *Page, local []byte)
	}{
		{"compiled code", func(p *Page, _ []byte) { p[17]++ }},
		{"copy from", func(p *Page, local []byte) { copy(local, p[:]) }},
		{"copy to", func(p *Page, local []byte) { copy(p[:], local) }},
		{"clear", func(p *Page, _ []byte) { clear(p[:]) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mu isolate.Mutex
			closeAfter(t, &mu)
			p := isolate.New[Page](&mu)
			for range 5 {
				mu.Lock()
				done := await.Start(func() bool { test.access(p, make([]byte, len(p))); return true })
				untilStopped(t, done)
				await.Receive(t, "the collection", await.Start(func() bool { runtime.GC(); debug.FreeOSMemory(); return true }))
				mu.Unlock()
				await.Receive(t, "the careless goroutine", done)
			}
		})
	}
}

// untilStopped waits until a careless access waits for a section, or was let
// through already.
func untilStopped(t *testing.T, done <-chan bool) {
	t.Helper()
	await.Until(t, "the careless access waits", func() bool { return isolate.ReadStats().Waiting > 0 || len(done) > 0 })
}

// TestCyclesThroughReadersAreSurrendered: as figure 6, with a reader on one side or on the
// other.
func TestCyclesThroughReadersAreSurrendered(t *testing.T) {
	if !protected(t) {
		return
	}
	t.Run("the section is a reader's", func(t *testing.T) {
		var l1 isolate.RWMutex
		var l2 isolate.Mutex
		readerCycle(t, &l1, &l2, l1.RLock, l1.RUnlock, &l2, &l2)
	})
	t.Run("the careless goroutine is a reader", func(t *testing.T) {
		var l1 isolate.Mutex
		var l2 isolate.RWMutex
		readerCycle(t, &l1, &l2, l1.Lock, l1.Unlock, l2.RLocker(), &l2)
	})
}

// A closer is a lock of package isolate.
type closer interface {
	isolate.Guard
	io.Closer
	SetName(string)
}

// readerCycle has a section of l1 wait for l2, which the careless goroutine holds.
func readerCycle(t *testing.T, l1, l2 closer, lock, unlock func(), careless, second sync.Locker) {
	closeAfter(t, l1)
	closeAfter(t, l2)
	name := unique(t)
	l1.SetName(name)
	acct := isolate.New[Account](l1)
	isolate.New[Account](l2)
	lock()
	held := make(chan bool)
	done := await.Start(func() bool {
		careless.Lock()
		defer careless.Unlock()
		close(held)
		carelessWrite(acct, 1)
		return true
	})
	<-held
	untilStopped(t, done)
	second.Lock()
	//lint:ignore SA2001 taking the lock is what closes the circle
	second.Unlock()
	unlock()
	await.Receive(t, "the careless goroutine", done)
	surrendered(t, name, "waits for a lock that the careless goroutine holds")
}

// TestReaderThatWritesThroughTheSharedPointerIsABypass: it would wait for itself.
func TestReaderThatWritesThroughTheSharedPointerIsABypass(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.RWMutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	mu.RLock()
	carelessWrite(acct, 3)
	mu.RUnlock()
	surrendered(t, name, "used the shared pointer instead of Own")
}

// TestCycleOnOneProcessorIsSurrendered: of two accesses that wait for each other's sections,
// one has always given up the processor.
func TestCycleOnOneProcessorIsSurrendered(t *testing.T) {
	if !protected(t) || strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	isolate.Configure(isolate.Config{LongestWait: time.Hour, Logger: discard})
	defer quiet()
	TestTwoSectionsCarelessWithEachOtherAreSurrendered(t)
}

// TestWaitingAccessGivesUpItsProcessor: the section goes on although as many accesses wait as
// can run at a time. No access is let through for it.
func TestWaitingAccessGivesUpItsProcessor(t *testing.T) {
	if !protected(t) || strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		return
	}
	for _, processors := range []int{1, 2} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		var mu isolate.Mutex
		closeAfter(t, &mu)
		name := unique(t)
		mu.SetName(name)
		acct := isolate.New[Account](&mu)
		before := isolate.ReadStats().Yields
		mu.Lock()
		const careless = 8
		done := make(chan bool, careless)
		for range careless {
			go func() { carelessWrite(acct, 1); done <- true }()
		}
		for isolate.ReadStats().Yields-before < 10*careless {
			runtime.Gosched()
		}
		mu.Unlock()
		for range careless {
			await.Receive(t, "a careless write", done)
		}
		if f := onlyFinding(t, name); f.Outcomes.Delayed != careless || f.Outcomes.Surrendered != 0 {
			t.Errorf("outcomes are %+v, want %d delayed", f.Outcomes, careless)
		}
	}
}

// TestBusySectionsDoNotStarveAnAccess: an access that has given up its processor passes
// between two sections, even if each of them is entered as soon as the last has ended, and
// yields to the access in its middle alone.
func TestBusySectionsDoNotStarveAnAccess(t *testing.T) {
	if !protected(t) || strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	isolate.Configure(isolate.Config{LongestWait: time.Hour, Logger: discard})
	defer quiet()
	var mu isolate.Mutex
	closeAfter(t, &mu)
	acct := isolate.New[Account](&mu)
	done := await.Start(func() bool { carelessWrite(acct, 1); return true })
	for sections := 0; len(done) == 0; sections++ {
		if sections == 10_000 {
			t.Fatal("the access has not passed between 10,000 sections")
		}
		mu.Lock()
		runtime.Gosched()
		mu.Unlock()
	}
}

// TestOneProcessorIsEnough: the careless access and the section it waits for
// share the only processor that goroutines may run on.
func TestOneProcessorIsEnough(t *testing.T) {
	if !protected(t) {
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	mu.Lock()
	own := isolate.Own(&mu, acct)
	done := await.Start(func() int64 { return carelessRead(acct) })
	for range 3 {
		runtime.Gosched() // to the careless goroutine, and back by preemption
	}
	own.Balance = 11
	mu.Unlock()
	if v := await.Receive(t, "the careless read", done); v != 11 {
		t.Errorf("the careless read got %d, want 11", v)
	}
	if f := onlyFinding(t, name); f.Outcomes.Delayed != 1 || f.Outcomes.Surrendered != 0 {
		t.Errorf("outcomes are %+v, want one delayed", f.Outcomes)
	}
}
