// Package command is what the benchmarks of this module have in common as commands:
// the list of them, flags, help, exit codes, interrupts, files of results, and the
// programs that they build. A benchmark says what it measures and leaves the rest here.
//
// # Terms
//
// A [Benchmark] is what can be asked for by name: go run ./bench isolate. A
// [Measurement] is one run of it, with its flags. A [Session] is what the measurement
// is given: where to print, what ends it, and the directories it may use.
//
// # Files
//
// command.go dispatches and reads flags, flags.go has kinds of flags that several
// benchmarks take, session.go is the session, and modules.go fetches real modules.
//
// # Exit codes
//
// 0 if everything was measured, whether targets were met or missed; 1 if something
// went wrong; 2 if the command line makes no sense. An interrupt prints what was
// measured so far, where a benchmark can; a second one ends the program at once.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

// A Benchmark is something to measure, by the name that it is called with.
type Benchmark struct {
	Name  string
	About string // a line in the list of all
	Usage string // the flags beside -quick and -json, as a usage line has them
	Help  string // what it measures, in a paragraph
	Quick string // what -quick leaves out

	// New declares the flags of a measurement and returns it.
	New func(*flag.FlagSet) Measurement

	// Worker, if there is one, serves the trials of this program as a child of itself,
	// and returns the exit code. See [WorkerArgument].
	Worker func(in io.Reader, out io.Writer) int
}

// A Measurement is one run of a benchmark.
type Measurement interface {
	// Check completes the flags, and says what is wrong with them.
	Check(quick bool) error

	// Measure measures and prints. It returns what -json writes, also if the context has
	// ended the measurement early.
	Measure(*Session) (report any, err error)
}

// WorkerArgument as the only argument makes a benchmark the worker of another process
// of it.
const WorkerArgument = "-as-worker"

// Run runs the benchmark that the first argument names, and returns the exit code.
func Run(benchmarks []*Benchmark, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		list(stdout, benchmarks)
		return 0
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		list(stdout, benchmarks)
		return 0
	}
	for _, b := range benchmarks {
		if b.Name == args[0] {
			return b.Run(args[1:], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "bench: there is no benchmark %q\n\n", args[0])
	list(stderr, benchmarks)
	return 2
}

func list(w io.Writer, benchmarks []*Benchmark) {
	fmt.Fprint(w, "usage: go run ./bench NAME [flags]\n\nBenchmarks:\n")
	for _, b := range benchmarks {
		fmt.Fprintf(w, "  %-16s %s\n", b.Name, b.About)
	}
	fmt.Fprint(w, "\nFlags of each: go run ./bench NAME -h\n")
}

// Run runs the benchmark and returns the exit code.
func (b *Benchmark) Run(args []string, stdout, stderr io.Writer) int {
	if b.Worker != nil && len(args) == 1 && args[0] == WorkerArgument {
		return b.Worker(os.Stdin, stdout)
	}
	flags := flag.NewFlagSet("bench "+b.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: bench %s [-quick] %s[-json FILE]\n\n%s\n\n%s\n\n", b.Name, b.Usage, b.Help, outputHelp)
		flags.PrintDefaults()
	}
	quick := flags.Bool("quick", false, b.Quick)
	results := flags.String("json", "", "write the results to this `file`")
	measurement := b.New(flags)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil: // which package flag has told
		return 2
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	default:
		err = measurement.Check(*quick)
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench %s: %v\n", b.Name, err)
		return 2
	}
	if err := b.measure(measurement, *quick, *results, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "bench %s: %v\n", b.Name, err)
		return 1
	}
	return 0
}

// outputHelp is true of every benchmark.
const outputHelp = `Results go to standard output, progress to standard error. A target that is missed
is printed as missed; the exit code is 0 all the same. Interrupt it to see what was
measured so far.`

func (b *Benchmark) measure(m Measurement, quick bool, results string, stdout, stderr io.Writer) error {
	// What is measured are modules of their own, wherever they are: also those below
	// this repository, whose workspace does not know them.
	if err := os.Setenv("GOWORK", "off"); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	temp, err := os.MkdirTemp("", "bench-"+b.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	report, err := m.Measure(&Session{Context: ctx, Out: stdout, Err: stderr, Quick: quick, temp: temp})
	if results != "" && report != nil {
		err = errors.Join(err, save(results, report))
	}
	return err
}

// save writes a report as JSON.
func save(file string, report any) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o666)
	}
	if err != nil {
		return fmt.Errorf("writing the results to %s: %w", filepath.Base(file), err)
	}
	return nil
}
