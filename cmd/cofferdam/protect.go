package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/protect"
	"github.com/cofferdam-go/cofferdam/internal/protect/watch"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
)

func newRunCommand() *command {
	return newProtectCommand("run", "package [arguments]", "run a program with its guarded data protected", `
Examples:

  cofferdam run -protect ./cmd/server -addr :8080
  cofferdam run -protect=detect -findings found.json -race main.go

All arguments behind the package, or behind the files of one, are the program's.`)
}

func newBuildCommand() *command {
	return newProtectCommand("build", "[packages]", "build a program with its guarded data protected", `
Example:

  cofferdam build -protect=tolerate -o server ./cmd/server

The program prints at its start what is protected, and at its end what it found.`)
}

func newTestCommand() *command {
	return newProtectCommand("test", "[packages] [flags of the tests]", "test packages with their guarded data protected", `
Examples:

  cofferdam test ./...
  cofferdam test -protect=tolerate -strict -run TestTransfer -count=10 ./bank

A flag of a test that has the name of one of these is given behind -args.`)
}

// protectHelp is about one of the commands of the go command.
const protectHelp = `%s does what go %s does, with a program in which the data that locks guard is
protected from code that skips the lock. The sources stay as they are.

All flags of go %[2]s can be given as well, except those under which the go command
ignores rewritten sources, such as -cover.`

const protectNotes = `

What was found is printed at the end of a run, and on SIGUSR1. Exit codes are those of
go %s; with -strict, 1 if the program succeeded and something was found.

See also: cofferdam help protect, cofferdam help guards`

// protectOptions are the flags of run, build and test, and what the go command gets.
type protectOptions struct {
	goArguments
	verb     string
	mode     modeFlag
	min      confidenceFlag
	deps     bool
	maps     bool
	strict   bool
	findings string
	summary  bool
}

func newProtectCommand(verb, operands, short, examples string) *command {
	o := &protectOptions{verb: verb, mode: modeFlag(protect.Auto), min: 0.5}
	c := newCommand(verb, operands, short).buildsPrograms()
	c.long = fmt.Sprintf(protectHelp, strings.ToUpper(verb[:1])+verb[1:], verb)
	c.notes = examples + fmt.Sprintf(protectNotes, verb)
	o.declare(c.flags)
	c.parse = func(c *command, args []string) (*arguments, error) {
		return &arguments{}, o.parseGo(c, args)
	}
	c.work = o.run
	return c
}

func (o *protectOptions) declare(flags *flag.FlagSet) {
	flags.Var(&o.mode, "protect", "how data is protected: `mode` is auto, isolate, tolerate or detect")
	flags.Var(&o.min, "min", "how sure it must be, from 0 to 1, that a lock guards something: a `confidence` as cofferdam guards shows it")
	flags.BoolVar(&o.deps, "deps", false, "protect dependencies too")
	flags.BoolVar(&o.maps, "maps", false, "copy the entries of maps that a section changes, unless with isolate or detect: careless code then reads the old map, and does not end the program")
	flags.StringVar(&o.findings, "findings", "", "write what is found to a `file`, one JSON object per line")
	flags.BoolVar(&o.strict, "strict", false, "exit with 1 if anything is found")
	flags.BoolVar(&o.summary, "summary", true, "print what is protected")
}

// A modeFlag is the value of -protect, which means auto if there is none.
type modeFlag protect.Mode

func (m *modeFlag) String() string   { return string(*m) }
func (m *modeFlag) IsBoolFlag() bool { return true }

func (m *modeFlag) Set(text string) error {
	mode := protect.Mode(text)
	if text == "true" {
		mode = protect.Auto
	}
	if !slices.Contains(protect.Modes, mode) {
		return errors.New("give auto, isolate, tolerate or detect")
	}
	*m = modeFlag(mode)
	return nil
}

func (o *protectOptions) run(ctx context.Context, inv *invocation) error {
	if len(o.patterns) == 0 {
		o.patterns = []string{"."}
	}
	if o.findings != "" {
		var err error
		if o.findings, err = filepath.Abs(o.findings); err != nil {
			return fmt.Errorf("-findings: %w", err)
		}
		if info, err := os.Stat(filepath.Dir(o.findings)); err != nil || !info.IsDir() {
			return fmt.Errorf("-findings %s: there is no directory %s", o.findings, filepath.Dir(o.findings))
		}
	}
	inv.status.Phase("protecting " + strings.Join(o.patterns, " "))
	build, err := protect.Prepare(protect.Config{
		Patterns: o.patterns, Tests: o.verb == "test", Deps: o.deps, Maps: o.maps, Flags: o.load, Mode: protect.Mode(o.mode), Least: float64(o.min),
		Findings: o.findings, Strict: o.strict, Progress: inv.status.Detail,
	})
	if err != nil {
		return err
	}
	defer build.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.summary {
		fmt.Fprint(inv.stderr, build.Plan)
	}
	inv.status.Phase("building")
	tool := gotool.New("", nil)
	stop := tool.WatchFirstBuild(ctx, watchPackage, slices.Concat(o.load, build.Overlay), func() {
		inv.status.Detail("the standard library, once for each version of Go, for about a minute")
	})
	defer stop()
	args := slices.Concat([]string{o.verb}, build.Flags, o.pass)
	if o.verb == "build" {
		cmd := tool.Command(ctx, args...)
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.environment, inv.inherited.stdin, inv.stdout, inv.stderr
		return goExit(cmd.Run())
	}
	return o.supervise(inv, tool, args)
}

// watchPackage is linked by all protected programs.
const watchPackage = "cofferdamrt/protect/watch"

// supervise has the go command run a program or tests, and tells what they find. The
// context of the invocation does not end them: signals are passed on, and it is theirs to
// decide what they mean.
func (o *protectOptions) supervise(inv *invocation, tool *gotool.Tool, args []string) error {
	dir, err := scratch.Dir()
	if err != nil {
		return err
	}
	defer scratch.Remove(dir)
	cmd := tool.Command(context.Background(), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.inherited.stdin, inv.inherited.stdout, inv.inherited.stderr
	cmd.Env = append(slices.Clone(inv.environment), watch.Directory+"="+dir)
	if err := cmd.Start(); err != nil {
		return err
	}
	var interrupted *interruption
	inv.signals.to(func(s os.Signal) {
		interrupted = &interruption{signal: s}
		passOn(s, cmd.Process, dir, console.Detect(inv.inherited.stderr, os.Getenv).Terminal)
	})
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { o.watch(inv, dir, ended) })
	failed := goExit(cmd.Wait())
	close(ended)
	watching.Wait()
	inv.signals.to(nil)
	if interrupted != nil && failed != nil {
		failed = &exitCode{code: interrupted.code()}
	}
	return o.conclude(dir, inv.stderr, failed)
}

// passOn sends a signal to the processes of the program, which write to the directory, or
// to the go command while it builds: go run itself passes nothing on. A terminal has sent
// an interrupt to all of them already, and a second one may mean something else to the
// program than the first.
func passOn(s os.Signal, goCommand *os.Process, dir string, onTerminal bool) {
	if s == os.Interrupt && onTerminal {
		return
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(names) == 0 {
		_ = goCommand.Signal(s)
	}
	for _, name := range names {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".json"))
		if err != nil {
			continue
		}
		// The number of a process that has ended may be another one's by now.
		if group, err := syscall.Getpgid(pid); err == nil && group == syscall.Getpgrp() {
			_ = syscall.Kill(pid, s.(syscall.Signal))
		}
	}
}

// startTick is how often it is looked whether a program has started.
const startTick = 100 * time.Millisecond

// watch tells on SIGUSR1 what was found so far. The status ends when the first process of
// the program writes to the directory: from then on the streams are the program's.
func (o *protectOptions) watch(inv *invocation, dir string, ended <-chan struct{}) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	defer signal.Stop(asked)
	tick := time.NewTicker(startTick)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			inv.status.Phase("")
			return
		case <-asked:
			if all, _, err := gather(dir); err == nil {
				_ = finding.WriteText(inv.stderr, all)
			}
		case <-tick.C:
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				inv.status.Phase("")
				tick.Stop()
			}
		}
	}
}

// goExit turns the end of the go command into ours.
func goExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &exitCode{code: exit.ExitCode()}
	}
	return err
}

// gather returns what the processes of a run have found, and how many there were.
func gather(dir string) ([]finding.Finding, int, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, 0, err
	}
	var log finding.Log
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, 0, err
		}
		all, err := finding.ReadJSON(f)
		f.Close()
		if err != nil {
			return nil, 0, fmt.Errorf("reading the findings of a process: %w", err)
		}
		for _, one := range all {
			log.Add(one)
		}
	}
	return log.Findings(), len(names), nil
}

// conclude tells what was found.
func (o *protectOptions) conclude(dir string, stderr io.Writer, failed error) error {
	all, processes, err := gather(dir)
	if err != nil {
		return errors.Join(failed, err)
	}
	if processes == 0 && failed == nil && o.verb == "run" {
		return errors.New("the program ran without protection: the go command has ignored the rewritten sources")
	}
	if o.findings != "" {
		f, err := os.Create(o.findings)
		if err != nil {
			return fmt.Errorf("writing findings: %w", err)
		}
		if err := errors.Join(finding.WriteJSON(f, all), f.Close()); err != nil {
			return fmt.Errorf("writing findings: %w", err)
		}
	}
	if len(all) == 0 {
		return failed
	}
	if err := finding.WriteText(stderr, all); err != nil {
		return err
	}
	if failed == nil && o.strict {
		return &exitCode{code: exitFound}
	}
	return failed
}
