package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/publication"
	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/publish"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

func newExploreCommand() *command.Command {
	f := &searchFlags{}
	c := command.New("explore", "[packages] [-- arguments]", "look for a schedule under which a test fails").BuildsPrograms()
	c.RunsProgram = true
	c.Declined = declined
	c.Long = `Explore runs the tests of the packages again and again under a scheduler that lets
one goroutine run at a time and decides, at every access to shared memory and every
synchronisation, which one goes next. When a run fails, its schedule is shrunk to the
fewest preemptions, run again in a fresh process, recorded to a trace file, and shown as
a timeline. The search then goes on with the next test.

The -budget is for all tests together. Each has a short turn; what is left goes to those
that still show schedules unlike the ones before, and is not overrun by more than the last
run and what it takes to record a failure. Tests that had no turn are listed.

A run fails by a panic, a fatal error of the runtime, a failed test, a call of os.Exit, a
deadlock of all goroutines, a wait for a lock that is never released, a data race, or a
goroutine that is left waiting for ever when its test is over.

Arguments are packages, or files of one package as for go test and go run. The flags of go
test that choose tests and say what they see mean what they mean there; arguments after
-args or --, and flags of libraries such as -testify.m, are for the tests or the program.
A package that does not build, or whose TestMain fails, is left out and listed. Tests that
call t.Parallel are explored one by one, and then against each other as one more test.

With -binary, explore takes a program for x86-64 Linux instead, of C or C++, without source
or debug information. It runs in an emulator, with the dynamic linker and the C library of
this machine, from a snapshot taken before its first thread is created. Files are read, and
what the program writes stays in the emulation. So do its child processes and what they
execute: they are emulated, outside control. Connections within the program are emulated;
others are the host's, outside control. The result lists both.
A run fails by a signal, a failed assertion, a deadlock, a use of freed memory or a second
free, and with -races by a data race in the program's own code. Without it races are not
looked for: machine code does not tell atomic loads and stores from others, so a word counts
as atomic if it is ever updated atomically, and a flag that is only set and read does not.`
	c.Notes = `Examples:

  cofferdam explore -run TestSteady ./toctou
  cofferdam explore -strategy dfs -preemptions 2 ./queue
  cofferdam explore -main ./cmd/server -- -addr :0
  cofferdam explore -binary ./program -- -threads 4 <input
  cofferdam replay toctou/testdata/cofferdam/TestSteady.trace

Exit codes: 0 nothing found, 1 a failing schedule found, 2 error, also if something was
found but a package or a test could not be explored.

See also: cofferdam help schedules, cofferdam help strategies, cofferdam help waiting,
cofferdam help traces`
	f.declare(c.Flags, 30*time.Second)
	c.Flags.StringVar(&f.out, "o", "", "write the trace to this `file`, or traces to this directory (default: testdata/cofferdam beside the tests)")
	c.Flags.BoolVar(&f.asJSON, "json", false, "write findings as lines of JSON; with -binary, if there are none, what was tried")
	c.Flags.BoolVar(&f.failFast, "failfast", false, "stop at the first test that fails")
	c.Flags.BoolVar(&f.All, "all", false, "go on after a failure, and record all that are unlike each other, each with a trace of its own")
	c.Flags.BoolVar(&f.strict, "strict", false, "exit with code 3 if a test was explored in part: runs were cut off, or something was outside control")
	f.Flags.Declare(c.Flags)
	f.DeclareTests(c.Flags)
	binary := c.Flags.String("binary", "", "explore this x86-64 Linux `program`, without its source; arguments for it follow --, standard input is its input")
	c.Work = func(ctx context.Context, inv *command.Invocation) error {
		if err := f.Exclusive(c, f.asJSON); err != nil {
			return err
		}
		if *binary != "" {
			others := []string{"junit", "test2json", "main", "deps", "tags", "mod", "modfile", "ldflags", "v", "leaks", "stall", "failfast", "strict", "all"}
			if err := c.Excludes("binary", append(others, testFlagNames...)...); err != nil {
				return err
			}
			f.Races = f.Races && c.Named("races")
			return f.exploreBinary(ctx, inv, *binary)
		}
		if err := c.Excludes("main", testFlagNames...); err != nil {
			return err
		}
		if f.All && f.failFast {
			return errors.New("-all goes on after a failure and -failfast does not: give one of them")
		}
		return f.explore(ctx, inv)
	}
	return c
}

// begin builds what is to be explored, and lists it. The build is for the caller to close.
func (f *searchFlags) begin(ctx context.Context, inv *command.Invocation) (*exploration, []explore.Target, *explore.Build, error) {
	if err := f.check(); err != nil {
		return nil, nil, nil, err
	}
	build, err := f.build(ctx, inv)
	if err != nil {
		return nil, nil, nil, err
	}
	targets, err := f.list(ctx, inv, build)
	if err != nil {
		build.Close()
		return nil, nil, nil, err
	}
	many := len(build.Programs) > 1
	return &exploration{
		searchFlags: f, inv: inv, many: many, failed: map[*explore.Program][]string{}, phase: "exploring", files: traceFiles{out: f.out, many: many},
	}, targets, build, nil
}

func (f *searchFlags) explore(ctx context.Context, inv *command.Invocation) error {
	e, targets, build, err := f.begin(ctx, inv)
	if err != nil {
		return err
	}
	defer build.Close()
	e.told = e.tell
	err = e.all(ctx, targets)
	err = errors.Join(err, e.publishAll())
	if len(targets) > 1 && e.textual() && len(e.failing) > 0 {
		fmt.Fprintf(inv.Stdout, "\n%d of %d tests fail:\n  %s\n", e.failingTests, len(targets), strings.Join(e.failing, "\n  "))
	}
	if errors.Is(context.Cause(ctx), command.ErrClosedPipe) && len(e.failing) > 0 {
		fmt.Fprintf(inv.Stderr, "cofferdam: %v; found so far:\n  %s\n", command.ErrClosedPipe, strings.Join(e.failing, "\n  "))
	}
	if err == nil {
		err = f.incomplete()
	}
	if err == nil && e.vacuous == len(targets) {
		err = explore.ErrNothingSelected
	}
	if n := len(e.partly); err == nil && n > 0 && f.strict && len(e.failing) == 0 {
		err = &command.Exit{Code: command.ExitPartly, Err: fmt.Errorf("%s explored in part (-strict): %s", plural(n, "test was", "tests were"), firstOf(e.partly, 8))}
	}
	if len(e.failing) > 0 && (err == nil || ctx.Err() != nil) {
		return &command.Exit{Code: command.ExitFound}
	}
	return err
}

// shown is the name of a target, with the package where there are several.
func (e *exploration) shown(t explore.Target) string {
	if !e.many {
		return t.Name()
	}
	return t.Program.Package + "." + t.Name()
}

// tell says what the exploration of a target came to.
func (e *exploration) tell(t explore.Target, res *explore.Result, file string) error {
	e.text.Reset()
	before := len(e.Results)
	err := e.tellResult(t, res, file)
	return errors.Join(err, e.publishTest(t, res, e.Results[before:]))
}

func (e *exploration) tellResult(t explore.Target, res *explore.Result, file string) error {
	name := e.shown(t)
	fmt.Fprintln(e.out(), summary(e.inv.Color, name, res))
	switch {
	case res.Failure == nil && !res.Came():
		e.unexplored = append(e.unexplored, name)
		return nil
	case res.Vacuous():
		e.vacuous++
		return nil
	case res.Failure == nil:
		if res.Partly() {
			e.partly = append(e.partly, name)
		}
		return nil
	case res.Death != nil:
		e.failingTests++
		e.failing = append(e.failing, fmt.Sprintf("%s: %s", name, firstLine(res.Failure)))
		fmt.Fprintln(e.out())
		res.WriteDeath(e.out())
		fmt.Fprintf(e.out(), "Run it again with: %s\n", e.againCommand(t, res.First))
		return e.found(publish.Results([]finding.Finding{res.DeathFinding(t.Program.Package)}))
	}
	e.files.used(file)
	e.failingTests++
	e.failing = append(e.failing, fmt.Sprintf("%s  %s: %s", file, name, firstLine(res.Failure)))
	return e.report(file)
}

// firstLine says in a line how a run failed.
func firstLine(f *trace.Failure) string {
	message, _, more := strings.Cut(f.Message, "\n")
	if more {
		message += " ..."
	}
	if shape := f.Shape(); shape != event.UnknownShape {
		message += " (" + shape.String() + ")"
	}
	return f.Kind.String() + ": " + message
}

// summary says in a line or two what was tried.
func summary(color console.Stream, name string, res *explore.Result) string {
	rate := float64(res.Runs) / max(res.Elapsed.Seconds(), 0.001)
	var b strings.Builder
	if res.Failure == nil {
		word := color.Good("ok") + "  "
		switch {
		case res.Vacuous():
			word = color.Bad("none")
		case !res.Came():
			word = color.Bad("cut") + " "
		case res.Partly():
			word = color.Bad("part")
		}
		fmt.Fprintf(&b, "%s  %s  %s in %.1fs (%.0f/s)", word, name, plural(res.Runs, "schedule", "schedules"), res.Elapsed.Seconds(), rate)
		if res.Classes > 0 {
			fmt.Fprintf(&b, ", %d distinct; %s", res.Classes, res.Search)
		}
	} else if res.Death != nil {
		fmt.Fprintf(&b, "%s  %s  the program was ended at schedule %d after %.2fs", color.Bad("FAIL"), name, res.First, res.After.Seconds())
	} else {
		fmt.Fprintf(&b, "%s  %s  first at schedule %d after %.2fs; %s in all (%.0f/s); shrunk in %s to: %s", color.Bad("FAIL"), name, res.First, res.After.Seconds(), plural(res.Runs, "schedule", "schedules"), rate, plural(res.Shrinking, "run", "runs"), schedule(res.Outcome.Schedule))
		if res.Minimal {
			b.WriteString(", and no schedule with fewer preemptions fails like this")
		}
		if how := res.LeakFrequency(); how != "" {
			b.WriteString("; " + how)
		}
	}
	if res.Cut > 0 {
		fmt.Fprintf(&b, "; %s cut off", plural(res.Cut, "run", "runs"))
	}
	if caveats := res.Caveats(); caveats != "" {
		b.WriteString("\nnote: " + caveats)
	}
	if len(res.Late) > 0 {
		b.WriteString("\n")
		res.WriteLate(&b)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func schedule(s string) string {
	if s == "default" {
		return "the default schedule"
	}
	return s
}

// report shows the failing run in a trace.
func (e *exploration) report(file string) error {
	r, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	results, err := publication.RecordedResults(r, file)
	if err != nil {
		return err
	}
	w := e.out()
	fmt.Fprintln(w)
	if err := explore.WriteReport(w, r); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nRun it again with: %s\n", replayCommand(e.inv.Dir, file))
	return e.found(results)
}

// found publishes what was found.
func (e *exploration) found(results []publish.Result) error {
	if e.asJSON {
		findings := make([]finding.Finding, len(results))
		for i := range results {
			findings[i] = results[i].Finding
		}
		if err := finding.WriteJSON(e.inv.Stdout, findings); err != nil {
			return err
		}
	}
	return e.Add(e.inv.Stdout, results...)
}

// textual reports whether standard output is for people.
func (e *exploration) textual() bool { return !e.asJSON && !e.Silent() }

// out is where the text about a test goes: to people, or, for other tools, with what came of it.
func (e *exploration) out() io.Writer {
	if e.textual() {
		return io.MultiWriter(e.inv.Stdout, &e.text)
	}
	return &e.text
}

// publishTest publishes what came of a test, of which results were found.
func (e *exploration) publishTest(t explore.Target, res *explore.Result, results []publish.Result) error {
	test := publish.Test{Package: t.Program.Package, Name: t.Name(), Elapsed: res.Elapsed, Output: e.text.String()}
	switch {
	case len(results) > 0:
		test.Verdict, test.Headline, test.At = publish.Failed, results[0].Message(), publication.Site(&results[0])
		if res.Failure != nil {
			test.Headline = firstLine(res.Failure)
		}
	case res.Vacuous():
		test.Verdict, test.Headline = publish.Unexplored, "no subtest is selected"
	case !res.Came():
		test.Verdict, test.Headline = publish.Unexplored, "it could not be explored: "+res.Caveats()
	}
	return e.AddTest(e.inv.Stdout, test)
}

// publishAll publishes what is reported at the end: also what was not explored.
func (e *exploration) publishAll() error {
	for _, pkg := range e.leftOut {
		e.Gap("the package " + pkg + " was left out: it does not build, or its tests cannot be run")
	}
	for _, name := range e.unexplored {
		e.Gap(name + " could not be explored")
	}
	for _, name := range e.partly {
		e.Gap(name + " was explored in part: runs were cut off, or something was outside control")
	}
	return e.Finish(e.inv, "explore")
}

// againCommand is what to type to search again, up to a schedule.
func (e *exploration) againCommand(t explore.Target, runs int) string {
	words := []string{"cofferdam", "explore"}
	if e.inv.Dir != "" {
		words = append(words, "-C", e.inv.Dir)
	}
	if t.Test == "" {
		words = append(words, "-main")
	} else {
		words = append(words, "-run", "^"+t.Test+"$")
	}
	words = append(words, "-strategy", string(e.Strategy), "-runs", fmt.Sprint(runs), "-seed", fmt.Sprint(e.Seed))
	words = append(words, t.Program.Patterns()...)
	for i, word := range words {
		words[i] = quoted(word)
	}
	return strings.Join(words, " ")
}

// replayCommand is what to type to run a trace again from where explore was called.
func replayCommand(dir, file string) string {
	words := []string{"cofferdam", "replay"}
	if dir != "" {
		words = append(words, "-C", dir)
	}
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	words = append(words, file)
	for i, word := range words {
		words[i] = quoted(word)
	}
	return strings.Join(words, " ")
}

// plainWord is a word that no shell changes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// quoted is a word as a shell has to be told it.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
