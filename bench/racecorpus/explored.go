package racecorpus

import (
	"context"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// An explorer is the corpus built with hooks.
type explorer struct {
	options
	build   *explore.Build
	program *explore.Program
	targets []string
	trace   string // the file that a failing run is recorded in
}

func newExplorer(s *command.Session, corpus string, o *options) (*explorer, error) {
	build, err := explore.New(s.Context, instrument.Config{Dir: corpus, Patterns: []string{"."}, Tests: true})
	if err != nil {
		return nil, err
	}
	e := &explorer{options: *o, build: build, program: build.Programs[0], trace: s.Temp("run.trace")}
	if e.targets, err = e.program.Targets(s.Context); err != nil {
		e.close()
		return nil, fmt.Errorf("listing the tests: %w", err)
	}
	return e, nil
}

func (e *explorer) close() { e.build.Close() }

// stepLimit cuts a run off.
const stepLimit = 1_000_000

// run explores a test.
func (e *explorer) run(ctx context.Context, name string) (Verdict, error) {
	start := time.Now()
	res, err := e.program.Explore(ctx, name, &explore.Options{
		Strategy: sched.MethodPCT, Seed: 1, Races: true, Budget: e.budget, Runs: e.runs, Steps: stepLimit, Trace: e.trace,
	})
	v := Verdict{Seconds: time.Since(start).Seconds()}
	if ctx.Err() != nil {
		return v, ctx.Err()
	}
	if err != nil {
		v.Error = err.Error()
		return v, nil
	}
	v.Runs, v.Cut, v.Note = res.Runs, res.Cut, res.Caveats()
	if res.Outcome == nil {
		return v, nil
	}
	v.Runs = res.First
	for _, f := range res.Outcome.Failures {
		if f.Kind == event.FailureRace || f.Kind == event.FailureFatal {
			v.Race, v.Report = true, f.String()
			return v, nil
		}
	}
	v.Report = res.Failure.String()
	return v, nil
}
