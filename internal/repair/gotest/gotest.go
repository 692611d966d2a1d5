// Package gotest runs the failing test of a program natively with a change, as often as it is to pass, and
// the other tests of the packages that are changed: a change that stands all schedules under control may
// still fail by go test.
//
// A failure there speaks against the change only if the change is the reason. So what fails is looked at
// without the change as well:
//
//	the test times out           unless it takes as long without it: then it has more time
//	it fails the second time     unless it does so without it, because it leaves something behind:
//	                             then it is run in a process each time
//	another test fails           unless it fails without it, always or by chance
//
// gotest.go has the runs of the test, others.go those of the other tests.
package gotest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// A Test is a test of a program without any change.
type Test struct {
	// Dir, Env and Flags are for the go command, and Patterns are the packages to test.
	Dir                  string
	Env, Flags, Patterns []string
	// Selection is what -run selects the test by, and Arguments what it is run with.
	Selection string
	Arguments []string
	// Count is how many times it has to pass, and Races whether data races are failures.
	Count int
	Races bool
	// Brief is how long it may take to pass so often; 0 stands for ten seconds.
	Brief time.Duration
	// Temp is a directory for programs, and Progress is told what is going on.
	Temp     string
	Progress func(detail string)

	// before is what comes of the packages' tests without any change; isLong says that the test takes
	// long, isOnlyOnce that it passes once in a process and not twice. They are nil if unknown.
	before             *testRun
	isLong, isOnlyOnce *bool
}

// A Change is how the go command sees the program with a change, and the packages whose tests must
// still pass.
type Change struct {
	Env, Flags, Packages []string
}

// A Result is what came of a change. Why says what speaks against it; "" if nothing does. Processes says
// that the test was run in a process each time, Others that the other tests pass.
type Result struct {
	Why               string
	Processes, Others bool
}

// buildAndTest is how long building and running tests may take. The tests themselves have a
// limit of their own, so this one is for a go command that hangs.
const buildAndTest = 10 * time.Minute

// A test has a brief time to pass as often as it is to. One that needs more with a change hangs, unless it
// is a long one without the change too: then it has a long time.
const (
	briefTest = 10 * time.Second
	longTest  = 6 // times as much
)

// timedOut is how the testing package ends a test that took too long.
var timedOut = regexp.MustCompile(`(?m)^panic: test timed out after `)

// command is go test as changes are tried with it: under the race detector, unless races are no
// failures.
func (t *Test) command(flags ...string) []string {
	args := []string{"test"}
	if t.Races {
		args = append(args, "-race")
	}
	return append(append(args, "-vet=off"), flags...)
}

func (t *Test) brief() time.Duration {
	if t.Brief > 0 {
		return t.Brief
	}
	return briefTest
}

// tool is the go command where the program is.
func (t *Test) tool(env []string) *gotool.Tool { return gotool.New(t.Dir, env) }

// run runs the test so many times in one process.
func (t *Test) run(ctx context.Context, env, flags []string, count int, limit time.Duration) (string, error) {
	return t.tool(env).Combined(ctx, slices.Concat(t.command("-timeout="+limit.String(), "-run="+t.Selection,
		fmt.Sprintf("-count=%d", count)), flags, t.Patterns, t.arguments())...)
}

// arguments are what the test is run with, for the go command.
func (t *Test) arguments() []string {
	if len(t.Arguments) == 0 {
		return nil
	}
	return append([]string{"-args"}, t.Arguments...)
}

// Try runs the test with a change as often as it has to pass, and then the other tests.
func (t *Test) Try(ctx context.Context, c Change) (Result, error) {
	t.Progress("running it by go test")
	ctx, cancel := context.WithTimeout(ctx, buildAndTest)
	defer cancel()
	var result Result
	out, err := t.run(ctx, c.Env, c.Flags, t.Count, t.brief())
	if err != nil && timedOut.MatchString(out) {
		if !t.takesLong(ctx) {
			return Result{Why: fmt.Sprintf("with it, the test hangs: go test has not ended it after %v", t.brief())}, nil
		}
		out, err = t.run(ctx, c.Env, c.Flags, t.Count, longTest*t.brief())
	}
	if err != nil && t.passesOnce(ctx) {
		result.Processes = true
		out, err = t.inProcesses(ctx, c)
	}
	if err != nil {
		if !isFailure(err) {
			return result, err
		}
		result.Why = "go test fails: " + firstLines(out, 6)
		return result, nil
	}
	if strings.Contains(out, "no tests to run") {
		result.Why = "the test did not run under go test"
		return result, nil
	}
	result.Why, result.Others, err = t.others(ctx, c)
	return result, err
}

// takesLong reports whether the test takes long without any change.
func (t *Test) takesLong(ctx context.Context) bool {
	if t.isLong == nil {
		t.Progress("running the test without it, to see whether it takes long")
		before, _ := t.run(ctx, t.Env, t.Flags, 1, t.brief())
		long := timedOut.MatchString(before) || testTime(before)*time.Duration(t.Count) > t.brief()/2
		t.isLong = &long
	}
	return *t.isLong
}

// isFailure reports whether an error is that of a command that ran and failed.
func isFailure(err error) bool {
	var byGo *gotool.Error
	var bySystem *exec.ExitError
	return errors.As(err, &byGo) || errors.As(err, &bySystem)
}

// passesOnce reports whether the test without any change passes once in a process and not twice: it
// leaves something behind, as one does that registers a name. One processor without the race detector
// is what its races show least on.
func (t *Test) passesOnce(ctx context.Context) bool {
	if t.isOnlyOnce == nil {
		t.Progress("running the test without it, to see whether it passes twice")
		passes := func(count string) bool {
			_, err := t.tool(t.Env).Combined(ctx, slices.Concat([]string{"test", "-vet=off", "-cpu=1", "-timeout=" + t.brief().String(), "-run=" + t.Selection, count},
				t.Flags, t.Patterns, t.arguments())...)
			return err == nil
		}
		once := passes("-count=1") && !passes("-count=2")
		t.isOnlyOnce = &once
	}
	return *t.isOnlyOnce
}

// inProcesses runs the test as often as it has to pass, in a process each time, until it fails.
func (t *Test) inProcesses(ctx context.Context, c Change) (out string, err error) {
	dirs, err := t.tool(c.Env).Output(ctx, slices.Concat([]string{"list", "-f", "{{.Dir}}"}, c.Flags, t.Patterns)...)
	if err != nil {
		return "", err
	}
	dir := strings.TrimSpace(string(dirs))
	if strings.Contains(dir, "\n") {
		return "", fmt.Errorf("the test passes once in a process, and %s are several packages: name the one with the test", strings.Join(t.Patterns, " "))
	}
	binary := filepath.Join(t.Temp, "native.test")
	if out, err = t.tool(c.Env).Combined(ctx, slices.Concat(t.command("-c", "-o", binary), c.Flags, t.Patterns)...); err != nil {
		return out, err
	}
	args := append([]string{"-test.timeout=" + t.brief().String(), "-test.run=" + t.Selection}, t.Arguments...)
	for i := range t.Count {
		t.Progress(fmt.Sprintf("running it in a process each time, because the test passes once in a process: %d of %d", i+1, t.Count))
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Dir, cmd.Env = dir, c.Env
		text, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if out = string(text); err != nil {
			return out, err
		}
	}
	return out, nil
}

// testSeconds is how long the tests of a package took, as go test says.
var testSeconds = regexp.MustCompile(`(?m)^(?:ok|FAIL)\s+\S+\s+([0-9.]+)s$`)

// testTime is how long tests took by what go test wrote.
func testTime(out string) time.Duration {
	var all time.Duration
	for _, m := range testSeconds.FindAllStringSubmatch(out, -1) {
		if d, err := time.ParseDuration(m[1] + "s"); err == nil {
			all += d
		}
	}
	return all
}
