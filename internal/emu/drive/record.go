package drive

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/emu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Header is the header of a trace of a run by a schedule.
func (p *Program) Header(schedule string) trace.Header {
	binary := p.binary
	binary.Shared, binary.Atomics = p.shared.words(), p.atomics.words()
	return trace.Header{
		Program: p.identity, GOOS: "linux", GOARCH: "amd64", Go: runtime.Version(), Schedule: schedule,
		Own: []string{filepath.Base(p.own)}, Options: trace.Options{Steps: p.maxSteps, Races: p.findsRaces, Stall: p.stall}, Binary: &binary,
	}
}

// Record runs the program by a schedule, from its very first instruction, and writes all it
// does to a file. It returns the outcome.
func (p *Program) Record(schedule, file string) (*trace.Outcome, error) {
	parsed, err := sched.ParseSchedule(schedule)
	if err != nil {
		return nil, err
	}
	w, err := trace.Create(file, p.Header(schedule))
	if err != nil {
		return nil, err
	}
	start := time.Now()
	var recorder *emu.Recorder
	again := p.fresh()
	rec := sched.NewRecorder(sched.NewReplay(parsed), false)
	r, err := again.runAll(rec, func(process *linux.Process) { recorder = emu.Record(process, w) })
	if err != nil {
		return nil, err
	}
	out := &trace.Outcome{Schedule: rec.Schedule().String(), Steps: r.steps, Elapsed: time.Since(start), Outside: again.Notes()}
	switch {
	case r.failure != nil:
		recorder.Fail(r.failure)
		out.Result, out.Failures = event.Failed, append([]trace.Failure{*r.failure}, r.races...)
	case r.cutOff:
		out.Result = event.CutOff
	}
	if err := recorder.Finish(again.process); err != nil {
		return nil, err
	}
	return out, w.Close(*out)
}

// fresh is the program as it was before it was loaded, with what is known to be shared.
func (p *Program) fresh() *Program {
	return &Program{
		binary: p.binary, world: p.world, maxSteps: p.maxSteps, stall: p.stall, findsRaces: p.findsRaces,
		shared: wordSet{pages: p.shared.pages}, atomics: wordSet{pages: p.atomics.pages},
	}
}

// runAll makes a run from the very first instruction.
func (p *Program) runAll(strategy sched.Strategy, watch func(*linux.Process)) (*run, error) {
	if err := p.load(watch); err != nil {
		return nil, err
	}
	r := &run{Program: p, strategy: strategy}
	r.drive()
	return r, p.lacks()
}

// Observe runs the program by a schedule, from its very first instruction, under an
// observer. It returns the failure that the run ends with, nil if it does not fail, and the
// process as it is then.
func (p *Program) Observe(schedule string, o *Observer) (*trace.Failure, *linux.Process, error) {
	parsed, err := sched.ParseSchedule(schedule)
	if err != nil {
		return nil, nil, err
	}
	again := p.fresh()
	again.observer = o
	r, err := again.runAll(sched.NewReplay(parsed), o.Begins)
	if err != nil {
		return nil, nil, err
	}
	return r.failure, again.process, nil
}

// NotRepeated is the error that a failure did not come back when its run was made again.
func (p *Program) NotRepeated() error {
	if len(p.Notes()) > 0 {
		return fmt.Errorf("the failure did not come back when the run was made again: the program depends on something that is not under control (%s)", p.Notes()[len(p.Notes())-1])
	}
	return errors.New("the failure did not come back when the run was made again: the emulation of this program is not deterministic")
}

// A ChangedError says that a trace is of another program than the one at hand.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s, or a library it uses, has changed since the trace was recorded: its steps would not be the same; find the failure again with cofferdam explore", e.Path)
}

// Replay runs a recorded run again, records it to a file, and compares the two. The
// difference is nil if they are the same.
func Replay(r *trace.Reader, file string) (*trace.Outcome, *trace.Difference, error) {
	p, err := Load(*r.Header.Binary, r.Header.Options.Steps)
	if err != nil {
		return nil, nil, err
	}
	p.findsRaces, p.stall = r.Header.Options.Races, r.Header.Options.Stall
	if p.identity != r.Header.Program {
		return nil, nil, &ChangedError{Path: p.binary.Path}
	}
	out, err := p.Record(r.Header.Schedule, file)
	if err != nil {
		return nil, nil, err
	}
	again, err := trace.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer again.Close()
	diff, err := trace.Compare(r, again)
	return out, diff, err
}
