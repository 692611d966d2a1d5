package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/guarding"
	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/protect"
	"github.com/cofferdam-go/cofferdam/internal/protect/rule"
	"github.com/cofferdam-go/cofferdam/internal/protect/supervise"
	"github.com/cofferdam-go/cofferdam/internal/settings"
)

func newRunCommand() *command.Command {
	return newProtectCommand("run", "package [arguments]", "run a program with its guarded data protected", `
Examples:

  cofferdam run -protect ./cmd/server -addr :8080
  cofferdam run -protect=detect -findings found.json -race main.go
  cofferdam run -stm ./cmd/bank

All arguments behind the package, or behind the files of one, are the program's.`)
}

func newBuildCommand() *command.Command {
	return newProtectCommand("build", "[packages]", "build a program with its guarded data protected", `
Example:

  cofferdam build -protect=tolerate -o server ./cmd/server

The program prints at its start what is protected, and at its end what it found.`)
}

func newTestCommand() *command.Command {
	return newProtectCommand("test", "[packages] [flags of the tests]", "test packages with their guarded data protected", `
Examples:

  cofferdam test ./...
  cofferdam test -protect=tolerate -strict -run TestTransfer -count=10 ./bank
  cofferdam test -explore ./...

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

See also: cofferdam help protect, cofferdam help guards, cofferdam help stm`

// protectOptions are the flags of run, build and test, and what the go command gets.
type protectOptions struct {
	goArguments
	findingOptions
	verb          string
	mode          modeFlag
	min           guarding.Confidence
	deps          bool
	maps          bool
	summary, gaps bool
	only, skip    rulesFlag
	stm           stmFlag
	explore       bool // the tests that are marked, instead of protecting them
}

func newProtectCommand(verb, operands, short, examples string) *command.Command {
	o := &protectOptions{verb: verb, mode: modeFlag{Mode: protect.Auto}, min: 0.5}
	c := command.New(verb, operands, short).BuildsPrograms()
	c.Long = fmt.Sprintf(protectHelp, strings.ToUpper(verb[:1])+verb[1:], verb)
	c.Notes = examples + fmt.Sprintf(protectNotes, verb)
	o.declare(c.Flags)
	if verb == "test" {
		c.Flags.BoolVar(&o.explore, "explore", false, "instead of protecting data, explore the tests that call explore.Test of package github.com/cofferdam-go/cofferdam/explore, first by the schedules in testdata/explore that have failed before")
	}
	c.Parse = func(c *command.Command, args []string) (*command.Arguments, error) {
		return &command.Arguments{}, o.parseGo(c, args)
	}
	c.Work = o.run
	return c
}

func (o *protectOptions) declare(flags *flag.FlagSet) {
	flags.Var(&o.mode, "protect", "how data is protected: `mode` is auto, isolate, tolerate, exact or detect")
	flags.Var(&o.min, "min", "how sure it must be, from 0 to 1, that a lock guards something: a `confidence` as cofferdam guards shows it")
	flags.Var(&o.only, "only", "protect only what these `rules` name, such as lock:Account.mu,func:Bank.*: of locks, of variables (var:), of packages (package:) and of functions (func:)")
	flags.Var(&o.skip, "skip", "leave alone what these `rules` name; with cofferdam test a regular expression is for go test, which leaves out tests")
	flags.BoolVar(&o.deps, "deps", false, "protect dependencies too")
	flags.BoolVar(&o.maps, "maps", false, "copy the entries of maps that a section changes, unless with isolate or detect: careless code then reads the old map, and does not end the program")
	o.findingOptions.declare(flags)
	flags.BoolVar(&o.summary, "summary", true, "print what is protected, or compiled")
	flags.BoolVar(&o.gaps, "gaps", false, "list the statements for which sections are interrupted, and the sections that are left alone, with the reasons")
	flags.Var(&o.stm, "stm", "compile the functions that are given to stm.Atomic to transactions, instead of protecting data; with `strict`, refuse those that do something that cannot be undone")
}

// A rulesFlag is the value of -only and -skip, which may be given several times.
type rulesFlag struct {
	list  []rule.Rule
	given bool
}

func (r *rulesFlag) String() string {
	var texts []string
	for _, one := range r.list {
		texts = append(texts, one.String())
	}
	return strings.Join(texts, ",")
}

func (r *rulesFlag) Set(text string) error {
	list, err := rule.ParseList([]string{text})
	r.list, r.given = append(r.list, list...), true
	return err
}

// orElse takes the rules of the settings, if the command line has none.
func (r *rulesFlag) orElse(name string, texts []string) error {
	if r.given {
		return nil
	}
	list, err := rule.ParseList(texts)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", settings.Name, name, err)
	}
	r.list = list
	return nil
}

// takeSettings completes the flags with what the module's settings say.
func (o *protectOptions) takeSettings(file *settings.File) error {
	return errors.Join(o.only.orElse("protect.only", file.Protect.Only), o.skip.orElse("protect.skip", file.Protect.Skip), o.findingOptions.prepare(file))
}

// A modeFlag is the value of -protect, which means auto if there is none.
type modeFlag struct {
	protect.Mode
	given bool
}

func (m *modeFlag) String() string   { return string(m.Mode) }
func (m *modeFlag) IsBoolFlag() bool { return true }

func (m *modeFlag) Set(text string) error {
	mode := protect.Mode(text)
	if text == "true" {
		mode = protect.Auto
	}
	if !slices.Contains(protect.Modes, mode) {
		return errors.New("give auto, isolate, tolerate, exact or detect")
	}
	*m = modeFlag{mode, true}
	return nil
}

func (o *protectOptions) run(ctx context.Context, inv *command.Invocation) error {
	if len(o.patterns) == 0 {
		o.patterns = []string{"."}
	}
	if o.explore {
		return o.exploreMarked(ctx, inv)
	}
	if o.stm != "" {
		return o.compileTransactions(ctx, inv)
	}
	if err := o.takeSettings(inv.Settings); err != nil {
		return err
	}
	if given, _ := o.published.FileGiven(); given && o.verb == "build" {
		return errors.New("-sarif: the program is not run here: build it with -findings=FILE, and have cofferdam findings -sarif FILE make SARIF of what it writes")
	}
	inv.Status.Phase("protecting " + strings.Join(o.patterns, " "))
	build, err := protect.Prepare(protect.Config{
		Patterns: o.patterns, Tests: o.verb == "test", Deps: o.deps, Maps: o.maps, Flags: o.load, Race: o.race, Mode: o.mode.Mode, Least: float64(o.min),
		Only: o.only.list, Skip: o.skip.list, Watching: o.watching(), Progress: inv.Status.Detail,
	})
	if err != nil {
		return err
	}
	defer build.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	build.Tell(inv.Stderr, o.summary, o.gaps)
	if o.verb != "build" {
		inv.Status = inv.Status.Lines() // the program's first line comes when it comes
		defer inv.Status.Close()
	}
	inv.Status.Phase("building")
	tool := gotool.New("", nil)
	stop := tool.WatchFirstBuild(ctx, watchPackage, slices.Concat(o.load, build.Overlay), func() {
		inv.Status.Detail("compiling the standard library, which takes about a minute the first time")
	})
	defer stop()
	args := slices.Concat([]string{o.verb}, build.Flags, o.pass)
	if o.verb == "build" {
		cmd := tool.Command(ctx, args...)
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.Environment, inv.Inherited.Stdin, inv.Stdout, inv.Stderr
		return goExit(cmd.Run())
	}
	return o.supervise(inv, tool, args)
}

// watchPackage is linked by all protected programs.
const watchPackage = "cofferdamrt/protect/watch"

// supervise has the go command run a program or tests, and tells what they find. Signals
// do not end the command: they are passed on, and what they mean is the program's to
// decide.
func (o *protectOptions) supervise(inv *command.Invocation, tool *gotool.Tool, args []string) error {
	cmd := tool.Command(context.Background(), args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.Environment, inv.Inherited.Stdin, inv.Inherited.Stdout, inv.Inherited.Stderr
	run, err := supervise.Start(cmd)
	if err != nil {
		return err
	}
	defer run.Close()
	onTerminal := console.Detect(inv.Inherited.Stderr, os.Getenv).Terminal
	var interrupted *command.Interruption
	inv.Signals.To(func(s os.Signal) {
		interrupted = &command.Interruption{Signal: s}
		// A terminal has sent an interrupt to the program already, and a second one may
		// mean something else to it than the first.
		if s != os.Interrupt || !onTerminal {
			run.Signal(s.(syscall.Signal))
		}
	})
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { watchProgram(inv, run, ended) })
	failed := goExit(run.Wait())
	close(ended)
	watching.Wait()
	inv.Signals.To(nil)
	if interrupted != nil && failed != nil {
		failed = &command.Exit{Code: interrupted.Code()}
	}
	if run.Processes() == 0 && failed == nil && o.verb == "run" {
		return errors.New("the program ran without protection: the go command has ignored the rewritten sources")
	}
	return o.conclude(run, inv.Stderr, failed)
}

// startTick is how often it is looked whether a program has started.
const startTick = 100 * time.Millisecond

// watchProgram tells, when asked by a signal, what was found so far. The status ends when the first
// process of the program has started: from then on the streams are the program's.
func watchProgram(inv *command.Invocation, run *supervise.Run, ended <-chan struct{}) {
	asked := make(chan os.Signal, 1)
	notifyAsked(asked)
	defer signal.Stop(asked)
	tick := time.NewTicker(startTick)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			inv.Status.Phase("")
			return
		case <-asked:
			if all, err := run.Findings(); err == nil {
				_ = finding.WriteText(inv.Stderr, all)
			}
		case <-tick.C:
			if run.Processes() > 0 {
				inv.Status.Phase("")
				tick.Stop()
			}
		}
	}
}

// goExit turns the end of the go command into ours.
func goExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &command.Exit{Code: exit.ExitCode()}
	}
	return err
}
