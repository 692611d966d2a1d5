package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Exit codes of fix beyond the usual: 0 is a proven fix.
const (
	exitNoFix     = 1
	exitNoFailure = 3
)

type fixFlags struct {
	searchFlags
	trace string
	write bool
	// minimal asks for the smallest fix.
	minimal bool
	// began is when the first schedule was tried, from which on the budget counts.
	began  time.Time
	native countFlag
	proof  time.Duration
	// machine is the file for the machine of the failure.
	machine string
	binary  binaryFix
}

func newFixCommand() *command {
	f := &fixFlags{native: countFlag{n: 20}}
	c := newCommand("fix", "[packages] [-- arguments]", "find a failing schedule, and the locks that keep it from happening").buildsPrograms()
	c.runsProgram = true
	c.long = `Fix reproduces a failure as explore does (or takes it from a trace), derives from the
recorded run which reads and writes must not come together, writes the locks that keep
them apart, and proves them: the failing schedule no longer fails, nor does any schedule
with at most two preemptions (or 10,000 by PCT, where these are too many), and the test
passes under the race detector. It prints an explanation and a diff; -w applies it. What
is not proven is never applied.

Where no lock is missing, the change that the shape of the failure calls for is written and
proven in the same way: a WaitGroup counts up before the goroutine starts, a channel is
closed by a sync.Once, two locks are taken in one order, a lock is released on every way
out or before a wait, a channel has room for an answer that nothing receives, each
goroutine has a variable of its own, a function waits for the goroutine that sets what it
reads, a word that some accesses take by sync/atomic is taken so by all.

With -binary, fix takes a program for x86-64 Linux instead, without source or debug
information, as explore does, and writes a shared object that keeps it from crashing:
LD_PRELOAD=./fix.so ./program. The sections are copies of the program's own instructions
under a lock of their own, which a thread that has waited for it for a second goes on
without, with a line on standard error. A program with other code is left as it is. -copy
writes a patched copy of the program instead, for static ones. The patch is proven in the
emulator as above, with all schedules of the patched program, and then by running it -native
times (200, if it is not given) on this machine: it does what it does there.`
	c.notes = `Examples:

  cofferdam fix -run TestSteady ./toctou
  cofferdam fix -w -trace toctou/testdata/cofferdam/TestSteady.trace
  cofferdam fix -binary ./program -o fix.so -- -threads 4 <input

Exit codes: 0 a proven fix, 1 a failure but no proven fix, 2 error, 3 no failure found.

See also: cofferdam help strategies, cofferdam help traces`
	f.declare(c.flags, time.Minute)
	c.flags.StringVar(&f.trace, "trace", "", "fix the failure in this trace `file` instead of looking for one")
	c.flags.StringVar(&f.out, "o", "", "keep the trace of the failure in this `file`; with -binary, write the patch to it")
	c.flags.BoolVar(&f.asJSON, "json", false, "write the result as one JSON object")
	c.flags.BoolVar(&f.write, "w", false, "apply a proven fix to the source")
	c.flags.BoolVar(&f.minimal, "minimal", false, "cover what the failing run shows, and not all other accesses to the same data")
	c.flags.Var(&f.native, "native", "run the fixed test so `many` times under the race detector; with -binary, the patched program on this machine, 200 times if it is not given")
	c.flags.StringVar(&f.binary.path, "binary", "", "fix this x86-64 Linux `program`, without its source; arguments for it follow --, standard input is its input")
	c.flags.BoolVar(&f.binary.copy, "copy", false, "with -binary: write a patched copy of the program instead of a shared object")
	c.flags.StringVar(&f.machine, "machine", "", "write the machine that predicts the failure to this `file`, as .dot, .svg or text")
	c.flags.DurationVar(&f.proof, "proof", 3*time.Second, "how long to try all schedules of a candidate, before 10,000 by PCT are tried instead")
	c.work = func(ctx context.Context, inv *invocation) error {
		if f.binary.path != "" {
			others := []string{"main", "deps", "tags", "mod", "modfile", "ldflags", "v", "races", "leaks", "harm", "trace", "w", "minimal", "machine"}
			if err := c.excludes("binary", append(others, testFlagNames...)...); err != nil {
				return err
			}
			return f.fixBinary(ctx, inv)
		}
		if err := c.excludes("main", testFlagNames...); err != nil {
			return err
		}
		if f.binary.copy {
			return errors.New("-copy: it is for programs without source, with -binary")
		}
		return f.fix(ctx, inv)
	}
	return c
}

// check refuses values that make no sense, before anything is built.
func (f *fixFlags) check(inv *invocation) error {
	switch {
	case f.native.n < 0:
		return fmt.Errorf("-native %d: give 0 or more", f.native.n)
	case f.proof <= 0:
		return fmt.Errorf("-proof %v: give a time, such as 3s", f.proof)
	case f.trace != "" && len(inv.operands) > 0:
		return fmt.Errorf("-trace %s: the trace names its package; leave out %s", f.trace, strings.Join(inv.operands, " "))
	}
	return f.searchFlags.check()
}

func (f *fixFlags) fix(ctx context.Context, inv *invocation) error {
	if err := f.check(inv); err != nil {
		return err
	}
	temp, err := scratch.Dir()
	if err != nil {
		return err
	}
	defer scratch.Remove(temp)
	file, config := f.trace, instrument.Config{}
	if file == "" {
		if file, config, err = f.reproduce(ctx, inv, temp); err != nil {
			return err
		}
	}
	r, err := openWhole(file)
	if err != nil {
		return err
	}
	defer func() { r.Close() }()
	if f.trace != "" {
		config, _ = explore.Again("", &r.Header)
		again, err := f.current(ctx, inv, config, r, filepath.Join(temp, "again.trace"))
		if err != nil {
			return err
		}
		if again != r {
			r.Close()
			r = again
		}
		f.began = time.Now()
	}
	if worst := r.Outcome.Worst(); worst != nil {
		inv.signals.reach("no fix is proven yet for " + firstLine(worst))
	}
	_, options := explore.Again("", &r.Header)
	options.Strategy, options.Jobs = f.Strategy, f.Jobs
	result, err := repair.Fix(ctx, config, r, &repair.Options{
		Explore: *options, Proof: f.proof, Until: f.began.Add(max(f.Budget, 10*time.Second)), Native: f.native.n, Minimal: f.minimal, Temp: temp,
		Progress: func(phase, detail string) {
			inv.status.Phase(phase)
			inv.status.Detail(detail)
		},
	})
	if err != nil {
		return err
	}
	return f.tell(inv, r, result)
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

// current returns a trace of the failure in the program as it is now. That is the trace
// itself, unless the program was edited since; then the run is made again and recorded to a
// file, so that everything after it has to do with the source at hand alone.
func (f *fixFlags) current(ctx context.Context, inv *invocation, config instrument.Config, r *trace.Reader, file string) (*trace.Reader, error) {
	inv.status.Phase("building with hooks")
	config.Progress = inv.status.Detail
	build, err := explore.New(ctx, config, r.Header.Args...)
	if err != nil {
		return nil, err
	}
	defer build.Close()
	build.Environment = inv.environment
	program := build.Programs[0]
	if program.Hash == r.Header.Program {
		return r, nil
	}
	inv.status.Phase("running the recorded schedule in the program as it is now")
	made, err := program.RecordAgain(ctx, r, file)
	if err != nil {
		return nil, err
	}
	tellChanged(inv, made.Changed)
	again, err := openWhole(file)
	if err != nil {
		return nil, err
	}
	if !explore.SameFailure(r, again) {
		again.Close()
		return nil, fmt.Errorf("%s does not fail by the recorded schedule any more%s\nfind the failure again with cofferdam explore", r.Header.Package, parting(made))
	}
	return again, nil
}

// parting says where a run that was made again parts from the recorded one.
func parting(made *explore.Replayed) string {
	if made.Parting == nil {
		return ", though it takes the same steps"
	}
	return ": " + made.Parting.String()
}

// reproduce looks for a failing run.
func (f *fixFlags) reproduce(ctx context.Context, inv *invocation, temp string) (file string, config instrument.Config, err error) {
	build, err := f.build(ctx, inv)
	if err != nil {
		return "", config, err
	}
	defer build.Close()
	targets, err := f.list(ctx, inv, build)
	if err != nil {
		return "", config, err
	}
	inv.status.Phase("looking for a failure")
	f.began = time.Now()
	deadline := time.Now().Add(f.Budget)
	for i, t := range targets {
		o := f.Options
		o.Budget = explore.Share(deadline, len(targets)-i)
		o.Trace = filepath.Join(temp, "failure.trace")
		if f.out != "" {
			o.Trace = f.out
		}
		o.Progress = func(_ string, p *wire.Progress) {
			inv.status.Detail(fmt.Sprintf("%s%s: %s", t.Name(), counted(i, len(targets)), reachedText(p)))
		}
		res, err := t.Explore(ctx, &o)
		switch {
		case ctx.Err() != nil:
			return "", config, err
		case err != nil:
			f.unexplored = append(f.unexplored, t.Name())
			fmt.Fprintf(inv.stderr, "cofferdam: exploring %s: %v\n", t.Name(), err)
			continue
		}
		if res.Death != nil {
			return "", config, fmt.Errorf("exploring %s: the program is ended by code that is not under control, of which there is no trace to work on: %s", t.Name(), res.Death.Summary())
		}
		if res.Failure != nil {
			config, _ = f.config(inv)
			config.Patterns = t.Program.Patterns()
			return o.Trace, config, nil
		}
	}
	if err := f.incomplete(); err != nil {
		return "", config, err
	}
	return "", config, &exitCode{code: exitNoFailure, err: fmt.Errorf("no failure found in %v: give more time with -budget, or a trace with -trace", f.Budget)}
}

// fixReport is what -json prints.
type fixReport struct {
	Failure trace.Failure `json:"failure"`
	Fixed   bool          `json:"fixed"`
	Lock    string        `json:"lock,omitempty"`
	// Change is what is changed where no lock is missing.
	Change  string        `json:"change,omitempty"`
	Cost    int           `json:"cost,omitempty"`
	Proof   *repair.Proof `json:"proof,omitempty"`
	Diff    string        `json:"diff,omitempty"`
	Refusal string        `json:"refusal,omitempty"`
	// Uncovered are the accesses to the lock's data that may be made without the lock.
	Uncovered []repair.Uncovered `json:"uncovered,omitempty"`
	Rejected  []string           `json:"rejected,omitempty"`
	Missed    string             `json:"missed,omitempty"`
	Applied   bool               `json:"applied"`
	Machines  int                `json:"machines"`
	States    int                `json:"states"`
	Fixes     int                `json:"fixes"`
	Lifting   time.Duration      `json:"liftingNanoseconds"`
	Replay    time.Duration      `json:"replayNanoseconds"`
	Analysis  time.Duration      `json:"analysisNanoseconds"` // with the replay
}

func (f *fixFlags) tell(inv *invocation, r *trace.Reader, result *repair.Result) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the current directory: %w", err)
	}
	var unapplied error // to be told with what there was to apply
	applied := false
	if result.Proven != nil && f.write {
		unapplied = result.Proven.Apply()
		applied = unapplied == nil
	}
	if f.machine != "" {
		if err := writeMachine(f.machine, result); err != nil {
			return err
		}
	}
	w := inv.stdout
	if f.asJSON {
		report := fixReport{Failure: result.Failure, Refusal: result.Refusal, Missed: result.MissedNote(), Applied: applied, Lifting: result.LiftTime, Analysis: result.AnalysisTime}
		if a := result.Analysis; a != nil {
			report.Machines, report.Fixes, report.Replay = len(a.Machines), len(a.Fixes), a.Replay
			for _, m := range a.Machines {
				report.States += len(m.States())
			}
		}
		if c := result.Proven; c != nil {
			report.Fixed, report.Lock, report.Cost, report.Proof, report.Diff = true, c.Lock, c.Derivation.Cost, c.Proof, c.Diff(dir)
			if c.Change != nil {
				report.Lock, report.Change = "", c.Lock
			}
			report.Uncovered = c.Uncovered
		}
		for _, c := range result.Tried {
			report.Rejected = append(report.Rejected, c.Lock+": "+c.Why)
		}
		if err := json.NewEncoder(w).Encode(report); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
	} else {
		if err := result.Explain(w, r); err != nil {
			return err
		}
		if result.Proven != nil {
			fmt.Fprintf(w, "\n%s", inv.color.Diff(result.Proven.Diff(dir)))
			if applied {
				fmt.Fprintln(w, "\napplied")
			}
		}
	}
	if result.Proven == nil {
		return &exitCode{code: exitNoFix, err: errors.New("no proven fix")}
	}
	return unapplied
}

// writeMachine writes the machine in the form that the file's name asks for.
func writeMachine(file string, result *repair.Result) error {
	m := result.Machine()
	if m == nil {
		return errors.New("-machine: the failure has no machine")
	}
	text := draw.Text(m) + "\n"
	switch filepath.Ext(file) {
	case ".dot":
		text = draw.DOT(m)
	case ".svg":
		text = draw.SVG(m)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return fmt.Errorf("-machine: %w", err)
	}
	return nil
}
