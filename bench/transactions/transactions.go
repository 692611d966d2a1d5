// Package transactions measures package stm as the sandboxing paper measures its
// prototypes ("Out-of-band validation" of NOrec: NOrec, NOrecSb, NOrecHt,
// NOrecCIV), side by side with what a program would use otherwise.
//
// # Figures
//
//	micro      transactions of one shape in a loop: stm, one sync.Mutex, and the
//	           STM library that the module proxy serves
//	contended  1,000 reads while a neighbour commits: what lazy validation is for
//	stamp      the programs of the STAMP suite as transactions, with one
//	           sync.Mutex, and as plain sequential code (figures 4 to 9)
//	compiled   the same with transactions that are plain code, built with -stm
//	modes      the same under all four modes by one goroutine (figure 3), with
//	           smaller sets, unless these are native: two of the modes need a second goroutine
//	           for each transaction
//	leaders    the same by 1 to 32 leaders, and from how many on Clone would be
//	           ahead of Eager, by a model
//	scale      what versions of stripes could win over the one clock, and would cost
//
// # How
//
// Package measure runs and compares. Each configuration (a case in one variant)
// has a process of its own, so that no heap, no timer and no grown log of one is
// there in another; their rounds are interleaved all the same. How many there are, and how long
// one may take, is in effort.go, and for figures 3 to 9 with native sets, of which -native alone
// makes an hour, in native.go. worker.go is this
// program as its own child; compiledworker is the same child built with -stm. ledger.go keeps
// what was measured, for runs that are interrupted.
//
// A file per figure (micro.go, contended.go, stamp.go, compiled.go, modes.go,
// leaders.go, scale.go) makes the cases and prints the table; peer.go has the micro-benchmarks
// with the other library, programs.go is the table of STAMP's programs, reads.go counts what their
// transactions read, model.go
// goes beyond the processors that there are, by costs that costs.go measures. trial.go is what all trials have in
// common: allocations, what stm counted, and whether two processors were two
// (cores.go). targets.go says which targets were met and, from what was measured in
// this very run, what costs the others; plots.go draws.
//
// Every trial's result is verified. A wrong one ends the command with exit code 1.
// A target, met or missed, is in doubt if there were fewer than three rounds, or two that did not
// say the same ("rounds"), two processors were not two ("cores"; "two processes", if two of these,
// which have nothing in common, do not reach the target either), or other programs were busy
// ("others").
package transactions

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/plot"
)

// name is what the benchmark is called with.
const name = "stm"

// Benchmark is go run ./bench stm.
var Benchmark = &command.Benchmark{
	Name:  name,
	About: "transactions beside a mutex and another library, and STAMP: figures 3 to 9 of the sandboxing paper",
	Usage: "[-native] [-figure micro,contended,stamp,compiled,modes,leaders,scale] [-runs N] [-keep FILE] [-plot DIR] ",
	Help: `Measures package stm: micro-benchmarks beside a mutex and another STM library,
long readers beside a committing neighbour, and the programs of the STAMP suite
under the four modes, a mutex, and sequential code, and compiled from plain code. What costs a target that is missed
is printed with it. A program that computes a wrong result ends it with exit code 1.`,
	Quick:  "STAMP's sets for simulators and few rounds: half a minute, for a look",
	New:    newMeasurement,
	Worker: serve,
}

// The figures by the names that -figure takes, in the order in which they run.
var figures = []struct {
	name  string
	cases func(size) []measure.Case
	run   func(*session) error
}{
	{figureMicro, microCases, (*session).micro},
	{figureContended, contendedCases, (*session).contended},
	{figureStamp, stampCases, (*session).stamp},
	{figureCompiled, compiledCases, (*session).compiled},
	{figureModes, modesCases, (*session).modes},
	{figureLeaders, leadersCases, (*session).leaders},
	{figureScale, scaleCases, (*session).scale},
}

// A size says how much is measured.
type size string

const (
	quick  size = "quick"  // STAMP's sets for simulators, which take milliseconds
	medium size = "medium" // sets in between, which take seconds
	native size = "native" // STAMP's sets for real machines
)

// options are the flags.
type options struct {
	size    size
	native  bool
	figures *command.Choice
	runs    int
	plot    string
	keep    string

	alsoSmaller bool // the figures are measured with smaller sets first
}

// A session is one run of the command.
type session struct {
	options
	measure.Session
	builder        *command.Session
	compiledWorker string // the program that runs what was compiled with -stm
	ledger         ledger // of no file in tests
	begun          time.Time
	heldAgainst    []float64 // estimates over the times that were measured later: see native.go
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	var names []string
	for _, f := range figures {
		names = append(names, f.name)
	}
	o.figures = command.NewChoice(flags, "figure", names)
	flags.BoolVar(&o.native, "native", false, "STAMP's sets for real machines: figures 3 to 9 with smaller sets and with these, within an hour on two processors that are not busy, or the figures that -figure names")
	flags.StringVar(&o.keep, "keep", "", "write what was measured to this `file`, and do not measure again what is in it: a run that was interrupted goes on")
	command.Rounds(flags, &o.runs, "default 9, with -quick 3, with -native 3, fewer where they say the same")
	flags.StringVar(&o.plot, "plot", "", "write SVG plots into this `directory`")
	return o
}

// Check completes the flags.
func (o *options) Check(isQuick bool) error {
	o.size = medium
	switch {
	case isQuick && o.native:
		return errors.New("-quick and -native exclude each other")
	case isQuick:
		o.size = quick
	case o.native:
		o.size = native
		if !o.figures.Given() {
			o.figures, o.alsoSmaller = command.Chosen(figureModes, figureLeaders), true
		}
	}
	if o.size == medium {
		return command.CheckRounds(&o.runs, 9)
	}
	return command.CheckRounds(&o.runs, 3)
}

// Measure runs the command.
func (o *options) Measure(c *command.Session) (any, error) {
	s := &session{options: *o, Session: measure.Session{Context: c.Context, Out: c.Out}, builder: c, begun: time.Now()}
	run, err := o.thisRun()
	if err != nil {
		return nil, err
	}
	if s.ledger, err = openLedger(o.keep, run); err != nil {
		return nil, err
	}
	err = s.run()
	return &s.Report, err
}

// run measures the figures, each printed as soon as it is done.
func (s *session) run() error {
	s.Report.Machine = measure.ThisMachine()
	s.introduce()
	s.Progress = measure.NewProgress(os.Stderr, s.steps())
	parts := []*session{s}
	if s.alsoSmaller {
		parts = []*session{s.smaller(), s}
	}
	var chosen []func() error
	for _, part := range parts {
		for _, f := range figures {
			if s.figures.Has(f.name) {
				chosen = append(chosen, func() error { return f.run(part) })
			}
		}
	}
	failed := s.Figures(chosen)
	pictures := s.plots()
	if s.alsoSmaller {
		s.take(parts[0])
	}
	s.cores()
	s.Report.Targets = s.targets()
	s.Report.Conclude(s.Out)
	if s.plot != "" {
		return errors.Join(failed, plot.Files(s.plot, pictures))
	}
	return failed
}

// smaller is a session for the same figures with smaller sets.
func (s *session) smaller() *session {
	part := *s
	part.size = medium
	return &part
}

// take has what a session with smaller sets has measured in the report, too.
func (s *session) take(part *session) {
	results := part.Report.Results
	for i := range results {
		results[i].Figure += ", smaller sets"
	}
	s.Report.Results = append(results, s.Report.Results...)
}

// introduce says what is measured where.
func (s *session) introduce() {
	m := s.Report.Machine
	fmt.Fprintf(s.Out, "bench stm: %s, %s, %s, %d processors\n", m.Go, m.System, m.CPU, m.Cores)
	if s.alsoSmaller {
		fmt.Fprintf(s.Out, "Figures 3 to 9, with smaller sets and then with native ones: some %.0f minutes on two processors that are not busy,\n"+
			"of which what is left after all configurations were looked at is spent on running more of them to their ends.\n", nativeHour.Minutes())
	}
	if s.size == native {
		fmt.Fprintf(s.Out, "%d rounds at most, and one by two leaders or more; a process per trial\n", s.runs)
		return
	}
	fmt.Fprintf(s.Out, "%d rounds per case at most, after one that warms up; a process per configuration, which take turns\n", s.runs)
}

// steps is the length of the progress.
func (s *session) steps() int {
	steps := 0
	for _, f := range figures {
		switch {
		case !s.figures.Has(f.name):
			continue
		case s.alsoSmaller:
			smaller := s.smaller()
			steps += smaller.stepsOf(f.name, f.cases(smaller.size))
		}
		steps += s.stepsOf(f.name, f.cases(s.size))
	}
	return steps
}

func (s *session) stepsOf(figure string, cases []measure.Case) int {
	if s.size == native && (figure == figureModes || figure == figureLeaders) {
		trials := 0
		for _, c := range cases {
			trials += len(c.Contenders)
		}
		return trials * s.weight(figure)
	}
	runner := s.runner(s.effortOf(figure, 0))
	runner.Weight = s.weight(figure)
	return runner.Trials(cases)
}
