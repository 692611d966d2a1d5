package exploring

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// A Scaling is how many schedules are run in a second by one process and by one for each
// processor, by round. Apart is what as many searches do that have nothing to do with each
// other: no division of one search can do better on the machine. It is not measured for
// shrinking.
type Scaling struct {
	Program   string    `json:"program"`
	Processes int       `json:"processes"`
	One       []float64 `json:"one"`
	All       []float64 `json:"all"`
	Apart     []float64 `json:"apart,omitempty"`
}

// times are the ratios of rates to those of one process in the same round.
func (x *Scaling) times(of []float64) []float64 {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = of[i] / x.One[i]
	}
	return ratios
}

// scale measures the scaling of the search of a test, which must not fail. Races are not
// looked for, as they would end it.
func (s *session) scale(program, dir, test string) error {
	build, err := explore.New(s.Context, instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true})
	if err != nil {
		return err
	}
	defer build.Close()
	search := func(seed uint64, jobs int) (float64, error) {
		res, err := build.Programs[0].Explore(s.Context, test, &explore.Options{
			Strategy: sched.MethodRandom, Seed: seed, Budget: rateFor, Jobs: jobs, Steps: stepLimit, Trace: s.Temp("run.trace"),
		})
		switch {
		case err != nil:
			return 0, fmt.Errorf("counting schedules of %s: %w", program, err)
		case res.Failure != nil:
			return 0, fmt.Errorf("counting schedules of %s: it fails: %v", program, res.Failure)
		case res.Elapsed < rateFor*9/10:
			return 0, fmt.Errorf("counting schedules of %s: the search is over after %v, so that to start processes counts as well", program, res.Elapsed)
		}
		return float64(res.Runs) / res.Elapsed.Seconds(), nil
	}
	x := Scaling{Program: program, Processes: runtime.GOMAXPROCS(0)}
	s.progress = measure.NewProgress(os.Stderr, s.runs)
	for i := range s.runs {
		s.progress.Show("schedules per second of %s by %d processes, round %d", program, x.Processes, i+1)
		seed := uint64(i + 1)
		one, err := search(seed, 1)
		if err != nil {
			return err
		}
		all, err := search(seed, x.Processes)
		if err != nil {
			return err
		}
		apart, err := sideBySide(x.Processes, func(n int) (float64, error) { return search(seed+uint64(n), 1) })
		if err != nil {
			return err
		}
		x.One, x.All, x.Apart = append(x.One, one), append(x.All, all), append(x.Apart, apart)
		s.progress.Done(1)
	}
	s.report.Scalings = append(s.report.Scalings, x)
	return nil
}

// scaleShrinking measures the scaling of shrinking, by a test that takes thousands of runs of
// it. What comes of it must not depend on the processes.
func (s *session) scaleShrinking() error {
	const test = "TestEachCounterLosesACount"
	build, err := explore.New(s.Context, instrument.Config{Dir: filepath.Join(s.root, "bench", "exploring", "testdata", "shrunk"), Patterns: []string{"."}, Tests: true})
	if err != nil {
		return err
	}
	defer build.Close()
	shrink := func(seed uint64, jobs int) (rate float64, result string, err error) {
		res, err := build.Programs[0].Explore(s.Context, test, &explore.Options{
			Strategy: sched.MethodRandom, Seed: seed, Races: true, Budget: searchBudget, Jobs: jobs, Steps: stepLimit, Trace: s.Temp("run.trace"),
		})
		switch {
		case err != nil:
			return 0, "", fmt.Errorf("shrinking a schedule of %s: %w", test, err)
		case res.Failure == nil:
			return 0, "", fmt.Errorf("shrinking a schedule of %s: it does not fail", test)
		}
		return float64(res.Shrinking) / res.ShrinkingTook.Seconds(), fmt.Sprint(res.Shrinking, " ", res.Outcome.Schedule), nil
	}
	x := Scaling{Program: "shrinking", Processes: runtime.GOMAXPROCS(0)}
	s.progress = measure.NewProgress(os.Stderr, s.runs)
	for i := range s.runs {
		s.progress.Show("shrinking by %d processes, round %d", x.Processes, i+1)
		one, alone, err := shrink(uint64(i+1), 1)
		if err != nil {
			return err
		}
		all, together, err := shrink(uint64(i+1), x.Processes)
		if err != nil {
			return err
		}
		if alone != together {
			return fmt.Errorf("shrinking a schedule of %s: one process came to %s, %d to %s", test, alone, x.Processes, together)
		}
		x.One, x.All = append(x.One, one), append(x.All, all)
		s.progress.Done(1)
	}
	s.report.Scalings = append(s.report.Scalings, x)
	return nil
}

// sideBySide does something so many times at once, and returns the sum of what comes of it.
func sideBySide(n int, do func(n int) (float64, error)) (sum float64, err error) {
	rates, errs := make([]float64, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { rates[i], errs[i] = do(i) })
	}
	all.Wait()
	for i := range n {
		if errs[i] != nil {
			return 0, errs[i]
		}
		sum += rates[i]
	}
	return sum, nil
}

// scalingTarget is that two processes are so many times as fast as one; on a machine with
// more processors each is to be used as well.
func (r *Report) scalingTarget() measure.Target {
	t := measure.Target{Name: "processes over one, schedules per second", Unit: "times", AtLeast: true}
	for i := range r.Scalings {
		x := &r.Scalings[i]
		ratios := x.times(x.All)
		if m := measure.Median(ratios); t.Where == "" || m < t.Measured {
			t.Where, t.Limit = fmt.Sprintf("%s, %d processes", x.Program, x.Processes), twoProcesses/2*float64(x.Processes)
			t.Measured, t.Low, t.High = m, slices.Min(ratios), slices.Max(ratios)
		}
	}
	return t
}
