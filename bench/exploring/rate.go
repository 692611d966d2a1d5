package exploring

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// rateFor is how long schedules are counted, each time.
const rateFor = 2 * time.Second

// A Rate is how many schedules are run in a second, in one process.
type Rate struct {
	Program   string    `json:"program"`
	Strategy  string    `json:"strategy"`
	PerSecond []float64 `json:"perSecond"`
	// Processor is what a schedule takes of a processor, in microseconds, with the start of the
	// processes: on a busy machine it says more.
	Processor []float64 `json:"processor"`
}

// processorTime is what the processes took that have ended.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return 0, fmt.Errorf("asking for the processor time of processes: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// rate counts schedules of toctou, and of a test with an HTTP server. The search of toctou
// would end at the first failure, so the check that fails is taken out of a copy of the
// test; the data race is left, after which the search goes on, with the cost of reporting
// it.
func (s *session) rate() error {
	dir, err := s.failless(toctouRounds)
	if err != nil {
		return err
	}
	if err := s.countSchedules("toctou", dir, "TestSteady", "pct", "random"); err != nil {
		return err
	}
	return s.countSchedules("an HTTP server and two clients", filepath.Join(s.root, "bench", "exploring", "testdata", "served"), "TestServed", "pct")
}

// scaling compares as many processes as there are processors with one. The search of toctou with
// the rounds it has is over within a second, because it shows nothing new any more.
func (s *session) scaling() error {
	const rounds = 8
	dir, err := s.failless(rounds)
	if err != nil {
		return err
	}
	if err := s.scale(fmt.Sprintf("toctou, %d rounds", rounds), dir, "TestSteady"); err != nil {
		return err
	}
	return s.scaleShrinking()
}

// toctouRounds is how many rounds the loops of toctou's test have.
const toctouRounds = 3

// failless returns the directory of a copy of toctou whose test does not fail visibly, and has so
// many rounds.
func (s *session) failless(rounds int) (string, error) {
	dir := s.Temp(fmt.Sprintf("toctou%d", rounds))
	from := filepath.Join(s.root, "examples", "races")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	for name, file := range map[string]string{"go.mod": "go.mod", "toctou.go": "toctou/toctou.go", "toctou_test.go": "toctou/toctou_test.go"} {
		data, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(file)))
		if err != nil {
			return "", err
		}
		text := string(data)
		if name == "toctou_test.go" {
			if text = strings.Replace(text, "t.Error(", "_ = (", 1); text == string(data) {
				return "", errors.New("the test of toctou no longer calls t.Error: say in rate.go how it fails now")
			}
			loop := fmt.Sprintf("for range %d {", toctouRounds)
			if strings.Count(text, loop) != 2 {
				return "", errors.New("the test of toctou no longer has two loops of as many rounds as rate.go says")
			}
			text = strings.ReplaceAll(text, loop, fmt.Sprintf("for range %d {", rounds))
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// countSchedules measures how many schedules of a test are run in a second, by strategies.
func (s *session) countSchedules(program, dir, test string, strategies ...string) error {
	build, err := explore.New(s.Context, instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true})
	if err != nil {
		return err
	}
	defer build.Close()
	s.progress = measure.NewProgress(os.Stderr, len(strategies)*s.runs)
	for _, strategy := range strategies {
		r := Rate{Program: program, Strategy: strategy}
		for i := range s.runs {
			s.progress.Show("schedules per second of %s, %s, round %d", program, strategy, i+1)
			if err := s.countOnce(build.Programs[0], test, &r, uint64(i+1)); err != nil {
				return fmt.Errorf("counting schedules of %s: %w", program, err)
			}
			s.progress.Done(1)
		}
		s.report.Rates = append(s.report.Rates, r)
	}
	return nil
}

// countOnce counts schedules for as long as rateFor says. A search that comes to its end before
// is made again.
func (s *session) countOnce(p *explore.Program, test string, r *Rate, seed uint64) error {
	before, err := processorTime()
	if err != nil {
		return err
	}
	runs, elapsed := 0, time.Duration(0)
	for elapsed < rateFor {
		left := max(rateFor-elapsed, rateFor/10)
		res, err := p.Explore(s.Context, test, &explore.Options{
			Strategy: sched.Method(r.Strategy), Seed: seed, Races: true, Budget: left, Harm: left, Jobs: 1, Steps: stepLimit, Trace: s.Temp("run.trace"),
		})
		if err != nil {
			return err
		}
		runs, elapsed = runs+res.Runs, elapsed+res.Elapsed
	}
	after, err := processorTime()
	if err != nil {
		return err
	}
	r.PerSecond = append(r.PerSecond, float64(runs)/elapsed.Seconds())
	r.Processor = append(r.Processor, float64((after-before).Microseconds())/float64(runs))
	return nil
}
