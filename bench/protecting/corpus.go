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
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// subjects are well-known modules that use locks, and whose tests need no network but that of
// the machine and no more than a minute or two. TestModulesPassTheirTests of package protect
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
	{Path: "github.com/alitto/pond", Version: "v1.9.2"},
	{Path: "github.com/asaskevich/EventBus", Version: "v0.0.0-20200907212545-49d423059eef"},
	{Path: "github.com/cenkalti/backoff/v4", Version: "v4.3.0"},
	{Path: "github.com/cheggaaa/pb/v3", Version: "v3.1.5"},
	{Path: "github.com/cskr/pubsub", Version: "v1.0.2"},
	{Path: "github.com/deckarep/golang-set/v2", Version: "v2.6.0"},
	{Path: "github.com/eapache/go-resiliency", Version: "v1.7.0"},
	{Path: "github.com/fatih/color", Version: "v1.18.0"},
	{Path: "github.com/gammazero/workerpool", Version: "v1.1.3"},
	{Path: "github.com/gin-gonic/gin", Version: "v1.10.0", Packages: []string{"."}},
	{Path: "github.com/go-chi/chi/v5", Version: "v5.1.0"},
	{Path: "github.com/go-pkgz/expirable-cache/v3", Version: "v3.0.0"},
	{Path: "github.com/hashicorp/go-hclog", Version: "v1.6.3"},
	{Path: "github.com/hashicorp/go-immutable-radix", Version: "v1.3.1"},
	{Path: "github.com/hashicorp/go-multierror", Version: "v1.1.1"},
	{Path: "github.com/hashicorp/go-metrics", Version: "v0.5.4", Packages: []string{"."}},
	{Path: "github.com/hashicorp/raft", Version: "v1.7.1", Packages: []string{"."}},
	{Path: "github.com/jonboulle/clockwork", Version: "v0.4.0"},
	{Path: "github.com/kelindar/event", Version: "v1.5.2"},
	{Path: "github.com/klauspost/compress", Version: "v1.17.9", Packages: []string{"./flate", "./gzip", "./s2", "./zlib"}},
	{Path: "github.com/looplab/fsm", Version: "v1.0.2"},
	{Path: "github.com/marusama/cyclicbarrier", Version: "v1.1.0"},
	{Path: "github.com/miekg/dns", Version: "v1.1.62", Packages: []string{"."}},
	{Path: "github.com/muesli/cache2go", Version: "v0.0.0-20221011235721-518229cd8021"},
	{Path: "github.com/nats-io/nuid", Version: "v1.0.1"},
	{Path: "github.com/oklog/run", Version: "v1.1.0"},
	{Path: "github.com/panjf2000/ants/v2", Version: "v2.11.3"},
	{Path: "github.com/prometheus/client_golang", Version: "v1.20.5", Packages: []string{"./prometheus"}},
	{Path: "github.com/puzpuzpuz/xsync/v3", Version: "v3.5.1"},
	{Path: "github.com/rcrowley/go-metrics", Version: "v0.0.0-20201227073835-cf1acfcdf475", Packages: []string{"."}},
	{Path: "github.com/robfig/cron/v3", Version: "v3.0.1"},
	{Path: "github.com/rs/zerolog", Version: "v1.33.0", Packages: []string{"."}},
	{Path: "github.com/spf13/cobra", Version: "v1.10.2", Packages: []string{"."}},
	{Path: "github.com/stretchr/testify", Version: "v1.10.0", Packages: []string{"./assert", "./mock"}},
	{Path: "go.etcd.io/bbolt", Version: "v1.3.11", Packages: []string{"."}},
	{Path: "golang.org/x/net", Version: "v0.34.0", Packages: []string{"./http2", "./netutil", "./webdav", "./trace"}},
	{Path: "golang.org/x/time", Version: "v0.8.0"},
	{Path: "golang.org/x/tools", Version: "v0.28.0", Packages: []string{"./go/ssa", "./go/packages", "./internal/gcimporter"}},
	{Path: "google.golang.org/protobuf", Version: "v1.36.1", Packages: []string{"./proto", "./internal/impl", "./reflect/protoregistry"}},
}

// Corpus is go run ./bench protect-corpus.
var Corpus = &command.Benchmark{
	Name:  "protect-corpus",
	About: "real modules' own tests, with their guarded data protected",
	Usage: "[-only TEXT] ",
	Help: `Runs the tests of real modules as they are, and built with -protect=tolerate,
-protect=isolate and -protect=auto. A module passes if every test ends with protection as
it does without: passes, fails or is skipped. Some tests depend on time: one that differs is
run once more, and does not count if it differs from itself within fifty times as it is.
Beside the verdict is how many of the sections are protected from lock to unlock, how many
in part, and how many there are. Exits with 1 if a module does not pass.`,
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
	t := measure.Table{Head: []string{"module", "KB of Go", "tests", "tolerate", "isolate", "auto", "findings", "seconds"}}
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
			return all, s.Context.Err()
		}
		if err != nil {
			r.Differ = append(r.Differ, fmt.Sprintf("it cannot be tried: %v", err))
		}
		r.Seconds = time.Since(start).Seconds()
		t.Row(r.Module, r.Bytes>>10, r.Tests, r.Verdict[0], r.Verdict[1], r.Verdict[2], r.Findings, fmt.Sprintf("%.0f", r.Seconds))
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
	if failed > 0 {
		return all, fmt.Errorf("%d modules do not pass their tests with protection", failed)
	}
	return all, nil
}

// A result is what came of a module.
type result struct {
	Module   string    `json:"module"`
	Bytes    int64     `json:"bytes"` // of its sources
	Tests    int       `json:"tests"`
	Verdict  [3]string `json:"verdict"` // of the modes, with the share that is protected
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
	plain, _, err := c.test(dir, s, "go", "test")
	if err != nil {
		return r, err
	}
	r.Tests = len(plain)
	if r.Bytes, err = sourceSize(dir); err != nil {
		return r, err
	}
	for i, mode := range []string{"tolerate", "isolate", "auto"} {
		differ, said, err := c.compare(dir, s, plain, mode)
		if err != nil {
			return r, err
		}
		if len(differ) > 0 { // again: some tests depend on time
			again, _, err := c.compare(dir, s, plain, mode)
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
		for _, d := range differ {
			r.Differ = append(r.Differ, fmt.Sprintf("-protect=%s: %s: %s, and as it is: %s", mode, d.test, cmp.Or(d.ended, "did not run"), d.plain))
		}
		r.Findings = max(r.Findings, strings.Count(said, "\nviolation: "))
	}
	return r, nil
}

// sourceSize adds up the Go files of a module.
func sourceSize(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
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

// compare returns the tests that do not end as they do without protection.
func (c *corpus) compare(dir string, s command.Module, plain map[string]string, mode string) (differ []difference, said string, err error) {
	got, said, err := c.test(dir, s, c.tool, "test", "-protect="+mode)
	if err != nil {
		return nil, said, err
	}
	for _, test := range slices.Sorted(maps.Keys(plain)) {
		if got[test] != plain[test] {
			differ = append(differ, difference{test, plain[test], got[test]})
		}
	}
	return differ, said, nil
}

// steady returns the differences of tests that end in the same way many times as they are.
func (c *corpus) steady(dir string, s command.Module, all []difference) ([]difference, error) {
	var steady []difference
	for _, d := range all {
		_, name, _ := strings.Cut(d.test, " ")
		name, _, _ = strings.Cut(name, "/")
		plain, _, err := c.test(dir, s, "go", "test", "-run=^"+name+"$", "-count=50")
		if err != nil {
			return nil, err
		}
		if plain[d.test] == d.plain {
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

// test runs the tests of a module, and returns how they ended, and what was said beside.
func (c *corpus) test(dir string, s command.Module, argv ...string) (map[string]string, string, error) {
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
	ended := make(map[string]string)
	for lines := bufio.NewScanner(&stdout); lines.Scan(); {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Test == "" {
			continue
		}
		switch e.Action {
		case "pass", "fail", "skip":
			test := e.Package + " " + address.ReplaceAllString(e.Test, "0x")
			if before := ended[test]; before != "" && before != e.Action {
				e.Action = "not always the same"
			}
			ended[test] = e.Action
		}
	}
	if len(ended) == 0 {
		return nil, "", fmt.Errorf("%s %s ran no tests: %v\n%s", filepath.Base(argv[0]), strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return ended, "\n" + stderr.String(), nil
}
