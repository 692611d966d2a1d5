package racecorpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A detector is the corpus built with -race.
type detector struct {
	dir, binary string
	corpus      string
}

func newDetector(ctx context.Context, corpus string) (*detector, error) {
	dir, err := os.MkdirTemp("", "bench-race-corpus-")
	if err != nil {
		return nil, err
	}
	d := &detector{dir: dir, corpus: corpus, binary: filepath.Join(dir, "race.test")}
	cmd := exec.CommandContext(ctx, "go", "test", "-race", "-vet=off", "-c", "-o", d.binary, ".")
	cmd.Dir = corpus
	if out, err := cmd.CombinedOutput(); err != nil {
		d.close()
		return nil, fmt.Errorf("building the corpus with -race: %w\n%s", err, out)
	}
	return d, nil
}

func (d *detector) close() { os.RemoveAll(d.dir) }

// testTimeout ends a test that hangs.
const testTimeout = 20 * time.Second

// run runs a test once. Each has a process of its own, because the runtime ends it when
// it sees a concurrent use of a map.
func (d *detector) run(ctx context.Context, name string) (Verdict, error) {
	start := time.Now()
	cmd := exec.CommandContext(ctx, d.binary, "-test.run=^"+name+"$", "-test.v", "-test.timeout="+testTimeout.String())
	cmd.Dir = d.corpus
	// What the race detector's own test sets, and for its reasons: the order of steps
	// that the tests rely on, and no report suppressed for looking like another.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GORACE=suppress_equal_stacks=0 suppress_equal_addresses=0")
	out, err := cmd.CombinedOutput()
	v := Verdict{Runs: 1, Seconds: time.Since(start).Seconds()}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return v, err
	}
	if ctx.Err() != nil {
		return v, ctx.Err()
	}
	// What comes before is of the package's own initialisation, which races too.
	_, out, _ = bytes.Cut(out, []byte("=== RUN"))
	switch {
	case bytes.Contains(out, []byte("--- SKIP:")):
		v.Skipped = true
	case bytes.Contains(out, []byte("DATA RACE")):
		v.Race, v.Report = true, "data race"
	case bytes.Contains(out, []byte("fatal error: concurrent map")):
		v.Race, v.Report = true, "fatal error: concurrent map use"
	case bytes.Contains(out, []byte("--- FAIL")), bytes.Contains(out, []byte("\npanic: ")), bytes.Contains(out, []byte("\nfatal error: ")):
		v.Report = firstLine(string(out), "panic: ", "fatal error: ", "--- FAIL")
	}
	return v, nil
}

// firstLine is the first line that begins with one of the words.
func firstLine(text string, words ...string) string {
	for line := range strings.Lines(text) {
		for _, w := range words {
			if strings.HasPrefix(line, w) {
				return strings.TrimSpace(line)
			}
		}
	}
	return "failed"
}
