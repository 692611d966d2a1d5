// Package sli measures cofferdam fix.
//
//	go run ./bench sli
//
// Tables 1 and 2 of the Speculative Lock Insertion paper are made for the six programs of
// examples/races, each side by side with the paper's figures for the program that it is
// modelled on. The corpus of internal/repair has some fifty more, each of which says
// whether a lock can fix it: those that are fixed are then run a hundred times under the
// race detector. Last come bugs of real modules, fixed in the dependency itself.
//
// It runs the command as a person would, and reads what -json says.
//
// sli.go is the command, program.go fixes a program, report.go prints.
package sli

import (
	"flag"
	"os"
	"regexp"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Benchmark is go run ./bench sli.
var Benchmark = &command.Benchmark{
	Name:  "sli",
	About: "fixing the examples of the lock insertion paper, tables 1 and 2; a corpus of racy programs; three real modules",
	Usage: "[-run REGEXP] [-count 100] ",
	Help: `Fixes the six examples, the corpus of racy programs and three real modules, and prints
tables 1 and 2 of the paper side by side with its figures. The modules come through the
module proxy.`,
	Quick: "the examples only: a minute, for a look",
	New:   newMeasurement,
}

// options are the flags.
type options struct {
	run   *regexp.Regexp
	count int
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{run: command.Pattern(flags, "run", "only the programs whose names match this `regexp`")}
	flags.IntVar(&o.count, "count", 100, "run a fixed program so many `times` under the race detector")
	return o
}

// Check refuses numbers that make no sense.
func (o *options) Check(bool) error { return command.AtLeastOne("count", o.count) }

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
	parts := []func() error{s.examples, s.corpus, s.modules}
	if s.Quick {
		parts = parts[:1]
	}
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	s.report.Machine.Others = load.Others()
	s.report.judge()
	return nil
}
