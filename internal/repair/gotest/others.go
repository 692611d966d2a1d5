package gotest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// others runs all tests of the packages that a change is about: a lock that mends one may break another.
func (t *Test) others(ctx context.Context, c Change) (why string, pass bool, err error) {
	t.Progress("running the package's other tests")
	args := t.command("-timeout=30s")
	out, err := t.tool(c.Env).Combined(ctx, slices.Concat(args, c.Flags, c.Packages)...)
	if err == nil {
		return "", true, nil
	}
	if t.before == nil {
		text, err := t.tool(t.Env).Combined(ctx, slices.Concat(args, t.Flags, c.Packages)...)
		t.before = &testRun{failed: failing(text), passed: err == nil}
	}
	failed := failing(out)
	for _, name := range failed {
		if !slices.Contains(t.before.failed, name) && !t.failsNowAndThen(ctx, "^"+name+"$", "FAIL", c.Packages) {
			return "with it, another test fails: " + name, false, nil
		}
	}
	switch {
	case !strings.Contains(out, "FAIL"):
		return "", false, fmt.Errorf("running the package's tests: %s", firstLines(err.Error(), 4))
	case len(failed) == 0 && t.before.passed:
		if crash := crashed.FindString(out); crash != "" && t.failsNowAndThen(ctx, "", crash, c.Packages) {
			return "", false, nil
		}
		return "with it, the package's tests fail: " + firstLines(out, 3), false, nil
	}
	return "", false, nil
}

// failsNowAndThen reports whether tests fail without any change too, with the same words, if they
// are run often: those that depend on the schedule pass or fail by chance, and say nothing of a
// change.
func (t *Test) failsNowAndThen(ctx context.Context, tests, words string, packages []string) bool {
	t.Progress("running tests without it, to see whether they fail by chance")
	args := t.command("-timeout=60s", "-run="+tests, fmt.Sprintf("-count=%d", often))
	out, err := t.tool(t.Env).Combined(ctx, slices.Concat(args, t.Flags, packages)...)
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

func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[:min(n, len(lines))], "; ")
}
