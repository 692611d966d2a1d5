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
package sli

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
	"regexp"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

const module = "github.com/cofferdam-go/cofferdam"

const usage = `usage: bench sli [-quick] [-run REGEXP] [-count 100] [-json FILE]

Fixes the six examples, the corpus of racy programs and three real modules, and prints
tables 1 and 2 of the paper side by side with its figures. The modules come through the
module proxy. A target that is missed is printed as missed; the exit code is 0 all the
same.

`

// options are the flags.
type options struct {
	quick bool
	run   *regexp.Regexp
	count int
	json  string
}

// Main runs the benchmark and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "bench sli:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	s := &session{options: o, ctx: ctx}
	if err := s.measure(); err != nil {
		fmt.Fprintln(stderr, "bench sli:", err)
		return 1
	}
	s.report.print(stdout)
	if o.json != "" {
		text, err := json.MarshalIndent(s.report, "", "  ")
		if err == nil {
			err = os.WriteFile(o.json, append(text, '\n'), 0o666)
		}
		if err != nil {
			fmt.Fprintln(stderr, "bench sli: writing the results:", err)
			return 1
		}
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench sli", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.quick, "quick", false, "the examples only: a minute, for a look")
	run := flags.String("run", "", "only the programs whose names match this `regexp`")
	flags.IntVar(&o.count, "count", 100, "run a fixed program so many times under the race detector")
	flags.StringVar(&o.json, "json", "", "write the results to this file")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.count <= 0:
		return o, fmt.Errorf("-count %d: there must be at least one", o.count)
	}
	var err error
	if o.run, err = regexp.Compile(*run); err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	return o, nil
}

// A session is one run of the command.
type session struct {
	options
	ctx      context.Context
	root     string // the module's directory
	dir      string // for what is built and changed
	progress *measure.Progress
	report   Report
}

func (s *session) measure() (err error) {
	if s.root, err = s.goCommand("", "list", "-m", "-f", "{{.Dir}}", module); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "bench-sli-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	s.report.Machine = measure.ThisMachine()
	load := measure.StartLoad()
	s.progress = measure.NewProgress(os.Stderr, 1)
	defer s.progress.Clear()
	if _, err := s.goCommand(s.root, "build", "-o", s.tool(), "./cmd/cofferdam"); err != nil {
		return err
	}
	parts := []func() error{s.examples, s.corpus, s.modules}
	if s.quick {
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

// tool is the command that is measured.
func (s *session) tool() string { return filepath.Join(s.dir, "cofferdam") }

// goCommand runs the go command and returns its output.
func (s *session) goCommand(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s%s", args[0], err, bytes.TrimSpace(stdout.Bytes()), bytes.TrimSpace(stderr.Bytes()))
	}
	return string(bytes.TrimSpace(stdout.Bytes())), nil
}
