package explore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// countingTests are one that fails in few of many schedules, where each of three counters
// loses a count, and one that does not fail.
const countingTests = `package counting

import (
	"sync"
	"testing"
)

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) get() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *counter) set(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = n
}

// lost counts with two goroutines, and returns how many counters have lost a count.
func lost() (n int) {
	var all [3]counter
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range all {
				all[i].set(all[i].get() + 1)
			}
		})
	}
	wg.Wait()
	for i := range all {
		n += 2 - all[i].get()
	}
	return n
}

func TestBug(t *testing.T) {
	if n := lost(); n == 3 {
		t.Error("each counter has lost a count")
	}
}

func TestFine(t *testing.T) {
	if n := lost(); n > 3 {
		t.Error("lost", n)
	}
}
`

// TestTheResultIsTheSameForAnyNumberOfProcesses runs real processes: what is counted, the
// schedule, and the events of the trace are the same.
func TestTheResultIsTheSameForAnyNumberOfProcesses(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/counting\n\ngo 1.26\n", "counting_test.go": countingTests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p := build(t, dir)
	for _, target := range []string{"TestBug", "TestFine"} {
		var want string
		for _, jobs := range []int{1, 2, 3} {
			o := options(t)
			o.Jobs, o.Runs, o.Budget, o.Trace = jobs, 4000, 5*time.Minute, filepath.Join(dir, fmt.Sprintf("%d.trace", jobs))
			res, err := p.Explore(t.Context(), target, o)
			if err != nil {
				t.Fatal(err)
			}
			if (res.Failure != nil) != (target == "TestBug") {
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
