package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// searchFlags are those of the commands that look for a failing schedule.
type searchFlags struct {
	run    string
	main   bool
	short  bool
	deps   bool
	tags   string
	races  bool
	out    string
	asJSON bool
	list   bool
	// failFast ends the search at the first test that fails.
	failFast bool
	explore.Options
}

func (f *searchFlags) add(cmd *cobra.Command, budget time.Duration) {
	fl := cmd.Flags()
	fl.StringVar(&f.run, "run", "", "explore the tests whose names match this `regexp`")
	fl.BoolVar(&f.main, "main", false, "explore the main program instead of the tests; arguments for it follow --")
	fl.BoolVar(&f.short, "short", false, "tell the tests to be short, as go test does: testing.Short is true")
	fl.DurationVar(&f.Budget, "budget", budget, "how long to look, at all tests together")
	fl.StringVar(&f.Strategy, "strategy", "pct", "pct, random or dfs")
	fl.IntVar(&f.Preemptions, "preemptions", 2, "with dfs: try all schedules with at most so many preemptions")
	fl.Uint64Var(&f.Seed, "seed", 1, "the same seed gives the same schedules")
	fl.IntVar(&f.Runs, "runs", 0, "at most so many schedules for a test (0: as many as the budget allows)")
	fl.Uint64Var(&f.Steps, "steps", 1_000_000, "cut a run off after so many steps")
	fl.BoolVar(&f.races, "races", true, "take a data race for a failure")
	fl.DurationVar(&f.Harm, "harm", time.Second, "after a data race, how long to look for a schedule that makes it fail visibly")
	fl.BoolVar(&f.deps, "deps", false, "control dependencies access by access too, not only where they synchronise")
	fl.StringVar(&f.tags, "tags", "", "build `tags`, as for the go command")
	fl.StringVar(&f.out, "o", "", "write the trace to this `file`, or traces to this directory (default: a file with the test's name and .trace)")
	fl.BoolVar(&f.list, "v", false, "list the packages and how far each is under control")
	fl.BoolVar(&f.asJSON, "json", false, "write findings as lines of JSON")
}

// check refuses flags that make no sense.
func (f *searchFlags) check() error {
	f.NoRaces = !f.races
	switch {
	case f.Budget <= 0:
		return fmt.Errorf("-budget %v: give a time to look, such as 30s", f.Budget)
	case f.Preemptions < 0:
		return fmt.Errorf("-preemptions %d: give 0 or more", f.Preemptions)
	case f.Runs < 0:
		return fmt.Errorf("-runs %d: give 0 or more", f.Runs)
	}
	return nil
}

// config says what to build for the arguments. Those after -- are the program's.
func (f *searchFlags) config(cmd *cobra.Command, args []string) (instrument.Config, []string) {
	var rest []string
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		args, rest = args[:n], args[n:]
	}
	if f.short && !f.main {
		rest = append(rest[:len(rest):len(rest)], "-test.short")
	}
	c := instrument.Config{Patterns: args, Tests: !f.main, Deps: f.deps}
	if len(args) == 0 {
		c.Patterns = []string{"."}
	}
	if f.tags != "" {
		c.Flags = []string{"-tags=" + f.tags}
	}
	return c, rest
}

func newExploreCommand() *cobra.Command {
	f := &searchFlags{}
	cmd := &cobra.Command{
		Use:   "explore [flags] [packages]",
		Short: "Look for a schedule under which a test fails",
		Long: `Explore runs the tests of the packages again and again under a scheduler that lets
one goroutine run at a time and decides, at every access to shared memory and every
synchronisation, who goes next. When a run fails, its schedule is shrunk to the fewest
preemptions, run again in a fresh process, recorded to a trace file, and shown as a
timeline. The search then goes on with the next test.

A run fails by a panic, a fatal error of the runtime, a failed test, a call of os.Exit,
a deadlock of all goroutines, or a data race.

Arguments are packages, or files of one package as for go test and go run.

Exit codes: 0 nothing found, 1 a failing schedule found, 2 error.`,
		Example: `  cofferdam explore -run TestSteady ./toctou
  cofferdam explore -strategy dfs -preemptions 2 ./queue
  cofferdam replay TestSteady.trace`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			return f.explore(ctx, cmd, args)
		},
	}
	f.add(cmd, 30*time.Second)
	cmd.Flags().BoolVar(&f.failFast, "failfast", false, "stop at the first test that fails")
	return cmd
}

// patience is how long an interrupted command may take to end by itself.
const patience = time.Second

// interruptible returns a context that an interrupt ends.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			cancel(errors.New("interrupted"))
			// What is in the middle of a computation does not look at contexts.
			time.Sleep(patience)
			fmt.Fprintln(os.Stderr, "cofferdam: interrupted")
			os.Exit(2)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

func (f *searchFlags) explore(ctx context.Context, cmd *cobra.Command, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	pattern, err := regexp.Compile(f.run)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	status := newStatus(cmd.ErrOrStderr())
	defer status.clear()
	status.set("building with hooks")
	config, rest := f.config(cmd, args)
	build, err := explore.New(config, rest...)
	if err != nil {
		return err
	}
	defer build.Close()
	status.clear()
	warnMissed(cmd.ErrOrStderr(), build)
	if f.list {
		listPackages(cmd.ErrOrStderr(), build)
	}

	targets, err := matching(ctx, build, pattern)
	if err != nil {
		return err
	}
	f.Progress = func(target string, p *wire.Progress) {
		rate := float64(p.Runs) / max(p.Elapsed.Seconds(), 0.001)
		text := fmt.Sprintf("%s: %d schedules, %.0f/s, %d distinct, %.0fs", name(target), p.Runs, rate, p.Classes, p.Elapsed.Seconds())
		if p.Best != "" {
			text += ", found so far: " + p.Best
		} else if p.Note != "" {
			text += ", " + p.Note
		}
		status.set(text)
	}
	files := &traceFiles{out: f.out, many: len(build.Programs) > 1}
	var failing, errs []string
	deadline := time.Now().Add(f.Budget)
	for i, t := range targets {
		o := f.Options
		o.Budget = max(time.Until(deadline)/time.Duration(len(targets)-i), leastBudget)
		o.Trace = files.next(t)
		res, err := t.program.Explore(ctx, t.target, &o)
		status.clear()
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			errs = append(errs, t.name())
			fmt.Fprintf(cmd.ErrOrStderr(), "cofferdam: exploring %s: %v\n", t.name(), err)
			continue
		}
		if !f.asJSON {
			fmt.Fprintln(cmd.OutOrStdout(), summary(t.shown(files.many), res))
		}
		if res.Failure == nil {
			continue
		}
		files.used(o.Trace)
		failing = append(failing, fmt.Sprintf("%s  %s: %s", o.Trace, t.shown(files.many), firstLine(res.Failure)))
		if err := f.report(cmd.OutOrStdout(), o.Trace); err != nil {
			return err
		}
		if f.failFast {
			break
		}
	}
	if len(targets) > 1 && !f.asJSON && len(failing) > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "\n%d of %d tests fail:\n  %s\n", len(failing), len(targets), strings.Join(failing, "\n  "))
	}
	switch {
	case len(errs) > 0 && len(failing) == 0:
		return fmt.Errorf("%d of %d tests could not be explored: %s", len(errs), len(targets), strings.Join(errs, ", "))
	case len(failing) > 0:
		return &exitError{code: 1}
	}
	return nil
}

// leastBudget is what a test gets, though those before it have used up the time: enough
// to run it by more than one schedule.
const leastBudget = 100 * time.Millisecond

// firstLine says in a line how a run failed.
func firstLine(f *trace.Failure) string {
	message, _, more := strings.Cut(f.Message, "\n")
	if more {
		message += " ..."
	}
	return f.Kind + ": " + message
}

// traceFiles gives each failing test a file of its own.
type traceFiles struct {
	out  string // what the user wants: a file, or a directory for several
	many bool   // there are several packages, in which tests can have the same name
	last []string
}

// next returns the file for a test, should it fail. The file that the user names is that
// of the first; those of others stand beside it.
func (f *traceFiles) next(t target) string {
	dir, file := "", f.out
	if info, err := os.Stat(f.out); f.out == "" || err == nil && info.IsDir() {
		dir, file = f.out, ""
	} else if len(f.last) > 0 {
		dir, file = filepath.Dir(f.out), ""
	}
	if file != "" {
		return file
	}
	file = filepath.Join(dir, t.name()+".trace")
	if slices.Contains(f.last, file) || f.many && t.target == "" {
		file = filepath.Join(dir, path.Base(t.program.Package)+"."+t.name()+".trace")
	}
	for n := 2; slices.Contains(f.last, file); n++ {
		file = filepath.Join(dir, fmt.Sprintf("%s.%s.%d.trace", path.Base(t.program.Package), t.name(), n))
	}
	return file
}

// used says that a file was written.
func (f *traceFiles) used(file string) { f.last = append(f.last, file) }

// A target is a test of one of the programs.
type target struct {
	program *explore.Program
	target  string
}

func (t target) name() string { return name(t.target) }

// shown is the name with the package, where there are several.
func (t target) shown(many bool) string {
	if !many {
		return t.name()
	}
	return t.program.Package + "." + t.name()
}

func matching(ctx context.Context, build *explore.Build, pattern *regexp.Regexp) ([]target, error) {
	var all []target
	for _, p := range build.Programs {
		names, err := p.Targets(ctx)
		if err != nil {
			return nil, fmt.Errorf("listing the tests of %s: %w", p.Package, err)
		}
		for _, n := range names {
			if pattern.MatchString(n) {
				all = append(all, target{p, n})
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there is no test to explore: no test's name matches -run, or the packages have none")
	}
	return all, nil
}

// name is how a target is called; a main program has no name of its own.
func name(target string) string {
	if target == "" {
		return "main"
	}
	return target
}

// summary says in a line or two what was tried.
func summary(name string, res *explore.Result) string {
	rate := float64(res.Runs) / max(res.Elapsed.Seconds(), 0.001)
	var b strings.Builder
	if res.Failure == nil {
		fmt.Fprintf(&b, "ok    %s  %d schedules in %.1fs (%.0f/s)", name, res.Runs, res.Elapsed.Seconds(), rate)
		if res.Classes > 0 {
			fmt.Fprintf(&b, ", %d distinct; %s", res.Classes, res.Done.Note)
		}
	} else {
		fmt.Fprintf(&b, "FAIL  %s  first at schedule %d after %.2fs; %d schedules in all (%.0f/s); shrunk in %d runs to: %s", name, res.First, res.After.Seconds(), res.Runs, rate, res.Shrinking, schedule(res.Outcome.Schedule))
		if res.Minimal {
			b.WriteString(", and no schedule with fewer preemptions fails like this")
		}
	}
	if res.Cut > 0 {
		fmt.Fprintf(&b, "; %d runs cut off", res.Cut)
	}
	if res.Note != "" {
		b.WriteString("\nnote: " + res.Note)
	}
	return b.String()
}

func schedule(s string) string {
	if s == "default" {
		return "the default schedule"
	}
	return s
}

func (f *searchFlags) report(w io.Writer, file string) error {
	r, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	if f.asJSON {
		return finding.WriteJSON(w, explore.Findings(r, file))
	}
	fmt.Fprintln(w)
	if err := explore.WriteReport(w, r); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nRun it again with: cofferdam replay %s\n", file)
	return nil
}

// warnMissed says what of the program's own packages is not under control.
func warnMissed(w io.Writer, build *explore.Build) {
	own := map[string]bool{}
	for _, p := range build.Packages {
		own[p.Path] = p.Mode == instrument.Memory && !p.Std
	}
	for _, m := range build.Missed {
		if own[m.Package] {
			fmt.Fprintf(w, "cofferdam: not under control: %s:%d: %s: %s\n", m.File, m.Line, m.What, m.Why)
		}
	}
}

// listPackages says how far each package of a program is under control.
func listPackages(w io.Writer, build *explore.Build) {
	for _, p := range build.Packages {
		how := "left alone: its calls are one step"
		switch p.Mode {
		case instrument.Memory:
			how = "every access"
		case instrument.Sync:
			how = "where it synchronises"
		case instrument.Plain:
		}
		if p.Why != "" {
			how += " (" + p.Why + ")"
		}
		fmt.Fprintf(w, "%-50s  %s\n", p.Path, how)
	}
}

func newReplayCommand() *cobra.Command {
	var (
		count  int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "replay [flags] FILE.trace",
		Short: "Run a recorded run again to the same end",
		Long: `Replay builds the program that a trace was recorded from, runs it by the same
schedule in a fresh process, and compares the two runs event by event.

Exit codes: 0 the same run, 1 the run differed, 2 error, such as a changed program.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			return replay(ctx, cmd, args[0], count, asJSON)
		},
	}
	cmd.Flags().IntVar(&count, "count", 1, "how many times")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON")
	return cmd
}

func replay(ctx context.Context, cmd *cobra.Command, file string, count int, asJSON bool) error {
	r, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Truncated(); err != nil {
		return err
	}
	status := newStatus(cmd.ErrOrStderr())
	defer status.clear()
	status.set("building with hooks")
	config, _ := explore.Again("", &r.Header)
	build, err := explore.New(config, r.Header.Args...)
	if err != nil {
		return fmt.Errorf("building the program of %s: %w; run replay where the trace was recorded", file, err)
	}
	defer build.Close()
	status.clear()
	for range count {
		done, diff, err := build.Programs[0].Replay(ctx, r)
		if err != nil {
			return err
		}
		if asJSON {
			if err := json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"same": diff == nil, "difference": diff, "outcome": done.Outcome}); err != nil {
				return fmt.Errorf("writing the result: %w", err)
			}
		} else if diff == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "the same run: %d events, %s\n", r.Len(), ending(done))
		}
		if diff != nil {
			return &exitError{code: 1, err: fmt.Errorf("the run differed: %s", diff)}
		}
	}
	return nil
}

func ending(done *wire.Done) string {
	if f := wire.Worst(done.Outcome); f != nil {
		return f.Kind + ": " + f.Message
	}
	return done.Outcome.Result
}
