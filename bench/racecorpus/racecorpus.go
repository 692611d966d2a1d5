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
package racecorpus

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

const usage = `usage: bench race-corpus [-quick] [-run REGEXP] [-budget 2s] [-runs 300] [-json FILE]

Explores the programs that Go's race detector is tested with, and counts missed and
false reports beside those of go test -race on the same programs. Results go to
standard output, progress to standard error. A target that is missed is printed as
missed; the exit code is 0 all the same.

`

// options are the flags.
type options struct {
	run    *regexp.Regexp
	budget time.Duration
	runs   int
	json   string
}

// Main runs the benchmark and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "bench race-corpus:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	report, err := compare(ctx, o)
	if err != nil {
		fmt.Fprintln(stderr, "bench race-corpus:", err)
		return 1
	}
	report.print(stdout)
	if o.json == "" {
		return 0
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err == nil {
		err = os.WriteFile(o.json, append(text, '\n'), 0o666)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench race-corpus: writing the results:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench race-corpus", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	quick := flags.Bool("quick", false, "only the tests of channels and of select: half a minute, for a look")
	pattern := flags.String("run", "", "only the tests whose names match this `regexp`")
	flags.DurationVar(&o.budget, "budget", 2*time.Second, "how long to explore a test")
	flags.IntVar(&o.runs, "runs", 300, "at most so many schedules for a test")
	flags.StringVar(&o.json, "json", "", "write the results to this file")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.budget <= 0:
		return o, fmt.Errorf("-budget %v: there must be some time", o.budget)
	case o.runs <= 0:
		return o, fmt.Errorf("-runs %d: there must be at least one", o.runs)
	case *quick && *pattern == "":
		*pattern = "Chan|Select"
	}
	var err error
	if o.run, err = regexp.Compile(*pattern); err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	return o, nil
}

// compare explores every test, and runs it under the race detector.
func compare(ctx context.Context, o options) (*Report, error) {
	c, err := newCorpus(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	report := &Report{Machine: measure.ThisMachine(), Changes: c.changes()}
	load := measure.StartLoad()
	progress := measure.NewProgress(os.Stderr, 1)
	defer progress.Clear()
	progress.Show("building")
	detector, err := newDetector(ctx, c.dir)
	if err != nil {
		return nil, err
	}
	defer detector.close()
	explorer, err := newExplorer(ctx, c.dir, o)
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
