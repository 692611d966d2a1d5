package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/repair/tried"
)

// Exit codes of fix beyond the usual: 0 is a proven fix.
const (
	exitNoFix     = 1
	exitNoFailure = 3
)

type fixFlags struct {
	searchFlags
	trace string
	// write has proven fixes applied; dirty and outside permit what it does not do otherwise.
	write, dirty, outside bool
	// patches is the directory for the diffs of each module.
	patches string
	// reports is the directory for what cofferdam report shows.
	reports string
	// minimal asks for the smallest fix.
	minimal bool
	native  countFlag
	proof   time.Duration
	least   leastFlag
	// machine is the file for the machine of the failure.
	machine string
	binary  binaryFix
}

func newFixCommand() *command.Command {
	f := &fixFlags{native: countFlag{n: 20}, least: tried.DefaultLeast}
	c := command.New("fix", "[packages] [-- arguments]", "find a failing schedule, and the locks that keep it from happening").BuildsPrograms()
	c.RunsProgram = true
	c.Declined = declined
	c.Long = `Fix reproduces a failure as explore does (or takes it from a trace), derives from the
recorded run which reads and writes must not come together, writes the locks that keep
them apart, and proves them: the failing schedule no longer fails, nor does any schedule
with at most two preemptions (or up to 10,000 by PCT, where these are too many: fewer for
longer runs, -least of them), and the test passes under the race detector. It prints an
explanation and a diff; -w applies it. What is not proven is never applied.

All tests that fail are worked on, each as soon as its failure is found and on top of the
fixes before it: the diffs apply one after the other with git apply, from the directory
that fix runs in. The -budget is for looking at all tests together, and as much again for
the fix of each failure, from when the program is built. The first candidate is always
tried. If a test fails only when the machine stalls for a moment, another failure of it that
needs no stall is fixed first, such as a data race; -stall 0 leaves stalls out.

A bug in a dependency is fixed where it is: with a replace directive or go mod vendor, in
that copy; in the module cache, with -deps, only on paper: -patch writes the diff for the
module's maintainers.

Where no lock is missing, the change that the shape of the failure calls for is written and
proven in the same way: wg.Add comes before go, and so does what the goroutine uses; what
is read is waited for, what is checked is checked under the lock; channels are closed once,
sent to while open, and left when told to stop; locks are taken in one order, once, and not
held over waits and callbacks; goroutines share no scratch variable, and no error is lost;
counters and flags are atomic. The README has the list.

With -binary, fix takes a program for x86-64 Linux instead, without source or debug
information, as explore does, and writes a shared object that keeps it from crashing:
LD_PRELOAD=./fix.so ./program. The sections are copies of the program's own instructions
under a lock of their own, which a thread that has waited for it for a second goes on
without, with a line on standard error. A program with other code is left as it is. -copy
writes a patched copy of the program instead, for static ones. The patch is proven in the
emulator as above, with all schedules of the patched program, and then by running it -native
times (200, if it is not given) on this machine: it does what it does there. The failing
schedule is also followed on this machine, with threads stopped and started in the same
order by ptrace, unless ptrace is refused or -native 0 forbids native runs.`
	c.Notes = `Examples:

  cofferdam fix -run TestSteady ./toctou
  cofferdam fix -w -trace toctou/testdata/cofferdam/TestSteady.trace
  cofferdam fix -binary ./program -o fix.so -- -threads 4 <input

Exit codes: 0 every failure has a proven fix, 1 one has none, 2 error, also if a package or
a test could not be explored or a fix not be applied, 3 no failure found.

See also: cofferdam help strategies, cofferdam help traces`
	f.declare(c.Flags, time.Minute)
	c.Flags.StringVar(&f.trace, "trace", "", "fix the failure in this trace `file` instead of looking for one")
	c.Flags.StringVar(&f.out, "o", "", "keep the trace of the failure in this `file`, or those of several tests in this directory; with -binary, write the patch to it")
	c.Flags.BoolVar(&f.asJSON, "json", false, "write what came of each failing test as a line of JSON")
	f.Flags.Declare(c.Flags)
	c.Flags.BoolVar(&f.failFast, "failfast", false, "stop after the first test that fails")
	c.Flags.BoolVar(&f.write, "w", false, "apply proven fixes to the source")
	c.Flags.BoolVar(&f.dirty, "dirty", false, "with -w: apply them although the working tree has changes that are not committed")
	c.Flags.BoolVar(&f.outside, "outside", false, "with -w: apply them to files outside the main module too, such as those of a replace directive")
	c.Flags.StringVar(&f.patches, "patch", "", "write the diff of each module that a fix changes to a file in this `directory`, for the module's maintainers")
	c.Flags.StringVar(&f.reports, "report", "", "write what cofferdam report shows of each failing test to this `directory`: its trace, that of the same schedule with the fix, and what came of it")
	c.Flags.BoolVar(&f.minimal, "minimal", false, "cover what the failing run shows, and not all other accesses to the same data")
	c.Flags.Var(&f.native, "native", "run the fixed test this many `times` by go test, under the race detector unless -races=false; with -binary, the patched program on this machine, 200 times if it is not given")
	c.Flags.StringVar(&f.binary.path, "binary", "", "fix this x86-64 Linux `program`, without its source; arguments for it follow --, standard input is its input")
	c.Flags.BoolVar(&f.binary.copy, "copy", false, "with -binary: write a patched copy of the program instead of a shared object")
	c.Flags.StringVar(&f.machine, "machine", "", "write the machine that predicts the failure to this `file`, as .dot, .svg or text")
	c.Flags.DurationVar(&f.proof, "proof", 30*time.Second, "how long the schedules of a candidate may take, though the budget is used up; with -binary, ten times as long as all schedules are tried")
	c.Flags.Var(&f.least, "least", "the least proof that is accepted where all schedules are too many: this many `schedules` by PCT, tried to their end; or all, for none but all schedules with at most two preemptions")
	c.Work = func(ctx context.Context, inv *command.Invocation) error {
		if err := f.Exclusive(c, f.asJSON); err != nil {
			return err
		}
		if f.binary.path != "" {
			others := []string{"sarif", "github", "main", "deps", "tags", "mod", "modfile", "ldflags", "v", "races", "leaks", "harm", "trace", "w", "dirty", "outside", "patch", "report", "failfast", "minimal", "machine", "least"}
			if err := c.Excludes("binary", append(others, testFlagNames...)...); err != nil {
				return err
			}
			return f.fixBinary(ctx, inv)
		}
		if err := c.Excludes("main", testFlagNames...); err != nil {
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
func (f *fixFlags) check(inv *command.Invocation) error {
	switch {
	case f.native.n < 0:
		return fmt.Errorf("-native %d: give 0 or more", f.native.n)
	case f.proof <= 0:
		return fmt.Errorf("-proof %v: give a time, such as 30s", f.proof)
	case !f.write && (f.dirty || f.outside):
		return errors.New("-dirty and -outside say what -w may do: give it too")
	case f.trace != "" && len(inv.Operands) > 0:
		return fmt.Errorf("-trace %s: the trace names its package; leave out %s", f.trace, strings.Join(inv.Operands, " "))
	}
	return f.searchFlags.check()
}

// A leastFlag is the least proof that is accepted: a number of schedules, or all.
type leastFlag int

func (l *leastFlag) String() string {
	if *l == tried.LeastAll {
		return "all"
	}
	return strconv.Itoa(int(*l))
}

func (l *leastFlag) Set(text string) error {
	if text == "all" {
		*l = tried.LeastAll
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("give a number of schedules, 1 or more, or all")
	}
	*l = leastFlag(n)
	return nil
}
