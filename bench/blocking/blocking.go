// Package blocking explores the corpus of programs that wait for ever, and of those that do
// the same without the bug (internal/explore/blocking), and prints what was found and what
// was reported falsely. It owns no logic.
package blocking

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/explore/blocking"
)

// Benchmark is go run ./bench blocking-corpus.
var Benchmark = &command.Benchmark{
	Name:  "blocking-corpus",
	About: "deadlocks, partial deadlocks and leaks found, and false reports",
	Usage: "[-runs 1000] [-seed N] ",
	Help: `Explores tests in which goroutines wait for ever, each beside one without the bug, and
counts what was found and named, and false reports.`,
	Quick: "100 schedules for a test, for a look",
	New:   newMeasurement,
}

type options struct {
	runs int
	seed uint64
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	flags.IntVar(&o.runs, "runs", 1000, "at most so many `schedules` for a test")
	flags.Uint64Var(&o.seed, "seed", 1, "the seed of the search")
	return o
}

func (o *options) Check(quick bool) error {
	if quick {
		o.runs = min(o.runs, 100)
	}
	return command.AtLeastOne("runs", o.runs)
}

// A report is what -json writes.
type report struct {
	Results []blocking.Result
}

// Measure runs the command.
func (o *options) Measure(s *command.Session) (any, error) {
	r := &report{}
	err := blocking.Run(s.Context, blocking.Options{Temp: s.Temp(""), Seed: o.seed, Runs: o.runs}, func(one blocking.Result) {
		r.Results = append(r.Results, one)
	})
	if err != nil {
		return nil, err
	}
	r.print(s.Out)
	return r, nil
}

// A score counts the programs with one kind of bug.
type score struct{ programs, found, named int }

func (r *report) print(w io.Writer) {
	kinds := map[string]*score{}
	var all score
	fine, wrong, schedules := 0, 0, 0
	for i := range r.Results {
		one := &r.Results[i]
		schedules += one.Schedules
		if !one.Right() {
			fmt.Fprintf(w, "%s: %q, want %q\n", one.Test, one.Got, one.Want)
		}
		if !one.Bug() {
			fine++
			if one.Got != "" {
				wrong++
			}
			continue
		}
		if kinds[one.Want] == nil {
			kinds[one.Want] = &score{}
		}
		for _, k := range []*score{kinds[one.Want], &all} {
			k.programs++
			if one.Got != "" {
				k.found++
			}
			if one.Right() {
				k.named++
			}
		}
	}
	fmt.Fprintf(w, "%-44s  %8s  %5s  %5s\n", "kind and shape", "programs", "found", "named")
	line := func(name string, k *score) {
		fmt.Fprintf(w, "%-44s  %8d  %5d  %5d\n", name, k.programs, k.found, k.named)
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		line(name, kinds[name])
	}
	line("all", &all)
	fmt.Fprintf(w, "\n%d false reports in %d programs without a bug; %d schedules in all\n", wrong, fine, schedules)
}
