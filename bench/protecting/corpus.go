package protecting

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Corpus is go run ./bench protect-corpus.
var Corpus = &command.Benchmark{
	Name:  "protect-corpus",
	About: "real modules' own tests, with their guarded data protected",
	Usage: "[-only TEXT] [-limit DURATION] ",
	Help: `Runs the tests of real modules, with -short, as they are, and built with -protect=tolerate,
-protect=isolate and -protect=auto. A module passes if every test ends with protection as
it does without: passes, fails or is skipped. Some tests depend on time: one that differs is
run once more, and does not count if it differs from itself within fifty times as it is.
Beside the verdict is how many of the sections are protected from lock to unlock, how many
in part, and how many there are. Tests that do not end within the limit, in one build or the
other, are counted and not compared. Exits with 1 if a module does not pass.`,
	Quick: "only the first module",
	New: func(flags *flag.FlagSet) command.Measurement {
		c := &corpus{}
		flags.StringVar(&c.only, "only", "", "only modules whose path has this `text` in it")
		flags.DurationVar(&c.limit, "limit", 5*time.Minute, "how `long` the tests of a package may take")
		return c
	},
}

// A corpus is one run of the command.
type corpus struct {
	*command.Session
	only  string
	limit time.Duration
	tool  string
}

// Check has nothing to complete.
func (c *corpus) Check(bool) error { return nil }

// Measure runs the command.
func (c *corpus) Measure(s *command.Session) (_ any, err error) {
	c.Session = s
	if c.tool, err = s.Cofferdam(); err != nil {
		return nil, err
	}
	t := measure.Table{Head: []string{"module", "KB of Go", "tests", "cut off", "tolerate", "isolate", "auto", "findings", "seconds"}}
	failed, size := 0, int64(0)
	var all []result
	for i, m := range subjects {
		if s.Quick && i > 0 || !strings.Contains(m.Path, c.only) {
			continue
		}
		fmt.Fprintln(s.Err, m)
		start := time.Now()
		r, err := c.subject(m)
		if s.Context.Err() != nil {
			break // what there is so far is printed
		}
		if err != nil {
			r.Differ = append(r.Differ, fmt.Sprintf("it cannot be tried: %v", err))
		}
		r.Seconds = time.Since(start).Seconds()
		t.Row(r.Module, r.Bytes>>10, r.Tests, r.CutOff, r.Verdict[0], r.Verdict[1], r.Verdict[2], r.Findings, fmt.Sprintf("%.0f", r.Seconds))
		size += r.Bytes
		all = append(all, r)
		if len(r.Differ) > 0 {
			failed++
		}
		for _, line := range r.Differ {
			fmt.Fprintln(s.Err, "\t"+line)
		}
	}
	t.Write(s.Out)
	fmt.Fprintf(s.Out, "%d modules, %.1f MB of Go\n", len(all), float64(size)/1e6)
	if err := s.Context.Err(); err != nil {
		return all, err
	}
	if failed > 0 {
		return all, fmt.Errorf("%d modules do not pass their tests with protection", failed)
	}
	return all, nil
}

// A result is what came of a module.
type result struct {
	Module   string    `json:"module"`
	Bytes    int64     `json:"bytes"` // of its packages that are tested, and of those that they import
	Tests    int       `json:"tests"`
	CutOff   int       `json:"cut_off,omitempty"` // tests that did not end in time in some build
	Verdict  [3]string `json:"verdict"`           // of the modes, with the share that is protected
	Findings int       `json:"findings"`
	Differ   []string  `json:"differ,omitempty"` // tests that end otherwise with protection
	Seconds  float64   `json:"seconds"`
}

func (c *corpus) subject(s command.Module) (result, error) {
	r := result{Module: s.Path}
	dir, err := c.fetch(s)
	if err != nil {
		return r, err
	}
	if r.Bytes, err = c.sourceSize(dir, s); err != nil {
		return r, err
	}
	plain, _, err := c.test(dir, s, "go", "test")
	if err != nil {
		return r, err
	}
	for test := range plain {
		if isTest(test) {
			r.Tests++
		}
	}
	for i, mode := range []string{"tolerate", "isolate", "auto"} {
		differ, cutOff, said, err := c.compare(dir, s, plain, mode)
		if err != nil {
			return r, err
		}
		if len(differ) > 0 { // again: some tests depend on time
			again, _, _, err := c.compare(dir, s, plain, mode)
			if err != nil {
				return r, err
			}
			differ = slices.DeleteFunc(differ, func(d difference) bool { return !slices.Contains(again, d) })
		}
		if differ, err = c.steady(dir, s, differ); err != nil {
			return r, err
		}
		r.Verdict[i] = "pass" + share(said)
		if len(differ) > 0 {
			r.Verdict[i] = fmt.Sprintf("%d DIFFER", len(differ)) + share(said)
		}
		r.CutOff = max(r.CutOff, cutOff)
		for _, d := range differ {
			r.Differ = append(r.Differ, fmt.Sprintf("-protect=%s: %s: %s, and as it is: %s", mode, d.test, cmp.Or(d.ended, "did not run"), d.plain))
		}
		r.Findings = max(r.Findings, strings.Count(said, "\nviolation: "))
	}
	return r, nil
}

// sourceSize adds up the Go files of a module that its tests are built of.
func (c *corpus) sourceSize(dir string, s command.Module) (size int64, err error) {
	dirs, err := c.Go(dir, slices.Concat([]string{"list", "-deps", "-test", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}"}, s.Patterns())...)
	if err != nil {
		return 0, err
	}
	seen := make(map[string]bool)
	for _, d := range strings.Fields(dirs) {
		if seen[d] {
			continue
		}
		seen[d] = true
		names, err := filepath.Glob(filepath.Join(d, "*.go"))
		if err != nil {
			return 0, err
		}
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				return 0, err
			}
			size += info.Size()
		}
	}
	return size, nil
}

// A difference is a test that ends otherwise with protection.
type difference struct{ test, plain, ended string }

var summaryLine = regexp.MustCompile(`(?m)^cofferdam: .*; of (\d+) sections (\d+) are protected from lock to unlock(?:, (\d+) in part)?`)

// share returns how many sections are protected, by what a program says when it starts.
func share(said string) string {
	m := summaryLine.FindStringSubmatch(said)
	if m == nil {
		return ", no sections"
	}
	return fmt.Sprintf(", %s+%s of %s", m[2], cmp.Or(m[3], "0"), m[1])
}

// compare returns the tests that do not end as they do without protection, and how many were cut
// off in one of the builds.
func (c *corpus) compare(dir string, s command.Module, plain map[string]string, mode string) (differ []difference, cutOff int, said string, err error) {
	got, said, err := c.test(dir, s, c.tool, "test", "-protect="+mode)
	if err != nil {
		return nil, 0, said, err
	}
	for _, test := range slices.Sorted(maps.Keys(plain)) {
		switch {
		case !isTest(test):
		case plain[test] == outOfTime || got[test] == outOfTime:
			cutOff++
		case got[test] != plain[test] && !after(got, test):
			differ = append(differ, difference{test, plain[test], got[test]})
		}
	}
	return differ, cutOff, said, nil
}

// after reports whether a test has no result because another of its package took all the time
// that there was.
func after(got map[string]string, test string) bool {
	pkg, _, _ := strings.Cut(test, " ")
	return got[test] == "" && got[pkg] == outOfTime
}

// steady returns the differences of tests that end in the same way many times as they are. A test
// with many subtests is run for all of them at once.
func (c *corpus) steady(dir string, s command.Module, all []difference) ([]difference, error) {
	var steady []difference
	asIs := make(map[string]map[string]string) // how they ended, by the name of the whole test
	for _, d := range all {
		_, name, _ := strings.Cut(d.test, " ")
		name, _, _ = strings.Cut(name, "/")
		if asIs[name] == nil {
			plain, _, err := c.test(dir, s, "go", "test", "-run=^"+name+"$", "-count=50")
			if err != nil {
				return nil, err
			}
			asIs[name] = plain
		}
		if asIs[name][d.test] == d.plain {
			steady = append(steady, d)
		}
	}
	return steady, nil
}

// fetch copies a module to a directory where it is the main module.
func (c *corpus) fetch(m command.Module) (string, error) {
	dir := c.Temp(strings.ReplaceAll(m.Path, "/", "_"))
	if err := m.Copy(c.Context, dir); err != nil {
		return "", err
	}
	// What tests need may be missing from an old go.sum.
	_, err := c.Go(dir, "mod", "tidy")
	return dir, err
}

// address is what some tests have in their names, of functions and variables that are elsewhere in another
// build.
var address = regexp.MustCompile(`0x[0-9a-f]+`)

// outOfTime is how a test ends that the limit has cut off, and a package with such a test.
const outOfTime = "cut off"

// test runs the tests of a module, and returns how they ended, and what was said beside.
func (c *corpus) test(dir string, s command.Module, argv ...string) (map[string]string, string, error) {
	// Building and the tests of several packages take longer than those of one. A go command
	// that is ended leaves tests behind, which have the limit, and would be waited for.
	ctx, cancel := context.WithTimeout(c.Context, 4*c.limit+10*time.Minute)
	defer cancel()
	args := slices.Concat(argv[:2], []string{"-json", "-short", "-count=1", "-timeout=" + c.limit.String()}, argv[2:], s.Patterns())[1:]
	cmd := exec.CommandContext(ctx, argv[0], args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, "", err
	}
	ended := endings(&stdout)
	if len(ended) == 0 {
		return nil, "", fmt.Errorf("%s %s ran no tests: %v\n%s", filepath.Base(argv[0]), strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return ended, "\n" + stderr.String(), nil
}

// endings reads how tests ended from what go test -json prints. A package that ran out of time is
// there by its path alone, and those of its tests that had begun.
func endings(stdout io.Reader) map[string]string {
	ended := make(map[string]string)
	running := make(map[string][]string) // by package
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e struct{ Action, Package, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if strings.HasPrefix(e.Output, "panic: test timed out after ") {
			ended[e.Package] = outOfTime
		}
		if e.Test == "" {
			continue
		}
		test := e.Package + " " + address.ReplaceAllString(e.Test, "0x")
		switch e.Action {
		case "run":
			running[e.Package] = append(running[e.Package], test)
		case "pass", "fail", "skip":
			if ended[e.Package] == outOfTime {
				e.Action = outOfTime
			}
			if before := ended[test]; before != "" && before != e.Action {
				e.Action = "not always the same"
			}
			ended[test] = e.Action
		}
	}
	for pkg, tests := range running {
		for _, test := range tests {
			if ended[pkg] == outOfTime && ended[test] == "" {
				ended[test] = outOfTime
			}
		}
	}
	return ended
}

// isTest tells a test from its package.
func isTest(ended string) bool { return strings.Contains(ended, " ") }

// maxLine is how long a line of go test -json may be.
const maxLine = 16 << 20
