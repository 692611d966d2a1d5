// Package truth holds exploration against a judge that shares no code with it.
//
// A [Trial] takes random programs (package randprog) and runs all schedules of each in two
// ways: instrumented, by the depth-first search of exploration, and interpreted (package
// judge). Of each program it asks:
//
//   - Are the outcomes the same? One that exploration misses is a schedule that cannot
//     happen under control; one that only exploration has is a program that was changed by
//     its hooks. Whether goroutines are left waiting for ever is part of an outcome.
//   - Is a race reported exactly where two accesses can come at the same time?
//   - Are recorded values true? In a recorded run each access must find what the last one
//     before it left there (values.go).
//
// For example, a hook that announced a load before the operands beside it were evaluated
// made x.n + x.n atomic: the judge had outcomes that exploration could not reach.
//
// A program that shows a difference is made smaller in rounds (shrink.go): many smaller
// programs are built together, because a build is what takes the time.
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
	// States bounds the judge, Budget the exploration of one program. What does not fit is
	// not compared.
	States int
	Budget time.Duration
}

// A Result is what came of some programs.
type Result struct {
	Compared    int // programs
	TooLarge    int // programs
	Schedules   int
	Differences []Difference
}

// A Difference is a program on which exploration and the judge do not agree.
type Difference struct {
	Program randprog.Program
	// What says on what, and how.
	What string
}

func (d *Difference) String() string { return d.What + "\n" + d.Program.Source }

// Run tries programs, which are built together. Their names differ.
func (t *Trial) Run(ctx context.Context, programs []randprog.Program) (res *Result, err error) {
	dir, err := os.MkdirTemp(t.Temp, "truth")
	if err != nil {
		return nil, fmt.Errorf("making a module of random programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := write(dir, programs); err != nil {
		return nil, err
	}
	judged, err := judge.Load(dir, nil)
	if err != nil {
		return nil, err
	}
	build, err := explore.New(ctx, instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true})
	if err != nil {
		return nil, err
	}
	defer build.Close()
	res = &Result{}
	for _, p := range programs {
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		if err := t.compare(ctx, judged, build.Programs[0], p, filepath.Join(dir, "run.trace"), res); err != nil {
			return res, fmt.Errorf("%s: %w\n%s", p.Name, err, p.Source)
		}
	}
	return res, nil
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
func write(dir string, programs []randprog.Program) error {
	var tests strings.Builder
	tests.WriteString(testsHead)
	for _, p := range programs {
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

// compare tries one program.
func (t *Trial) compare(ctx context.Context, judged *judge.Program, explored *explore.Program, p randprog.Program, file string, res *Result) error {
	want, err := judged.Explore(p.Name, judge.Options{States: t.States})
	if err != nil {
		return err
	}
	if !want.Complete {
		res.TooLarge++
		return nil
	}
	o := &explore.Options{
		Strategy: sched.MethodDFS, Preemptions: everyPreemption, Budget: t.Budget, Steps: 100_000, Races: true, Leaks: true, All: true, Jobs: 1, Stall: time.Second,
	}
	got, err := explored.Explore(ctx, "Test"+p.Name, o)
	if err != nil {
		return err
	}
	res.Schedules += got.Runs
	if !got.Search.Complete() {
		res.TooLarge++
		return nil
	}
	res.Compared++
	differ := func(format string, args ...any) {
		res.Differences = append(res.Differences, Difference{p, fmt.Sprintf(format, args...)})
	}
	outcomes, races := ends(got)
	if wanted := wantedEnds(p.Name, want.Outcomes); !slices.Equal(outcomes, wanted) {
		differ("exploration ends in %q, the judge in %q", outcomes, wanted)
	}
	if races != (len(want.Races) > 0) {
		differ("exploration finds races: %t, the judge: %v", races, want.Races)
	}
	for _, f := range got.Failures {
		if _, err := explored.Record(ctx, "Test"+p.Name, f.Schedule, o, file); err != nil {
			return err
		}
		wrong, err := wrongValue(file)
		if err != nil {
			return err
		}
		if wrong != "" {
			differ("recorded by schedule %s: %s", f.Schedule, wrong)
		}
	}
	return nil
}

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

// wantedEnds are the outcomes of the judge as exploration tells them.
func wantedEnds(program string, all []judge.Outcome) []string {
	var out []string
	for _, o := range all {
		switch o.Ending {
		case judge.Returned:
			out = append(out, withLeak(event.FailureTest.String()+": Test"+program+": "+outcomePrefix+o.Text, o.Leak))
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
