// Package isolator reproduces the figures of the paper "ISOLATOR: Dynamically
// Ensuring Isolation in Concurrent Programs" (Rajamani, Ramalingam, Ranganath,
// Vaswani; ASPLOS 2009) with package isolate, side by side with what a program
// would use otherwise.
//
// # Figures
//
//	8       six structures, all goroutines careful: isolate, a sync.Mutex on the
//	        same memory, and a sync.Mutex on the Go heap
//	9       the same with one careless goroutine: one that takes the lock in the
//	        plain way and knows nothing of sections. Added to the paper's figure:
//	        one that takes no lock at all, and the worst case, in which every
//	        operation changes the owner
//	11      three applications
//	fault   what protection itself costs: a fault, a seal, a guard
//	waiting what goes on while accesses wait for sections: other sections and timers
//	race    the stock programs of figure 8 built with -race
//
// # How
//
// Package measure runs and compares, package structures has what is measured.
// stress.go is the paper's client. A file per figure makes the cases, and prints
// the table; targets.go says which targets were met and, from what was measured
// in this very run, what costs the others; plots.go draws. worker.go is this
// program as its own child, for what needs another process: the -race build and
// the other backend.
//
// # Files
//
//	isolator.go text.go machine.go               the command, and where it runs
//	figure8.go sections.go instructions.go       all careful; what an empty section costs
//	figure9.go figure11.go fault.go race.go      the other figures
//	waiting.go                                   sections and timers beside accesses that wait
//	stress.go worker.go targets.go plots.go      see above
package isolator

import (
	"errors"
	"flag"
	"log/slog"
	"os"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/plot"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// name is what the benchmark is called with.
const name = "isolate"

// Benchmark is go run ./bench isolate.
var Benchmark = &command.Benchmark{
	Name:  name,
	About: "figures 8, 9 and 11 of the Isolator paper, faults, waiting, and the race detector",
	Usage: "[-figure 8,9,11,fault,waiting,race,instructions] [-runs N] [-plot DIR] ",
	Help: `Reproduces figures 8, 9 and 11 of the Isolator paper, measures faults and
what goes on while accesses wait, and compares with the race detector.`,
	Quick:  "fewer cases and rounds: half a minute, for a look",
	New:    newMeasurement,
	Worker: serve,
}

// The figures by the names that -figure takes, in the order in which they run.
var figures = []struct {
	name string
	run  func(*session) error
}{
	{"8", (*session).figure8},
	{"9", (*session).figure9},
	{"11", (*session).figure11},
	{"fault", (*session).figureFault},
	{"waiting", (*session).figureWaiting},
	{"race", (*session).figureRace},
	{"instructions", (*session).figureInstructions},
}

// options are the flags.
type options struct {
	quick   bool
	figures *command.Choice
	runs    int
	plot    string
}

// A session is one run of the command.
type session struct {
	options
	measure.Session
	build func(output, pkg string, flags ...string) error // of this module
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	var names []string
	for _, f := range figures {
		names = append(names, f.name)
	}
	o.figures = command.NewChoice(flags, "figure", names)
	command.Rounds(flags, &o.runs, "default 7, with -quick 3")
	flags.StringVar(&o.plot, "plot", "", "write SVG plots into this `directory`")
	return o
}

// Check completes the flags.
func (o *options) Check(quick bool) error {
	o.quick = quick
	if quick {
		return command.CheckRounds(&o.runs, 3)
	}
	return command.CheckRounds(&o.runs, 7)
}

// Measure runs the command.
func (o *options) Measure(c *command.Session) (any, error) {
	s := &session{options: *o, Session: measure.Session{Context: c.Context, Out: c.Out}, build: c.Build}
	err := s.run()
	return &s.Report, err
}

// run measures the figures, each printed as soon as it is done.
func (s *session) run() error {
	quiet()
	s.Report.Machine = machine()
	s.introduce()
	s.Progress = measure.NewProgress(os.Stderr, s.steps())
	var chosen []func() error
	for _, f := range figures {
		if s.figures.Has(f.name) {
			chosen = append(chosen, func() error { return f.run(s) })
		}
	}
	failed := s.Figures(chosen)
	s.Report.Targets = s.targets()
	s.Report.Conclude(s.Out)
	if !s.figures.Has("instructions") && s.Report.Missed() && len(s.Report.Of("8"))+len(s.Report.Of(figurePlain)) > 0 {
		s.instructions()
	}
	if s.plot != "" {
		return errors.Join(failed, plot.Files(s.plot, s.plots()))
	}
	return failed
}

// quiet keeps findings from being logged: what is careless here is meant to be.
func quiet() { isolate.Configure(isolate.Config{Logger: slog.New(slog.DiscardHandler)}) }

// measure runs cases and adds their results. It stops at the first error, which
// is the context's if the run was interrupted.
func (s *session) measure(runner *measure.Runner, cases []measure.Case) error {
	defer s.Progress.Clear()
	for _, c := range cases {
		res, err := runner.Run(s.Context, c)
		if s.Context.Err() != nil {
			return s.Context.Err()
		}
		if err != nil {
			return err
		}
		s.Report.Results = append(s.Report.Results, res)
	}
	return nil
}

func (s *session) runner() *measure.Runner {
	return &measure.Runner{Rounds: s.runs, Retries: (s.runs + 1) / 2, Progress: s.Progress, Counters: counters}
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
	for _, f := range figures {
		if !s.figures.Has(f.name) {
			continue
		}
		switch f.name {
		case "8":
			steps += runner.Trials(cases8(s.quick))
		case "9":
			steps += runner.Trials(cases9(s.quick))
		case "11":
			steps += s.runner11().Trials(s.cases11())
		case "fault":
			steps += 2 * faultSteps
		case "waiting":
			steps += waitingSteps
		case "race":
			steps += runner.Trials(casesRace(s.quick)) * 3 / 2
		}
	}
	return steps
}
