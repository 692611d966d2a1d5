package exploring

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
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
	{"golang.org/x/time", "v0.12.0", []string{"./rate"}},
	{"github.com/puzpuzpuz/xsync/v3", "v3.5.1", []string{"."}},
	{"github.com/panjf2000/ants/v2", "v2.11.3", []string{"."}},
}

const modulesUsage = `usage: bench explore-modules [-quick] [-module REGEXP] [-run REGEXP] [-schedules 100] [-budget 2m] [-parallel N] [-json FILE]

Runs the tests of real modules, which it downloads through the module proxy, under the
default schedule and under a hundred random ones, and prints which of them fail: with
the reason from bench/exploring/failures.txt. The tests are told to be short, as by go
test -short. Of a long test that has only a few schedules, every one is run and no random
ones; one that takes more than five million steps is too large, and cut off.

`

// moduleOptions are the flags of explore-modules.
type moduleOptions struct {
	module, run *regexp.Regexp
	quick       bool
	schedules   int
	parallel    int
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
	temp, err := ownTemp()
	if err != nil {
		fmt.Fprintln(stderr, "bench explore-modules:", err)
		return 1
	}
	defer os.RemoveAll(temp)
	start := time.Now()
	report := ModulesReport{Machine: measure.ThisMachine(), Schedules: o.schedules}
	for i, m := range modules {
		if o.quick && i == 3 {
			break
		}
		if !o.module.MatchString(m.path) {
			continue
		}
		fmt.Fprintf(stderr, "%s@%s\n", m.path, m.version)
		begun := time.Now()
		r, err := tryModule(ctx, o, m.path, m.version, m.packages)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			fmt.Fprintf(stderr, "bench explore-modules: %s@%s: %v\n", m.path, m.version, err)
			r.Error = err.Error()
		}
		r.Seconds = time.Since(begun).Seconds()
		report.Modules = append(report.Modules, r)
	}
	report.Seconds = time.Since(start).Seconds()
	report.print(stdout)
	if err := writeJSON(o.json, report); err != nil {
		fmt.Fprintln(stderr, "bench explore-modules:", err)
		return 1
	}
	return 0
}

// ownTemp makes a directory for all temporary files, of the tests too: some leave theirs
// behind, and a hundred times as many as under go test.
func ownTemp() (string, error) {
	temp, err := os.MkdirTemp("", "bench-explore-modules-")
	if err != nil {
		return "", err
	}
	return temp, os.Setenv("TMPDIR", temp)
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
	flags.DurationVar(&o.budget, "budget", 2*time.Minute, "how long a test may take for them")
	flags.IntVar(&o.parallel, "parallel", runtime.NumCPU(), "how many tests to run at a time")
	flags.StringVar(&o.json, "json", "", "write the results to this file")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.schedules <= 0:
		return o, fmt.Errorf("-schedules %d: there must be at least one", o.schedules)
	case o.parallel <= 0:
		return o, fmt.Errorf("-parallel %d: there must be at least one", o.parallel)
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
