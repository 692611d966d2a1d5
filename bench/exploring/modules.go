package exploring

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
)

// modules are real ones whose own tests are concurrent. Those without a go.mod, or whose
// tests need what their go.mod does not have, are not among them.
var modules = []struct {
	path, version string
	packages      []string
}{
	{"golang.org/x/sync", "v0.16.0", []string{"./errgroup", "./semaphore", "./singleflight", "./syncmap"}},
	{"github.com/hashicorp/golang-lru/v2", "v2.0.7", []string{"./..."}},
	{"github.com/patrickmn/go-cache", "v2.1.0+incompatible", []string{"."}},
	{"github.com/sourcegraph/conc", "v0.3.0", []string{"./..."}},
	{"github.com/jellydator/ttlcache/v3", "v3.3.0", []string{"."}},
	{"github.com/alitto/pond", "v1.9.2", []string{"."}},
	{"github.com/cenkalti/backoff/v4", "v4.3.0", []string{"."}},
	{"github.com/eapache/queue", "v1.1.0", []string{"."}},
	{"github.com/orcaman/concurrent-map/v2", "v2.0.1", []string{"."}},
	{"go.uber.org/atomic", "v1.11.0", []string{"."}},
	{"github.com/sony/gobreaker", "v1.0.0", []string{"."}},
	{"github.com/puzpuzpuz/xsync/v3", "v3.5.1", []string{"."}},
	{"github.com/panjf2000/ants/v2", "v2.11.3", []string{"."}},
	{"golang.org/x/time", "v0.12.0", []string{"./rate"}},
}

const modulesUsage = `usage: bench explore-modules [-quick] [-module REGEXP] [-run REGEXP] [-schedules 100] [-budget 10s] [-json FILE]

Runs the tests of real modules, which it downloads through the module proxy, under the
default schedule and under a hundred random ones, and prints which of them fail: with
the reason from bench/exploring/failures.txt.

`

// moduleOptions are the flags of explore-modules.
type moduleOptions struct {
	module, run *regexp.Regexp
	quick       bool
	schedules   int
	budget      time.Duration
	json        string
}

// Modules runs the benchmark explore-modules and returns the exit code.
func Modules(args []string, stdout, stderr io.Writer) int {
	o, err := parseModules(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "bench explore-modules:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	report := ModulesReport{Machine: measure.ThisMachine(), Schedules: o.schedules}
	for i, m := range modules {
		if o.quick && i == 3 {
			break
		}
		if !o.module.MatchString(m.path) {
			continue
		}
		fmt.Fprintf(stderr, "%s@%s\n", m.path, m.version)
		r, err := tryModule(ctx, o, m.path, m.version, m.packages)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			fmt.Fprintf(stderr, "bench explore-modules: %s@%s: %v\n", m.path, m.version, err)
			r.Error = err.Error()
		}
		report.Modules = append(report.Modules, r)
	}
	report.print(stdout)
	if err := writeJSON(o.json, report); err != nil {
		fmt.Fprintln(stderr, "bench explore-modules:", err)
		return 1
	}
	return 0
}

func parseModules(args []string, stderr io.Writer) (moduleOptions, error) {
	var o moduleOptions
	flags := flag.NewFlagSet("bench explore-modules", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, modulesUsage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.quick, "quick", false, "only the first three modules")
	modulePattern := flags.String("module", "", "only the modules whose paths match this `regexp`")
	runPattern := flags.String("run", "", "only the tests whose names match this `regexp`")
	flags.IntVar(&o.schedules, "schedules", 100, "random schedules for each test")
	flags.DurationVar(&o.budget, "budget", 10*time.Second, "how long a test may take for them")
	flags.StringVar(&o.json, "json", "", "write the results to this file")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.schedules <= 0:
		return o, fmt.Errorf("-schedules %d: there must be at least one", o.schedules)
	case o.budget <= 0:
		return o, fmt.Errorf("-budget %v: there must be some time", o.budget)
	}
	var err error
	if o.module, err = regexp.Compile(*modulePattern); err != nil {
		return o, fmt.Errorf("-module: %w", err)
	}
	if o.run, err = regexp.Compile(*runPattern); err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	return o, nil
}

// tryModule explores the tests of a module.
func tryModule(ctx context.Context, o moduleOptions, path, version string, packages []string) (Module, error) {
	m := Module{Path: path, Version: version}
	temp, err := os.MkdirTemp("", "bench-explore-modules-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "module")
	if err := download(ctx, path, version, dir); err != nil {
		return m, err
	}
	if _, err := goCommand(ctx, dir, append([]string{"test", "-count=1", "-vet=off"}, packages...)...); err != nil {
		m.Notes = append(m.Notes, "its tests fail under go test itself")
	}
	build, err := explore.New(instrument.Config{Dir: dir, Patterns: packages, Tests: true})
	if err != nil {
		return m, err
	}
	defer build.Close()
	progress := measure.NewProgress(os.Stderr, 1)
	defer progress.Clear()
	why := failures()
	for _, p := range build.Programs {
		targets, err := p.Targets(ctx)
		if err != nil {
			return m, fmt.Errorf("listing the tests of %s: %w", p.Package, err)
		}
		for _, target := range targets {
			if !o.run.MatchString(target) || !strings.HasPrefix(target, "Test") && !strings.HasPrefix(target, "Example") {
				continue
			}
			progress.Show("%s %s", p.Package, target)
			start := time.Now()
			t := ModuleTest{Package: p.Package, Test: target}
			t.Default = tryTest(ctx, p, target, filepath.Join(temp, "run.trace"), explore.Options{Strategy: "dfs", Runs: 1, Budget: o.budget})
			t.Random = tryTest(ctx, p, target, filepath.Join(temp, "run.trace"), explore.Options{Strategy: "random", Runs: o.schedules, Budget: o.budget, Seed: 1})
			t.Seconds = time.Since(start).Seconds()
			if t.failed() {
				t.Why = why[path+" "+target]
				if t.Why == "" {
					t.Why = "not examined yet"
				}
			}
			if ctx.Err() != nil {
				return m, ctx.Err()
			}
			m.Tests = append(m.Tests, t)
		}
	}
	return m, nil
}

// tryTest explores one test, as far as it goes.
func tryTest(ctx context.Context, p *explore.Program, target, trace string, o explore.Options) Tried {
	o.Steps, o.Trace = stepLimit, trace
	res, err := p.Explore(ctx, target, &o)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return Tried{Error: text, Detail: err.Error()}
	}
	t := Tried{Runs: res.Runs, Cut: res.Cut, Fresh: res.Fresh}
	if res.Failure != nil {
		t.Failure = res.Failure.Kind + ": " + res.Failure.Message
		for _, call := range res.Failure.Stack {
			t.Stack = append(t.Stack, fmt.Sprintf("%s %s:%d", call.Function, filepath.Base(call.File), call.Line))
		}
		for _, other := range res.Failure.Others {
			for _, call := range other.Stack {
				t.Stack = append(t.Stack, fmt.Sprintf("with %s %s:%d", call.Function, filepath.Base(call.File), call.Line))
			}
		}
	}
	return t
}

// download copies a module to where its packages are the main module's, whose accesses
// are explored.
func download(ctx context.Context, path, version, dir string) error {
	text, err := goCommand(ctx, os.TempDir(), "mod", "download", "-json", path+"@"+version)
	if err != nil {
		return err
	}
	var at struct{ Dir string }
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return fmt.Errorf("reading the output of go mod download: %w", err)
	}
	err = filepath.WalkDir(at.Dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(at.Dir, file)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o666)
	})
	if err != nil {
		return fmt.Errorf("copying the module: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+path+"\n\ngo 1.18\n"), 0o666)
	}
	return nil
}

//go:embed failures.txt
var failuresText string

// failures reads failures.txt: module, test, reason.
func failures() map[string]string {
	all := make(map[string]string)
	for s := bufio.NewScanner(strings.NewReader(failuresText)); s.Scan(); {
		f := strings.SplitN(s.Text(), " ", 3)
		if len(f) == 3 && f[0] != "#" {
			all[f[0]+" "+f[1]] = f[2]
		}
	}
	return all
}
