package racecorpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
)

// A detector is the corpus built with -race.
type detector struct {
	corpus, binary string
}

func newDetector(s *command.Session, corpus string) (*detector, error) {
	d := &detector{corpus: corpus, binary: s.Temp("race.test")}
	if _, err := s.Go(corpus, "test", "-race", "-vet=off", "-c", "-o", d.binary, "."); err != nil {
		return nil, fmt.Errorf("building the corpus with -race: %w", err)
	}
	return d, nil
}

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
