package isolate_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// Account is the guarded type of most tests.
type Account struct {
	Owner   [16]byte
	Balance int64
	Rates   [4]struct{ Percent float64 }
}

const protectable = runtime.GOOS == "linux" && runtime.GOARCH == "amd64"

// longestWait lets accesses wait longer than any section of a test lasts, and ends before
// a test gives up: where a cycle of waiting goes unseen, the test fails by the finding.
const longestWait = time.Minute

func TestMain(m *testing.M) {
	if child := os.Getenv(childVariable); child != "" {
		runChild(child)
		return
	}
	quiet()
	os.Exit(m.Run())
}

// quiet keeps the findings that tests provoke out of their output.
func quiet() { isolate.Configure(isolate.Config{LongestWait: longestWait, Logger: discard}) }

var discard = slog.New(slog.DiscardHandler)

// protected ends a test that is about protection where there is none, after
// checking that this is what the environment asked for.
func protected(t testing.TB) bool {
	s := isolate.CurrentStatus()
	if s.Backend != "none" {
		return true
	}
	if protectable && os.Getenv("COFFERDAM_ISOLATE") != "none" {
		t.Fatalf("guarded memory is not protected: %s", s.Reason)
	}
	return false
}

// closeAfter closes a guard when the test is over. A test that has failed may have left a
// section that Close would wait for, and for ever; its guard stays.
func closeAfter(t testing.TB, guard io.Closer) {
	t.Cleanup(func() {
		if !t.Failed() {
			guard.Close()
		}
	})
}

// untilWaiting waits until n careless accesses wait for a section.
func untilWaiting(t testing.TB, n uint64) {
	t.Helper()
	await.Until(t, "the careless access waits", func() bool { return isolate.ReadStats().Waiting == n })
}

var uniques atomic.Int64

// unique is a name for a guard of a test. Findings are kept for the life of the
// process, and tests may run many times in it.
func unique(t testing.TB) string { return fmt.Sprintf("%s#%d", t.Name(), uniques.Add(1)) }

// findingsOf returns the findings about the guard with the name.
func findingsOf(name string) []isolate.Finding {
	var fs []isolate.Finding
	for _, f := range isolate.Findings() {
		if f.Guard.Name == name {
			fs = append(fs, f)
		}
	}
	return fs
}

// onlyFinding returns the one finding about the guard with the name.
func onlyFinding(t testing.TB, name string) isolate.Finding {
	t.Helper()
	fs := findingsOf(name)
	if len(fs) != 1 {
		t.Errorf("%d findings about %s, want 1", len(fs), name)
		finding.WriteText(t.Output(), fs)
		t.FailNow()
	}
	return fs[0]
}

// The careless code of the tests. Not inlined, so that findings name it; not
// instrumented by the race detector, which reads what is about to be written.

//go:noinline
//go:norace
func carelessRead(a *Account) int64 { return a.Balance }

//go:noinline
//go:norace
func carelessWrite(a *Account, v int64) { a.Balance = v }
