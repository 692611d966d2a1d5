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
// examples (recording.go). A run with a crowd of goroutines must come to its end
// (crowds.go), and so must runs whose goroutines go outside control and come back, for
// minutes (handover.go).
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
//	crowds.go handover.go                   many goroutines, and goroutines outside control
//	report.go                               what explore prints
//	modules.go modules_try.go modules_report.go  the command explore-modules
package exploring

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Benchmark is go run ./bench explore.
var Benchmark = &command.Benchmark{
	Name:  "explore",
	About: "what it takes to find a bug, beside go test and -race; schedules per second; recording",
	Usage: "[-runs N] [-bound 2s] [-figure NAMES] [-stress 2m] ",
	Help: `Measures how long it takes to find the bugs of the examples and of the pairs of
programs that the search is tested with, beside go test -count and go test -race
-count; how many schedules are run in a second; and what recording costs beside -race.
Runs with crowds of goroutines must come to their end, and so must, for minutes, runs
whose goroutines wait for processes outside control.`,
	Quick: "the examples only, fewer repetitions, 20 s outside control: for a look",
	New:   newMeasurement,
}

// options are the flags.
type options struct {
	runs   int
	bound  time.Duration
	figure *command.Choice
	stress time.Duration
}

// figures are what can be chosen.
var figures = []string{"examples", "pairs", "rate", "scaling", "crowds", "handover", "recording"}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	flags.IntVar(&o.runs, "runs", 0, "`repetitions` of each measurement (default 7, with -quick 3)")
	o.figure = command.NewChoice(flags, "figure", figures)
	flags.DurationVar(&o.stress, "stress", 2*time.Minute, "how long goroutines go outside control and come back")
	flags.DurationVar(&o.bound, "bound", 2*time.Second, "how long to wait for a failure under go test")
	return o
}

// Check completes the flags.
func (o *options) Check(quick bool) error {
	usual := 7
	if quick {
		usual = 3
		o.stress = min(o.stress, 20*time.Second)
	}
	return errors.Join(command.CheckRounds(&o.runs, usual), command.SomeTime("bound", o.bound), command.SomeTime("stress", o.stress))
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
	for i, part := range []func() error{s.examples, s.pairs, s.rate, s.scaling, s.crowds, s.handover, s.recording} {
		if !s.figure.Has(figures[i]) {
			continue
		}
		if err := part(); err != nil {
			return fmt.Errorf("%s: %w", figures[i], err)
		}
	}
	s.report.Machine.Others = load.Others()
	s.report.judge()
	return nil
}
