package repair

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

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// buildAndTest is how long building and running tests may take. The tests themselves have a
// limit of their own, so this one is for a go command that hangs.
const buildAndTest = 10 * time.Minute

// A test has a brief time to run natively as often as it is to. A candidate whose test needs more
// hangs, unless the test is a long one without the candidate too: then it has a long time.
const (
	briefTest = 10 * time.Second
	longTest  = time.Minute
)

// timedOut is how the testing package ends a test that took too long.
var timedOut = regexp.MustCompile(`(?m)^panic: test timed out after `)

// testCommand is go test as candidates are tried with it: under the race detector, unless races
// are no failures.
func (f *fixer) testCommand(flags ...string) []string {
	args := []string{"test"}
	if f.opts.Explore.Races {
		args = append(args, "-race")
	}
	return append(append(args, "-vet=off"), flags...)
}

// native runs the test as it is, under the race detector.
func (f *fixer) native(ctx context.Context, c *Candidate) (why string, err error) {
	if f.opts.Native == 0 || !f.config.Tests {
		return "", nil
	}
	flags, err := f.candidateFlags(c)
	if err != nil {
		return "", err
	}
	f.detail("running it by go test")
	ctx, cancel := context.WithTimeout(ctx, buildAndTest)
	defer cancel()
	run := func(env, flags []string, count int, limit time.Duration) (string, error) {
		return f.tool(env).Combined(ctx, slices.Concat(f.testCommand("-timeout="+limit.String(), f.selected(),
			fmt.Sprintf("-count=%d", count)), flags, f.config.Patterns, f.circumstances())...)
	}
	out, err := run(c.config.Env, flags, f.opts.Native, briefTest)
	if err != nil && timedOut.MatchString(out) {
		f.detail("running the test without it, to see whether it takes long")
		if f.isLong == nil {
			before, _ := run(f.config.Env, f.config.Flags, 1, briefTest)
			long := timedOut.MatchString(before) || testTime(before)*time.Duration(f.opts.Native) > briefTest/2
			f.isLong = &long
		}
		if !*f.isLong {
			return fmt.Sprintf("with it, the test hangs: go test has not ended it after %v", briefTest), nil
		}
		out, err = run(c.config.Env, flags, f.opts.Native, longTest)
	}
	if err != nil && f.passesOnce(ctx) {
		f.detail("running it in a process each time: the test passes once in a process")
		c.Proof.Processes = true
		out, err = f.inProcesses(ctx, c, flags)
	}
	if err != nil {
		if !isFailure(err) {
			return "", err
		}
		return "go test fails: " + firstLines(out, 6), nil
	}
	if strings.Contains(out, "no tests to run") {
		return "the test did not run under go test", nil
	}
	c.Proof.Native, c.Proof.Races = f.opts.Native, f.opts.Explore.Races
	return f.others(ctx, c, flags)
}

// selected is the flag of go test that has it run the test.
func (f *fixer) selected() string { return "-run=" + explore.Selection(f.target, f.args) }

// isFailure reports whether an error is that of a command that ran and failed.
func isFailure(err error) bool {
	var byGo *gotool.Error
	var bySystem *exec.ExitError
	return errors.As(err, &byGo) || errors.As(err, &bySystem)
}

// passesOnce reports whether the test without any change passes once in a process and not twice: it
// leaves something behind, as one does that registers a name. One processor without the race detector
// is what its races show least on.
func (f *fixer) passesOnce(ctx context.Context) bool {
	if f.isOnlyOnce == nil {
		f.detail("running the test without it, to see whether it passes twice")
		passes := func(count string) bool {
			_, err := f.tool(f.config.Env).Combined(ctx, slices.Concat([]string{"test", "-vet=off", "-cpu=1", "-timeout=" + briefTest.String(), f.selected(), count},
				f.config.Flags, f.config.Patterns, f.circumstances())...)
			return err == nil
		}
		once := passes("-count=1") && !passes("-count=2")
		f.isOnlyOnce = &once
	}
	return *f.isOnlyOnce
}

// inProcesses runs the test as often as it is to, in a process each time, until it fails.
func (f *fixer) inProcesses(ctx context.Context, c *Candidate, flags []string) (out string, err error) {
	dirs, err := f.tool(c.config.Env).Output(ctx, slices.Concat([]string{"list", "-f", "{{.Dir}}"}, flags, f.config.Patterns)...)
	if err != nil {
		return "", err
	}
	dir := strings.TrimSpace(string(dirs))
	if strings.Contains(dir, "\n") {
		return "", fmt.Errorf("the test passes once in a process, and %s are several packages: name the one with the test", strings.Join(f.config.Patterns, " "))
	}
	binary := filepath.Join(f.opts.Temp, fmt.Sprintf("candidate%d.test", f.tried))
	if out, err = f.tool(c.config.Env).Combined(ctx, slices.Concat(f.testCommand("-c", "-o", binary), flags, f.config.Patterns)...); err != nil {
		return out, err
	}
	args := append([]string{"-test.timeout=" + briefTest.String(), "-test." + strings.TrimPrefix(f.selected(), "-")}, explore.Circumstances(f.args)...)
	for i := range f.opts.Native {
		f.detail(fmt.Sprintf("running it in a process each time: %d of %d", i+1, f.opts.Native))
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Dir, cmd.Env = dir, c.config.Env
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

// circumstances are what the tests were run with, for the go command.
func (f *fixer) circumstances() []string {
	if args := explore.Circumstances(f.args); len(args) > 0 {
		return append([]string{"-args"}, args...)
	}
	return nil
}

// others runs all tests of the package and of the packages that the candidate changes: a
// lock that mends one may break another. The tests of dependencies may need what the program
// does not have; they are left alone.
func (f *fixer) others(ctx context.Context, c *Candidate, flags []string) (why string, err error) {
	f.detail("running the package's other tests")
	args := f.testCommand("-timeout=30s")
	packages := f.changed(c, false)
	out, err := f.tool(c.config.Env).Combined(ctx, slices.Concat(args, flags, packages)...)
	if err == nil {
		c.Proof.Others = true
		return "", nil
	}
	if f.before == nil {
		text, err := f.tool(f.config.Env).Combined(ctx, slices.Concat(args, f.config.Flags, packages)...)
		f.before = &testRun{failed: failing(text), passed: err == nil}
	}
	failed := failing(out)
	for _, t := range failed {
		if !slices.Contains(f.before.failed, t) && !f.failsNowAndThen(ctx, "^"+t+"$", "FAIL", packages) {
			return "with it, another test fails: " + t, nil
		}
	}
	switch {
	case !strings.Contains(out, "FAIL"):
		return "", fmt.Errorf("running the package's tests: %s", firstLines(err.Error(), 4))
	case len(failed) == 0 && f.before.passed:
		if crash := crashed.FindString(out); crash != "" && f.failsNowAndThen(ctx, "", crash, packages) {
			return "", nil
		}
		return "with it, the package's tests fail: " + firstLines(out, 3), nil
	}
	return "", nil
}

// failsNowAndThen reports whether tests fail without any change too, with the same words, if they
// are run often: those that depend on the schedule pass or fail by chance, and say nothing of a
// change.
func (f *fixer) failsNowAndThen(ctx context.Context, tests, words string, packages []string) bool {
	f.detail("running tests without it, to see whether they fail by chance")
	args := f.testCommand("-timeout=60s", "-run="+tests, fmt.Sprintf("-count=%d", often))
	out, err := f.tool(f.config.Env).Combined(ctx, slices.Concat(args, f.config.Flags, packages)...)
	return err != nil && strings.Contains(out, words)
}

// crashed is how a process ends that no test can be blamed for.
var crashed = regexp.MustCompile(`(?m)^(?:panic|fatal error): .*$`)

// often is how many runs show that a test fails now and then.
const often = 50

// A testRun is what came of a package's tests.
type testRun struct {
	failed []string
	passed bool
}

// failedTest is what the testing package says of a test that failed, or that was running
// when time was up.
var failedTest = regexp.MustCompile(`(?m)^(?:--- FAIL: |\s+)(Test\S+) \(`)

func failing(out string) []string {
	var all []string
	for _, m := range failedTest.FindAllStringSubmatch(out, -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}
