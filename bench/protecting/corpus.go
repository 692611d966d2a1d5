package protecting

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// subjects are well-known modules that use mutexes heavily, and whose tests need no
// network and no more than a minute or two. TestModulesPassTheirTests of package protect
// does the same with what needs no download.
var subjects = []command.Module{
	{Path: "github.com/patrickmn/go-cache", Version: "v2.1.0+incompatible"},
	{Path: "github.com/jackc/puddle/v2", Version: "v2.2.2"},
	{Path: "github.com/hashicorp/golang-lru/v2", Version: "v2.0.7", Packages: []string{".", "./simplelru"}},
	{Path: "github.com/sirupsen/logrus", Version: "v1.9.3"},
	{Path: "github.com/orcaman/concurrent-map/v2", Version: "v2.0.1"},
	{Path: "github.com/allegro/bigcache/v3", Version: "v3.1.0"},
	{Path: "github.com/coocood/freecache", Version: "v1.2.4"},
	{Path: "github.com/dgraph-io/ristretto", Version: "v0.2.0"},
	{Path: "go.uber.org/zap", Version: "v1.27.0", Packages: []string{".", "./zapcore", "./internal/..."}},
	{Path: "github.com/gorilla/websocket", Version: "v1.5.3"},
	{Path: "golang.org/x/sync", Version: "v0.15.0"},
	{Path: "github.com/benbjohnson/clock", Version: "v1.3.5"},
	{Path: "github.com/jellydator/ttlcache/v3", Version: "v3.3.0"},
	{Path: "github.com/bluele/gcache", Version: "v0.0.2"},
	{Path: "github.com/karlseguin/ccache/v3", Version: "v3.0.6"},
}

// Corpus is go run ./bench protect-corpus.
var Corpus = &command.Benchmark{
	Name:  "protect-corpus",
	About: "real modules' own tests, with their guarded data protected",
	Usage: "[-only TEXT] ",
	Help: `Runs the tests of real modules as they are, and built with -protect=tolerate,
-protect=isolate and -protect=auto. A module passes if every test that passes as it is
passes with protection. Some tests depend on time: one that fails is run once more, and
does not count if it also fails once in fifty times as it is. Exits with 1 if a module
does not pass.`,
	Quick: "only the first module",
	New: func(flags *flag.FlagSet) command.Measurement {
		c := &corpus{}
		flags.StringVar(&c.only, "only", "", "only modules whose path has this `text` in it")
		return c
	},
}

// A corpus is one run of the command.
type corpus struct {
	*command.Session
	only string
	tool string
}

// Check has nothing to complete.
func (c *corpus) Check(bool) error { return nil }

// Measure runs the command.
func (c *corpus) Measure(s *command.Session) (_ any, err error) {
	c.Session = s
	if c.tool, err = s.Cofferdam(); err != nil {
		return nil, err
	}
	t := measure.Table{Head: []string{"module", "tests", "protected", "tolerate", "isolate", "auto", "findings", "seconds"}}
	failed := 0
	var all []result
	for i, m := range subjects {
		if s.Quick && i > 0 || !strings.Contains(m.Path, c.only) {
			continue
		}
		fmt.Fprintln(s.Err, m)
		start := time.Now()
		r, err := c.subject(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		r.Seconds = time.Since(start).Seconds()
		t.Row(r.Module, r.Tests, r.Protected, r.Verdict[0], r.Verdict[1], r.Verdict[2], r.Findings, fmt.Sprintf("%.0f", r.Seconds))
		all = append(all, r)
		if len(r.Worse) > 0 {
			failed++
		}
		for _, line := range r.Worse {
			fmt.Fprintln(s.Err, "\t"+line)
		}
	}
	t.Write(s.Out)
	if failed > 0 {
		return all, fmt.Errorf("%d modules do not pass their tests with protection", failed)
	}
	return all, nil
}

// A result is what came of a module.
type result struct {
	Module    string    `json:"module"`
	Tests     int       `json:"tests"`
	Protected string    `json:"protected"`
	Verdict   [3]string `json:"verdict"` // of the modes
	Findings  int       `json:"findings"`
	Worse     []string  `json:"worse,omitempty"` // tests that pass as they are, and not with protection
	Seconds   float64   `json:"seconds"`
}

func (c *corpus) subject(s command.Module) (result, error) {
	r := result{Module: s.Path}
	dir, err := c.fetch(s)
	if err != nil {
		return r, err
	}
	plain, _, err := c.test(dir, s, "go", "test")
	if err != nil {
		return r, err
	}
	r.Tests = len(plain)
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
		r.Verdict[i] = "pass"
		if len(worse) > 0 {
			r.Verdict[i] = fmt.Sprintf("%d FAIL", len(worse))
			r.Worse = append(r.Worse, worse...)
		}
		if m := summaryLine.FindStringSubmatch(said); m != nil {
			r.Protected = m[1] + m[2]
		}
		r.Findings = max(r.Findings, strings.Count(said, "\nviolation: "))
	}
	return r, nil
}

var summaryLine = regexp.MustCompile(`(?m)^cofferdam: (\d+ of \d+) guarded variables are protected(.*)$`)

// compare returns the tests that pass as they are, and not with protection.
func (c *corpus) compare(dir string, s command.Module, plain map[string]bool, mode string) (worse []string, said string, err error) {
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
func (c *corpus) steady(dir string, s command.Module, tests []string) ([]string, error) {
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
func (c *corpus) fetch(m command.Module) (string, error) {
	dir := c.Temp(strings.ReplaceAll(m.Path, "/", "_"))
	if err := m.Copy(c.Context, dir); err != nil {
		return "", err
	}
	// What tests need may be missing from an old go.sum.
	_, err := c.Go(dir, "mod", "tidy")
	return dir, err
}

// test runs the tests of a module, and returns which of them passed, and what was
// said beside.
func (c *corpus) test(dir string, s command.Module, argv ...string) (map[string]bool, string, error) {
	ctx, cancel := context.WithTimeout(c.Context, 10*time.Minute)
	defer cancel()
	args := slices.Concat(argv[:2], []string{"-json", "-count=1"}, argv[2:], s.Patterns())[1:]
	cmd := exec.CommandContext(ctx, argv[0], args...)
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
		return nil, "", fmt.Errorf("%s %s ran no tests: %v\n%s", filepath.Base(argv[0]), strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return passed, "\n" + stderr.String(), nil
}
