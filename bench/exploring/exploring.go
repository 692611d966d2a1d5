// Package exploring measures the search for failing schedules.
//
//	go run ./bench explore          what it takes to find a bug
//	go run ./bench explore-modules  whether programs that have none are left in peace
//
// # explore
//
// The programs are the six of examples/races and the pairs of internal/explore, where
// for each construct of the language one test has a bug and another has none. Each test
// with a bug is searched with several seeds, and what it took to the first failing run
// is compared with go test -count and go test -race -count on the same test in the same
// run, each of which has as much time as it takes for a bound (native.go). The rate is
// how many schedules are run in a second (rate.go), and recording is compared with
// -race on the tests of testdata/recorded, which work long enough for it, and on the
// examples (recording.go).
//
// # explore-modules
//
// Real modules are downloaded through the module proxy at fixed versions, and their own
// tests are run under the default schedule and under a hundred random ones (modules.go).
// Each test that fails is explained in failures.txt.
package exploring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

const module = "github.com/cofferdam-go/cofferdam"

const usage = `usage: bench explore [-quick] [-runs N] [-bound 2s] [-json FILE]

Measures how long it takes to find the bugs of the examples and of the pairs of
programs that the search is tested with, beside go test -count and go test -race
-count; how many schedules are run in a second; and what recording costs beside -race.
Results go to standard output, progress to standard error. A target that is missed is
printed as missed; the exit code is 0 all the same.

`

// options are the flags.
type options struct {
	quick bool
	runs  int
	bound time.Duration
	json  string
}

// Main runs the benchmark explore and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "bench explore:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	s := &session{options: o, ctx: ctx}
	if err := s.run(); err != nil {
		fmt.Fprintln(stderr, "bench explore:", err)
		return 1
	}
	s.report.print(stdout)
	if err := writeJSON(o.json, s.report); err != nil {
		fmt.Fprintln(stderr, "bench explore:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench explore", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.quick, "quick", false, "the examples only, and fewer repetitions: a minute, for a look")
	flags.IntVar(&o.runs, "runs", 0, "repetitions of each measurement (default 7, with -quick 3)")
	flags.DurationVar(&o.bound, "bound", 2*time.Second, "how long to wait for a failure under go test")
	flags.StringVar(&o.json, "json", "", "write the results to this file")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.runs < 0:
		return o, fmt.Errorf("-runs %d: there must be at least one", o.runs)
	case o.bound <= 0:
		return o, fmt.Errorf("-bound %v: there must be some time", o.bound)
	case o.runs == 0 && o.quick:
		o.runs = 3
	case o.runs == 0:
		o.runs = 7
	}
	return o, nil
}

// A session is one run of the command.
type session struct {
	options
	ctx      context.Context
	root     string // the module's directory
	dir      string // for what is built and recorded
	progress *measure.Progress
	report   Report
}

func (s *session) run() (err error) {
	if s.root, err = goCommand(s.ctx, "", "list", "-m", "-f", "{{.Dir}}", module); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "bench-explore-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	s.report.Machine = measure.ThisMachine()
	load := measure.StartLoad()
	defer func() { s.progress.Clear() }()
	for _, part := range []func() error{s.examples, s.pairs, s.rate, s.recording} {
		if err := part(); err != nil {
			return err
		}
	}
	s.report.Machine.Others = load.Others()
	s.report.judge()
	return nil
}

// temp is the name of a file that is removed at the end.
func (s *session) temp(name string) string { return filepath.Join(s.dir, name) }

// goCommand runs the go command and returns its output.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(bytes.TrimSpace(stdout.Bytes())), nil
}

func writeJSON(file string, report any) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o666); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}
