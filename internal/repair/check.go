package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
)

// sound checks a candidate without running it: that it compiles, does not make worse what
// the program does with its locks, and is vetted without complaints that there were not
// before.
func (f *fixer) sound(ctx context.Context, c *Candidate) (why string, err error) {
	after, err := f.changedBy(c)
	if err != nil {
		return "it does not compile: " + firstLines(err.Error(), 4), nil
	}
	if why := cover.Worse(c.run.code, after.code); why != "" {
		return why, nil
	}
	if c.Change != nil && c.Change.Check != nil {
		if why := c.Change.Check(after.code); why != "" {
			return why, nil
		}
	}
	if why := f.judgeWhole(c, after); why != "" || f.opts.Judge != nil {
		return why, nil
	}
	flags, err := f.candidateFlags(c)
	if err != nil {
		return "", err
	}
	out, err := f.tool(c.config.Env).Combined(ctx, slices.Concat([]string{"vet"}, flags, f.changed(c, true))...)
	if err == nil {
		return "", nil
	}
	if f.vetted == nil {
		before, _ := f.tool(f.config.Env).Combined(ctx, slices.Concat([]string{"vet"}, f.config.Flags, f.changed(c, true))...)
		f.vetted = &before
	}
	if news := newComplaints(*f.vetted, out); len(news) > 0 {
		return "go vet complains: " + strings.Join(news[:min(3, len(news))], "; "), nil
	}
	return "", nil
}

// candidateFlags writes a candidate's files, and returns the flags that have the go command
// use them.
func (f *fixer) candidateFlags(c *Candidate) ([]string, error) {
	dir, err := os.MkdirTemp(f.opts.Temp, "overlay")
	if err != nil {
		return nil, fmt.Errorf("writing a candidate: %w", err)
	}
	env, err := f.tool(c.config.Env).Environment()
	if err != nil {
		return nil, err
	}
	o := overlay.New(env)
	for name, text := range c.config.Overlay {
		o.Text[name] = string(text)
	}
	flags, err := o.Write(dir, c.config.Flags)
	if err != nil {
		return nil, fmt.Errorf("writing a candidate: %w", err)
	}
	return slices.Concat(c.config.Flags, flags), nil
}

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
		return f.tool(env).Combined(ctx, slices.Concat(f.testCommand("-timeout="+limit.String(),
			"-run="+explore.Selection(f.target, f.args), fmt.Sprintf("-count=%d", count)), flags, f.config.Patterns, f.circumstances())...)
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
	if err != nil {
		var failed *gotool.Error
		if !errors.As(err, &failed) {
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

// changed are the packages that were asked for and the packages that a candidate changes,
// with dependencies or without.
func (f *fixer) changed(c *Candidate, deps bool) []string {
	all := slices.Clone(f.config.Patterns)
	for _, name := range slices.Sorted(maps.Keys(c.Patch.Files)) {
		if at := c.run.code.ByOriginal(name); at != nil && (deps || !f.copies.InCache(name)) {
			if path := strings.TrimSuffix(at.Package.PkgPath, "_test"); !slices.Contains(all, path) {
				all = append(all, path)
			}
		}
	}
	return all
}

// tool is the go command where the program is.
func (f *fixer) tool(env []string) *gotool.Tool { return gotool.New(f.config.Dir, env) }

func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[:min(n, len(lines))], "; ")
}

// newComplaints are the complaints of go vet, in what it wrote after a change, that it did
// not have before. A complaint is known by its message, because lines move.
func newComplaints(before, after string) []string {
	old := map[string]bool{}
	for _, d := range gotool.ParseDiagnostics(before) {
		old[d.Message] = true
	}
	var news []string
	for _, d := range gotool.ParseDiagnostics(after) {
		if !old[d.Message] {
			news = append(news, d.String())
		}
	}
	return news
}
