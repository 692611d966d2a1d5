package exploring

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// modules are real ones whose own tests are concurrent. Those without a go.mod, or whose
// tests need what their go.mod does not have, are not among them.
var modules = []command.Module{
	{Path: "golang.org/x/sync", Version: "v0.16.0", Packages: []string{"./errgroup", "./semaphore", "./singleflight", "./syncmap"}},
	{Path: "github.com/hashicorp/golang-lru/v2", Version: "v2.0.7", Packages: []string{"./..."}},
	{Path: "github.com/patrickmn/go-cache", Version: "v2.1.0+incompatible", Packages: []string{"."}},
	{Path: "github.com/sourcegraph/conc", Version: "v0.3.0", Packages: []string{"./..."}},
	{Path: "github.com/jellydator/ttlcache/v3", Version: "v3.3.0", Packages: []string{"."}},
	{Path: "github.com/alitto/pond", Version: "v1.9.2", Packages: []string{"."}},
	{Path: "github.com/cenkalti/backoff/v4", Version: "v4.3.0", Packages: []string{"."}},
	{Path: "github.com/eapache/queue", Version: "v1.1.0", Packages: []string{"."}},
	{Path: "github.com/orcaman/concurrent-map/v2", Version: "v2.0.1", Packages: []string{"."}},
	{Path: "go.uber.org/atomic", Version: "v1.11.0", Packages: []string{"."}},
	{Path: "github.com/sony/gobreaker", Version: "v1.0.0", Packages: []string{"."}},
	{Path: "golang.org/x/time", Version: "v0.12.0", Packages: []string{"./rate"}},
	{Path: "github.com/puzpuzpuz/xsync/v3", Version: "v3.5.1", Packages: []string{"."}},
	{Path: "github.com/panjf2000/ants/v2", Version: "v2.11.3", Packages: []string{"."}},
	{Path: "github.com/hashicorp/raft", Version: "v1.7.1", Packages: []string{"."}},
}

// Modules is go run ./bench explore-modules.
var Modules = &command.Benchmark{
	Name:  "explore-modules",
	About: "real modules' own tests under the default schedule and under a hundred random ones",
	Usage: "[-module REGEXP] [-run REGEXP] [-schedules 100] [-budget 2m] [-total DURATION] [-tests] [-parallel N] ",
	Help: `Runs the tests of real modules, which it downloads through the module proxy, under the
default schedule and under a hundred random ones, and prints which of them fail: with
the reason from bench/exploring/failures.txt. The tests are told to be short, as by go
test -short. Of a long test that has only a few schedules, every one is run and no random
ones; one that takes more than five million steps is too large, and cut off. With -tests
every test has a line that says how far it was explored, or why not.`,
	Quick: "only the first three modules",
	New:   newModulesMeasurement,
}

// moduleOptions are the flags of explore-modules.
type moduleOptions struct {
	module, run *regexp.Regexp
	schedules   int
	parallel    int
	budget      time.Duration
	total       time.Duration // for the tests of a module; 0: as long as they take
	tests       bool
}

func newModulesMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &moduleOptions{
		module: command.Pattern(flags, "module", "only the modules whose paths match this `regexp`"),
		run:    command.Pattern(flags, "run", "only the tests whose names match this `regexp`"),
	}
	flags.IntVar(&o.schedules, "schedules", 100, "random `schedules` for each test")
	flags.DurationVar(&o.budget, "budget", 2*time.Minute, "how long a test may take for them")
	flags.DurationVar(&o.total, "total", 0, "how long the tests of a module may take together, once they are built; 0 is as long as it takes")
	flags.BoolVar(&o.tests, "tests", false, "print a line for each test")
	flags.IntVar(&o.parallel, "parallel", runtime.NumCPU(), "how many `tests` to run at a time")
	return o
}

// Check refuses numbers that make no sense.
func (o *moduleOptions) Check(bool) error {
	return errors.Join(command.AtLeastOne("schedules", o.schedules), command.AtLeastOne("parallel", o.parallel), command.SomeTime("budget", o.budget))
}

// Measure runs the command.
func (o *moduleOptions) Measure(s *command.Session) (any, error) {
	// All temporary files are in one directory, those of the tests too: some leave theirs
	// behind, and a hundred times as many as under go test.
	if err := os.Setenv("TMPDIR", s.Temp("")); err != nil {
		return nil, err
	}
	start := time.Now()
	report := ModulesReport{Machine: measure.ThisMachine(), Schedules: o.schedules}
	for i, m := range modules {
		if s.Quick && i == 3 {
			break
		}
		if !o.module.MatchString(m.Path) {
			continue
		}
		fmt.Fprintln(s.Err, m)
		begun := time.Now()
		r, err := o.try(s.Context, m)
		if s.Context.Err() != nil {
			break
		}
		if err != nil {
			fmt.Fprintf(s.Err, "bench explore-modules: %s: %v\n", m, err)
			r.Error = err.Error()
		}
		r.Seconds = time.Since(begun).Seconds()
		report.Modules = append(report.Modules, r)
	}
	report.Seconds = time.Since(start).Seconds()
	report.print(s.Out)
	if o.tests {
		report.printTests(s.Out)
	}
	return report, nil
}
