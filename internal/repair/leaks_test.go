package repair

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// leavesOne leaves a worker behind, as many programs mean to.
const leavesOne = `package left

import "testing"

func worker(jobs chan int) {
	for range jobs {
	}
}

func report(results chan int) { results <- 1 }

func TestIt(t *testing.T) {
	jobs, results := make(chan int), make(chan int, 1)
	go worker(jobs)
	go report(results)
}
`

// TestACandidateThatLeavesAGoroutineIsDropped: what the program leaves itself does not count,
// wherever the lines have moved to.
func TestACandidateThatLeavesAGoroutineIsDropped(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "left_test.go")
	for name, text := range map[string]string{"go.mod": "module left\n\ngo 1.26\n", "left_test.go": leavesOne} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := instrument.Config{Dir: dir, Patterns: []string{"left"}, Tests: true}
	options := explore.Options{Strategy: sched.MethodPCT, Seed: 1, Budget: 10 * time.Second, Runs: 100, Steps: 10_000}
	f := &fixer{config: config, target: "TestIt", opts: &Options{Explore: options}, result: &Result{}}
	for text, want := range map[string]string{
		strings.Replace(leavesOne, "import", "\n\nimport", 1):                "",
		strings.Replace(leavesOne, "make(chan int, 1)", "make(chan int)", 1): "left waiting for ever: send (channel with nobody left)",
	} {
		changed := config
		changed.Overlay = map[string][]byte{file: []byte(text)}
		build, err := explore.New(t.Context(), changed)
		if err != nil {
			t.Fatal(err)
		}
		defer build.Close()
		res, err := build.Programs[0].Explore(t.Context(), "TestIt", &options)
		if err != nil || res.Failure != nil {
			t.Fatal(res, err)
		}
		why, err := f.leavesWaiting(t.Context(), build.Programs[0], res.Leaks)
		if err != nil {
			t.Fatal(err)
		}
		if why == "" && want != "" || !strings.Contains(why, want) {
			t.Errorf("%q, want %q, of\n%s", why, want, text)
		}
	}
}
