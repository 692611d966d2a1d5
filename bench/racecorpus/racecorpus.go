// Package racecorpus holds the search for failing schedules against the programs that
// Go's race detector is tested with: those below runtime/race/testdata of every Go
// installation, some 240 tests that race (TestRace...) and 130 that do not
// (TestNoRace...).
//
// # How
//
// The corpus is copied into a module of its own, with the few changes that code outside
// the standard library needs (corpus.go lists them). Each test is explored with a small
// budget (explored.go), and run once in a process of its own under go test -race, with
// the settings that the race detector's own test uses (detector.go). Both are scored as
// that test scores: a test counts as racing if a data race was reported, or a concurrent
// use of a map, which the runtime detects by itself.
//
// A report that is neither is counted too, because a person would see it: the corpus
// has a few programs that can hang, for example.
//
// Every test on which the search says something else than the test's name is an
// exception. exceptions.txt says why; one without a line there is printed as
// unexplained.
//
// report.go scores and prints.
package racecorpus

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Benchmark is go run ./bench race-corpus.
var Benchmark = &command.Benchmark{
	Name:  "race-corpus",
	About: "missed and false reports on Go's race detector corpus, beside -race",
	Usage: "[-run REGEXP] [-budget 2s] [-runs 300] ",
	Help: `Explores the programs that Go's race detector is tested with, and counts missed and
false reports beside those of go test -race on the same programs.`,
	Quick: "only the tests of channels and of select: half a minute, for a look",
	New:   newMeasurement,
}

// options are the flags.
type options struct {
	run    *regexp.Regexp
	budget time.Duration
	runs   int
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{run: command.Pattern(flags, "run", "only the tests whose names match this `regexp`")}
	flags.DurationVar(&o.budget, "budget", 2*time.Second, "how long to explore a test")
	flags.IntVar(&o.runs, "runs", 300, "at most so many `schedules` for a test")
	return o
}

// Check completes the flags.
func (o *options) Check(quick bool) error {
	if quick && o.run.String() == "" {
		o.run = regexp.MustCompile("Chan|Select")
	}
	return errors.Join(command.SomeTime("budget", o.budget), command.AtLeastOne("runs", o.runs))
}

// Measure runs the command.
func (o *options) Measure(s *command.Session) (any, error) {
	report, err := o.compare(s)
	if err != nil {
		return nil, err
	}
	report.print(s.Out)
	return report, nil
}

// compare explores every test, and runs it under the race detector.
func (o *options) compare(s *command.Session) (*Report, error) {
	ctx := s.Context
	c, err := newCorpus(ctx, s.Temp("corpus"))
	if err != nil {
		return nil, err
	}
	report := &Report{Machine: measure.ThisMachine(), Changes: c.changes()}
	load := measure.StartLoad()
	progress := measure.NewProgress(os.Stderr, 1)
	defer progress.Clear()
	progress.Show("building")
	detector, err := newDetector(s, c.dir)
	if err != nil {
		return nil, err
	}
	explorer, err := newExplorer(s, c.dir, o)
	if err != nil {
		return nil, err
	}
	defer explorer.close()
	var tests []string
	for _, t := range explorer.targets {
		if o.run.MatchString(t) && (strings.HasPrefix(t, racing) || strings.HasPrefix(t, fine)) {
			tests = append(tests, t)
		}
	}
	progress = measure.NewProgress(os.Stderr, len(tests))
	for _, name := range tests {
		progress.Show("%s", name)
		t := Test{Name: name}
		if t.Detector, err = detector.run(ctx, name); err != nil {
			return nil, fmt.Errorf("%s under the race detector: %w", name, err)
		}
		if t.Explored, err = explorer.run(ctx, name); err != nil {
			return nil, fmt.Errorf("exploring %s: %w", name, err)
		}
		report.Tests = append(report.Tests, t)
		progress.Done(1)
	}
	report.Machine.Others = load.Others()
	report.judge()
	return report, nil
}
