package isolate_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/isolate"
)

func TestOwnAndSharedViewAreTheSameMemory(t *testing.T) {
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	carelessWrite(acct, 7)
	mu.Lock()
	own := isolate.Own(&mu, acct)
	if own.Balance != 7 {
		t.Errorf("own view shows %d, want the 7 that was written through the shared one", own.Balance)
	}
	own.Balance = 8
	if again := isolate.Own(&mu, own); again != own {
		t.Errorf("Own of the own view is %p, want the same %p", again, own)
	}
	mu.Unlock()
	if got := carelessRead(acct); got != 8 {
		t.Errorf("shared view shows %d, want the 8 that the section wrote", got)
	}
	if n := len(findingsOf(name)); n != 0 {
		t.Errorf("%d findings for accesses outside sections, want none", n)
	}
}

func TestCarelessAccessIsDelayedUntilTheSectionEnds(t *testing.T) {
	if !protected(t) {
		return
	}
	for _, test := range []struct {
		op     finding.Op
		access func(*Account) int64
	}{
		{finding.Read, carelessRead},
		{finding.Write, func(a *Account) int64 { carelessWrite(a, 100); return 100 }},
	} {
		t.Run(string(test.op), func(t *testing.T) {
			var mu isolate.Mutex
			closeAfter(t, &mu)
			name := unique(t)
			mu.SetName(name)
			acct := isolate.New[Account](&mu)
			mu.Lock()
			own := isolate.Own(&mu, acct)
			own.Balance = 1
			got := await.Start(func() int64 { return test.access(acct) })
			untilWaiting(t, 1)
			for i := range int64(1000) {
				if own.Balance != i+1 {
					t.Fatalf("the section sees %d, want its own %d", own.Balance, i+1)
				}
				own.Balance++
			}
			mu.Unlock()
			want := int64(1001)
			if test.op == finding.Write {
				want = 100
			}
			if v := await.Receive(t, "the careless access", got); v != want {
				t.Errorf("the careless access got %d, want %d", v, want)
			}
			if v := carelessRead(acct); v != want {
				t.Errorf("afterwards the balance is %d, want %d", v, want)
			}
			f := onlyFinding(t, name)
			if f.Kind != finding.Violation || f.Outcomes.Delayed != 1 || f.Count != 1 || f.Accesses[0].Op != test.op {
				t.Errorf("finding is %s of a %s %+v, want one delayed violation by a %s", f.Kind, f.Accesses[0].Op, f.History, test.op)
			}
		})
	}
}

func TestEveryPageOfAGuardIsProtected(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	const n = 3000 // on many pages and several extents
	var all []*Account
	for range n {
		all = append(all, isolate.New[Account](&mu))
	}
	for round := range 3 {
		for _, a := range all {
			carelessWrite(a, int64(round)) // opens every page
		}
		mu.Lock()
		for _, i := range []int{0, 1, 77, n / 2, n - 1} {
			before := isolate.ReadStats().Delayed
			got := await.Start(func() int64 { return carelessRead(all[i]) })
			untilWaiting(t, 1)
			isolate.Own(&mu, all[i]).Balance = 42
			mu.Unlock()
			if v := await.Receive(t, "the careless read", got); v != 42 {
				t.Errorf("round %d: account %d shows %d, want 42", round, i, v)
			}
			if d := isolate.ReadStats().Delayed - before; d != 1 {
				t.Errorf("round %d: %d delayed accesses to account %d, want 1", round, d, i)
			}
			mu.Lock()
		}
		mu.Unlock()
	}
}

func TestManyCarelessGoroutinesAllPassWhenTheSectionEnds(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	mu.Lock()
	// Each waiting access occupies a thread, as a system call would.
	const n = 2
	var got []<-chan int64
	for range n {
		got = append(got, await.Start(func() int64 { return carelessRead(acct) }))
	}
	isolate.Own(&mu, acct).Balance = 5
	mu.Unlock()
	for _, c := range got {
		if v := await.Receive(t, "a careless read", c); v != 0 && v != 5 {
			t.Errorf("a careless read got %d, want the value before or after the section", v)
		}
	}
}

func TestHolderMayUseTheSharedPointer(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	mu.Lock()
	carelessWrite(acct, 3) // would wait for ever if it waited for itself
	if got := isolate.Own(&mu, acct).Balance; got != 3 {
		t.Errorf("the section sees %d, want 3", got)
	}
	mu.Unlock()
	f := onlyFinding(t, name)
	if f.Kind != finding.Bypass || f.Outcomes.Surrendered != 1 {
		t.Errorf("finding is %s %+v, want a surrendered bypass", f.Kind, f.Outcomes)
	}
	mu.Lock() // seals again
	got := await.Start(func() int64 { return carelessRead(acct) })
	untilWaiting(t, 1)
	mu.Unlock()
	await.Receive(t, "the careless read", got)
}

func TestTryLockBeginsASectionOnlyIfNoneIsRunning(t *testing.T) {
	var mu isolate.Mutex
	closeAfter(t, &mu)
	acct := isolate.New[Account](&mu)
	if !mu.TryLock() {
		t.Fatal("TryLock of a free Mutex failed")
	}
	isolate.Own(&mu, acct).Balance++
	if await.Receive(t, "TryLock", await.Start(mu.TryLock)) {
		t.Error("TryLock of a locked Mutex succeeded")
	}
	mu.Unlock()
}

func TestPlainExcludesSectionsAndLeavesTheGuardOpen(t *testing.T) {
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	const goroutines, rounds = 4, 200
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			for range rounds {
				if i%2 == 0 {
					mu.Lock()
					isolate.Own(&mu, acct).Balance++
					mu.Unlock()
				} else {
					plain := mu.Plain()
					plain.Lock()
					acct.Balance++
					plain.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if got := carelessRead(acct); got != goroutines*rounds {
		t.Errorf("%d increments were counted, want %d", got, goroutines*rounds)
	}
	if n := len(findingsOf(name)); n != 0 {
		t.Errorf("%d findings about code that holds the lock, want none", n)
	}
}

func TestReadersSectionLetsReadsPassAndStopsWrites(t *testing.T) {
	if !protected(t) {
		return
	}
	var rw isolate.RWMutex
	closeAfter(t, &rw)
	name := unique(t)
	rw.SetName(name)
	acct := isolate.New[Account](&rw)
	carelessWrite(acct, 1) // open, so that RLock has to seal
	rw.RLock()
	own := isolate.Own(&rw, acct)
	for range 3 {
		if v := carelessRead(acct); v != 1 { // on this very goroutine: would hang if stopped
			t.Errorf("careless read in a reader's section got %d, want 1", v)
		}
	}
	done := await.Start(func() int64 { carelessWrite(acct, 2); return 2 })
	untilWaiting(t, 1)
	if own.Balance != 1 {
		t.Errorf("the reader's section sees %d, want 1", own.Balance)
	}
	func() { // a second reader, while a write waits, on a page that is readable
		rw.RLocker().Lock()
		defer rw.RLocker().Unlock()
	}()
	rw.RUnlock()
	await.Receive(t, "the careless write", done)
	if v := carelessRead(acct); v != 2 {
		t.Errorf("after the section the balance is %d, want the careless 2", v)
	}
	f := onlyFinding(t, name)
	if f.Outcomes.Delayed != 1 || f.Accesses[0].Op != finding.Write {
		t.Errorf("finding is about a %s %+v, want one delayed write", f.Accesses[0].Op, f.Outcomes)
	}
	if site := f.Accesses[1].Site(); !strings.HasSuffix(site.Function, t.Name()) {
		t.Errorf("the reader locked at %v in %s, want this test", site, site.Function)
	}
}

// TestEmbeddedLocksAreTheSameLocks: a struct that embeds a lock, not as its first
// field, is a Guard by promotion.
func TestEmbeddedLocksAreTheSameLocks(t *testing.T) {
	if !protected(t) {
		return
	}
	var bank struct {
		number int
		isolate.RWMutex
	}
	closeAfter(t, &bank)
	acct := isolate.New[Account](&bank)
	bank.Lock()
	isolate.Own(&bank.RWMutex, acct).Balance = 1
	second := isolate.NewOwn[Account](&bank.RWMutex)
	second.Balance = 2
	ref := isolate.RefTo(&bank, second)
	bank.Unlock()
	if got := carelessRead(isolate.Follow(acct, ref)); got != 2 {
		t.Errorf("the second account has %d, want 2", got)
	}
	bank.RLock()
	if got := carelessRead(acct); got != 1 {
		t.Errorf("a careless read in a reader's section got %d, want 1", got)
	}
	done := await.Start(func() bool { carelessWrite(acct, 3); return true })
	untilWaiting(t, 1)
	bank.RUnlock()
	await.Receive(t, "the careless write", done)
	if bank.number != 0 {
		t.Errorf("the field before the lock is %d", bank.number)
	}
	isolate.Free(&bank, acct)
}

func TestWritersSectionStopsReadsAndWrites(t *testing.T) {
	if !protected(t) {
		return
	}
	var rw isolate.RWMutex
	closeAfter(t, &rw)
	acct := isolate.New[Account](&rw)
	rw.RLock()
	carelessRead(acct) // readable, so that Lock has to seal
	rw.RUnlock()
	for _, access := range []func(){func() { carelessRead(acct) }, func() { carelessWrite(acct, 9) }} {
		rw.Lock()
		done := await.Start(func() bool { access(); return true })
		untilWaiting(t, 1)
		isolate.Own(&rw, acct).Balance = 4
		rw.Unlock()
		await.Receive(t, "the careless access", done)
	}
	if v := carelessRead(acct); v != 9 {
		t.Errorf("the balance is %d, want the careless 9", v)
	}
}

func TestRWMutexExcludesLikeSync(t *testing.T) {
	var rw isolate.RWMutex
	closeAfter(t, &rw)
	acct := isolate.New[Account](&rw)
	rw.RLock()
	if !await.Receive(t, "TryRLock", await.Start(rw.TryRLock)) {
		t.Error("a second reader was refused")
	}
	rw.RUnlock()
	if await.Receive(t, "TryLock", await.Start(rw.TryLock)) {
		t.Error("a writer was let in beside a reader")
	}
	rw.RUnlock()
	if !rw.TryLock() {
		t.Fatal("a writer was refused without readers")
	}
	if await.Receive(t, "TryRLock", await.Start(rw.TryRLock)) {
		t.Error("a reader was let in beside a writer")
	}
	isolate.Own(&rw, acct).Balance++
	rw.Unlock()
}

func TestCondWaitIsAReleaseAndAnAcquire(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	cond := isolate.NewCond(&mu)
	acct := isolate.New[Account](&mu)
	entered := make(chan bool)
	done := await.Start(func() int64 {
		mu.Lock()
		defer mu.Unlock()
		close(entered)
		for isolate.Own(&mu, acct).Balance == 0 {
			cond.Wait()
		}
		own := isolate.Own(&mu, acct)
		own.Balance++
		return own.Balance
	})
	<-entered
	func() {
		mu.Lock() // once Wait has released it
		defer mu.Unlock()
	}()
	carelessWrite(acct, 5) // passes: nobody is in a section
	cond.Signal()
	if v := await.Receive(t, "the waiting section", done); v != 6 {
		t.Errorf("after Wait the section made it %d, want 6", v)
	}
	if n := len(findingsOf(name)); n != 0 {
		t.Errorf("%d findings about an access during Wait, want none", n)
	}
}
