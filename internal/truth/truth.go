// Package truth holds exploration against a judge that shares no code with it.
//
// A [Trial] takes random programs (package randprog) and runs all schedules of each in two
// ways: instrumented, by the depth-first search of exploration, and interpreted (package
// judge). Of each program it asks:
//
//   - Are the outcomes the same? One that exploration misses is a schedule that cannot
//     happen under control; one that only exploration has is a program that was changed by
//     its hooks. Whether goroutines are left waiting for ever is part of an outcome.
//   - Does exploration say that it has tried all schedules, although some never come to an end, and
//     not that goroutines had to be stopped when their test was over?
//   - Is a race reported exactly where two accesses can come at the same time?
//   - Are recorded values true? In a recorded run each access must find what the last one
//     before it left there (values.go).
//
// For example, a hook that announced a load before the operands beside it were evaluated
// made x.n + x.n atomic: the judge had outcomes that exploration could not reach.
//
// What the judge finds too large is cut until it is not, before anything is built: a build is
// half of what a program costs. What exploration finds too large is cut and built once more,
// together with others, so that nearly every program that is drawn is compared in some size. Many
// programs are built together, also when one that shows a difference is made smaller, in rounds
// (shrink.go).
//
// The package is for tests and for the bench.
//
//	truth.go    trials
//	values.go   recorded values
//	shrink.go   smaller programs
package truth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/judge"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// A Trial says how programs are tried.
type Trial struct {
	// Temp is a directory for modules and traces.
	Temp string
	// States bounds the judge, and Runs the exploration of one program. What does not fit is
	// made smaller. Neither depends on how fast the machine is.
	States, Runs int
	// Values says of how many programs one has a run recorded, to look at its values: to record
	// a run costs as much as to explore several programs. 1 has all failures of all programs
	// recorded.
	Values int

	library *judge.Library
	lots    int
}

// A Result is what came of some programs.
type Result struct {
	Compared    int // programs
	TooLarge    int // programs
	Unjudged    int // programs that the judge does not know everything of
	Recorded    int // runs
	Schedules   int
	Differences []Difference
	// Smaller are programs to try instead of some that exploration found too large.
	Smaller []randprog.Program `json:"-"`
}

// Add adds what came of other programs, but for their differences, and what is still to be tried.
func (r *Result) Add(other *Result) {
	r.Compared += other.Compared
	r.TooLarge += other.TooLarge
	r.Unjudged += other.Unjudged
	r.Recorded += other.Recorded
	r.Schedules += other.Schedules
}

// A Difference is a program on which exploration and the judge do not agree.
type Difference struct {
	Program randprog.Program
	// What says on what, and how.
	What string
}

func (d *Difference) String() string { return d.What + "\n" + d.Program.Source }

// Run tries programs, and smaller ones in the place of those that are too large, until each was
// compared in some size. Their names differ.
func (t *Trial) Run(ctx context.Context, programs []randprog.Program) (res *Result, err error) {
	res = &Result{}
	for len(programs) > 0 {
		now, err := t.Once(ctx, programs)
		if now != nil {
			res.Add(now)
			res.Differences = append(res.Differences, now.Differences...)
			programs = now.Smaller
		}
		if err != nil {
			return res, err
		}
	}
	return res, nil
}

// Once tries programs, which are built together, and leaves it to its caller to try those that
// are smaller: a build is cheaper if they are built together with others.
func (t *Trial) Once(ctx context.Context, programs []randprog.Program) (res *Result, err error) {
	res = &Result{}
	judged, err := t.judge(programs, res)
	if err != nil {
		return nil, err
	}
	if len(judged) == 0 {
		return res, nil
	}
	dir, err := os.MkdirTemp(t.Temp, "truth")
	if err != nil {
		return nil, fmt.Errorf("making a module of random programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := write(dir, judged); err != nil {
		return nil, err
	}
	build, err := explore.New(ctx, instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true})
	if err != nil {
		return nil, err
	}
	defer build.Close()
	for i := range judged {
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		c := &comparison{trial: t, program: build.Programs[0], judged: &judged[i], file: filepath.Join(dir, "run.trace"), res: res}
		c.record = i%t.Values == 0
		compared, err := c.run(ctx)
		if err != nil {
			return res, fmt.Errorf("%s: %w\n%s", judged[i].Name, err, judged[i].Source)
		}
		if !compared {
			res.Smaller = res.cut(res.Smaller, judged[i].Program)
		}
	}
	return res, nil
}

// cut adds a smaller program to others, in the place of one that was too large.
func (r *Result) cut(all []randprog.Program, p randprog.Program) []randprog.Program {
	if smaller, ok := p.Cut(); ok {
		return append(all, smaller)
	}
	r.TooLarge++
	return all
}

// A judged program is one with all of its outcomes.
type judged struct {
	randprog.Program
	want *judge.Verdict
}

// lotsPerLibrary is after how many lots of programs the library is loaded anew, which keeps what
// it was asked to prepare.
const lotsPerLibrary = 30

// judge returns the programs that can be judged and are not too large, with their verdicts.
func (t *Trial) judge(programs []randprog.Program, res *Result) (all []judged, err error) {
	if t.lots%lotsPerLibrary == 0 {
		if t.library, err = judge.LoadLibrary(randprog.Imports...); err != nil {
			return nil, err
		}
	}
	t.lots++
	pkg, err := t.library.Package(fmt.Sprintf("random%d", t.lots), map[string][]byte{"programs.go": []byte(randprog.File("random", programs))})
	if err != nil {
		return nil, err
	}
	var tooLarge []randprog.Program
	for _, p := range programs {
		want, err := pkg.Explore(p.Name, judge.Options{States: t.States})
		var unsupported *judge.UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			res.Unjudged++
		case err != nil:
			return nil, fmt.Errorf("%s: %w\n%s", p.Name, err, p.Source)
		case want.Complete:
			all = append(all, judged{p, want})
		default:
			tooLarge = res.cut(tooLarge, p)
		}
	}
	if len(tooLarge) == 0 {
		return all, nil
	}
	smaller, err := t.judge(tooLarge, res)
	return append(all, smaller...), err
}

// outcomePrefix begins the error by which a test hands out what its program returned. It is
// no panic: that would end the run before the goroutines that are left.
const outcomePrefix = "outcome "

// testsHead begins the file of tests. What each of thousands of runs prints would fill the
// pipe, and a run that waits there is outside control.
const testsHead = `package random

import (
	"os"
	"testing"
)

func init() { os.Stdout, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0) }
`

// write writes a module: the programs, and a test for each.
func write(dir string, all []judged) error {
	var tests strings.Builder
	tests.WriteString(testsHead)
	var programs []randprog.Program
	for _, p := range all {
		programs = append(programs, p.Program)
		fmt.Fprintf(&tests, "\nfunc Test%s(t *testing.T) { t.Error(%q + %s()) }\n", p.Name, outcomePrefix, p.Name)
	}
	for name, text := range map[string]string{
		"go.mod":           "module random\n\ngo 1.26\n",
		"programs.go":      randprog.File("random", programs),
		"programs_test.go": tests.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("making a module of random programs: %w", err)
		}
	}
	return nil
}

// A comparison is that of one program.
type comparison struct {
	trial   *Trial
	program *explore.Program
	judged  *judged
	record  bool
	file    string // for a trace
	res     *Result
}

// run compares the program, and reports whether it was small enough for that.
func (c *comparison) run(ctx context.Context) (compared bool, err error) {
	target := "Test" + c.judged.Name
	o := &explore.Options{
		Strategy: sched.MethodDFS, Preemptions: everyPreemption, AtOnce: true, Budget: time.Minute, Runs: c.trial.Runs, Steps: maxSteps, Races: true, Leaks: true, All: true, Jobs: 1, Stall: time.Second,
	}
	if c.judged.want.Spins {
		o.Budget = spinningBudget
	}
	got, err := c.program.Explore(ctx, target, o)
	switch {
	case err != nil && c.judged.want.Spins && ctx.Err() == nil:
		return false, nil
	case err != nil:
		return false, err
	}
	c.res.Schedules += got.Runs
	if got.Search.Held.Stall {
		// Of the sleeps of random programs only those are so long that the judge does not have them
		// overtake anything either.
		got.Search.Held.Stall, got.Search.Held.StallLimit = false, 0
	}
	if !got.Search.Complete() {
		return false, nil
	}
	c.res.Compared++
	if c.judged.want.Spins && got.Stopped == 0 {
		c.differ("exploration has tried all schedules, and there are some that never end")
	}
	outcomes, races := ends(got)
	if wanted := wantedEnds(c.judged.Name, c.judged.want.Outcomes, outcomes); !slices.Equal(outcomes, wanted) {
		c.differ("exploration ends in %q, the judge in %q", outcomes, wanted)
	}
	if races != (len(c.judged.want.Races) > 0) {
		c.differ("exploration finds races: %t, the judge: %v", races, c.judged.want.Races)
	}
	if !c.record {
		return true, nil
	}
	failures := got.Failures
	if c.trial.Values > 1 {
		failures = failures[:min(1, len(failures))]
	}
	for _, f := range failures {
		if _, err := c.program.Record(ctx, target, f.Schedule, o, c.file); err != nil {
			return true, err
		}
		wrong, err := wrongValue(c.file)
		if err != nil {
			return true, err
		}
		c.res.Recorded++
		if wrong != "" {
			c.differ("recorded by schedule %s: %s", f.Schedule, wrong)
		}
	}
	return true, nil
}

func (c *comparison) differ(format string, args ...any) {
	c.res.Differences = append(c.res.Differences, Difference{c.judged.Program, fmt.Sprintf(format, args...)})
}

// maxSteps is many more than a program has whose goroutines come to an end, and spinningBudget the
// time for one that has schedules without an end. It cannot be explored to the end: either is only
// for exploration to say so.
const (
	maxSteps       = 5_000
	spinningBudget = 2 * time.Second
)

// everyPreemption is a bound that no small program comes to.
const everyPreemption = 1000

// ends are the failures that exploration found, but for races, and whether it found a race.
// A program that returns fails as well, with what it returned.
func ends(res *explore.Result) (failures []string, races bool) {
	for _, f := range res.Failures {
		switch f.Kind {
		case event.FailureRace:
			races = true
		case event.FailureLeak, event.FailurePartialDeadlock:
			// The runs have failed otherwise, too.
		case event.FailureDeadlock:
			failures = append(failures, f.Kind.String())
		default:
			failures = append(failures, withLeak(f.Failure.String(), f.Left))
		}
	}
	slices.Sort(failures)
	return slices.Compact(failures), races
}

// withLeak is how a run ended, and whether it left goroutines waiting.
func withLeak(text string, leak bool) string {
	if leak {
		text += ", and goroutines are left waiting"
	}
	return text
}

// wantedEnds are the outcomes of the judge as exploration tells them. Where goroutines go on for
// ever, exploration may or may not know whether others wait beside them; got is what it says.
func wantedEnds(program string, all []judge.Outcome, got []string) []string {
	var out []string
	for _, o := range all {
		switch o.Ending {
		case judge.Returned:
			text := event.FailureTest.String() + ": Test" + program + ": " + outcomePrefix + o.Text
			leaks := []bool{o.Leak}
			if o.Goes {
				leaks = slices.DeleteFunc([]bool{false, true}, func(leak bool) bool { return !slices.Contains(got, withLeak(text, leak)) })
				if len(leaks) == 0 {
					leaks = []bool{false}
				}
			}
			for _, leak := range leaks {
				out = append(out, withLeak(text, leak))
			}
		case judge.Deadlocked:
			out = append(out, event.FailureDeadlock.String())
		case judge.Panicked:
			out = append(out, event.FailurePanic.String()+": "+o.Text)
		case judge.Fatal:
			out = append(out, event.FailureFatal.String()+": "+o.Text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
