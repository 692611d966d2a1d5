package protecting

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A subject is a module whose own tests are run.
type subject struct {
	path, version string
	packages      []string // empty means all
}

// subjects are well-known modules that use mutexes heavily, and whose tests need no
// network and no more than a minute or two. TestModulesPassTheirTests of package protect
// does the same with what needs no download.
var subjects = []subject{
	{"github.com/patrickmn/go-cache", "v2.1.0+incompatible", nil},
	{"github.com/jackc/puddle/v2", "v2.2.2", nil},
	{"github.com/hashicorp/golang-lru/v2", "v2.0.7", []string{".", "./simplelru"}},
	{"github.com/sirupsen/logrus", "v1.9.3", nil},
	{"github.com/orcaman/concurrent-map/v2", "v2.0.1", nil},
	{"github.com/allegro/bigcache/v3", "v3.1.0", nil},
	{"github.com/coocood/freecache", "v1.2.4", nil},
	{"github.com/dgraph-io/ristretto", "v0.2.0", nil},
	{"go.uber.org/zap", "v1.27.0", []string{".", "./zapcore", "./internal/..."}},
	{"github.com/gorilla/websocket", "v1.5.3", nil},
	{"golang.org/x/sync", "v0.15.0", nil},
	{"github.com/benbjohnson/clock", "v1.3.5", nil},
	{"github.com/jellydator/ttlcache/v3", "v3.3.0", nil},
	{"github.com/bluele/gcache", "v0.0.2", nil},
	{"github.com/karlseguin/ccache/v3", "v3.0.6", nil},
}

const corpusUsage = `usage: bench protect-corpus [-quick] [-only TEXT]

Runs the tests of real modules as they are, and built with -protect=tolerate,
-protect=isolate and -protect=auto. A module passes if every test that passes as it is passes with
protection. Some tests depend on time: one that fails is run once more, and does not
count if it also fails once in fifty times as it is.
Exits with 1 if a module does not pass.

`

// Corpus runs the benchmark and returns the exit code.
func Corpus(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("protect-corpus", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, corpusUsage)
		flags.PrintDefaults()
	}
	quick := flags.Bool("quick", false, "only the first module")
	only := flags.String("only", "", "only modules whose path has this `text` in it")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		flags.Usage()
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c := &corpus{ctx: ctx}
	if err := c.run(stdout, stderr, *quick, *only); err != nil {
		fmt.Fprintln(stderr, "bench protect-corpus:", err)
		return 1
	}
	return 0
}

type corpus struct {
	ctx  context.Context
	dir  string
	tool string
}

func (c *corpus) run(stdout, stderr io.Writer, quick bool, only string) (err error) {
	if c.dir, err = os.MkdirTemp("", "bench-protect-corpus"); err != nil {
		return err
	}
	defer os.RemoveAll(c.dir)
	c.tool = filepath.Join(c.dir, "cofferdam")
	build := exec.CommandContext(c.ctx, "go", "build", "-o", c.tool, module+"cmd/cofferdam")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	t := measure.Table{Head: []string{"module", "tests", "protected", "tolerate", "isolate", "auto", "findings", "seconds"}}
	failed := 0
	for i, s := range subjects {
		if quick && i > 0 || !strings.Contains(s.path, only) {
			continue
		}
		fmt.Fprintf(stderr, "%s@%s\n", s.path, s.version)
		start := time.Now()
		r, err := c.subject(s)
		if err != nil {
			return fmt.Errorf("%s@%s: %w", s.path, s.version, err)
		}
		t.Row(s.path, r.tests, r.protected, r.verdict[0], r.verdict[1], r.verdict[2], r.findings, fmt.Sprintf("%.0f", time.Since(start).Seconds()))
		if r.failed {
			failed++
		}
		for _, line := range r.details {
			fmt.Fprintln(stderr, "\t"+line)
		}
	}
	t.Write(stdout)
	if failed > 0 {
		return fmt.Errorf("%d modules do not pass their tests with protection", failed)
	}
	return nil
}

// A result is what came of a module.
type result struct {
	tests     int
	protected string
	verdict   [3]string
	findings  int
	failed    bool
	details   []string
}

func (c *corpus) subject(s subject) (result, error) {
	var r result
	dir, err := c.fetch(s)
	if err != nil {
		return r, err
	}
	plain, _, err := c.test(dir, s, "go", "test")
	if err != nil {
		return r, err
	}
	r.tests = len(plain)
	for i, mode := range []string{"tolerate", "isolate", "auto"} {
		worse, said, err := c.compare(dir, s, plain, mode)
		if err != nil {
			return r, err
		}
		if len(worse) > 0 { // again: some tests depend on time
			again, _, err := c.compare(dir, s, plain, mode)
			if err != nil {
				return r, err
			}
			worse = slices.DeleteFunc(worse, func(t string) bool { return !slices.Contains(again, t) })
		}
		if len(worse) > 0 { // some fail now and then as they are
			if worse, err = c.steady(dir, s, worse); err != nil {
				return r, err
			}
		}
		r.verdict[i] = "pass"
		if len(worse) > 0 {
			r.verdict[i] = fmt.Sprintf("%d FAIL", len(worse))
			r.failed = true
			r.details = append(r.details, worse...)
		}
		if m := summaryLine.FindStringSubmatch(said); m != nil {
			r.protected = m[1] + m[2]
		}
		r.findings = max(r.findings, strings.Count(said, "\nviolation: "))
	}
	return r, nil
}

var summaryLine = regexp.MustCompile(`(?m)^cofferdam: (\d+ of \d+) guarded variables are protected( \(\d+ isolate, \d+ tolerate\))?`)

// compare returns the tests that pass as they are, and not with protection.
func (c *corpus) compare(dir string, s subject, plain map[string]bool, mode string) (worse []string, said string, err error) {
	got, said, err := c.test(dir, s, c.tool, "test", "-protect="+mode)
	if err != nil {
		return nil, said, err
	}
	for test, passed := range plain {
		if passed && !got[test] {
			worse = append(worse, test)
		}
	}
	slices.Sort(worse)
	return worse, said, nil
}

// steady returns the tests among those that pass many times as they are.
func (c *corpus) steady(dir string, s subject, tests []string) ([]string, error) {
	var steady []string
	for _, t := range tests {
		_, name, _ := strings.Cut(t, " ")
		name, _, _ = strings.Cut(name, "/")
		plain, _, err := c.test(dir, s, "go", "test", "-run=^"+name+"$", "-count=50")
		if err != nil {
			return nil, err
		}
		if plain[t] {
			steady = append(steady, t)
		}
	}
	return steady, nil
}

// fetch copies a module to a directory where it is the main module.
func (c *corpus) fetch(s subject) (string, error) {
	cmd := exec.CommandContext(c.ctx, "go", "mod", "download", "-json", s.path+"@"+s.version)
	cmd.Dir = c.dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download: %w\n%s", err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", fmt.Errorf("reading the output of go mod download: %w", err)
	}
	dir := filepath.Join(c.dir, strings.ReplaceAll(s.path, "/", "_"))
	if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
		return "", err
	}
	mod := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(mod); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(mod, []byte("module "+s.path+"\n"), 0o666); err != nil {
			return "", err
		}
	}
	// What tests need may be missing from an old go.sum.
	tidy := exec.CommandContext(c.ctx, "go", "mod", "tidy")
	tidy.Dir = dir
	if out, err := tidy.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go mod tidy: %w\n%s", err, out)
	}
	return dir, nil
}

// test runs the tests of a module, and returns which of them passed, and what was
// said beside.
func (c *corpus) test(dir string, s subject, command ...string) (map[string]bool, string, error) {
	ctx, cancel := context.WithTimeout(c.ctx, 10*time.Minute)
	defer cancel()
	packages := s.packages
	if packages == nil {
		packages = []string{"./..."}
	}
	args := slices.Concat(command[:2], []string{"-json", "-count=1"}, command[2:], packages)[1:]
	cmd := exec.CommandContext(ctx, command[0], args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, "", err
	}
	passed := make(map[string]bool)
	for lines := bufio.NewScanner(&stdout); lines.Scan(); {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Test == "" {
			continue
		}
		switch e.Action {
		case "pass":
			if _, failed := passed[e.Package+" "+e.Test]; !failed {
				passed[e.Package+" "+e.Test] = true
			}
		case "fail":
			passed[e.Package+" "+e.Test] = false
		}
	}
	if len(passed) == 0 {
		return nil, "", fmt.Errorf("%s %s ran no tests: %v\n%s", filepath.Base(command[0]), strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return passed, "\n" + stderr.String(), nil
}
