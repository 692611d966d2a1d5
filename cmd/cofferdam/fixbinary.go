package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/binpatch"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/repair/binfix"
	"github.com/cofferdam-go/cofferdam/internal/report"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// binaryFix are the flags of fix for programs without source.
type binaryFix struct {
	path string
	copy bool
}

// nativeRuns is how often a patched program is run on the processor, if -native does not say.
const nativeRuns = 200

// A countFlag is a flag that is a number, and may not be given.
type countFlag struct {
	n     int
	given bool
}

func (c *countFlag) String() string { return strconv.Itoa(c.n) }

func (c *countFlag) Get() any { return c.n }

func (c *countFlag) Set(text string) (err error) {
	c.n, err = strconv.Atoi(text)
	c.given = err == nil
	return err
}

// fixBinary fixes a program without source.
func (f *fixFlags) fixBinary(ctx context.Context, inv *command.Invocation) error {
	native := nativeRuns
	if f.native.given {
		native = f.native.n
	}
	if err := f.check(inv); err != nil {
		return err
	}
	f.Races = false // what a race does to the program is what is fixed
	if len(inv.Operands) > 0 {
		return fmt.Errorf("-binary %s and the package %s: give one of them; arguments for the program follow --", f.binary.path, inv.Operands[0])
	}
	if f.out == "" {
		return errors.New("-binary: say with -o where to write the patch, such as -o fix.so, or with -copy the patched program")
	}
	temp, err := scratch.Dir()
	if err != nil {
		return err
	}
	defer scratch.Remove(temp)
	binary, err := describeBinary(inv, f.binary.path)
	if err != nil {
		return err
	}
	name := filepath.Base(f.binary.path)
	o := &binfix.Options{
		Binary: binary, Steps: f.Steps, Copy: f.binary.copy, Native: native, Proof: f.proof / 10, Schedules: 10_000, Temp: temp, Until: time.Now().Add(f.Budget),
		Search: *f.binaryOptions(),
		Progress: func(phase, detail string) {
			inv.Status.Phase(phase)
			inv.Status.Detail(detail)
		},
	}
	o.Search.Progress = func(p *wire.Progress) {
		inv.Status.Detail(name + ": " + reachedText(p))
		inv.Signals.Reach("no fix is proven yet")
	}
	result, err := binfix.Fix(ctx, o)
	if err != nil {
		return err
	}
	return f.tellBinary(inv, name, temp, result)
}

// A binaryReport is what -json prints for a program without source. It has the version and the
// keys of a fixReport, where it has what these say.
type binaryReport struct {
	Version int                `json:"version"`
	Program string             `json:"program"`
	Failure *repair.FailingRun `json:"failure"`
	// Processor is what the failing schedule did on the processor.
	Processor  *binfix.Confirmation  `json:"processor,omitempty"`
	Fixed      bool                  `json:"fixed"`
	Output     string                `json:"output,omitempty"`
	Cost       int                   `json:"cost,omitempty"`
	Sections   []binpatch.Section    `json:"sections,omitempty"`
	Proof      *binfix.Proof         `json:"proof,omitempty"`
	Refusal    string                `json:"refusal,omitempty"`
	Candidates []binaryCandidate     `json:"candidates,omitempty"`
	Analysis   repair.AnalysisReport `json:"analysis"`
}

// A binaryCandidate is a patch that was tried.
type binaryCandidate struct {
	Cost     int                `json:"cost"`
	Sections []binpatch.Section `json:"sections,omitempty"`
	Dropped  string             `json:"dropped,omitempty"`
}

// newBinaryReport is the report of a result; the reader is that of the failing run.
func newBinaryReport(name string, r *binfix.Result, reader *trace.Reader) *binaryReport {
	report := &binaryReport{
		Version: report.FixVersion, Program: name, Failure: repair.NewFailingRun(reader), Processor: r.Confirmation, Fixed: r.Proven != nil, Refusal: r.Refusal,
		Analysis: repair.AnalysisReport{Events: r.Events, Machines: r.Machines(), States: r.States(), Lifting: r.Lifting, Total: r.Analysing},
	}
	if r.Analysis != nil {
		report.Analysis.Fixes, report.Analysis.Replay = len(r.Analysis.Fixes), r.Analysis.Replay
	}
	for _, c := range r.Rejected {
		report.Candidates = append(report.Candidates, binaryCandidate{c.Cost, c.Sections, c.Reason})
	}
	if c := r.Proven; c != nil {
		report.Cost, report.Sections, report.Proof = c.Cost, c.Sections, &c.Proof
		report.Candidates = append(report.Candidates, binaryCandidate{Cost: c.Cost, Sections: c.Sections})
	}
	return report
}

// tellBinary tells what came of it, and writes the patch.
func (f *fixFlags) tellBinary(inv *command.Invocation, name, temp string, r *binfix.Result) error {
	if r.Failure == nil {
		if !f.asJSON {
			tellNotes(inv, r.Program)
		}
		return &command.Exit{Code: exitNoFailure, Err: fmt.Errorf("no failure found in %d schedules: give more time with -budget, or other arguments and input", r.Search.Runs)}
	}
	if r.Proven != nil {
		if err := os.WriteFile(f.out, r.Proven.File, 0o755); err != nil {
			return fmt.Errorf("writing the patch: %w", err)
		}
	}
	file := filepath.Join(temp, "failure.trace")
	if _, err := r.Program.Record(r.Schedule, file); err != nil {
		return err
	}
	reader, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer reader.Close()
	if f.asJSON {
		report := newBinaryReport(name, r, reader)
		if r.Proven != nil {
			report.Output = f.out
		}
		err = json.NewEncoder(inv.Stdout).Encode(report)
	} else {
		err = f.explainBinary(inv, name, r, reader)
	}
	switch {
	case err != nil:
		return fmt.Errorf("writing the result: %w", err)
	case r.Proven == nil:
		return &command.Exit{Code: exitNoFix}
	}
	return nil
}

// explainBinary tells it to a person: the timeline of the failing run first.
func (f *fixFlags) explainBinary(inv *command.Invocation, name string, r *binfix.Result, reader *trace.Reader) error {
	res := &explore.Result{Target: name, Summary: *r.Search, Failure: r.Failure}
	fmt.Fprintln(inv.Stdout, summary(inv.Color, name, res))
	tellNotes(inv, r.Program)
	if err := explore.WriteReport(inv.Stdout, reader); err != nil {
		return err
	}
	r.Explain(inv.Stdout)
	switch {
	case r.Proven == nil:
	case f.binary.copy:
		fmt.Fprintf(inv.Stdout, "\nWritten: %s, the program with the patch in it.\n", f.out)
	default:
		out, err := filepath.Abs(f.out)
		if err != nil {
			return err
		}
		fmt.Fprintf(inv.Stdout, "\nWritten: LD_PRELOAD=%s %s\n", out, f.binary.path)
	}
	return nil
}
