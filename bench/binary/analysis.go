package binary

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// An Analysis is how long it took to lift a program and to analyse a run of it. Seconds are of
// processor time.
type Analysis struct {
	Events   uint64  `json:"events"`
	Machines int     `json:"machines"`
	Fixes    int     `json:"fixes"`
	Lifting  float64 `json:"liftingSeconds"`
	Seconds  float64 `json:"analysisSeconds"`
}

// analysisEvents is how long a run is that is analysed within analysisTarget seconds.
const (
	analysisEvents = 100_000
	analysisTarget = 1
)

// measureAnalysis analyses a run that fails late: shrinking takes the latest moment at which a
// schedule fails, and each round of the program has a few events.
func measureAnalysis(s *command.Session) (*Analysis, error) {
	root, err := s.Root()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(root, "examples", "binary", "bin", "toctou.O0")
	rounds := "150000"
	if s.Quick {
		rounds = "6000"
	}
	program, err := drive.Load(trace.Binary{Path: path, Args: []string{path, rounds}}, 10_000_000)
	if err != nil {
		return nil, err
	}
	done, err := program.Explore(s.Context, &drive.Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute})
	if err != nil {
		return nil, err
	}
	if done.Outcome == nil {
		return nil, fmt.Errorf("%s did not fail in %d runs", path, done.Runs)
	}
	one, err := analyseRun(program, path, done.Outcome)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.Out, "The run of toctou.O0 with %s rounds that fails, lifted and analysed\n\n", rounds)
	perTarget := one.Seconds * analysisEvents / float64(max(one.Events, 1))
	fmt.Fprintf(s.Out, "%s events: lifted in %.3f s, analysed in %.3f s of processor time (%d machines, %d fixes). Target: %s events in %d s; in proportion %.2f s, %s.\n\n",
		grouped(one.Events), one.Lifting, one.Seconds, one.Machines, one.Fixes, grouped(analysisEvents), analysisTarget, perTarget, verdict(perTarget <= analysisTarget))
	return one, nil
}

// analyseRun lifts what a run executed, and analyses it.
func analyseRun(program *drive.Program, path string, outcome *trace.Outcome) (*Analysis, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var image *lifting.Image
	var run *lifting.Run
	var broken error
	failure, process, err := program.Observe(outcome.Schedule, &drive.Observer{
		Begins: func(process *linux.Process) {
			if image, broken = lifting.NewImage(path, data, process.Program().Base); broken == nil {
				run = lifting.NewRun(process, image)
			}
		},
		Allocates: func(*linux.Thread, uint64, uint64) {}, Frees: func(*linux.Thread, uint64, uint64) {},
	})
	if err := errors.Join(err, broken); err != nil {
		return nil, err
	}
	at := run.FailureOf(failure)
	before := processorTime()
	lifted, err := lifting.Lift(lifting.Config{
		Image: image, Entries: run.Entries(), Observed: run.Observed(), Failure: at,
		Slot: func(addr uint64) uint64 { w, _ := process.Mem.Word(addr); return w },
	})
	if err != nil {
		return nil, err
	}
	log := run.Log(failure.G)
	one := &Analysis{Events: log.Last(), Lifting: (processorTime() - before).Seconds()}
	before = processorTime()
	const withoutRounds = -1 // as fix tries first
	analysis, err := sli.Analyse(lifted.Program, log, at.Engine(failure.G), sli.Options{Rounds: withoutRounds})
	if err != nil {
		return nil, err
	}
	one.Seconds = (processorTime() - before).Seconds()
	one.Machines, one.Fixes = len(analysis.Machines), len(analysis.Fixes)
	return one, nil
}
