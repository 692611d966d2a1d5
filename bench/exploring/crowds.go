package exploring

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
)

// A Crowd is what one run with many short goroutines takes, from the start of the process to its
// end.
type Crowd struct {
	Test    string    `json:"test"`
	Steps   uint64    `json:"steps"`
	Seconds []float64 `json:"seconds"`
	Wrong   string    `json:"wrong,omitempty"` // how it ended, if not well
}

// crowdRounds is how often each is run at most.
const crowdRounds = 3

// crowds runs tests with 65,000 goroutines under the default schedule, in which all of them are
// there at once.
func (s *session) crowds() error {
	build, err := explore.New(s.Context, instrument.Config{Dir: filepath.Join(s.root, "bench", "exploring", "testdata", "crowds"), Patterns: []string{"."}, Tests: true})
	if err != nil {
		return err
	}
	defer build.Close()
	p := build.Programs[0]
	tests, err := p.Targets(s.Context)
	if err != nil {
		return fmt.Errorf("listing the crowds: %w", err)
	}
	s.progress = measure.NewProgress(os.Stderr, len(tests))
	for _, test := range tests {
		s.progress.Show("65,000 goroutines: %s", test)
		c := Crowd{Test: test}
		for range min(s.runs, crowdRounds) {
			begin := time.Now()
			done, err := p.Record(s.Context, test, defaultSchedule, &explore.Options{Races: true, Leaks: true, Seed: 1, Steps: 1 << 40}, "")
			if err != nil {
				return fmt.Errorf("running %s: %w", test, err)
			}
			c.Seconds, c.Steps = append(c.Seconds, time.Since(begin).Seconds()), done.Outcome.Steps
			if done.Outcome.Result != event.Passed {
				c.Wrong = done.Outcome.Result.String()
			}
		}
		s.report.Crowds = append(s.report.Crowds, c)
		s.progress.Done(1)
	}
	return nil
}

func (r *Report) printCrowds(w io.Writer) {
	fmt.Fprintf(w, "\nOne run with 65,000 short goroutines that meet in one place, races looked for\n\n")
	t := measure.Table{Head: []string{"", "steps", "s", "us a goroutine", ""}}
	for _, c := range r.Crowds {
		m := measure.Median(c.Seconds)
		t.Row(c.Test, c.Steps, fmt.Sprintf("%.2f", m), fmt.Sprintf("%.1f", m/65_000*1e6), c.Wrong)
	}
	t.Write(w)
}

// crowdTarget is that a run comes to its end before it would be cut off.
func (r *Report) crowdTarget() measure.Target {
	t := measure.Target{Name: "a run with 65,000 goroutines, the slowest", Unit: "s", Limit: explore.DefaultWithin.Seconds()}
	for _, c := range r.Crowds {
		m := measure.Median(c.Seconds)
		if c.Wrong != "" {
			m = max(m, 2*t.Limit)
		}
		if m >= t.Measured {
			t.Measured, t.Low, t.High, t.Where = m, m, m, c.Test+" "+c.Wrong
		}
	}
	return t
}
