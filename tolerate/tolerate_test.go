package tolerate_test

import (
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/tolerate"
)

func TestMain(m *testing.M) {
	quiet()
	os.Exit(m.Run())
}

// quiet keeps the findings that tests provoke out of their output.
func quiet() { tolerate.Configure(tolerate.Config{Logger: slog.New(slog.DiscardHandler)}) }

// elsewhere runs f on another goroutine and waits for it: a careless access, at
// exactly this moment.
func elsewhere(f func()) {
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	<-done
}

var uniques atomic.Int64

// unique is a name for a guard of a test. Findings are kept for the life of the
// process, and tests may run many times in it.
func unique(t testing.TB) string { return fmt.Sprintf("%s#%d", t.Name(), uniques.Add(1)) }

// findingsOf returns the findings about the guard with the name.
func findingsOf(name string) []tolerate.Finding {
	var fs []tolerate.Finding
	for _, f := range tolerate.Findings() {
		if f.Guard.Name == name {
			fs = append(fs, f)
		}
	}
	return fs
}

// onlyFinding returns the one finding about the guard with the name.
func onlyFinding(t testing.TB, name string) tolerate.Finding {
	t.Helper()
	fs := findingsOf(name)
	if len(fs) != 1 {
		t.Errorf("%d findings about %s, want 1", len(fs), name)
		finding.WriteText(t.Output(), fs)
		t.FailNow()
	}
	return fs[0]
}

// panicOf returns what f panicked with.
func panicOf(f func()) (cause any) {
	defer func() { cause = recover() }()
	f()
	return nil
}

// classesSince calls f and returns the classes of the races that it made, with their
// number.
func classesSince(f func()) map[tolerate.Classes]uint64 {
	before := tolerate.ReadStats().ByClass
	f()
	after := tolerate.ReadStats().ByClass
	for c, n := range before {
		if after[c] -= n; after[c] == 0 {
			delete(after, c)
		}
	}
	return after
}
