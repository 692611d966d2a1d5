// Package truth tries exploration on many random programs, against a judge that shares no
// code with it (internal/truth). It owns no logic: it draws programs from a seed, hands them
// over in lots that are built together, some lots side by side, counts, and makes what shows a
// difference smaller.
package truth

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/lots"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/truth"
)

// Benchmark is go run ./bench truth.
var Benchmark = &command.Benchmark{
	Name:  "truth",
	About: "outcomes, races and recorded values of random programs, against an interpreter",
	Usage: "[-programs N] [-seed N] [-states N] [-runs N] [-values N] [-j N] ",
	Help: `Runs all schedules of random programs, instrumented and interpreted, and compares how
they end, whether they race, and the values that are recorded. A program on which the
two do not agree is made smaller and printed with its seed.`,
	Quick: "200 programs, for a look",
	New:   newMeasurement,
}

type options struct {
	lots.Options
	runs, values, jobs int
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{Options: lots.Options{What: "programs", Size: 800, Quick: 200}}
	o.Flags(flags, 100_000, 150)
	flags.IntVar(&o.runs, "runs", 200, "compare programs of at most so many `schedules`")
	flags.IntVar(&o.jobs, "j", runtime.GOMAXPROCS(0), "how many `lots` of programs to try side by side")
	flags.IntVar(&o.values, "values", 10, "record a run of one of so many `programs`, and compare its values")
	return o
}

func (o *options) Check(quick bool) error {
	return errors.Join(o.Options.Check(quick), command.AtLeastOne("runs", o.runs), command.AtLeastOne("values", o.values), command.AtLeastOne("j", o.jobs))
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
	debug.SetGCPercent(400) // states of the judge are many, small, and soon gone
	m := &measurement{o: o, s: s, report: &report{Seed: o.Seed}}
	for range o.jobs {
		m.workers = append(m.workers, &worker{
			trial: &truth.Trial{Temp: s.Temp(""), States: o.States, Runs: o.runs, Values: o.values}, seeds: map[string]uint64{},
		})
	}
	var err error
	m.Programs, err = o.EachBeside(s, o.jobs, func(n int, seeds []uint64) (string, error) {
		return m.lot(m.workers[n], seeds)
	})
	if err == nil {
		err = m.rest()
	}
	r := m.report
	fmt.Fprintf(s.Out, "%d random programs from seed %d: %d compared over %d schedules and %d recorded runs, %d too large, %d not judged; %d differ\n",
		r.Programs, r.Seed, r.Compared, r.Schedules, r.Recorded, r.TooLarge, r.Unjudged, len(r.Differs))
	return r, err
}

// A measurement is lots that are tried side by side.
type measurement struct {
	o       *options
	s       *command.Session
	workers []*worker

	mu sync.Mutex // guards what follows
	*report
}

// A worker tries one lot after another.
type worker struct {
	trial *truth.Trial
	seeds map[string]uint64 // of programs, by their names
	// smaller are programs that are tried with the next lot, in the place of some that were
	// too large.
	smaller []randprog.Program
}

// lot tries the programs of some seeds, and smaller ones that are left from the last lot.
func (m *measurement) lot(w *worker, seeds []uint64) (string, error) {
	programs := w.smaller
	w.smaller = nil
	for _, seed := range seeds {
		p := randprog.New(fmt.Sprintf("P%d", seed), seed, randprog.Mixed(seed))
		programs, w.seeds[p.Name] = append(programs, p), seed
	}
	res, err := w.trial.Once(m.s.Context, programs)
	if res != nil {
		w.smaller = res.Smaller
		err = errors.Join(err, m.note(w, res))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("%d compared, %d differences", m.Compared, len(m.Differs)), err
}

// rest tries what is left of the last lots.
func (m *measurement) rest() error {
	errs := make([]error, len(m.workers))
	var all sync.WaitGroup
	for n, w := range m.workers {
		all.Go(func() {
			res, err := w.trial.Run(m.s.Context, w.smaller)
			errs[n] = errors.Join(err, m.note(w, res))
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// note counts what came of programs, and makes those smaller that show a difference.
func (m *measurement) note(w *worker, res *truth.Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Add(res)
	var err error
	for _, d := range res.Differences {
		seed := w.seeds[d.Program.Name]
		fmt.Fprintf(m.s.Err, "seed %d differs, and is made smaller\n", seed)
		small, shrinkErr := w.trial.Shrink(m.s.Context, d, shrinkRounds)
		err = errors.Join(err, shrinkErr)
		m.Differs = append(m.Differs, fmt.Sprintf("seed %d: %v", seed, &small))
		fmt.Fprintln(m.s.Out, m.Differs[len(m.Differs)-1])
	}
	return err
}
