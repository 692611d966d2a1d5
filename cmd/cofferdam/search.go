package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/publication"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// searchFlags are those of the commands that look for a failing schedule.
type searchFlags struct {
	testFlags
	main bool
	deps instrument.DepsFlag
	// tags and those after it are for the go command.
	tags, mod, modfile, ldflags string
	out                         string
	asJSON                      bool
	publication.Flags
	// showPackages has the packages listed, with how far each is under control.
	showPackages bool
	// together has parallel tests explored against each other.
	together bool
	// failFast ends the search at the first test that fails.
	failFast bool
	// strict has a test that was explored in part be no success.
	strict bool
	// endless has a budget of 0 be no limit.
	endless bool
	// stall is Stall, but 0 is none.
	stall time.Duration
	explore.Options

	// leftOut are the packages that do not build or whose tests cannot be run, unexplored the
	// tests that could not be explored.
	leftOut, unexplored []string
}

func (f *searchFlags) declare(fl *flag.FlagSet, budget time.Duration) {
	f.testFlags.declare(fl)
	fl.BoolVar(&f.main, "main", false, "explore the main program instead of the tests; arguments for it follow --")
	fl.DurationVar(&f.Budget, "budget", budget, "how long to look, at all tests together")
	fl.StringVar((*string)(&f.Strategy), "strategy", string(sched.MethodPCT), "pct, random or dfs")
	fl.IntVar(&f.Preemptions, "preemptions", 2, "with dfs: try all schedules with at most this many preemptions")
	fl.IntVar(&f.Jobs, "j", 0, "run this many processes side by side (0: one for each processor); the result is the same")
	fl.Uint64Var(&f.Seed, "seed", 1, "the same seed gives the same schedules")
	fl.IntVar(&f.Runs, "runs", 0, "try at most this many schedules of a test (0: as many as the budget allows)")
	fl.Uint64Var(&f.Steps, "steps", explore.DefaultSteps, "cut a run off after this many steps, or 16 times as many if only one goroutine can go on")
	fl.DurationVar(&f.Within, "within", explore.DefaultWithin, "cut a run off after this much real time")
	fl.DurationVar(&f.stall, "stall", explore.DefaultStall, "let timers overtake what is ready, as if the machine stalled for so long in a run (0: never)")
	fl.BoolVar(&f.Races, "races", true, "count a data race as a failure; with -binary only if it is given")
	fl.BoolVar(&f.Leaks, "leaks", true, "count a goroutine that is left waiting when the test is over as a failure")
	fl.DurationVar(&f.Harm, "harm", time.Second, "after a data race, how long to look for a schedule that makes it fail visibly")
	fl.BoolVar(&f.together, "together", true, "explore tests that call t.Parallel against each other too, as one more test")
	fl.Var(&f.deps, "deps", "control dependencies access by access too, not only where they synchronise: all, or with -deps=`path`,path those packages and modules")
	fl.StringVar(&f.tags, "tags", "", "build `tags`, as for the go command")
	fl.StringVar(&f.mod, "mod", "", "the `mode` of module downloads, as for the go command")
	fl.StringVar(&f.modfile, "modfile", "", "another `file` instead of go.mod, as for the go command")
	fl.StringVar(&f.ldflags, "ldflags", "", "`flags` for the linker, as for the go command")
	fl.BoolVar(&f.showPackages, "v", false, "list the packages and how far each is under control")
}

// strategies are the values of -strategy.
var strategies = []sched.Method{sched.MethodPCT, sched.MethodRandom, sched.MethodDFS}

// check refuses values that make no sense, before anything is built.
func (f *searchFlags) check() error {
	switch {
	case !slices.Contains(strategies, f.Strategy):
		return fmt.Errorf("-strategy %s: give pct, random or dfs; see cofferdam help strategies", f.Strategy)
	case f.Budget < 0, f.Budget == 0 && !f.endless:
		return fmt.Errorf("-budget %v: give a time to look, such as 30s", f.Budget)
	case f.Preemptions < 0:
		return fmt.Errorf("-preemptions %d: give 0 or more", f.Preemptions)
	case f.Jobs < 0:
		return fmt.Errorf("-j %d: give 0 or more", f.Jobs)
	case f.Runs < 0:
		return fmt.Errorf("-runs %d: give 0 or more", f.Runs)
	case f.Steps == 0:
		return errors.New("-steps 0: give 1 or more")
	case f.Within <= 0:
		return fmt.Errorf("-within %v: give a time that a run may take, such as 10s", f.Within)
	case f.stall < 0:
		return fmt.Errorf("-stall %v: give 0 or more", f.stall)
	case f.Harm < 0:
		return fmt.Errorf("-harm %v: give 0 or more", f.Harm)
	}
	if f.Stall = f.stall; f.stall == 0 {
		f.Stall = explore.NoStall
	}
	return errors.Join(f.testFlags.check(), f.checkOutput())
}

// checkOutput refuses a file for traces that cannot be written: that would be known only
// when a failure is found.
func (f *searchFlags) checkOutput() error {
	dir := filepath.Dir(f.out)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("-o %s: there is no directory %s", f.out, dir)
	}
	return nil
}

// buildFlags are those for the go command.
func (f *searchFlags) buildFlags() []string {
	var all []string
	for _, flag := range []struct{ name, value string }{{"tags", f.tags}, {"mod", f.mod}, {"modfile", f.modfile}, {"ldflags", f.ldflags}} {
		if flag.value != "" {
			all = append(all, "-"+flag.name+"="+flag.value)
		}
	}
	return all
}

// config says what to build, and the arguments to run it with.
func (f *searchFlags) config(inv *command.Invocation) (instrument.Config, []string) {
	program := inv.Program
	if !f.main {
		program = append(f.arguments(), program...)
	}
	c := instrument.Config{Patterns: inv.Operands, Tests: !f.main, Deps: f.deps, Flags: f.buildFlags()}
	if len(inv.Operands) == 0 {
		c.Patterns = []string{"."}
	}
	return c, program
}

// build builds what is to be explored, and tells how far it is under control.
func (f *searchFlags) build(ctx context.Context, inv *command.Invocation) (*explore.Build, error) {
	config, args := f.config(inv)
	inv.Status.Phase("building with hooks")
	config.Progress = inv.Status.Detail
	build, err := explore.New(ctx, config, args...)
	if err != nil {
		return nil, err
	}
	build.Environment = inv.Environment
	f.leaveOut(inv, build.Broken)
	f.tellControl(inv.Stderr, build)
	return build, nil
}

// list returns what there is to explore of a build.
func (f *searchFlags) list(ctx context.Context, inv *command.Invocation, build *explore.Build) ([]explore.Target, error) {
	inv.Status.Phase("listing the tests")
	targets, broken, err := build.Targets(ctx)
	f.leaveOut(inv, broken)
	if !f.together {
		targets = slices.DeleteFunc(targets, explore.Target.Together)
	}
	return targets, err
}

// leaveOut tells which packages cannot be explored, and why; the others are.
func (f *searchFlags) leaveOut(inv *command.Invocation, broken []instrument.Broken) {
	for _, p := range broken {
		if !errors.Is(p.Err, explore.ErrNoTests) {
			f.leftOut = append(f.leftOut, p.Package)
		}
		fmt.Fprintf(inv.Stderr, "cofferdam: %s is left out: %v\n", p.Package, p.Err)
	}
}

// incomplete is the error that part of what was to be explored was not; nil if all was.
func (f *searchFlags) incomplete() error {
	var what []string
	if n := len(f.leftOut); n > 0 {
		what = append(what, fmt.Sprintf("%s left out: %s", plural(n, "package was", "packages were"), firstOf(f.leftOut, 8)))
	}
	if n := len(f.unexplored); n > 0 {
		what = append(what, fmt.Sprintf("%s not be explored: %s", plural(n, "test could", "tests could"), firstOf(f.unexplored, 8)))
	}
	if len(what) == 0 {
		return nil
	}
	return &command.Exit{Code: command.ExitError, Err: errors.New(strings.Join(what, "; "))}
}

// plural is a number with the words for one or for several.
func plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// tellControl says what of a program is not under control, and with -v how far each
// package is.
func (f *searchFlags) tellControl(w io.Writer, build *explore.Build) {
	warnMissed(w, build, f.showPackages)
	if f.showPackages {
		listPackages(w, build)
	}
}

// firstOf lists the first of some names, and says how many there are beside them.
func firstOf(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// warnMissed says what of the program's own packages is not under control: each kind of it once,
// or every place.
func warnMissed(w io.Writer, build *explore.Build, every bool) {
	own := map[string]bool{}
	for _, p := range build.Packages {
		own[p.Path] = p.Mode == hooks.Memory && !p.Std
	}
	type kind struct{ what, why string }
	count := map[kind]int{}
	for _, m := range build.Missed {
		if own[m.Package] {
			count[kind{m.What, m.Why}]++
		}
	}
	for _, m := range build.Missed {
		k := kind{m.What, m.Why}
		if !own[m.Package] || count[k] == 0 {
			continue
		}
		more := ""
		if n := count[k] - 1; n > 0 && !every {
			more = fmt.Sprintf(" (and at %s; all with -v)", plural(n, "other place", "other places"))
			count[k] = 0
		}
		fmt.Fprintf(w, "cofferdam: not under control: %s:%d: %s: %s%s\n", m.File, m.Line, m.What, m.Why, more)
	}
}

// listPackages says how far each package of a program is under control.
func listPackages(w io.Writer, build *explore.Build) {
	for _, p := range build.Packages {
		how := "left alone: its calls are one step"
		switch p.Mode {
		case hooks.Memory:
			how = "every access"
		case hooks.Sync:
			how = "where it synchronises"
		case hooks.Plain:
		}
		if p.Why != "" {
			how += " (" + p.Why + ")"
		}
		fmt.Fprintf(w, "%-50s  %s\n", p.Path, how)
	}
}
