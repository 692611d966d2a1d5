// Package truth tries exploration on many random programs, against a judge that shares no
// code with it (internal/truth). It owns no logic: it draws programs from a seed, hands them
// over in lots that are built together, counts, and makes what shows a difference smaller.
package truth

import (
	"errors"
	"flag"
	"fmt"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/lots"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/truth"
)

// Benchmark is go run ./bench truth.
var Benchmark = &command.Benchmark{
	Name:  "truth",
	About: "outcomes, races and recorded values of random programs, against an interpreter",
	Usage: "[-programs N] [-seed N] [-states N] [-runs N] [-values N] ",
	Help: `Runs all schedules of random programs, instrumented and interpreted, and compares how
they end, whether they race, and the values that are recorded. A program on which the
two do not agree is made smaller and printed with its seed.`,
	Quick: "200 programs, for a look",
	New:   newMeasurement,
}

type options struct {
	lots.Options
	runs, values int
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{Options: lots.Options{What: "programs", Size: 800, Quick: 200}}
	o.Flags(flags, 100_000, 60)
	flags.IntVar(&o.runs, "runs", 300, "compare programs of at most so many `schedules`")
	flags.IntVar(&o.values, "values", 10, "record a run of one of so many `programs`, and compare its values")
	return o
}

func (o *options) Check(quick bool) error {
	return errors.Join(o.Options.Check(quick), command.AtLeastOne("runs", o.runs), command.AtLeastOne("values", o.values))
}

// A report is what -json writes.
type report struct {
	Programs int
	truth.Result
	Seed    uint64
	Differs []string
}

// shrinkRounds is how often a program is made smaller.
const shrinkRounds = 12

func (o *options) Measure(s *command.Session) (any, error) {
	r := &report{Seed: o.Seed}
	trial := &truth.Trial{Temp: s.Temp(""), States: o.States, Runs: o.runs, Values: o.values}
	var err error
	r.Programs, err = o.Each(s, func(seeds []uint64) (string, error) {
		var programs []randprog.Program
		bySeed := map[string]uint64{}
		for _, seed := range seeds {
			p := randprog.New(fmt.Sprintf("P%d", seed), seed, randprog.Mixed(seed))
			programs, bySeed[p.Name] = append(programs, p), seed
		}
		res, err := trial.Run(s.Context, programs)
		if res == nil {
			return "", err
		}
		r.Add(res)
		for _, d := range res.Differences {
			seed := bySeed[d.Program.Name]
			fmt.Fprintf(s.Err, "seed %d differs, and is made smaller\n", seed)
			small, shrinkErr := trial.Shrink(s.Context, d, shrinkRounds)
			err = errors.Join(err, shrinkErr)
			r.Differs = append(r.Differs, fmt.Sprintf("seed %d: %v", seed, &small))
			fmt.Fprintln(s.Out, r.Differs[len(r.Differs)-1])
		}
		return fmt.Sprintf("%d compared, %d differences", r.Compared, len(r.Differs)), err
	})
	fmt.Fprintf(s.Out, "%d random programs from seed %d: %d compared over %d schedules and %d recorded runs, %d too large, %d not judged; %d differ\n",
		r.Programs, r.Seed, r.Compared, r.Schedules, r.Recorded, r.TooLarge, r.Unjudged, len(r.Differs))
	return r, err
}
