// Package protecting measures what protection costs a program that was not changed
// for it, and whether real modules still pass their own tests with it.
//
// For the first, package program is built six times: as it is, with cofferdam build
// in the modes detect, tolerate, isolate and auto, and with -race. The programs run the same
// trials in turn. For the second, see corpus.go.
package protecting

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

const (
	module  = "github.com/cofferdam-go/cofferdam/"
	program = module + "bench/protecting/program"
)

// The variants beside measure.Heap, which is the program as it is, measure.Again and
// measure.Race.
const (
	detect   measure.Variant = "detect"
	tolerate measure.Variant = "tolerate"
	isolate  measure.Variant = "isolate"
	auto     measure.Variant = "auto"
)

const usage = `usage: bench protect [-quick] [-runs N] [-json FILE]

Measures what cofferdam build -protect costs, on six data structures and three
applications as they are, beside -race. Results go to standard output, progress to
standard error. A target that is missed is printed as missed.

`

// A session is one run of the command.
type session struct {
	ctx    context.Context
	quick  bool
	runs   int
	json   string
	out    io.Writer
	dir    string
	report measure.Report
}

// Main runs the benchmark and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	s := &session{out: stdout}
	flags := flag.NewFlagSet("protect", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&s.quick, "quick", false, "shorter trials and fewer rounds, for a look")
	flags.IntVar(&s.runs, "runs", 0, "rounds of each case, after one that warms up (default 7, with -quick 3)")
	flags.StringVar(&s.json, "json", "", "write the results to this file")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0 || s.runs < 0:
		flags.Usage()
		return 2
	}
	if s.runs == 0 {
		s.runs = 7
		if s.quick {
			s.runs = 3
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s.ctx = ctx
	if err := s.run(); err != nil {
		fmt.Fprintln(stderr, "bench protect:", err)
		return 1
	}
	return 0
}

func (s *session) run() (err error) {
	if s.dir, err = os.MkdirTemp("", "bench-protect"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
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
	var list reply
	if err := children[0].call("cases", request{Do: "cases", Quick: s.quick}, &list); err != nil {
		return err
	}
	runner := &measure.Runner{Rounds: s.runs, Retries: (s.runs + 1) / 2}
	progress = measure.NewProgress(os.Stderr, len(list.Cases)*(s.runs+1)*len(children))
	runner.Progress = progress
	load := measure.StartLoad()
	for i, c := range list.Cases {
		one := measure.Case{Figure: "protect", Name: c.Name, Params: measure.Params{measure.Goroutines: c.Goroutines}, Ops: c.Ops, Baseline: measure.Heap}
		for _, child := range children {
			one.Contenders = append(one.Contenders, child.contender(i, s.quick))
		}
		result, err := runner.Run(s.ctx, one)
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
	s.report.Conclude(s.out)
	if s.json != "" {
		return s.report.Save(s.json)
	}
	return nil
}

// A child is one of the programs.
type child struct {
	*measure.Child
	variant measure.Variant
}

// The requests and replies of package program.
type (
	request struct {
		Do    string `json:"do"`
		Quick bool   `json:"quick"`
		Case  int    `json:"case"`
	}
	reply struct {
		Error string  `json:"error"`
		Cases []named `json:"cases"`
	}
	named struct {
		Name       string  `json:"name"`
		Goroutines float64 `json:"goroutines"`
		Ops        int     `json:"ops"`
	}
)

func (c *child) call(what string, r request, answer *reply) error {
	if err := c.Call(what, r, answer); err != nil {
		return err
	}
	if answer.Error != "" {
		return errors.New(answer.Error)
	}
	return nil
}

func (c *child) contender(index int, quick bool) measure.Contender {
	return measure.Contender{Variant: c.variant, Prepare: func() measure.Trial {
		failed := c.call("prepare", request{Do: "prepare", Case: index, Quick: quick}, new(reply))
		do := func(what string) {
			if failed == nil {
				failed = c.call(what, request{Do: what}, new(reply))
			}
		}
		return measure.Trial{
			Run:   func() { do("run") },
			Close: func() error { do("close"); return failed },
		}
	}}
}

// start builds the programs and starts them. What each protects is printed.
func (s *session) start() ([]*child, error) {
	tool := filepath.Join(s.dir, "cofferdam")
	if _, err := s.command("go", "build", "-o", tool, module+"cmd/cofferdam"); err != nil {
		return nil, err
	}
	var children []*child
	for _, v := range []measure.Variant{measure.Heap, measure.Again, detect, tolerate, isolate, auto, measure.Race} {
		file := filepath.Join(s.dir, strings.ReplaceAll(string(v), " ", ""))
		var said string
		var err error
		switch v {
		case measure.Heap, measure.Again:
			said, err = s.command("go", "build", "-o", file, program)
		case measure.Race:
			said, err = s.command("go", "build", "-race", "-o", file, program)
		default:
			said, err = s.command(tool, "build", "-protect="+string(v), "-o", file, program)
		}
		if err != nil {
			return children, err
		}
		if v == auto {
			fmt.Fprintf(s.out, "What is protected:\n\n%s\n", said)
		}
		cmd := exec.Command(file)
		cmd.Env = append(os.Environ(), "COFFERDAM_FINDINGS="+s.dir)
		c, err := measure.StartChild(cmd)
		if err != nil {
			return children, err
		}
		children = append(children, &child{c, v})
	}
	return children, nil
}

func (s *session) command(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stderr.String(), nil
}

func (s *session) print() {
	fmt.Fprintf(s.out, "Overhead over the program as it is, in %%, with the range of 90 %% of its bootstrap;\nnoise is the program against itself.\n\n")
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
	t.Write(s.out)
	fmt.Fprintln(s.out)
	for _, v := range variants {
		mean, worst, where := s.over(v)
		fmt.Fprintf(s.out, "  %-9s mean %s; most %+.1f %% (%s)\n", v, mean.Percent(), measure.Over(worst.Mid), where)
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

// targets are those of the issue: the paper has 3 to 20 % for tolerate.
func (s *session) targets() []measure.Target {
	mean, worst, where := s.over(tolerate)
	race, _, _ := s.over(measure.Race)
	percent := func(name string, limit float64, r measure.Ratio, where string) measure.Target {
		return measure.Target{
			Name: name, Unit: "%", Limit: limit, Measured: measure.Over(r.Mid), Low: measure.Over(r.Low), High: measure.Over(r.High), Where: where,
			Cost: "a section of some 20 ns that does next to nothing pays for taking the copies and for the compare-and-swaps that publish them",
		}.Judge()
	}
	// An overhead that cannot be told from none makes the ratio as large as one likes.
	const least = 0.1
	times := func(race, tolerate float64) float64 { return measure.Over(race) / max(measure.Over(tolerate), least) }
	return []measure.Target{
		percent("tolerate, mean", 10, mean, ""),
		percent("tolerate, worst", 20, worst, where),
		measure.Target{
			Name: "overhead of -race over that of tolerate", Unit: "x", Limit: 10, AtLeast: true, Measured: times(race.Mid, mean.Mid),
			Low: times(race.Low, mean.High), High: times(race.High, mean.Low),
		}.Judge(),
	}
}
