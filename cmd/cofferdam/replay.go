package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

func newReplayCommand() *command {
	var (
		count  int
		asJSON bool
	)
	c := newCommand("replay", "FILE.trace", "run a recorded run again to the same end").buildsPrograms()
	c.long = `Replay builds the program that a trace was recorded from, runs it by the same
schedule in a fresh process, and compares the two runs event by event.`
	c.notes = `Example:

  cofferdam replay -count 10 TestSteady.trace

Exit codes: 0 the same run, 1 the run differed, 2 error, such as a changed program.

See also: cofferdam help traces`
	c.flags.IntVar(&count, "count", 1, "how many times")
	c.flags.BoolVar(&asJSON, "json", false, "write the result as JSON")
	c.work = func(ctx context.Context, inv *invocation) error {
		switch {
		case len(inv.operands) != 1:
			return c.errorf("want the name of one trace file, not %d", len(inv.operands))
		case count < 1:
			return c.errorf("-count %d: give 1 or more", count)
		}
		return replay(ctx, inv, inv.operands[0], count, asJSON)
	}
	return c
}

func replay(ctx context.Context, inv *invocation, file string, count int, asJSON bool) error {
	r, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Truncated(); err != nil {
		return err
	}
	if r.Header.Binary != nil {
		return replayBinary(ctx, inv, r, count, asJSON)
	}
	inv.status.Phase("building with hooks")
	config, _ := explore.Again("", &r.Header)
	config.Progress = inv.status.Detail
	build, err := explore.New(ctx, config, r.Header.Args...)
	if err != nil {
		return fmt.Errorf("building the program of %s: %w; run replay where the trace was recorded", file, err)
	}
	defer build.Close()
	inv.status.Phase("replaying")
	for i := range count {
		inv.status.Detail(fmt.Sprintf("%d of %d", i+1, count))
		done, diff, err := build.Programs[0].Replay(ctx, r)
		if err != nil {
			return err
		}
		if err := tellReplay(inv, r, done.Outcome, diff, asJSON); err != nil {
			return err
		}
	}
	return nil
}

// tellReplay says whether a run was the same.
func tellReplay(inv *invocation, r *trace.Reader, out *trace.Outcome, diff *trace.Difference, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(inv.stdout).Encode(map[string]any{"same": diff == nil, "difference": diff, "outcome": out}); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
	} else if diff == nil {
		fmt.Fprintf(inv.stdout, "the same run: %d events, %s\n", r.Len(), ending(out))
	}
	if diff != nil {
		return &exitCode{code: exitFound, err: fmt.Errorf("the run differed: %s", diff)}
	}
	return nil
}

func ending(out *trace.Outcome) string {
	if f := out.Worst(); f != nil {
		return f.String()
	}
	return out.Result.String()
}
