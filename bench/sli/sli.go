// Package sli measures cofferdam fix.
//
//	go run ./bench sli
//
// Tables 1 and 2 of the Speculative Lock Insertion paper are made for the six programs of
// examples/races, each side by side with the paper's figures for the program that it is
// modelled on, from several reproductions of its failure. The corpus of internal/repair has some
// hundred and fifty more programs, each of which says whether it can be fixed: those that are
// are then run a hundred times under the race detector, with tests that the fix was not shown.
// Last come bugs of released modules, fixed in the dependency, in a copy that a replace
// directive names, or inside of the module.
//
// It runs the command as a person would, and reads what -json says.
//
// sli.go is the command, program.go fixes a program, module.go a released module, large.go
// analyses long runs, report.go prints.
package sli

import (
	"errors"
	"flag"
	"os"
	"regexp"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Benchmark is go run ./bench sli.
var Benchmark = &command.Benchmark{
	Name:  "sli",
	About: "fixing the examples of the lock insertion paper, tables 1 and 2; a corpus of programs with concurrency bugs; released modules",
	Usage: "[-figure NAMES] [-run REGEXP] [-reproductions 5] [-count 100] ",
	Help: `Fixes the six examples, the corpus of programs with concurrency bugs and released modules,
and prints tables 1 and 2 of the paper side by side with its figures. The modules come
through the module proxy. -figure large analyses runs of 500,000 to 10 million events, with
more than 100 MB of log.`,
	Quick: "the examples only: a minute, for a look",
	New:   newMeasurement,
}

// options are the flags.
type options struct {
	run           *regexp.Regexp
	figure        *command.Choice
	count         int
	reproductions int
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{run: command.Pattern(flags, "run", "only the programs whose names match this `regexp`")}
	o.figure = command.NewChoice(flags, "figure", []string{"examples", "corpus", "modules", "large"})
	flags.IntVar(&o.reproductions, "reproductions", 5, "find and fix the failure of an example so many `times`, each with other random numbers")
	flags.IntVar(&o.count, "count", 100, "run a fixed program so many `times` under the race detector")
	return o
}

// Check refuses numbers that make no sense.
func (o *options) Check(bool) error {
	return errors.Join(command.AtLeastOne("count", o.count), command.AtLeastOne("reproductions", o.reproductions))
}

// Measure runs the command.
func (o *options) Measure(c *command.Session) (any, error) {
	s := &session{options: *o, Session: c}
	if err := s.measure(); err != nil {
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
	tool     string // the command that is measured
	progress *measure.Progress
	report   Report
	// sawUnapplied says that a fix of a dependency was seen to be left unapplied.
	sawUnapplied bool
}

func (s *session) measure() (err error) {
	s.report.Machine = measure.ThisMachine()
	load := measure.StartLoad()
	s.progress = measure.NewProgress(os.Stderr, 1)
	defer s.progress.Clear()
	if s.root, err = s.Root(); err != nil {
		return err
	}
	if s.tool, err = s.Cofferdam(); err != nil {
		return err
	}
	if s.Quick {
		s.figure, s.reproductions = command.Chosen("examples"), 1
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{{"examples", s.examples}, {"corpus", s.corpus}, {"modules", s.modules}, {"large", s.large}} {
		if !s.figure.Has(part.name) {
			continue
		}
		if err := part.run(); err != nil {
			return err
		}
	}
	s.report.Machine.Others = load.Others()
	s.report.judge()
	return nil
}
