// Package exploring measures the search for failing schedules.
//
//	go run ./bench explore          what it takes to find a bug
//	go run ./bench explore-modules  whether programs that have none are left in peace
//
// # explore
//
// The programs are the six of examples/races and the pairs of internal/explore, where
// for each construct of the language one test has a bug and another has none. Each test
// with a bug is searched with several seeds, and what it took to the first failing run
// is compared with go test -count and go test -race -count on the same test in the same
// run, each of which has as much time as it takes for a bound (native.go). The rate is
// how many schedules are run in a second by one process (rate.go) and by several
// (scaling.go), and recording is compared with
// -race on the tests of testdata/recorded, which work long enough for it, and on the
// examples (recording.go).
//
// # explore-modules
//
// Real modules are downloaded through the module proxy at fixed versions, and their own
// tests are run under the default schedule and under a hundred random ones (modules.go).
// Each test that fails is explained in failures.txt.
//
// # Files
//
//	exploring.go                            the command explore
//	search.go native.go                     bugs, searched for and waited for
//	rate.go scaling.go recording.go         schedules in a second, and recording
//	report.go                               what explore prints
//	modules.go modules_try.go modules_report.go  the command explore-modules
package exploring

import (
	"errors"
	"flag"
	"os"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Benchmark is go run ./bench explore.
var Benchmark = &command.Benchmark{
	Name:  "explore",
	About: "what it takes to find a bug, beside go test and -race; schedules per second; recording",
	Usage: "[-runs N] [-bound 2s] ",
	Help: `Measures how long it takes to find the bugs of the examples and of the pairs of
programs that the search is tested with, beside go test -count and go test -race
-count; how many schedules are run in a second; and what recording costs beside -race.`,
	Quick: "the examples only, and fewer repetitions: a minute, for a look",
	New:   newMeasurement,
}

// options are the flags.
type options struct {
	runs  int
	bound time.Duration
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	flags.IntVar(&o.runs, "runs", 0, "`repetitions` of each measurement (default 7, with -quick 3)")
	flags.DurationVar(&o.bound, "bound", 2*time.Second, "how long to wait for a failure under go test")
	return o
}

// Check completes the flags.
func (o *options) Check(quick bool) error {
	usual := 7
	if quick {
		usual = 3
	}
	return errors.Join(command.CheckRounds(&o.runs, usual), command.SomeTime("bound", o.bound))
}

// Measure runs the command.
func (o *options) Measure(c *command.Session) (any, error) {
	s := &session{options: *o, Session: c}
	if err := s.run(); err != nil {
		return nil, err
	}
	s.report.print(c.Out)
	return s.report, nil
}

// A session is one run of the command.
type session struct {
	options
	*command.Session
	root     string // the module's directory
	progress *measure.Progress
	report   Report
}

func (s *session) run() (err error) {
	if s.root, err = s.Root(); err != nil {
		return err
	}
	s.report.Machine = measure.ThisMachine()
	s.progress = measure.NewProgress(os.Stderr, 1)
	load := measure.StartLoad()
	defer func() { s.progress.Clear() }()
	for _, part := range []func() error{s.examples, s.pairs, s.rate, s.recording} {
		if err := part(); err != nil {
			return err
		}
	}
	s.report.Machine.Others = load.Others()
	s.report.judge()
	return nil
}
