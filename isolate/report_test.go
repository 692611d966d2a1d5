package isolate_test

import (
	"context"
	"encoding/json"
	"expvar"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/goroutine"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// violate makes one careless access fall into a section of mu.
func violate(t *testing.T, mu *isolate.Mutex, access func()) {
	t.Helper()
	mu.Lock()
	done := await.Start(func() bool { access(); return true })
	untilWaiting(t, 1)
	mu.Unlock()
	await.Receive(t, "the careless access", done)
}

// here is the line of its caller.
func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

//go:noinline
//go:norace
func carelessField(a *Account) float64 { return a.Rates[2].Percent }

//go:noinline
func outerCareless(a *Account) float64 { return 1 + carelessField(a) }

func TestFindingNamesEverything(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	madeAt := here() - 1
	acct := isolate.New[Account](&mu)

	section := goroutine.ID()
	var careless uint64
	mu.Lock()
	lockedAt := here() - 1
	done := await.Start(func() bool { careless = goroutine.ID(); outerCareless(acct); return true })
	untilWaiting(t, 1)
	mu.Unlock()
	await.Receive(t, "the careless access", done)

	f := onlyFinding(t, name)
	access, lock := f.Accesses[0], f.Accesses[1]
	if access.Op != finding.Read || access.Target != "Account.Rates[2].Percent" {
		t.Errorf("access is a %s of %s, want a read of Account.Rates[2].Percent", access.Op, access.Target)
	}
	var functions []string
	for _, frame := range access.Stack {
		functions = append(functions, frame.Function[strings.LastIndex(frame.Function, ".")+1:])
	}
	if got := strings.Join(functions, " "); !strings.HasPrefix(got, "carelessField outerCareless func") {
		t.Errorf("careless stack is %q, want carelessField, outerCareless and the goroutine's function", got)
	}
	if site := access.Site(); !strings.HasSuffix(site.File, "report_test.go") {
		t.Errorf("careless site is %v", site)
	}
	if site := lock.Site(); !strings.HasSuffix(site.Function, "TestFindingNamesEverything") || site.Line != lockedAt {
		t.Errorf("lock site is %v in %s, want line %d of this test", site, site.Function, lockedAt)
	}
	if access.Goroutine != careless || lock.Goroutine != section {
		t.Errorf("goroutines are %d and %d, want %d and %d", access.Goroutine, lock.Goroutine, careless, section)
	}
	if f.Guard.Site.Line != madeAt {
		t.Errorf("the guard was made at %v, want line %d", f.Guard.Site, madeAt)
	}
	if f.Waited <= 0 {
		t.Errorf("waited %v", f.Waited)
	}
}

func TestLockSiteOfEveryWayToLock(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	var embedded struct{ *isolate.Mutex }
	embedded.Mutex = &mu
	var locker sync.Locker = &embedded
	cond := isolate.NewCond(&mu)
	for _, lock := range []func(){
		func() { mu.Lock() },
		func() { mu.TryLock() },
		func() { locker.Lock() },
		func() { embedded.Lock() },
		func() {
			mu.Lock()
			go func() { mu.Lock(); cond.Signal(); mu.Unlock() }()
			cond.Wait()
		},
		func() { carelessWrite(acct, 1); mu.Lock() }, // has to seal
	} {
		lock()
		done := await.Start(func() int64 { return carelessRead(acct) })
		untilWaiting(t, 1)
		mu.Unlock()
		await.Receive(t, "the careless access", done)
	}
	for _, f := range findingsOf(name) {
		site := f.Accesses[1].Site()
		if !strings.Contains(site.Function, "TestLockSiteOfEveryWayToLock.func") {
			t.Errorf("lock site is %v in %s, want a function of this test", site, site.Function)
		}
	}
	if n := len(findingsOf(name)); n != 6 {
		t.Errorf("%d findings, want one for each way to lock", n)
	}
}

func TestElementsOfSlicesAreNamed(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	all := isolate.MakeSlice[Account](&mu, 500)
	violate(t, &mu, func() { carelessRead(&all[317]) })
	if got := onlyFinding(t, name).Accesses[0].Target; got != "[]Account[317].Balance" {
		t.Errorf("target is %q, want []Account[317].Balance", got)
	}
}

func TestRepeatsAreOneFinding(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	const n = 50
	for range n {
		violate(t, &mu, func() { carelessRead(acct) })
	}
	if f := onlyFinding(t, name); f.Count != n {
		t.Errorf("%d repeats were counted as %d", n, f.Count)
	}
}

func TestFindingsAreDelivered(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	logged := make(chan slog.Record, 10)
	isolate.Configure(isolate.Config{Logger: slog.New(guardLog{name, logged})})
	defer quiet()
	delivered := make(chan uint64, 10)
	isolate.OnFinding(func(f isolate.Finding) {
		if f.Guard.Name == name {
			delivered <- f.Count
		}
	})
	for i := range uint64(3) {
		violate(t, &mu, func() { carelessRead(acct) })
		if got := await.Receive(t, "OnFinding", delivered); got != i+1 {
			t.Errorf("delivered with count %d, want %d", got, i+1)
		}
	}
	record := await.Receive(t, "slog", logged)
	text := record.Message
	record.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	for _, w := range []string{name, "Account.Balance", "carelessRead", "isolate_test.go:", "delayed", "read"} {
		if !strings.Contains(text, w) {
			t.Errorf("the log says nothing about %q: %s", w, text)
		}
	}
	if len(logged) != 0 {
		t.Error("a repeat was logged")
	}
}

// A guardLog is a slog.Handler for the findings about one guard: those of earlier
// tests may still be on their way.
type guardLog struct {
	guard   string
	records chan slog.Record
}

func (l guardLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "guard" && a.Value.String() == l.guard {
			l.records <- r
		}
		return true
	})
	return nil
}

func (l guardLog) Enabled(context.Context, slog.Level) bool { return true }
func (l guardLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l guardLog) WithGroup(string) slog.Handler            { return l }

func TestStatsCanBePublished(t *testing.T) {
	v := expvar.Func(func() any { return isolate.ReadStats() })
	var stats isolate.Stats
	if err := json.Unmarshal([]byte(v.String()), &stats); err != nil {
		t.Errorf("%s: %v", v, err)
	}
}

func TestOnFindingMayUseThePackage(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	name := unique(t)
	mu.SetName(name)
	acct := isolate.New[Account](&mu)
	called := make(chan bool, 1)
	var once sync.Once
	isolate.OnFinding(func(f isolate.Finding) {
		if f.Guard.Name == name {
			once.Do(func() {
				mu.Lock()
				defer mu.Unlock()
				if len(isolate.Findings()) == 0 {
					t.Error("Findings within OnFinding are empty")
				}
				isolate.Own(&mu, acct).Balance++
				called <- true
			})
		}
	})
	violate(t, &mu, func() { carelessWrite(acct, 77) })
	await.Receive(t, "OnFinding", called)
}

// TestASectionFindsWhatCameBeforeItRecorded: a program may crash of what careless code has left.
// By then, when the next section begins, the finding is recorded, whoever else is about to.
func TestASectionFindsWhatCameBeforeItRecorded(t *testing.T) {
	if !protected(t) {
		return
	}
	var recorded atomic.Pointer[isolate.Finding]
	name := unique(t)
	isolate.Configure(isolate.Config{LongestWait: time.Hour, Logger: discard, Record: func(f isolate.Finding) {
		if f.Guard.Name == name {
			recorded.Store(&f)
		}
	}})
	defer quiet()
	var guard isolate.Foreign
	guard.Describe(name, "lock.go", 7)
	acct := isolate.New[Account](&guard)
	for round := range uint64(50) {
		guard.Lock()
		isolate.Own(&guard, acct).Balance = 1
		done := await.Start(func() bool { carelessWrite(acct, 2); return true })
		untilWaiting(t, 1)
		guard.Unlock()
		await.Receive(t, "the careless write", done)
		guard.Lock()
		f := recorded.Load()
		guard.Unlock()
		if f == nil || f.Count != round+1 {
			t.Fatalf("round %d: a section sees what careless code has written, and this is recorded: %v", round, f)
		}
	}
}
