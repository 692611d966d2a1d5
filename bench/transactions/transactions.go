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
//	modes      the same under all four modes by one goroutine (figure 3), with
//	           smaller sets: two of the modes start a goroutine per transaction
//
// # How
//
// Package measure runs and compares. Each configuration (a case in one variant)
// has a process of its own, so that no heap, no timer and no grown log of one is
// there in another; their rounds are interleaved all the same. worker.go is this
// program as its own child; the peer, which is a module of its own so that nobody
// else's go.sum carries it, speaks the same lines of JSON (peer.go).
//
// A file per figure makes the cases and prints the table; programs.go is the table
// of STAMP's programs. trial.go is what all trials have in common: allocations,
// what stm counted, and whether two processors were two (cores.go). targets.go
// says which targets were met and, from what was measured in this very run, what
// costs the others; plots.go draws.
//
// Every trial's result is verified. A wrong one ends the command with exit code 1.
// A target, met or missed, is in doubt if there were fewer than three rounds
// ("rounds"), two processors were not two ("cores"), or other programs were busy
// ("others").
package transactions

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// The figures by the names that -figure takes, in the order in which they run.
var figures = []struct {
	name  string
	cases func(size) []measure.Case
	run   func(*session) error
}{
	{figureMicro, microCases, (*session).micro},
	{figureContended, contendedCases, (*session).contended},
	{figureStamp, stampCases, (*session).stamp},
	{figureModes, modesCases, (*session).modes},
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
	figures []string
	runs    int
	json    string
	plot    string
}

// A session is one run of the command.
type session struct {
	options
	ctx      context.Context
	out      io.Writer
	report   measure.Report
	progress *measure.Progress
}

const usage = `usage: bench stm [-quick | -native] [-figure micro,contended,stamp,modes] [-runs N] [-json FILE] [-plot DIR]

Measures package stm: micro-benchmarks beside a mutex and another STM library,
long readers beside a committing neighbour, and the programs of the STAMP suite
under the four modes, a mutex, and sequential code. Results go to standard
output, progress to standard error. A target that is missed is printed as missed,
with what costs it; the exit code is 0 all the same. A program that computes a
wrong result ends it with exit code 1. Interrupt it to see what was measured so far.

`

// Main runs the command and returns its exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == workerArgument {
		return serve(os.Stdin, stdout)
	}
	opts, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "bench stm:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// A second interrupt ends the program at once.
	context.AfterFunc(ctx, stop)
	s := &session{options: opts, ctx: ctx, out: stdout}
	if err := s.run(); err != nil {
		fmt.Fprintln(stderr, "bench stm:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{size: medium}
	flags := flag.NewFlagSet("bench stm", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	isQuick := flags.Bool("quick", false, "STAMP's sets for simulators and few rounds: half a minute, for a look")
	isNative := flags.Bool("native", false, "STAMP's sets for real machines: an hour or so")
	names := flags.String("figure", "", "run only these, separated by commas: "+strings.Join(figureNames(), ", "))
	flags.IntVar(&o.runs, "runs", 0, "rounds of each case, after one that warms up (default 9, with -quick 3, with -native 3)")
	flags.StringVar(&o.json, "json", "", "write the results to this file")
	flags.StringVar(&o.plot, "plot", "", "write SVG plots into this directory")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case *isQuick && *isNative:
		return o, errors.New("-quick and -native exclude each other")
	case *isQuick:
		o.size = quick
	case *isNative:
		o.size = native
	}
	switch {
	case o.runs < 0:
		return o, fmt.Errorf("-runs %d: there must be at least one", o.runs)
	case o.runs == 0 && o.size == medium:
		o.runs = 9
	case o.runs == 0:
		o.runs = 3
	}
	o.figures = figureNames()
	if *names != "" {
		o.figures = strings.Split(*names, ",")
	}
	for _, name := range o.figures {
		if !slices.Contains(figureNames(), name) {
			return o, fmt.Errorf("there is no figure %q; there are %s", name, strings.Join(figureNames(), ", "))
		}
	}
	return o, nil
}

func figureNames() []string {
	var names []string
	for _, f := range figures {
		names = append(names, f.name)
	}
	return names
}

// run measures the figures, each printed as soon as it is done.
func (s *session) run() error {
	s.report.Machine = measure.ThisMachine()
	s.introduce()
	s.progress = measure.NewProgress(os.Stderr, s.steps())
	load := measure.StartLoad()
	var failed error
	for _, f := range figures {
		if !slices.Contains(s.figures, f.name) {
			continue
		}
		if failed = f.run(s); failed != nil {
			break
		}
	}
	s.progress.Clear()
	if s.ctx.Err() != nil {
		failed = nil
		s.report.Interrupted = true
		fmt.Fprintln(s.out, "\nInterrupted: the figures above are what was measured until then.")
	}
	s.report.Machine.Others = load.Others()
	s.cores()
	s.report.Targets = s.targets()
	s.report.Conclude(s.out)
	return errors.Join(failed, s.writeFiles())
}

// introduce says what is measured where.
func (s *session) introduce() {
	m := s.report.Machine
	fmt.Fprintf(s.out, "bench stm: %s, %s, %s, %d processors\n", m.Go, m.System, m.CPU, m.Cores)
	fmt.Fprintf(s.out, "%d rounds per case at most, after one that warms up; a process per configuration, which take turns\n", s.runs)
}

// note says what could not be measured, at once and in the report.
func (s *session) note(format string, args ...any) {
	s.progress.Clear()
	text := fmt.Sprintf(format, args...)
	s.report.Notes = append(s.report.Notes, text)
	fmt.Fprintln(s.out, "\n"+measure.Wrap("Not measured: "+text, "", 100))
}

// steps is the length of the progress.
func (s *session) steps() int {
	runner, steps := &measure.Runner{Rounds: s.runs}, 0
	for _, f := range figures {
		if slices.Contains(s.figures, f.name) {
			steps += runner.Trials(f.cases(s.size))
		}
	}
	return steps
}

// writeFiles writes what the flags ask for.
func (s *session) writeFiles() error {
	if s.json != "" {
		if err := s.report.Save(s.json); err != nil {
			return err
		}
	}
	if s.plot != "" {
		if err := s.plots(); err != nil {
			return fmt.Errorf("plotting into %s: %w", s.plot, err)
		}
	}
	return nil
}
