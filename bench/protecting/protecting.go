// Package protecting measures what protection costs a program that was not changed
// for it, and whether real modules still pass their own tests with it.
//
// For the first, package program is built six times: as it is, with cofferdam build
// in the modes detect, tolerate, isolate and auto, and with -race. The programs run the same
// trials in turn. For the second, see corpus.go, and modules.go for the list of modules; for
// random programs in the place of modules, fuzz.go; for a server under load, soak.go, with
// package soaking; asking_unix.go and asking_other.go have the signal that it is asked by. For
// many objects, objects.go, with package objects. instructions.go counts what a section executes.
package protecting

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// program is what is built in several ways, seen from the root of this module.
const program = "./protecting/program"

// The variants beside measure.Heap, which is the program as it is, measure.Again and
// measure.Race.
const (
	detect   measure.Variant = "detect"
	tolerate measure.Variant = "tolerate"
	isolate  measure.Variant = "isolate"
	auto     measure.Variant = "auto"
)

// Benchmark is go run ./bench protect.
var Benchmark = &command.Benchmark{
	Name:  "protect",
	About: "what protection costs a program that was not changed for it, beside -race",
	Usage: "[-runs N] ",
	Help: `Measures what cofferdam build -protect costs, on six data structures and three
applications as they are, beside -race.`,
	Quick:  "shorter trials and fewer rounds, for a look",
	New:    newMeasurement,
	Worker: serveInstructions,
}

// options are the flags.
type options struct{ runs int }

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	command.Rounds(flags, &o.runs, "default 7, with -quick 3")
	return o
}

// Check completes the flags.
func (o *options) Check(quick bool) error {
	if quick {
		return command.CheckRounds(&o.runs, 3)
	}
	return command.CheckRounds(&o.runs, 7)
}

// Measure runs the command.
func (o *options) Measure(c *command.Session) (any, error) {
	s := &session{options: *o, Session: c}
	if err := s.run(); err != nil {
		return nil, err
	}
	return &s.report, nil
}

// A session is one run of the command.
type session struct {
	options
	*command.Session
	report measure.Report
}

func (s *session) run() (err error) {
	s.report.Machine = measure.ThisMachine()
	progress := measure.NewProgress(os.Stderr, 0)
	progress.Show("building")
	children, err := s.start()
	progress.Clear()
	for _, c := range children {
		defer c.Stop()
	}
	if err != nil {
		return err
	}
	cases, err := measure.Ask[[]named](children[0].Child, request{Do: "cases", Quick: s.Quick})
	if err != nil {
		return err
	}
	runner := &measure.Runner{Rounds: s.runs, Retries: (s.runs + 1) / 2}
	progress = measure.NewProgress(os.Stderr, len(cases)*(s.runs+1)*len(children))
	runner.Progress = progress
	load := measure.StartLoad()
	for i, c := range cases {
		one := measure.Case{Figure: "protect", Name: c.Name, Params: measure.Params{measure.Goroutines: c.Goroutines}, Ops: c.Ops, Baseline: measure.Heap}
		for _, child := range children {
			one.Contenders = append(one.Contenders, child.contender(i, s.Quick))
		}
		result, err := runner.Run(s.Context, one)
		if err != nil {
			progress.Clear()
			return err
		}
		s.report.Results = append(s.report.Results, result)
	}
	progress.Clear()
	s.report.Machine.Others = load.Others()
	s.print()
	s.report.Targets = s.targets()
	s.report.Conclude(s.Out)
	if s.report.Missed() {
		s.instructions()
	}
	return nil
}

// A child is one of the programs.
type child struct {
	*measure.Child
	variant measure.Variant
}

// The requests and answers of package program.
type (
	request struct {
		Do    string `json:"do"`
		Quick bool   `json:"quick"`
		Case  int    `json:"case"`
	}
	named struct {
		Name       string  `json:"name"`
		Goroutines float64 `json:"goroutines"`
		Ops        int     `json:"ops"`
	}
)

func (c *child) contender(index int, quick bool) measure.Contender {
	return measure.Contender{Variant: c.variant, Prepare: func() measure.Trial {
		return c.Trial(func(step string) any { return request{Do: step, Case: index, Quick: quick} }, nil)
	}}
}

// start builds the programs and starts them. What each protects is printed.
func (s *session) start() ([]*child, error) {
	tool, err := s.Cofferdam()
	if err != nil {
		return nil, err
	}
	var children []*child
	for _, v := range []measure.Variant{measure.Heap, measure.Again, detect, tolerate, isolate, auto, measure.Race} {
		file := s.Temp("program-" + strings.ReplaceAll(string(v), " ", ""))
		switch v {
		case measure.Heap, measure.Again:
			err = s.Build(file, program)
		case measure.Race:
			err = s.Build(file, program, "-race")
		default:
			err = s.protect(tool, v, file)
		}
		if err != nil {
			return children, err
		}
		cmd := exec.Command(file)
		cmd.Env = append(os.Environ(), "COFFERDAM_FINDINGS="+s.Temp(""))
		c, err := measure.StartChild(cmd)
		if err != nil {
			return children, err
		}
		children = append(children, &child{c, v})
	}
	return children, nil
}

// protect builds the program with protection, and prints what auto protects.
func (s *session) protect(tool string, v measure.Variant, file string) error {
	root, err := s.Root()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(s.Context, tool, "build", "-protect="+string(v), "-o", file, program)
	cmd.Dir = filepath.Join(root, "bench")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cofferdam build -protect=%s: %w\n%s", v, err, bytes.TrimSpace(stderr.Bytes()))
	}
	if v == auto {
		fmt.Fprintf(s.Out, "What is protected:\n\n%s\n", stderr.String())
	}
	return nil
}

func (s *session) print() {
	fmt.Fprintf(s.Out, "Overhead over the program as it is, in %%, with the range of 90 %% of its bootstrap;\nnoise is the program against itself.\n\n")
	variants := []measure.Variant{detect, tolerate, isolate, auto, measure.Race, measure.Again}
	t := measure.Table{Head: []string{"program", "goroutines", "ns per operation", "detect", "tolerate", "isolate", "auto", "race", "noise"}}
	for _, r := range s.report.Results {
		plain, _ := r.Timing(measure.Heap)
		row := []any{r.Name, r.Params[measure.Goroutines], fmt.Sprintf("%.1f", plain.PerOp)}
		for _, v := range variants {
			ratio, _ := r.Ratio(v, measure.Heap)
			row = append(row, ratio.Percent())
		}
		t.Row(row...)
	}
	t.Write(s.Out)
	fmt.Fprintln(s.Out)
	for _, v := range variants {
		mean, worst, where := s.over(v)
		fmt.Fprintf(s.Out, "  %-9s mean %s; most %+.1f %% (%s)\n", v, mean.Percent(), measure.Over(worst.Mid), where)
	}
}

// over returns the mean ratio of a variant to the program as it is, and the worst.
func (s *session) over(v measure.Variant) (mean, worst measure.Ratio, where string) {
	var all []measure.Ratio
	for _, r := range s.report.Results {
		ratio, ok := r.Ratio(v, measure.Heap)
		if !ok {
			continue
		}
		all = append(all, ratio)
		if ratio.Mid > worst.Mid {
			worst, where = ratio, r.String()
		}
	}
	return measure.Together(all), worst, where
}

// targets of tolerate are the paper's 3 to 20 %; those of auto are what a program can stay on in production with.
func (s *session) targets() []measure.Target {
	mean, worst, where := s.over(tolerate)
	autoMean, autoWorst, autoWhere := s.over(auto)
	race, _, _ := s.over(measure.Race)
	percent := func(name string, limit float64, r measure.Ratio, where, cost string) measure.Target {
		return measure.Target{
			Name: name, Unit: "%", Limit: limit, Measured: measure.Over(r.Mid), Low: measure.Over(r.Low), High: measure.Over(r.High), Where: where,
			Cost: "a short section pays for " + cost,
		}.Judge()
	}
	const copies = "taking the copies and for the compare-and-swaps that publish them"
	const entering = "entering and leaving the guard of its object, of which the instructions are below, and for leaving it alone where it calls code that may wait"
	// An overhead that cannot be told from none makes the ratio as large as one likes.
	const least = 0.1
	times := func(race, tolerate float64) float64 { return measure.Over(race) / max(measure.Over(tolerate), least) }
	return []measure.Target{
		percent("tolerate, mean", 10, mean, "", copies),
		percent("tolerate, worst", 20, worst, where, copies),
		percent("auto, mean", 5, autoMean, "", entering),
		percent("auto, worst", 15, autoWorst, autoWhere, entering),
		measure.Target{
			Name: "overhead of -race over that of tolerate", Unit: "x", Limit: 10, AtLeast: true, Measured: times(race.Mid, mean.Mid),
			Low: times(race.Low, mean.High), High: times(race.High, mean.Low),
		}.Judge(),
	}
}
