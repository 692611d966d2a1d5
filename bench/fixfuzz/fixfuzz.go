// Package fixfuzz tries fixes on many random packages, against a judge that shares no code
// with the fixer (internal/truth/fixes). It owns no logic: it draws packages from a seed, hands
// them over in lots that are built together, and counts.
package fixfuzz

import (
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/truth/fixes"
)

// Benchmark is go run ./bench fix-fuzz.
var Benchmark = &command.Benchmark{
	Name:  "fix-fuzz",
	About: "fixes of random packages, judged by tests that they were not shown",
	Usage: "[-packages N] [-seed N] [-states N] [-budget 2s] ",
	Help: `Fixes random packages whose methods race, shown one failing test each, and judges each
fix by all other pairs of methods under every schedule: lost updates, deadlocks, leaks,
races. A false fix is printed with its seed.`,
	Quick: "20 packages, for a look",
	New:   newMeasurement,
}

type options struct {
	packages, states int
	seed             uint64
	budget           time.Duration
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	flags.IntVar(&o.packages, "packages", 1000, "how many `packages` to try")
	flags.Uint64Var(&o.seed, "seed", 1, "the seed of the first package")
	flags.IntVar(&o.states, "states", 50_000, "judge pairs of methods of at most so many `states`")
	flags.DurationVar(&o.budget, "budget", 2*time.Second, "how long to look for a failure")
	return o
}

func (o *options) Check(quick bool) error {
	if quick {
		o.packages = min(o.packages, 20)
	}
	return errors.Join(command.AtLeastOne("packages", o.packages), command.AtLeastOne("states", o.states), command.SomeTime("budget", o.budget))
}

// A report is what -json writes.
type report struct {
	Packages, Fixed, Refused, NoFailure, Uncovered, Unjudged int
	Seed                                                     uint64
	False                                                    []string
	Refusals                                                 []string
}

// lot is how many packages are built together.
const lot = 25

func (o *options) Measure(s *command.Session) (any, error) {
	r := &report{Seed: o.seed}
	trial := &fixes.Trial{Temp: s.Temp(""), States: o.states, Budget: o.budget}
	start := time.Now()
	var err error
	for r.Packages < o.packages && err == nil {
		var cases []*fixes.Case
		for range min(lot, o.packages-r.Packages) {
			seed := o.seed + uint64(r.Packages)
			cases = append(cases, &fixes.Case{Name: fmt.Sprintf("p%d", seed), Object: randprog.NewObject(seed)})
			r.Packages++
		}
		err = trial.Run(s.Context, cases)
		for _, c := range cases {
			r.count(c)
			if c.False != "" {
				fmt.Fprintln(s.Out, c)
			}
		}
		fmt.Fprintf(s.Err, "%d packages, %d fixed, %d false, %.0f s\n", r.Packages, r.Fixed, len(r.False), time.Since(start).Seconds())
	}
	fmt.Fprintf(s.Out, "%d random packages from seed %d: %d fixed, %d refused, %d without a failure; %d fixes are false. %d methods are told as not covered, %d pairs of methods are too large to judge\n",
		r.Packages, r.Seed, r.Fixed, r.Refused, r.NoFailure, len(r.False), r.Uncovered, r.Unjudged)
	return r, err
}

// count adds what came of a package.
func (r *report) count(c *fixes.Case) {
	r.Uncovered += c.Uncovered
	r.Unjudged += c.Unjudged
	switch {
	case c.NoFailure:
		r.NoFailure++
	case c.Refusal != "":
		r.Refused++
		r.Refusals = append(r.Refusals, c.Name+": "+c.Refusal)
	case c.Diff != "":
		r.Fixed++
	}
	if c.False != "" {
		r.False = append(r.False, c.String())
	}
}
