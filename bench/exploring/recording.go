package exploring

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// The ways to run a test once, each in a process of its own.
const (
	stock    measure.Variant = "go test"
	race     measure.Variant = "-race"
	recorded measure.Variant = "recorded"
	control  measure.Variant = "controlled" // without recording
)

// defaultSchedule is how the schedule without switches is written.
const defaultSchedule = "default"

// A Recording is what it costs to record a test, from the start of the process to its
// end.
type Recording struct {
	measure.Result
	Events uint64 `json:"events"`
	Bytes  int64  `json:"bytes"` // of the trace
}

// recording compares the recorded run of a test with one under -race.
func (s *session) recording() error {
	dirs := []string{filepath.Join(s.root, "bench", "exploring", "testdata", "recorded")}
	for _, name := range examplePrograms {
		dirs = append(dirs, filepath.Join(s.root, "examples", "races", name))
	}
	s.progress = measure.NewProgress(os.Stderr, len(dirs))
	for _, dir := range dirs {
		u, err := s.suite(dir)
		if err != nil {
			return err
		}
		for _, test := range u.tests {
			if err := s.record(u, test); err != nil {
				u.build.Close()
				return err
			}
		}
		u.build.Close()
		s.progress.Done(1)
	}
	return nil
}

func (s *session) record(u *suite, test string) error {
	file := s.Temp("recorded.trace")
	var failure error
	o := &explore.Options{Races: true, Strategy: sched.MethodPCT, Seed: 1, Steps: 1 << 40}
	controlled := func(file string) func() measure.Trial {
		return func() measure.Trial {
			// A file that is replaced is written back when it is closed, which is not what
			// recording costs.
			_ = os.Remove(file)
			return measure.Trial{Run: func() {
				_, failure = u.program.Record(s.Context, test, defaultSchedule, o, file)
			}, Close: func() error { return failure }}
		}
	}
	// A test with a bug may fail under go test, which is no error here.
	binary := func(path string) func() measure.Trial {
		return func() measure.Trial {
			return measure.Trial{Run: func() { _ = once(s.Context, path, u.dir, test) }}
		}
	}
	runner := measure.Runner{Rounds: s.runs, Retries: 3, Budget: 30 * time.Second}
	s.progress.Show("recording %s", test)
	res, err := runner.Run(s.Context, measure.Case{
		Figure: "recording", Name: filepath.Base(u.dir) + " " + test, Ops: 1, Baseline: race,
		Contenders: []measure.Contender{{Variant: race, Prepare: binary(u.race)}, {Variant: recorded, Prepare: controlled(file)},
			{Variant: control, Prepare: controlled("")}, {Variant: stock, Prepare: binary(u.stock)}},
	})
	if err != nil {
		return fmt.Errorf("recording %s: %w", test, err)
	}
	r := Recording{Result: res}
	t, err := trace.Open(file)
	if err != nil {
		return err
	}
	r.Events = t.Len()
	t.Close()
	if info, err := os.Stat(file); err == nil {
		r.Bytes = info.Size()
	}
	s.report.Recordings = append(s.report.Recordings, r)
	return nil
}

// once runs a test of a binary.
func once(ctx context.Context, binary, dir, test string) error {
	cmd := exec.CommandContext(ctx, binary, "-test.run=^"+test+"$")
	cmd.Dir = dir
	// Otherwise a program without a race sleeps for a second at its end, in case one shows
	// up late.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	return cmd.Run()
}
