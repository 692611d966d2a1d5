package exploring

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// A Handover is a test whose goroutines went outside control and came back, run for some time.
type Handover struct {
	Test string `json:"test"`
	Runs int    `json:"runs"`
	Cut  int    `json:"cut,omitempty"` // that did not come to their end
	// Failures are runs that failed, or searches that ended before their time: the tests have
	// no bug.
	Failures int    `json:"failures,omitempty"`
	What     string `json:"what,omitempty"` // the last of these
}

// handoverTurn is how long each test is run before it is another's turn.
const handoverTurn = 5 * time.Second

// handover has goroutines go outside control and come back for some time, with one process more
// than there are processors, so that some of them are held up at any moment. What is waited for
// outside is real: no run is like another, and a hand-over that goes wrong once in a hundred
// thousand shows here or to a user.
func (s *session) handover() error {
	build, err := explore.New(s.Context, instrument.Config{Dir: filepath.Join(s.root, "bench", "exploring", "testdata", "handover"), Patterns: []string{"."}, Tests: true})
	if err != nil {
		return err
	}
	defer build.Close()
	p := build.Programs[0]
	tests, err := p.Targets(s.Context)
	if err != nil {
		return fmt.Errorf("listing the tests that go outside: %w", err)
	}
	all := make([]Handover, len(tests))
	s.progress = measure.NewProgress(os.Stderr, 1)
	begin := time.Now()
	for turn := 0; time.Since(begin) < s.stress; turn++ {
		h := &all[turn%len(tests)]
		h.Test = tests[turn%len(tests)]
		s.progress.Show("%s, for %v of %v", h.Test, time.Since(begin).Round(time.Second), s.stress)
		res, err := p.Explore(s.Context, h.Test, &explore.Options{
			Strategy: sched.MethodRandom, Seed: uint64(turn + 1), Races: true, Leaks: true, Budget: handoverTurn,
			Jobs: measure.ThisMachine().Cores + 1, Trace: s.Temp("run.trace"),
		})
		switch {
		case s.Context.Err() != nil:
			return s.Context.Err()
		case err != nil:
			h.Failures++
			h.What = err.Error()
			continue
		case res.Failure != nil:
			h.Failures++
			h.What = res.Failure.String()
		case res.Ended != nil:
			h.Failures++
			h.What = res.Ended.Error()
		}
		h.Runs += res.Runs
		h.Cut += res.Cut
	}
	s.progress.Done(1)
	s.report.Handovers = all
	return nil
}

func (r *Report) printHandovers(w io.Writer) {
	fmt.Fprintf(w, "\nGoroutines that go outside control and come back, in tests without a bug\n\n")
	t := measure.Table{Head: []string{"", "runs", "cut off", "failures", ""}}
	for _, h := range r.Handovers {
		t.Row(h.Test, h.Runs, h.Cut, h.Failures, h.What)
	}
	t.Write(w)
}

// handoverTarget is that every run comes to its end, and well.
func (r *Report) handoverTarget() measure.Target {
	t := measure.Target{Name: "runs that went wrong outside control", Unit: "runs"}
	for _, h := range r.Handovers {
		if n := float64(h.Cut + h.Failures); n > 0 {
			t.Measured += n
			t.Where += " " + h.Test
		}
	}
	t.Low, t.High = t.Measured, t.Measured
	return t
}
