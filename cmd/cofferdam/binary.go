package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// exploreBinary explores a program without source.
func (f *searchFlags) exploreBinary(ctx context.Context, inv *command.Invocation, path string) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if len(inv.Operands) > 0 {
		return fmt.Errorf("-binary %s and the package %s: give one of them; arguments for the program follow --", path, inv.Operands[0])
	}
	inv.Status.Phase("loading " + path)
	binary, err := describeBinary(inv, path)
	if err != nil {
		return err
	}
	program, err := drive.Load(binary, f.Steps)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	inv.Status.Phase("exploring")
	options := f.binaryOptions()
	options.Progress = func(p *wire.Progress) {
		inv.Status.Detail(name + ": " + reachedText(p))
		inv.Signals.Reach(name + ": " + reachedText(p))
	}
	done, err := program.Explore(ctx, options)
	if err != nil {
		return err
	}
	res := &explore.Result{Target: name, Summary: *done, Failure: done.Outcome.Worst(), Within: f.Within}
	if !f.asJSON && !f.Silent() {
		fmt.Fprintln(inv.Stdout, summary(inv.Color, name, res))
		tellNotes(inv, program)
	}
	f.Gap(program.Notes()...)
	defer func() {
		if failed := f.Finish(inv, "explore"); failed != nil {
			err = failed
		}
	}()
	switch {
	case res.Failure != nil:
		return f.recordBinary(inv, program, res)
	case f.asJSON:
		return json.NewEncoder(inv.Stdout).Encode(&binaryTried{Program: name, Schedules: done.Runs, Complete: done.Search.Complete(), Tried: done.Search.String(), CutOff: done.Cut, Notes: program.Notes()})
	}
	return nil
}

// binaryTried is what explore -json prints of a program without source in which nothing was
// found.
type binaryTried struct {
	Program   string `json:"program"`
	Failed    bool   `json:"failed"`
	Schedules int    `json:"schedules"`
	// Complete: there are no others, and nothing was held; Tried says it in words.
	Complete bool     `json:"complete"`
	Tried    string   `json:"tried"`
	CutOff   int      `json:"cut_off"`
	Notes    []string `json:"notes,omitempty"`
}

// tellNotes lists what the program was denied, or got from outside.
func tellNotes(inv *command.Invocation, program *drive.Program) {
	for _, note := range program.Notes() {
		fmt.Fprintln(inv.Stdout, "note: "+note)
	}
}

// binaryOptions are what the flags say of the search of a program without source.
func (f *searchFlags) binaryOptions() *drive.Options {
	return &drive.Options{
		Method: f.Strategy, Preemptions: f.Preemptions, Seed: f.Seed, Budget: f.Budget, Runs: f.Runs, Jobs: f.Jobs, Within: f.Within, Stall: f.Stall, Races: f.Races, Harm: f.Harm,
	}
}

// describeBinary is a program with all that its runs depend on.
func describeBinary(inv *command.Invocation, path string) (trace.Binary, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return trace.Binary{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return trace.Binary{}, err
	}
	b := trace.Binary{Path: absolute, Args: append([]string{path}, inv.Program...), Env: inv.Environment, Dir: dir}
	b.Input, err = input(inv.Inherited.Stdin)
	return b, err
}

// input reads the standard input, unless a person would have to type it.
func input(in io.Reader) ([]byte, error) {
	if file, ok := in.(*os.File); ok {
		info, err := file.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, nil // there is none
		}
	}
	if in == nil {
		return nil, nil
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("reading the input of the program: %w", err)
	}
	return data, nil
}

// recordBinary records the failing run, and shows it.
func (f *searchFlags) recordBinary(inv *command.Invocation, program *drive.Program, res *explore.Result) error {
	file := f.out
	switch info, err := os.Stat(file); {
	case file == "":
		file = res.Target + ".trace"
	case err == nil && info.IsDir():
		file = filepath.Join(file, res.Target+".trace")
	}
	inv.Status.Phase("recording")
	out, err := program.Record(res.Outcome.Schedule, file)
	if err != nil {
		return err
	}
	if worst := out.Worst(); worst == nil || !worst.Same(res.Failure) {
		return program.NotRepeated()
	}
	e := &exploration{searchFlags: f, inv: inv}
	if err := e.report(file); err != nil {
		return err
	}
	return &command.Exit{Code: command.ExitFound}
}

// replayBinary runs a recorded run of a program without source again.
func replayBinary(_ context.Context, inv *command.Invocation, r *trace.Reader, count int, asJSON bool) error {
	temp, err := scratch.Dir()
	if err != nil {
		return fmt.Errorf("replaying: %w", err)
	}
	defer scratch.Remove(temp)
	inv.Status.Phase("replaying")
	for i := range count {
		inv.Status.Detail(fmt.Sprintf("%d of %d", i+1, count))
		out, diff, err := drive.Replay(r, filepath.Join(temp, "again.trace"))
		if err != nil {
			return err
		}
		told := replayed{Same: diff == nil, Outcome: out}
		if diff != nil {
			told.Difference = diff
		}
		if err := told.tell(inv, r, asJSON); err != nil {
			return err
		}
	}
	return nil
}
