// Package isolator reproduces the figures of the paper "ISOLATOR: Dynamically
// Ensuring Isolation in Concurrent Programs" (Rajamani, Ramalingam, Ranganath,
// Vaswani; ASPLOS 2009) with package isolate, side by side with what a program
// would use otherwise.
//
// # Figures
//
//	8      six structures, all goroutines careful: isolate, a sync.Mutex on the
//	       same memory, and a sync.Mutex on the Go heap
//	9      the same with one careless goroutine: one that takes the lock in the
//	       plain way and knows nothing of sections. Added to the paper's figure:
//	       one that takes no lock at all, and the worst case, in which every
//	       operation changes the owner
//	11     three applications
//	fault  what protection itself costs: a fault, a seal, a guard
//	race   the stock programs of figure 8 built with -race
//
// # How
//
// Package measure runs and compares, package structures has what is measured.
// stress.go is the paper's client. A file per figure makes the cases, and prints
// the table; targets.go says which targets were met and, from what was measured
// in this very run, what costs the others; plots.go draws. worker.go is this
// program as its own child, for what needs another process: the -race build and
// the other backend.
package isolator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// The figures by the names that -figure takes, in the order in which they run.
var figures = []struct {
	name string
	run  func(*session) error
}{
	{"8", (*session).figure8},
	{"9", (*session).figure9},
	{"11", (*session).figure11},
	{"fault", (*session).figureFault},
	{"race", (*session).figureRace},
}

// options are the flags.
type options struct {
	quick   bool
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

const usage = `usage: bench isolate [-quick] [-figure 8,9,11,fault,race] [-runs N] [-json FILE] [-plot DIR]

Reproduces figures 8, 9 and 11 of the Isolator paper, measures faults, and
compares with the race detector. Results go to standard output, progress to
standard error. A target that is missed is printed as missed; the exit code is 0
all the same. Interrupt it to see what was measured so far.

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
		fmt.Fprintln(stderr, "bench isolate:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// A second interrupt ends the program at once.
	context.AfterFunc(ctx, stop)
	s := &session{options: opts, ctx: ctx, out: stdout}
	if err := s.run(); err != nil {
		fmt.Fprintln(stderr, "bench isolate:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench isolate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.quick, "quick", false, "fewer cases and rounds: half a minute, for a look")
	names := flags.String("figure", "", "run only these, separated by commas: "+strings.Join(figureNames(), ", "))
	flags.IntVar(&o.runs, "runs", 0, "rounds of each case, after one that warms up (default 7, with -quick 3)")
	flags.StringVar(&o.json, "json", "", "write the results to this file")
	flags.StringVar(&o.plot, "plot", "", "write SVG plots into this directory")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	switch {
	case o.runs < 0:
		return o, fmt.Errorf("-runs %d: there must be at least one", o.runs)
	case o.runs == 0 && o.quick:
		o.runs = 3
	case o.runs == 0:
		o.runs = 7
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
	quiet()
	s.report.Machine = machine()
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
	s.report.Targets = s.targets()
	s.report.Conclude(s.out)
	return errors.Join(failed, s.writeFiles())
}

// quiet keeps findings from being logged: what is careless here is meant to be.
func quiet() { isolate.Configure(isolate.Config{Logger: slog.New(slog.DiscardHandler)}) }

// measure runs cases and adds their results. It stops at the first error, which
// is the context's if the run was interrupted.
func (s *session) measure(runner *measure.Runner, cases []measure.Case) error {
	defer s.progress.Clear()
	for _, c := range cases {
		res, err := runner.Run(s.ctx, c)
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if err != nil {
			return err
		}
		s.report.Results = append(s.report.Results, res)
	}
	return nil
}

func (s *session) runner() *measure.Runner {
	return &measure.Runner{Rounds: s.runs, Retries: (s.runs + 1) / 2, Progress: s.progress, Counters: counters}
}

// counters is what isolate did, for measure.Timing.
func counters() map[string]float64 {
	st := isolate.ReadStats()
	return map[string]float64{
		"seals":   float64(st.Seals),
		"opened":  float64(st.Opened),
		"delayed": float64(st.Delayed),
	}
}

// steps is the length of the progress.
func (s *session) steps() int {
	runner, steps := s.runner(), 0
	for _, name := range s.figures {
		switch name {
		case "8":
			steps += runner.Trials(cases8(s.quick))
		case "9":
			steps += runner.Trials(cases9(s.quick))
		case "11":
			steps += s.runner11().Trials(s.cases11())
		case "fault":
			steps += 2 * faultSteps
		case "race":
			steps += runner.Trials(casesRace(s.quick)) * 3 / 2
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
