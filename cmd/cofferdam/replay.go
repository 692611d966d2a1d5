package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

func newReplayCommand() *command.Command {
	var (
		count  int
		asJSON bool
	)
	c := command.New("replay", "FILE.trace", "run a recorded run again to the same end").BuildsPrograms()
	c.Long = `Replay builds the program that a trace was recorded from, runs it by the same
schedule in a fresh process, and compares the two runs event by event. If the program was
edited since, what stands at each step is compared, not its line; functions on the way that
have changed are told. Where the runs part, both steps are shown.`
	c.Notes = `Example:

  cofferdam replay -count 10 testdata/cofferdam/TestSteady.trace

Exit codes: 0 the same run, 1 the run differed, 2 error, such as another version of Go.

See also: cofferdam help traces`
	c.Flags.IntVar(&count, "count", 1, "how many times")
	c.Flags.BoolVar(&asJSON, "json", false, "write the result as JSON")
	c.Work = func(ctx context.Context, inv *command.Invocation) error {
		switch {
		case len(inv.Operands) != 1:
			return c.Errorf("want the name of one trace file, not %d", len(inv.Operands))
		case count < 1:
			return c.Errorf("-count %d: give 1 or more", count)
		}
		return replay(ctx, inv, inv.Operands[0], count, asJSON)
	}
	return c
}

func replay(ctx context.Context, inv *command.Invocation, file string, count int, asJSON bool) error {
	r, err := openWhole(file)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Header.Binary != nil {
		return replayBinary(ctx, inv, r, count, asJSON)
	}
	inv.Status.Phase("building with hooks")
	config, _ := explore.Again("", &r.Header)
	config.Progress = inv.Status.Detail
	build, err := explore.New(ctx, config, r.Header.Args...)
	if err != nil {
		return fmt.Errorf("building the program of %s: %w; run replay where the trace was recorded", file, err)
	}
	defer build.Close()
	build.Environment = inv.Environment
	inv.Status.Phase("replaying")
	for i := range count {
		inv.Status.Detail(fmt.Sprintf("%d of %d", i+1, count))
		again, err := build.Programs[0].Replay(ctx, r)
		if err != nil {
			return err
		}
		told := replayed{Same: again.Parting == nil, Outcome: again.Outcome, Changed: again.Changed}
		if again.Parting != nil {
			told.Difference = again.Parting
		}
		if err := told.tell(inv, r, asJSON); err != nil {
			return err
		}
	}
	return nil
}

// A replayed run is what replay tells.
type replayed struct {
	Same       bool           `json:"same"`
	Difference fmt.Stringer   `json:"difference"`
	Outcome    *trace.Outcome `json:"outcome"`
	// Changed are the functions on the way that are not what they were.
	Changed []trace.Change `json:"changed,omitempty"`
}

// tell says whether a run was the same.
func (run replayed) tell(inv *command.Invocation, r *trace.Reader, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(inv.Stdout).Encode(run); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
	} else {
		tellChanged(inv, run.Changed)
		if run.Same {
			fmt.Fprintf(inv.Stdout, "the same run: %d events, %s\n", r.Len(), ending(run.Outcome))
		}
	}
	if !run.Same {
		return &command.Exit{Code: command.ExitFound, Err: fmt.Errorf("the run differed: %s", run.Difference)}
	}
	return nil
}

// tellChanged says which functions on the way of a recorded run are not what they were.
func tellChanged(inv *command.Invocation, changed []trace.Change) {
	for _, c := range changed {
		what := "has changed since the trace was recorded"
		if c.Gone {
			what = "is gone since the trace was recorded"
		}
		fmt.Fprintf(inv.Stderr, "cofferdam: %s.%s %s\n", c.Package, c.Function, what)
	}
}

func ending(out *trace.Outcome) string {
	if f := out.Worst(); f != nil {
		return f.String()
	}
	return out.Result.String()
}
