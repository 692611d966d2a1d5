package isolate_test

import (
	"sync"
	"testing"

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
