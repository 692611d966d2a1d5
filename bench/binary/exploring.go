package binary

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// An Exploration is what it took to find a bug of the paper.
type Exploration struct {
	Name string `json:"name"`
	// First is the run that failed, Shrinking how many were spent on its schedule.
	First     int    `json:"first"`
	Shrinking int    `json:"shrinking"`
	Schedule  string `json:"schedule"`
	Failure   string `json:"failure"`
	// Seconds are of processor time, and of the search alone.
	Seconds float64 `json:"seconds"`
	Runs    int     `json:"runs"`
	Steps   uint64  `json:"steps"`
	LogSize int64   `json:"logSize"`
}

// scheduleTarget is how many schedules of toctou are tried in a second.
const scheduleTarget = 2000.0

// paperLogs are the sizes of the paper's log files, in MiB.
var paperLogs = map[string]int{"toctou": 28, "twovar": 31, "publish": 31, "privatize": 43, "glibc": 48, "thunderbird": 758}

// exploreExamples looks for the six bugs of the paper in twelve stripped programs.
func exploreExamples(s *command.Session) ([]Exploration, error) {
	root, err := s.Root()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.Out, "The bugs of the paper in stripped programs\n\n%-15s %6s %6s %10s %8s %9s  %s\n", "", "found", "shrunk", "schedules", "log", "paper's", "")
	fmt.Fprintf(s.Out, "%-15s %6s %6s %10s %8s %9s\n", "", "at run", "in", "per second", "KiB", "log, KiB")
	var all []Exploration
	for _, name := range []string{"toctou", "twovar", "publish", "privatize", "glibc", "thunderbird"} {
		for _, level := range []string{"O0", "O2"} {
			if s.Context.Err() != nil {
				return all, nil
			}
			one, err := exploreExample(s, filepath.Join(root, "examples", "binary", "bin", name+"."+level))
			if err != nil {
				return all, err
			}
			all = append(all, one)
			fmt.Fprintf(s.Out, "%-15s %6d %6d %10.0f %8d %9d  %s\n", one.Name, one.First, one.Shrinking, float64(one.Runs)/one.Seconds, one.LogSize>>10, paperLogs[name]<<10, one.Failure)
		}
	}
	fast := true
	for i := range all {
		fast = fast && (!strings.HasPrefix(all[i].Name, "toctou") || float64(all[i].Runs) >= scheduleTarget*all[i].Seconds)
	}
	fmt.Fprintf(s.Out, "\nSchedules are per second of processor time. Target: %.0f on toctou, %s.\n", scheduleTarget, verdict(fast))
	fmt.Fprintln(s.Out)
	return all, nil
}

func exploreExample(s *command.Session, path string) (Exploration, error) {
	one := Exploration{Name: filepath.Base(path)}
	p, err := drive.Load(trace.Binary{Path: path, Args: []string{path}}, 1_000_000)
	if err != nil {
		return one, err
	}
	done, err := p.Explore(s.Context, &drive.Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute})
	if err != nil || done.Outcome == nil {
		return one, fmt.Errorf("exploring %s: nothing found in %d runs: %w", one.Name, done.Runs, err)
	}
	one.First, one.Shrinking, one.Schedule, one.Failure = done.First, done.Shrinking, done.Outcome.Schedule, done.Outcome.Worst().String()
	file := s.Temp(one.Name + ".trace")
	if _, err := p.Record(one.Schedule, file); err != nil {
		return one, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return one, err
	}
	one.LogSize = info.Size()
	if err := os.Remove(file); err != nil {
		return one, err
	}
	return one, rate(s, p, &one)
}

// rate measures how many schedules there are in a second. Most programs fail within a few,
// so a number of them is run one by one, whether they fail or not.
func rate(s *command.Session, p *drive.Program, one *Exploration) error {
	enough := 500
	if s.Quick {
		enough = 100
	}
	before := processorTime()
	for seed := uint64(2); one.Runs < enough; seed++ {
		done, err := p.Search(s.Context, &drive.Options{Method: sched.MethodPCT, Seed: seed, Budget: time.Minute, Runs: enough - one.Runs})
		if err != nil {
			return err
		}
		one.Runs += done.Runs
		one.Steps += done.Steps
	}
	one.Seconds = (processorTime() - before).Seconds()
	return nil
}
