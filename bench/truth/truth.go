// Package truth tries exploration on many random programs, against a judge that shares no
// code with it (internal/truth). It owns no logic: it draws programs from a seed, hands them
// over in lots that are built together, counts, and makes what shows a difference smaller.
package truth

import (
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/truth"
)

// Benchmark is go run ./bench truth.
var Benchmark = &command.Benchmark{
	Name:  "truth",
	About: "outcomes, races and recorded values of random programs, against an interpreter",
	Usage: "[-programs N] [-seed N] [-states N] [-budget 2s] ",
	Help: `Runs all schedules of random programs, instrumented and interpreted, and compares how
they end, whether they race, and the values that are recorded. A program on which the
two do not agree is made smaller and printed with its seed.`,
	Quick: "200 programs, for a look",
	New:   newMeasurement,
}

type options struct {
	programs, states int
	seed             uint64
	budget           time.Duration
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	flags.IntVar(&o.programs, "programs", 100_000, "how many `programs` to try")
	flags.Uint64Var(&o.seed, "seed", 1, "the seed of the first program")
	flags.IntVar(&o.states, "states", 5_000, "compare programs of at most so many `states`")
	flags.DurationVar(&o.budget, "budget", 2*time.Second, "how long to explore a program")
	return o
}

func (o *options) Check(quick bool) error {
	if quick {
		o.programs = min(o.programs, 200)
	}
	return errors.Join(command.AtLeastOne("programs", o.programs), command.AtLeastOne("states", o.states), command.SomeTime("budget", o.budget))
}

// A report is what -json writes.
type report struct {
	Programs, Compared, TooLarge, Schedules int
	Seed                                    uint64
	Differences                             []string
}

// lot is how many programs are built together, shrinkRounds how often one is made smaller.
const (
	lot          = 200
	shrinkRounds = 12
)

// programOptions are those of the program of a seed: a third is free of races, in a
// quarter goroutines may wait for ever, and a quarter calls the standard library.
func programOptions(seed uint64) randprog.Options {
	return randprog.Options{RaceFree: seed%3 == 0, Blocking: seed%4 == 0, Library: seed%4 == 3, TimeAndChance: seed%5 == 0}
}

func (o *options) Measure(s *command.Session) (any, error) {
	r := &report{Seed: o.seed}
	trial := &truth.Trial{Temp: s.Temp(""), States: o.states, Budget: o.budget}
	start := time.Now()
	var err error
	for r.Programs < o.programs && err == nil {
		var programs []randprog.Program
		seeds := map[string]uint64{}
		for range min(lot, o.programs-r.Programs) {
			seed := o.seed + uint64(r.Programs)
			p := randprog.New(fmt.Sprintf("P%d", seed), seed, programOptions(seed))
			programs, seeds[p.Name] = append(programs, p), seed
			r.Programs++
		}
		var res *truth.Result
		if res, err = trial.Run(s.Context, programs); res != nil {
			r.Compared, r.TooLarge, r.Schedules = r.Compared+res.Compared, r.TooLarge+res.TooLarge, r.Schedules+res.Schedules
			for _, d := range res.Differences {
				seed := seeds[d.Program.Name]
				small, shrinkErr := trial.Shrink(s.Context, d, programOptions(seed), shrinkRounds)
				err = errors.Join(err, shrinkErr)
				r.Differences = append(r.Differences, fmt.Sprintf("seed %d: %v", seed, &small))
				fmt.Fprintln(s.Out, r.Differences[len(r.Differences)-1])
			}
		}
		fmt.Fprintf(s.Err, "%d programs, %d compared, %d differences, %.0f s\n", r.Programs, r.Compared, len(r.Differences), time.Since(start).Seconds())
	}
	fmt.Fprintf(s.Out, "%d random programs from seed %d: %d compared over %d schedules, %d too large; %d differ\n",
		r.Programs, r.Seed, r.Compared, r.Schedules, r.TooLarge, len(r.Differences))
	return r, err
}
