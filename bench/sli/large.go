package sli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"

	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// largeProgram has goroutines that lose updates of a counter, in as many rounds as the
// environment says: its runs are as long as one likes.
const largeProgram = `
-- go.mod --
module large

go 1.26
-- large.go --
package large

type Table struct {
	rows  []int
	total int
}

func (t *Table) Put(i, v int) {
	t.rows[i%len(t.rows)] += v
	n := t.total
	t.total = n + v
}
-- large_test.go --
package large

import (
	"os"
	"strconv"
	"sync"
	"testing"
)

func TestPut(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("ROUNDS"))
	if err != nil {
		t.Skip("ROUNDS says how many")
	}
	table := &Table{rows: make([]int, 16)}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range n {
				table.Put(i+g, 1)
			}
		})
	}
	wg.Wait()
	if table.total != 4*n {
		t.Errorf("%d of %d", table.total, 4*n)
	}
}
`

// A LargeRun is a long run that was analysed.
type LargeRun struct {
	Rounds   int      `json:"rounds"`
	LogSize  int64    `json:"log_size"`
	Analysis Analysis `json:"analysis"`
	Derived  bool     `json:"derived"` // there are sections
}

// largeLimits are what was to be reached, by the rounds of the program. The run in the middle has
// none of its own: with it the growth can be seen.
var largeLimits = []struct {
	rounds  int
	events  string
	seconds float64 // 0 if none
}{{15_700, "500,000", 2}, {80_000, "2.5 million", 0}, {330_000, "10 million", 30}}

// largeMemory is how much memory the analysis may take, in bytes.
const largeMemory = 1 << 30

// large analyses long runs, the longer one with more than 100 MB of log. Proving a fix is no
// part of that: a thousand schedules of such a run take hours.
func (s *session) large() error {
	dir := s.Temp("large")
	if err := unpack(txtar.Parse([]byte(largeProgram)), dir); err != nil {
		return err
	}
	for _, limit := range largeLimits {
		run := &LargeRun{Rounds: limit.rounds}
		s.progress.Show("a run of %s events", limit.events)
		log := s.Temp("large.trace")
		if _, err := s.analyse(dir, limit.rounds, "explore", "-races=false", "-j=1", "-steps=1000000000", "-within=5m", "-runs=20", "-budget=10m", "-o", log, "."); err != nil {
			return err
		}
		info, err := os.Stat(log)
		if err != nil {
			return fmt.Errorf("no run of %s events failed: %w", limit.events, err)
		}
		run.LogSize = info.Size()
		out, err := s.analyse(dir, limit.rounds, "fix", "-json", "-native=0", "-budget=1m", "-proof=1s", "-least=all", "-trace", log)
		if err != nil {
			return err
		}
		var fix Fix
		if err := json.NewDecoder(bytes.NewReader(out)).Decode(&fix); err != nil {
			return fmt.Errorf("reading what cofferdam fix says of a long run: %w", err)
		}
		run.Analysis, run.Derived = fix.Analysis, fix.Analysis.Fixes > 0
		s.report.Large = append(s.report.Large, run)
		if err := os.Remove(log); err != nil {
			return err
		}
	}
	return nil
}

// analyse runs the tool, whose exit code says what it has found, and returns what it prints.
func (s *session) analyse(dir string, rounds int, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(s.Context, s.tool, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), fmt.Sprintf("ROUNDS=%d", rounds))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 || s.Context.Err() != nil {
		return nil, fmt.Errorf("cofferdam %s: %w: %s", args[0], err, lastLine(errs.String()))
	}
	return out.Bytes(), nil
}

// judgeLarge compares the long runs with what was to be reached.
func (r *Report) judgeLarge() {
	for i, run := range r.Large {
		limit := largeLimits[i]
		if limit.seconds == 0 {
			continue
		}
		seconds, memory := run.Analysis.Total.Seconds(), float64(run.Analysis.Memory)/(1<<20)
		r.Targets = append(r.Targets,
			measure.Target{Name: "analysis of a run of " + limit.events + " events", Unit: "s", Limit: limit.seconds, Measured: seconds, Low: seconds, High: seconds}.Judge(),
			measure.Target{Name: "memory for a run of " + limit.events + " events", Unit: "MiB", Limit: largeMemory >> 20, Measured: memory, Low: memory, High: memory}.Judge())
	}
}

// printLarge prints the long runs.
func (r *Report) printLarge(w io.Writer) {
	if len(r.Large) == 0 {
		return
	}
	fmt.Fprint(w, "\nLong runs\n\n")
	t := measure.Table{Head: []string{"events", "log", "replay", "analysis", "per event", "memory", "sections derived"}}
	for _, run := range r.Large {
		a := run.Analysis
		t.Row(fmt.Sprint(a.Events), fmt.Sprintf("%.1f MB", float64(run.LogSize)/1e6), fmt.Sprintf("%.1f s", a.Replay.Seconds()), fmt.Sprintf("%.1f s", a.Total.Seconds()), fmt.Sprintf("%.1f µs", a.Total.Seconds()*1e6/float64(max(1, a.Events))), fmt.Sprintf("%d MiB", a.Memory>>20), fmt.Sprint(run.Derived))
	}
	t.Write(w)
}
