package protecting

import (
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/truth/protected"
)

// Fuzz is go run ./bench protect-fuzz.
var Fuzz = &command.Benchmark{
	Name:  "protect-fuzz",
	About: "random programs without races, protected in each mode, must print the same",
	Usage: "[-programs N] [-seed N] [-lot N] ",
	Help: `Makes up programs in which critical sections reach the same few objects by pointers,
slices, closures, interfaces, method values, generic functions and other goroutines, and
compares what they print with and without protection, in each mode. A program that differs
is made smaller and printed, with its seed.`,
	Quick: "400 programs, for a look",
	New:   newFuzz,
}

type fuzzOptions struct {
	programs, lot int
	seed          uint64
}

func newFuzz(flags *flag.FlagSet) command.Measurement {
	o := &fuzzOptions{}
	flags.IntVar(&o.programs, "programs", 100_000, "how many `programs` to try")
	flags.Uint64Var(&o.seed, "seed", 1, "the seed of the first program")
	flags.IntVar(&o.lot, "lot", 300, "how many `programs` are built together")
	return o
}

func (o *fuzzOptions) Check(quick bool) error {
	if quick {
		o.programs = min(o.programs, 400)
	}
	return errors.Join(command.AtLeastOne("programs", o.programs), command.AtLeastOne("lot", o.lot))
}

// A fuzzReport is what -json writes.
type fuzzReport struct {
	Programs, Protected int
	Seed                uint64
	Different           []string
}

// maxShrinks is how often programs of a kind that has been seen are made smaller.
const maxShrinks = 5

func (o *fuzzOptions) Measure(s *command.Session) (any, error) {
	r := &fuzzReport{Seed: o.seed}
	trial := &protected.Trial{Dir: s.Temp(""), Ways: protected.Ways}
	start := time.Now()
	var err error
	for r.Programs < o.programs && err == nil {
		var programs []randprog.Program
		for i := range min(o.lot, o.programs-r.Programs) {
			programs = append(programs, randprog.NewSharing(fmt.Sprintf("P%d", i), o.seed+uint64(r.Programs+i)))
		}
		var result *protected.Result
		if result, err = trial.Run(s.Context, programs); err != nil {
			break
		}
		r.Programs += len(programs)
		r.Protected += result.Protected
		for _, d := range result.Differences {
			if len(r.Different) < maxShrinks && err == nil {
				d, err = trial.Shrink(s.Context, d, 30)
				fmt.Fprintln(s.Out, d)
			}
			r.Different = append(r.Different, d.String())
		}
		fmt.Fprintf(s.Err, "%d programs, %d differ, %.0f s\n", r.Programs, len(r.Different), time.Since(start).Seconds())
	}
	fmt.Fprintf(s.Out, "%d random programs from seed %d, %d ways to protect them: %d sections protected, %d programs print something else\n",
		r.Programs, r.Seed, len(protected.Ways), r.Protected, len(r.Different))
	return r, err
}
