package explore

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// TestTheResultIsTheSameForAnyNumberOfProcesses runs real processes: what is counted, the
// schedule, and the events of the trace are the same.
func TestTheResultIsTheSameForAnyNumberOfProcesses(t *testing.T) {
	p, dir := build(t, "testdata/pairs"), t.TempDir()
	for _, target := range []string{"TestBugThreeCountersLoseACount", "TestFineThreeCounters"} {
		var want string
		for _, jobs := range []int{1, 2, 3} {
			o := options(t)
			o.Jobs, o.Runs, o.Budget, o.Trace = jobs, 4000, 5*time.Minute, filepath.Join(dir, fmt.Sprintf("%d.trace", jobs))
			res, err := p.Explore(t.Context(), target, o)
			if err != nil {
				t.Fatal(err)
			}
			if (res.Failure != nil) != strings.HasPrefix(target, "TestBug") {
				t.Fatalf("%s, %d processes: %v", target, jobs, res.Failure)
			}
			got := fmt.Sprint(res.Runs, " ", res.Classes, " ", res.Steps, " ", res.First, " ", res.Shrinking, " ", res.Search)
			if res.Failure != nil {
				got += fmt.Sprint("; ", res.Outcome.Schedule, " ", res.Failure, " ", res.Minimal)
				sameTrace(t, filepath.Join(dir, "1.trace"), o.Trace)
			}
			if jobs == 1 {
				want = got
				t.Logf("%s: %s", target, got)
			}
			if got != want {
				t.Errorf("%s, %d processes: %s, want %s", target, jobs, got, want)
			}
		}
	}
}

// TestWhatChangesAFileOfAllProcessesIsRunByOneAtATime: processes side by side found that a file
// was there already which another had made, and the test failed that does not fail.
func TestWhatChangesAFileOfAllProcessesIsRunByOneAtATime(t *testing.T) {
	p := build(t, "testdata/pairs")
	for target, shares := range map[string]string{
		"TestFineFileOfAllProcesses": "the test changes ./there, which is the same file for all processes",
		"TestFineFileOfOneProcess":   "",
	} {
		o := options(t)
		o.Jobs, o.Strategy, o.Runs, o.Budget = 3, sched.MethodPCT, 300, time.Minute
		res, err := p.Explore(t.Context(), target, o)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if res.NotBeside != nil {
			got = res.NotBeside.Error()
		}
		if got != shares || res.Failure != nil || res.Cut > 0 || res.Fresh || len(res.Disbelieved) > 0 {
			t.Errorf("%s: one process %q, want %q; failure %v, %s", target, got, shares, res.Failure, res.Caveats())
		}
	}
}

// sameTrace compares two runs event by event.
func sameTrace(t *testing.T, one, other string) {
	t.Helper()
	a, err := trace.Open(one)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := trace.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if d, err := trace.Compare(a, b); err != nil || d != nil {
		t.Errorf("%s and %s differ: %v, %v", one, other, d, err)
	}
}
