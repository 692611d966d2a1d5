package exploring

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// A suite is a set of tests, built in the ways that are compared.
type suite struct {
	dir     string
	build   *explore.Build
	program *explore.Program
	tests   []string
	stock   string // the test binary as it is
	race    string // and with -race
}

// suite builds the tests of a package.
func (s *session) suite(dir string) (*suite, error) {
	name := filepath.Base(dir)
	s.progress.Show("building %s", name)
	u := &suite{dir: dir, stock: s.Temp(name + ".test"), race: s.Temp(name + ".race.test")}
	if _, err := s.Go(dir, "test", "-c", "-vet=off", "-o", u.stock, "."); err != nil {
		return nil, err
	}
	if _, err := s.Go(dir, "test", "-c", "-race", "-vet=off", "-o", u.race, "."); err != nil {
		return nil, err
	}
	var err error
	if u.build, err = explore.New(s.Context, instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true}); err != nil {
		return nil, err
	}
	u.program = u.build.Programs[0]
	if u.tests, err = u.program.Targets(s.Context); err != nil {
		u.build.Close()
		return nil, fmt.Errorf("listing the tests of %s: %w", name, err)
	}
	return u, nil
}

// A Search is what it took to find a bug.
type Search struct {
	Suite string   `json:"suite"`
	Test  string   `json:"test"`
	Ours  Attempts `json:"explored"`
	// Harm is the search for a failure that can be seen without a race detector.
	Harm  Attempts `json:"exploredWithoutRaces"`
	Stock Attempts `json:"goTest"`
	Race  Attempts `json:"goTestRace"`
}

// Attempts are the searches for one bug in one way.
type Attempts struct {
	Tried   int       `json:"tried"`
	Found   int       `json:"found"`
	Runs    []float64 `json:"runs"`           // to the failure, or until the time was up
	Seconds []float64 `json:"seconds"`        // the same
	Told    []float64 `json:"told,omitempty"` // seconds until the failure was shrunk, and run again in a fresh process
	What    string    `json:"what,omitempty"` // the failure, the last time
}

func (a *Attempts) add(t attempt) {
	a.Tried++
	a.Runs = append(a.Runs, float64(t.runs))
	a.Seconds = append(a.Seconds, t.seconds)
	if t.found {
		a.Found++
		a.What = t.what
	}
}

// searchBudget is for one search of ours, stepLimit for one run.
const (
	searchBudget = 20 * time.Second
	stepLimit    = 1_000_000
)

// explored searches with a seed, for races too or not.
func (s *session) explored(u *suite, test string, seed uint64, races bool, a *Attempts) error {
	start := time.Now()
	res, err := u.program.Explore(s.Context, test, &explore.Options{
		Strategy: sched.MethodPCT, Seed: seed, Budget: searchBudget, Steps: stepLimit, Races: races, Trace: s.Temp("run.trace"),
	})
	if err != nil {
		return fmt.Errorf("exploring %s: %w", test, err)
	}
	t := attempt{runs: res.Runs, seconds: res.Elapsed.Seconds()}
	if res.Failure != nil {
		t = attempt{found: true, runs: res.First, seconds: res.After.Seconds(), what: res.Failure.String()}
	}
	a.add(t)
	a.Told = append(a.Told, time.Since(start).Seconds())
	return nil
}

// bug measures the searches for the bug of one test. Rounds are interleaved, so that
// whatever drifts on the machine hits all of them alike.
func (s *session) bug(u *suite, name, test string, rounds, natives int) error {
	r := Search{Suite: name, Test: test}
	for i := range rounds {
		s.progress.Show("%s %s, round %d", name, test, i+1)
		if err := s.explored(u, test, uint64(i+1), true, &r.Ours); err != nil {
			return err
		}
		if name != pairSuite {
			if err := s.explored(u, test, uint64(i+1), false, &r.Harm); err != nil {
				return err
			}
		}
		if i >= natives {
			continue
		}
		for _, n := range []struct {
			binary string
			to     *Attempts
		}{{u.stock, &r.Stock}, {u.race, &r.Race}} {
			a, err := native(s.Context, n.binary, u.dir, test, s.bound)
			if err != nil {
				return fmt.Errorf("%s under go test: %w", test, err)
			}
			n.to.add(a)
		}
		if s.Context.Err() != nil {
			return s.Context.Err()
		}
	}
	s.progress.Done(1)
	s.report.Searches = append(s.report.Searches, r)
	return nil
}

const exampleSuite, pairSuite = "example", "pair"

// examplePrograms are those of examples/races.
var examplePrograms = []string{"toctou", "twovar", "publish", "privatize", "unwind", "imap"}

func (s *session) examples() error {
	s.progress = measure.NewProgress(os.Stderr, len(examplePrograms))
	for _, name := range examplePrograms {
		u, err := s.suite(filepath.Join(s.root, "examples", "races", name))
		if err != nil {
			return err
		}
		for _, test := range u.tests {
			if err := s.bug(u, exampleSuite+" "+name, test, s.runs, s.runs); err != nil {
				u.build.Close()
				return err
			}
		}
		u.build.Close()
	}
	return nil
}

// fineRuns is for how many schedules a test without a bug must pass.
const fineRuns = 300

func (s *session) pairs() error {
	if s.Quick {
		return nil
	}
	u, err := s.suite(filepath.Join(s.root, "internal", "explore", "testdata", "pairs"))
	if err != nil {
		return err
	}
	defer u.build.Close()
	s.progress = measure.NewProgress(os.Stderr, len(u.tests))
	for _, test := range u.tests {
		if strings.HasPrefix(test, "TestBug") {
			// go test takes its bound for most of them, so once must do.
			if err := s.bug(u, pairSuite, test, 3, 1); err != nil {
				return err
			}
			continue
		}
		s.progress.Show("%s", test)
		res, err := u.program.Explore(s.Context, test, &explore.Options{
			Strategy: sched.MethodPCT, Seed: 1, Races: true, Budget: searchBudget, Runs: fineRuns, Steps: stepLimit, Trace: s.Temp("run.trace"),
		})
		if err != nil {
			return fmt.Errorf("exploring %s: %w", test, err)
		}
		f := Fine{Test: test, Runs: res.Runs}
		if res.Failure != nil {
			f.False = res.Failure.String()
		}
		s.report.Fine = append(s.report.Fine, f)
		s.progress.Done(1)
	}
	return nil
}

// A Fine is a test without a bug.
type Fine struct {
	Test  string `json:"test"`
	Runs  int    `json:"runs"`
	False string `json:"false,omitempty"` // what was reported
}
