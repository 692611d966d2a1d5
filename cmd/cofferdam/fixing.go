package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/repair/tried"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A fixing is one call of fix. Tests are explored in turns, and each that fails is fixed as
// soon as its failure is known, on top of the fixes before it: their diffs apply one after
// the other, and a failure that an earlier fix has ended is not fixed twice.
type fixing struct {
	*fixFlags
	inv  *command.Invocation
	temp string
	dir  string // the current directory
	many bool   // there are several packages, in which tests can have the same name
	// several says that more than one test was looked at, so that a result needs its name.
	several bool
	// changed are the texts of the program's own files as the fixes so far leave them, and
	// fixedBy the tests that these were for.
	changed map[string][]byte
	// original are the texts of these files before all fixes.
	original map[string][]byte
	fixedBy  []string
	tests    []*failingTest
	// unapplied is why fixes were not applied that were to be.
	unapplied error
}

// A failingTest is a test that fails, and what became of it.
type failingTest struct {
	name    string // as it is shown
	pkg     string
	test    string
	failure trace.Failure
	trace   string // the file; "" if there is none, and then Refusal says why
	current string // the file of the failure in the program as it is now, if that is another one
	config  instrument.Config

	result  *repair.Result
	refusal string
	// earlier says that the fixes for other tests, which these are, have ended the failure too,
	// and gone what was tried to see that.
	earlier []string
	gone    string
	applied bool
	patches []string // files that the diffs were written to
}

// fixed reports whether there is a proven fix.
func (t *failingTest) fixed() bool {
	return t.earlier != nil || t.result != nil && t.result.Proven != nil
}

func (f *fixFlags) fix(ctx context.Context, inv *command.Invocation) error {
	if err := f.check(inv); err != nil {
		return err
	}
	x := &fixing{fixFlags: f, inv: inv, changed: map[string][]byte{}, original: map[string][]byte{}}
	var err error
	if x.dir, err = filepath.Abs("."); err != nil {
		return fmt.Errorf("finding the current directory: %w", err)
	}
	if err := x.mayWrite(ctx); err != nil {
		return err
	}
	if x.temp, err = scratch.Dir(); err != nil {
		return err
	}
	defer scratch.Remove(x.temp)
	targets := 1
	if f.trace != "" {
		err = x.fromTrace(ctx)
	} else {
		targets, err = x.lookForFailures(ctx)
	}
	if targets > 1 && !f.asJSON && !f.Silent() {
		x.summarise(targets)
	}
	if failed := x.publishAll(); failed != nil {
		err = errors.Join(err, failed)
	}
	if err != nil {
		return err
	}
	return x.ending()
}

// fromTrace fixes the failure of a recorded run.
func (x *fixing) fromTrace(ctx context.Context) error {
	r, err := openWhole(x.fixFlags.trace)
	if err != nil {
		return err
	}
	t := &failingTest{name: r.Header.Test, pkg: r.Header.Package, test: r.Header.Test, trace: x.fixFlags.trace}
	t.config, _ = explore.Again("", &r.Header)
	if worst := r.Outcome.Worst(); worst != nil {
		t.failure = *worst
	}
	r.Close()
	return x.fixTest(ctx, t, nil)
}

// lookForFailures explores all tests, and fixes those that fail. It returns how many tests
// there are.
func (x *fixing) lookForFailures(ctx context.Context) (tests int, err error) {
	build, err := x.build(ctx, x.inv)
	if err != nil {
		return 0, err
	}
	defer build.Close()
	targets, err := x.list(ctx, x.inv, build)
	if err != nil {
		return 0, err
	}
	x.many, x.several = len(build.Programs) > 1, len(targets) > 1
	e := &exploration{searchFlags: &x.searchFlags, inv: x.inv, many: x.many, failed: map[*explore.Program][]string{}, phase: "looking for a failure"}
	e.files = traceFiles{out: x.out, many: x.many}
	if x.out == "" {
		e.files.out = x.temp
	}
	e.told = func(t explore.Target, res *explore.Result, file string) error { return x.told(ctx, e, t, res, file) }
	return len(targets), e.all(ctx, targets)
}

// told takes what the exploration of a target came to, and fixes it if it fails.
func (x *fixing) told(ctx context.Context, e *exploration, target explore.Target, res *explore.Result, file string) error {
	name := e.shown(target)
	if res.Failure == nil {
		if !res.Came() {
			x.unexplored = append(x.unexplored, name)
		}
		return nil
	}
	e.failing = append(e.failing, name)
	t := &failingTest{name: name, pkg: target.Program.Package, test: target.Test, failure: *res.Failure}
	t.config, _ = x.config(x.inv)
	t.config.Patterns = target.Program.Patterns()
	if res.Death != nil {
		t.refusal = "the program is ended by code that is not under control, so that there is no trace to work on: " + res.Death.Summary()
		return x.finish(ctx, t, nil)
	}
	e.files.used(file)
	t.trace = file
	begin := time.Now()
	other, err := x.withoutStalls(ctx, target, t)
	if err == nil && other != nil {
		t.name += ", if the machine stalls"
		x.several = true
		err = x.fixTest(ctx, other, &target)
	}
	if err == nil {
		err = x.fixTest(ctx, t, &target)
	}
	e.elsewhere += time.Since(begin)
	e.inv.Status.Phase(e.phase)
	if err != nil && ctx.Err() == nil {
		// What goes wrong with one failure is no reason to leave the others.
		t.refusal, t.result = "it could not be worked on: "+err.Error(), nil
		x.unexplored = append(x.unexplored, name)
		return x.finish(ctx, t, nil)
	}
	return err
}

// fixTest fixes the failure of a trace, and tells what came of it.
func (x *fixing) fixTest(ctx context.Context, t *failingTest, target *explore.Target) error {
	r, err := openWhole(t.trace)
	if err != nil {
		return err
	}
	defer func() { r.Close() }()
	x.inv.Signals.Reach(x.reached("no fix is proven yet for " + firstLine(&t.failure)))
	t.config.Overlay = maps.Clone(x.changed)
	if target == nil || len(x.changed) > 0 {
		again, err := x.current(ctx, t, r)
		if err != nil {
			return err
		}
		if again == nil { // an earlier fix has ended it
			return x.finish(ctx, t, nil)
		}
		if again != r {
			r.Close()
			r = again
		}
	}
	_, options := explore.Again("", &r.Header)
	options.Strategy, options.Jobs = x.Strategy, x.Jobs
	t.result, err = repair.Fix(ctx, t.config, r, &repair.Options{
		Explore: *options, Proof: x.proof, Budget: x.Budget, Least: int(x.least), Native: x.native.n, Minimal: x.minimal, RecordFixed: x.reports != "", Temp: filepath.Join(x.temp, fmt.Sprintf("fix%d", len(x.tests))),
		Progress: func(phase, detail string) {
			if x.several {
				phase = t.name + ": " + phase
			}
			x.inv.Status.Phase(phase)
			x.inv.Status.Detail(detail)
		},
	})
	if err != nil {
		return err
	}
	t.failure, t.refusal = t.result.Failure, t.result.Refusal.String()
	return x.finish(ctx, t, r)
}

// reached says how far the command has come, with what it is at now.
func (x *fixing) reached(now string) string {
	n := 0
	for _, t := range x.tests {
		if t.fixed() {
			n++
		}
	}
	if len(x.tests) == 0 {
		return now
	}
	return fmt.Sprintf("%d of %s fixed; %s", n, x.failures(), now)
}

// failing is how many tests fail. One that fails in several ways is worked on for each of them.
func (x *fixing) failing() int {
	tests := make(map[[2]string]bool)
	for _, t := range x.tests {
		tests[[2]string{t.pkg, t.test}] = true
	}
	return len(tests)
}

// failures is how many failures there were, in words.
func (x *fixing) failures() string {
	if n := x.failing(); n < len(x.tests) {
		return fmt.Sprintf("%d failures of %s", len(x.tests), plural(n, "test", "tests"))
	}
	return plural(len(x.tests), "failing test", "failing tests")
}

// openWhole opens a trace that was not cut off.
func openWhole(file string) (*trace.Reader, error) {
	r, err := trace.Open(file)
	if err != nil {
		return nil, err
	}
	if err := r.Truncated(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// current returns a trace of the failure in the program as it is now, with the fixes so far;
// nil if they have ended it. That is the trace itself, unless the program has changed since;
// then the run is made again and recorded, so that everything after it has to do with the
// source at hand alone.
func (x *fixing) current(ctx context.Context, t *failingTest, r *trace.Reader) (*trace.Reader, error) {
	x.inv.Status.Phase("building with hooks")
	config := t.config
	config.Progress = x.inv.Status.Detail
	build, err := explore.New(ctx, config, r.Header.Args...)
	if err != nil {
		return nil, err
	}
	defer build.Close()
	build.Environment = x.inv.Environment
	program := build.Programs[0]
	if program.Hash == r.Header.Program {
		return r, nil
	}
	x.inv.Status.Phase("running the recorded schedule in the program as it is now")
	file := filepath.Join(x.temp, fmt.Sprintf("again%d.trace", len(x.tests)))
	made, err := program.RecordAgain(ctx, r, file)
	if err != nil {
		return nil, err
	}
	again, err := openWhole(file)
	if err != nil {
		return nil, err
	}
	if explore.SameFailure(r, again) {
		if len(x.changed) == 0 {
			tellChanged(x.inv, made.Changed)
		}
		t.current = file
		return again, nil
	}
	again.Close()
	if len(x.changed) == 0 {
		return nil, fmt.Errorf("%s does not fail by the recorded schedule any more%s\nfind the failure again with cofferdam explore", r.Header.Package, parting(made))
	}
	return x.searchAgain(ctx, t, program, r, file)
}

// searchAgain looks for a failure of a test whose failing schedule passes with the fixes so
// far. It returns nil if there is none.
func (x *fixing) searchAgain(ctx context.Context, t *failingTest, program *explore.Program, r *trace.Reader, file string) (*trace.Reader, error) {
	x.inv.Status.Phase("looking whether " + t.name + " still fails")
	o := &tried.Options{Explore: x.Options, Proof: x.proof, Least: int(x.least)}
	o.Explore.Trace = file
	o.Explore.Progress = func(_ string, p *wire.Progress) { x.inv.Status.Detail(reachedText(p)) }
	came, err := tried.Schedules(ctx, program, r.Header.Test, o, r.Outcome.Steps, time.Now().Add(x.Budget))
	switch {
	case err != nil:
		return nil, err
	case came.Result.Death != nil:
		return nil, fmt.Errorf("the program is ended by code that is not under control: %s", came.Result.Death.Summary())
	case came.Result.Failure != nil:
		t.failure, t.current = *came.Result.Failure, file
		return openWhole(file)
	case came.Unfinished != "":
		return nil, errors.New("with the fixes before it, " + came.Unfinished)
	}
	t.earlier = x.fixedBy
	t.gone = fmt.Sprintf("the failing schedule was run again and passes; %s (%s)", strings.Join(came.Searches, "; "), &came.Strength)
	return nil, nil
}

// parting says where a run that was made again parts from the recorded one.
func parting(made *explore.Replayed) string {
	if made.Parting == nil {
		return ", though it takes the same steps"
	}
	return ": " + made.Parting.String()
}

// finish applies what is proven, and tells what came of a test. The reader is that of the
// failing run; nil if there is nothing to show of it.
func (x *fixing) finish(ctx context.Context, t *failingTest, r *trace.Reader) error {
	x.tests = append(x.tests, t)
	if t.result != nil && t.result.Proven != nil {
		fix := t.result.Proven
		if x.write {
			err := x.apply(ctx, fix)
			x.unapplied, t.applied = errors.Join(x.unapplied, err), err == nil
		}
		if x.patches != "" {
			var err error
			if t.patches, err = x.writePatches(t); err != nil {
				return err
			}
		}
		for name, text := range fix.Patch.Files {
			if x.original[name] == nil {
				x.original[name] = fix.Patch.Before[name]
			}
			if !fix.Cached(name) {
				x.changed[name] = text
			}
		}
		x.fixedBy = append(x.fixedBy, t.name)
	}
	if x.machine != "" && t.result != nil {
		if err := writeMachine(x.machine, t.result); err != nil {
			return err
		}
	}
	if err := x.keepForReport(t, r); err != nil {
		return err
	}
	switch {
	case x.asJSON:
		return x.writeJSON(t, r)
	case !x.Silent():
		if err := x.explain(t, r); err != nil {
			return err
		}
	}
	return x.publish(t, r)
}

// ending is how the command ends, when all failures were worked on.
func (x *fixing) ending() error {
	var unfixed []string
	for _, t := range x.tests {
		if !t.fixed() {
			unfixed = append(unfixed, t.name)
		}
	}
	incomplete := x.incomplete()
	switch {
	case x.unapplied != nil:
		return x.unapplied
	case len(unfixed) > 0 && len(x.tests) == 1:
		return &command.Exit{Code: exitNoFix, Err: errors.New("no proven fix")}
	case len(unfixed) > 0:
		return &command.Exit{Code: exitNoFix, Err: fmt.Errorf("no proven fix for %d of %s: %s", len(unfixed), x.failures(), strings.Join(unfixed, ", "))}
	case incomplete != nil:
		return incomplete
	case len(x.tests) == 0:
		return &command.Exit{Code: exitNoFailure, Err: fmt.Errorf("no failure found in %v: give more time with -budget, or a trace with -trace", x.Budget)}
	}
	return nil
}
