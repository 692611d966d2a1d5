// Package txfuzz tries the compiler of transactions on many random programs, against the same
// programs under one lock (internal/txcompile/txprog). It owns no logic: it draws programs
// from a seed, hands them over in lots that are built together, and counts.
package txfuzz

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/txprog"
)

// Benchmark is go run ./bench stm-fuzz.
var Benchmark = &command.Benchmark{
	Name:  "stm-fuzz",
	About: "random transactions as plain code, compiled and under one lock",
	Usage: "[-programs N] [-seed N] [-rounds N] ",
	Help: `Builds random programs with transactions that are written as plain code, with and
without -stm. One goroutine must see the same in both; with several, the order of the
transactions must explain every result, in all four modes. What is wrong is printed with
its seed.`,
	Quick: "50 programs, for a look",
	New:   newMeasurement,
}

type options struct {
	programs, rounds int
	seed             uint64
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	flags.IntVar(&o.programs, "programs", 2000, "how many `programs` to try")
	flags.Uint64Var(&o.seed, "seed", 1, "the seed of the first program")
	flags.IntVar(&o.rounds, "rounds", 3, "how `often` each is run with several goroutines")
	return o
}

func (o *options) Check(quick bool) error {
	if quick {
		o.programs = min(o.programs, 50)
	}
	return errors.Join(command.AtLeastOne("programs", o.programs), command.AtLeastOne("rounds", o.rounds))
}

// A report is what -json writes.
type report struct {
	Programs, Effects int
	Seed              uint64
	Wrong             []string
}

// lot is how many programs are built together.
const lot = 50

func (o *options) Measure(s *command.Session) (any, error) {
	r := &report{Seed: o.seed}
	root, err := s.Root()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	for r.Programs < o.programs && s.Context.Err() == nil {
		j := txprog.Judgement{
			Dir: s.Temp(fmt.Sprint("lot", r.Programs)), Module: root,
			Seed: o.seed + uint64(r.Programs), Programs: min(lot, o.programs-r.Programs), Rounds: o.rounds,
		}
		if err := os.Mkdir(j.Dir, 0o777); err != nil {
			return r, err
		}
		v, err := j.Judge(s.Context)
		if err != nil {
			return r, err
		}
		if s.Context.Err() != nil {
			break // what was cut off is not judged
		}
		r.Programs += j.Programs
		r.Effects += v.Effects
		if v.Wrong != "" {
			r.Wrong = append(r.Wrong, v.Wrong)
			fmt.Fprintf(s.Out, "programs from seed %d: %s\n", j.Seed, v.Wrong)
		}
		fmt.Fprintf(s.Err, "%d programs, %d lots wrong, %.0f s; the last lot: %s", r.Programs, len(r.Wrong), time.Since(start).Seconds(), v.Stats)
	}
	fmt.Fprintf(s.Out, "%d random programs from seed %d, each run by one goroutine and %d times by four, compiled and under one lock: %d lots of %d are wrong\n",
		r.Programs, r.Seed, o.rounds, len(r.Wrong), lot)
	return r, nil
}
