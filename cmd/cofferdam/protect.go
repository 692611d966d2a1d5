package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/protect"
	"github.com/cofferdam-go/cofferdam/internal/protect/watch"
)

// Run, build and test are those of the go command, for protected programs. Its flags
// are passed on, so they are not declared here.

func newRunCommand() *cobra.Command {
	return newProtectCommand("run", "Run a program with its guarded data protected", "package [arguments]")
}

func newBuildCommand() *cobra.Command {
	return newProtectCommand("build", "Build a program with its guarded data protected", "[packages]")
}

func newTestCommand() *cobra.Command {
	return newProtectCommand("test", "Test packages with their guarded data protected", "[packages]")
}

const protectHelp = `%s does what go %[1]s does, with a program in which the data that locks guard is
protected from code that skips the lock. The program's sources stay as they are.

  -protect=MODE      auto, isolate, tolerate or detect; the default is auto
  -min CONFIDENCE    how sure it must be that a lock guards something (0.5);
                     see cofferdam guards
  -deps              protect dependencies too
  -maps              copy the entries of maps that a section changes, unless with
                     isolate or detect: careless code then reads the old map, and
                     does not end the program
  -findings FILE     write what is found to a file, one JSON object per line
  -strict            exit with 1 if anything is found
  -summary=false     do not print what is protected

All flags of go %[1]s can be given as well; those that ignore rewritten sources,
such as -cover, are refused.

With isolate what a lock guards is on pages that nobody else can reach during a
section that uses it: an access without the lock waits for the section's end. That is
possible for package-level variables, and for fields of structs that have their lock
in themselves, if they hold no pointers and nobody takes their address; on linux/amd64.
With tolerate a section works on copies of what its lock guards, and publishes them
at its end; a write without the lock that falls into it is recognised, and cannot
harm it. With detect it is only recognised. Auto isolates where it is possible and
costs correct code next to nothing, and tolerates elsewhere. What was found is printed
at the end of a run, and on SIGUSR1.`

func newProtectCommand(verb, short, args string) *cobra.Command {
	return &cobra.Command{
		Use:                verb + " [-protect=MODE] [flags] " + args,
		Short:              short,
		Long:               fmt.Sprintf(strings.ToUpper(verb[:1])+protectHelp, verb[1:]),
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.ContainsFunc(args[:min(1, len(args))], isHelp) {
				return cmd.Help()
			}
			o, err := parseProtect(verb, args)
			if err != nil {
				return err
			}
			return o.run(cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
}

func isHelp(a string) bool { return a == "-h" || a == "-help" || a == "--help" }

// protectOptions are the arguments of run, build and test.
type protectOptions struct {
	verb     string
	mode     protect.Mode
	min      float64
	deps     bool
	maps     bool
	strict   bool
	findings string
	summary  bool

	load     []string // flags that decide what packages are made of
	pass     []string // what the go command gets
	patterns []string
}

// alone are the flags of the go command that take no value.
var alone = []string{
	"a", "n", "race", "msan", "asan", "v", "work", "x", "linkshared", "modcacherw", "trimpath", "buildvcs", "json",
	"c", "i", "benchmem", "short", "failfast", "fullpath", "cover", "artifacts",
}

// loading are the flags that decide what packages are made of.
var loading = []string{"tags", "mod", "modfile", "C", "modcacherw", "compiler"}

// parseProtect takes apart the arguments. The go command stops looking for flags at
// the first argument that is none, except go test, which looks on.
func parseProtect(verb string, args []string) (*protectOptions, error) {
	o := &protectOptions{verb: verb, mode: protect.Auto, min: 0.5, summary: true}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if a == "-args" || a == "--args" {
			o.pass = append(append(o.pass, a), args...)
			break
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			o.patterns = append(o.patterns, a)
			o.pass = append(o.pass, a)
			if verb != "run" {
				continue
			}
			for strings.HasSuffix(a, ".go") && len(args) > 0 && strings.HasSuffix(args[0], ".go") {
				o.patterns = append(o.patterns, args[0])
				o.pass = append(o.pass, args[0])
				args = args[1:]
			}
			o.pass = append(o.pass, args...)
			break
		}
		name, value, has := strings.Cut(strings.TrimLeft(a, "-"), "=")
		flag := []string{a}
		needs := !has && !slices.Contains(alone, strings.TrimPrefix(name, "test."))
		if own, err := o.own(name, value, has, &args); err != nil {
			return nil, err
		} else if own {
			continue
		}
		if needs {
			if len(args) == 0 {
				return nil, fmt.Errorf("flag needs an argument: %s; see cofferdam %s -help", a, verb)
			}
			flag = append(flag, args[0])
			args = args[1:]
		}
		switch {
		case strings.HasPrefix(name, "cover"):
			return nil, fmt.Errorf("-%s: the go command ignores rewritten sources when it measures coverage: leave it out", name)
		case name == "overlay":
			return nil, errors.New("-overlay: the program is protected by an overlay already: leave it out")
		case name == "vet":
			continue // there is no vetting of rewritten sources
		case slices.Contains(loading, name):
			o.load = append(o.load, strings.Join(flag, "="))
		}
		o.pass = append(o.pass, flag...)
	}
	if len(o.patterns) == 0 {
		if verb == "run" {
			return nil, errors.New("no package to run; see cofferdam run -help")
		}
		o.patterns = []string{"."}
	}
	return o, nil
}

// own takes a flag of our own.
func (o *protectOptions) own(name, value string, has bool, args *[]string) (bool, error) {
	take := func() (string, error) {
		if has {
			return value, nil
		}
		if len(*args) == 0 {
			return "", fmt.Errorf("flag needs an argument: -%s; see cofferdam %s -help", name, o.verb)
		}
		v := (*args)[0]
		*args = (*args)[1:]
		return v, nil
	}
	truth := func(to *bool) error {
		*to = true
		if !has {
			return nil
		}
		v, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("-%s=%s: give true or false", name, value)
		}
		*to = v
		return nil
	}
	switch name {
	case "protect":
		if !has {
			return true, nil
		}
		o.mode = protect.Mode(value)
		if !slices.Contains(protect.Modes, o.mode) {
			return true, fmt.Errorf("-protect=%s: give auto, isolate, tolerate or detect", value)
		}
		return true, nil
	case "min":
		v, err := take()
		if err != nil {
			return true, err
		}
		if o.min, err = strconv.ParseFloat(v, 64); err != nil || o.min < 0 || o.min > 1 {
			return true, fmt.Errorf("-min %s: a confidence is between 0 and 1", v)
		}
		return true, nil
	case "findings":
		v, err := take()
		if err != nil {
			return true, err
		}
		o.findings, err = filepath.Abs(v)
		return true, err
	case "deps":
		return true, truth(&o.deps)
	case "maps":
		return true, truth(&o.maps)
	case "strict":
		return true, truth(&o.strict)
	case "summary":
		return true, truth(&o.summary)
	}
	return false, nil
}

func (o *protectOptions) run(stdout, stderr io.Writer) error {
	stop := reportSlowness(stderr, "loading and analysing "+strings.Join(o.patterns, " "))
	build, err := protect.Prepare(protect.Config{
		Patterns: o.patterns, Tests: o.verb == "test", Deps: o.deps, Maps: o.maps, Flags: o.load, Mode: o.mode, Least: o.min,
		Findings: o.findings, Strict: o.strict,
	})
	stop()
	if err != nil {
		return err
	}
	defer build.Close()
	if o.summary {
		fmt.Fprint(stderr, build.Plan)
	}
	cmd := gotool.New("", nil).Command(context.Background(), slices.Concat([]string{o.verb}, build.Flags, o.pass)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	if o.verb == "build" {
		return exitCode(cmd.Run())
	}
	dir, err := os.MkdirTemp("", "cofferdam")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cmd.Env = append(os.Environ(), watch.Directory+"="+dir)
	if err := cmd.Start(); err != nil {
		return err
	}
	printed := make(chan struct{})
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1)
	go func() {
		defer close(printed)
		for s := range signals {
			if s == syscall.SIGUSR1 {
				if all, _, err := gather(dir); err == nil {
					_ = finding.WriteText(stderr, all)
				}
				continue
			}
			_ = cmd.Process.Signal(s)
		}
	}()
	failed := exitCode(cmd.Wait())
	signal.Stop(signals)
	close(signals)
	<-printed
	return o.conclude(dir, stderr, failed)
}

// exitCode turns the end of the go command into ours.
func exitCode(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &exitError{code: exit.ExitCode()}
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
		return &exitError{code: 1}
	}
	return failed
}
