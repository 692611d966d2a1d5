package isolate_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// TestForeignSectionKeepsCarelessCodeOut: a section under a lock that is not of this
// package is isolated, may be left and entered again, and is reported by what Describe
// and Name have said.
func TestForeignSectionKeepsCarelessCodeOut(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu sync.Mutex
	var guard isolate.Foreign
	name := unique(t)
	guard.Describe(name, "lock.go", 7)
	acct := isolate.New[Account](&guard)
	isolate.Name(&guard, acct, "the account")

	mu.Lock()
	guard.Lock()
	if !guard.Mine() || await.Receive(t, "another goroutine", await.Start(guard.Mine)) {
		t.Error("the section is not the goroutine's that entered it")
	}
	own := isolate.Own(&guard, acct)
	own.Balance = 1
	got := await.Start(func() int64 { carelessWrite(acct, 5); return 0 })
	untilWaiting(t, 1)
	if own.Balance != 1 {
		t.Errorf("the section sees %d, want its own 1", own.Balance)
	}
	guard.Unlock()
	await.Receive(t, "the careless access", got)
	if guard.Mine() {
		t.Error("the section is the goroutine's after it was left")
	}
	carelessWrite(acct, 6) // the lock is still held, but not the section
	guard.Lock()
	if own.Balance != 6 {
		t.Errorf("the section sees %d, want the 6 that was written while it was left", own.Balance)
	}
	guard.Unlock()
	mu.Unlock()

	f := onlyFinding(t, name)
	if f.Guard.Site != (finding.Frame{File: "lock.go", Line: 7}) {
		t.Errorf("the guard is at %v, want what Describe said", f.Guard.Site)
	}
	if target := f.Accesses[0].Target; target != "the account.Balance" {
		t.Errorf("the finding is about %q, want the field by the name of the object", target)
	}
}

// TestForeignReaderLetsReadsPass: sections that share the other lock stop writes alone.
func TestForeignReaderLetsReadsPass(t *testing.T) {
	if !protected(t) {
		return
	}
	var guard isolate.Foreign
	guard.Describe(unique(t), "lock.go", 7)
	acct := isolate.New[Account](&guard)
	guard.RLock()
	guard.RLock()
	if got := await.Receive(t, "the careless read", await.Start(func() int64 { return carelessRead(acct) })); got != 0 {
		t.Errorf("a careless read got %d, want 0", got)
	}
	written := await.Start(func() int64 { carelessWrite(acct, 5); return 0 })
	untilWaiting(t, 1)
	guard.RUnlock()
	if got := isolate.Own(&guard, acct).Balance; got != 0 {
		t.Errorf("the second reader sees %d, want 0", got)
	}
	guard.RUnlock()
	await.Receive(t, "the careless write", written)
}

// TestLenientSectionLetsAccessesPassWhileItWaits: the section waits for what the careless
// goroutine does after its access. When it goes on it has its data to itself again.
func TestLenientSectionLetsAccessesPassWhileItWaits(t *testing.T) {
	if !protected(t) {
		return
	}
	isolate.Configure(isolate.Config{LongestWait: time.Hour, Logger: discard})
	defer quiet()
	var guard isolate.Foreign
	name := unique(t)
	guard.Describe(name, "lock.go", 7)
	acct := isolate.New[Account](&guard)
	guard.Lock()
	guard.Relent()
	await.Receive(t, "the careless write", await.Start(func() bool { carelessWrite(acct, 5); return true }))
	guard.Resume()
	own := isolate.Own(&guard, acct)
	if own.Balance != 5 {
		t.Errorf("the section sees %d, want the 5 that was written while it waited", own.Balance)
	}
	done := await.Start(func() bool { carelessWrite(acct, 6); return true })
	untilWaiting(t, 1)
	if own.Balance != 5 {
		t.Errorf("the section sees %d, want its 5", own.Balance)
	}
	guard.Unlock()
	await.Receive(t, "the second careless write", done)
	for _, f := range findingsOf(name) {
		if f.Outcomes.Surrendered != 0 {
			t.Errorf("an access was surrendered: %+v", f.Outcomes)
		}
	}
}

// TestLenientSectionThatSpinsIsNotWaitedForForLong: a goroutine that looks for a flag again
// and again does not wait as far as the runtime knows.
func TestLenientSectionThatSpinsIsNotWaitedForForLong(t *testing.T) {
	if !protected(t) {
		return
	}
	isolate.Configure(isolate.Config{LongestWait: time.Hour, Logger: discard})
	defer quiet()
	var guard isolate.Foreign
	name := unique(t)
	guard.Describe(name, "lock.go", 7)
	acct := isolate.New[Account](&guard)
	var written atomic.Bool
	guard.Lock()
	guard.Relent()
	done := await.Start(func() bool { carelessWrite(acct, 5); written.Store(true); return true })
	for !written.Load() {
	}
	guard.Resume()
	guard.Unlock()
	await.Receive(t, "the careless goroutine", done)
	surrendered(t, name, "may be waiting for it")
}

// TestSectionThatTakesOverIsNotLenient: what a lenient section calls may release the lock, as
// Wait of a sync.Cond does. The section of another goroutine is then like any other, and the
// first one goes on when it has the lock again.
func TestSectionThatTakesOverIsNotLenient(t *testing.T) {
	if !protected(t) {
		return
	}
	isolate.Configure(isolate.Config{LongestWait: time.Hour, Logger: discard})
	defer quiet()
	var guard isolate.Foreign
	guard.Describe(unique(t), "lock.go", 7)
	acct := isolate.New[Account](&guard)
	guard.Lock()
	guard.Relent()
	await.Receive(t, "the other section", await.Start(func() bool {
		guard.Lock()
		done := await.Start(func() bool { carelessWrite(acct, 5); return true })
		untilWaiting(t, 1)
		if got := isolate.Own(&guard, acct).Balance; got != 0 {
			t.Errorf("the second section sees %d, want 0", got)
		}
		guard.Unlock()
		await.Receive(t, "the careless write", done)
		return true
	}))
	if guard.Mine() {
		t.Error("the first section is still in the guard")
	}
	guard.Resume()
	if !guard.Mine() {
		t.Error("the first section did not go on")
	}
	guard.Unlock()
}

// TestSectionThatResumesIsStillAlone: an access that waits for a section goes on waiting when the
// section is back from code that might have waited, and did not. What passes in the middle
// of a section is told as surrendered.
func TestSectionThatResumesIsStillAlone(t *testing.T) {
	if !protected(t) {
		return
	}
	isolate.Configure(isolate.Config{LongestWait: time.Hour, Logger: discard})
	defer quiet()
	var guard isolate.Foreign
	guard.Describe(unique(t), "lock.go", 7)
	acct := isolate.New[Account](&guard)
	for round := range 200 {
		before := isolate.ReadStats().Surrendered
		guard.Lock()
		isolate.Own(&guard, acct).Balance = 1
		guard.Relent()
		var begun atomic.Bool
		done := await.Start(func() bool { begun.Store(true); carelessWrite(acct, 2); return true })
		for !begun.Load() { // the section must not wait, or the access may pass
		}
		for range 20_000 { // the access is at the page by then, or comes later
			begun.Load()
		}
		guard.Resume()
		found := isolate.Own(&guard, acct).Balance
		guard.Unlock()
		await.Receive(t, "the careless write", done)
		if found != 1 && isolate.ReadStats().Surrendered == before {
			t.Fatalf("round %d: an access passed in the middle of the section, and was not told as surrendered", round)
		}
	}
}
