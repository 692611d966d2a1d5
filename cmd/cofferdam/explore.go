package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

func newExploreCommand() *command {
	f := &searchFlags{}
	c := newCommand("explore", "[packages] [-- arguments]", "look for a schedule under which a test fails")
	c.runsProgram = true
	c.long = `Explore runs the tests of the packages again and again under a scheduler that lets
one goroutine run at a time and decides, at every access to shared memory and every
synchronisation, which one goes next. When a run fails, its schedule is shrunk to the
fewest preemptions, run again in a fresh process, recorded to a trace file, and shown as
a timeline. The search then goes on with the next test.

A run fails by a panic, a fatal error of the runtime, a failed test, a call of os.Exit,
a deadlock of all goroutines, or a data race.

Arguments are packages, or files of one package as for go test and go run. Those after --
are for the program, or for the tests.`
	c.notes = `Examples:

  cofferdam explore -run TestSteady ./toctou
  cofferdam explore -strategy dfs -preemptions 2 ./queue
  cofferdam explore -main ./cmd/server -- -addr :0
  cofferdam replay TestSteady.trace

Exit codes: 0 nothing found, 1 a failing schedule found, 2 error.

See also: cofferdam help schedules, cofferdam help strategies, cofferdam help traces`
	f.declare(c.flags, 30*time.Second)
	c.flags.StringVar(&f.out, "o", "", "write the trace to this `file`, or traces to this directory (default: a file with the test's name and .trace)")
	c.flags.BoolVar(&f.asJSON, "json", false, "write findings as lines of JSON")
	c.flags.BoolVar(&f.failFast, "failfast", false, "stop at the first test that fails")
	c.work = func(ctx context.Context, inv *invocation) error {
		ctx, stop := interruptible(ctx)
		defer stop()
		return f.explore(ctx, inv)
	}
	return c
}

func (f *searchFlags) explore(ctx context.Context, inv *invocation) error {
	if err := f.check(); err != nil {
		return err
	}
	status := newStatus(inv.stderr)
	defer status.clear()
	status.set("building with hooks")
	config, rest := f.config(inv)
	build, err := explore.New(config, rest...)
	if err != nil {
		return err
	}
	defer build.Close()
	status.clear()
	f.tellControl(inv.stderr, build)

	targets, err := f.matching(ctx, build)
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
			fmt.Fprintf(inv.stderr, "cofferdam: exploring %s: %v\n", t.name(), err)
			continue
		}
		if !f.asJSON {
			fmt.Fprintln(inv.stdout, summary(t.shown(files.many), res))
		}
		if res.Failure == nil {
			continue
		}
		files.used(o.Trace)
		failing = append(failing, fmt.Sprintf("%s  %s: %s", o.Trace, t.shown(files.many), firstLine(res.Failure)))
		if err := f.report(inv.stdout, o.Trace); err != nil {
			return err
		}
		if f.failFast {
			break
		}
	}
	if len(targets) > 1 && !f.asJSON && len(failing) > 0 {
		fmt.Fprintf(inv.stdout, "\n%d of %d tests fail:\n  %s\n", len(failing), len(targets), strings.Join(failing, "\n  "))
	}
	switch {
	case len(errs) > 0 && len(failing) == 0:
		return fmt.Errorf("%d of %d tests could not be explored: %s", len(errs), len(targets), strings.Join(errs, ", "))
	case len(failing) > 0:
		return &exitCode{code: exitFound}
	}
	return nil
}

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
