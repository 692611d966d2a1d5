package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/debugging"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

func newReplayCommand() *command.Command {
	var (
		count  int
		asJSON bool
		debugs bool
		stop   debugging.Options
	)
	c := command.New("replay", "FILE.trace", "run a recorded run again to the same end").BuildsPrograms()
	c.Long = `Replay builds the program that a trace was recorded from, runs it by the same
schedule in a fresh process, and compares the two runs event by event. If the program was
edited since, a step is compared by its text and not by its line, and functions on the way
that have changed are listed. Where the runs part, both steps are shown.

With -debug the run stops at a step, and dlv, the debugger, is started there, with the
goroutine and the function of that step before you. Set breakpoints, look at variables and
goroutines, and continue: the run goes on by its schedule, stops at the failure, and ends as
it was recorded. Time that you take does not count. In dlv, here shows the program's own
function again after a stop. On Linux only.`
	c.Notes = `Example:

  cofferdam replay -count 10 testdata/cofferdam/TestSteady.trace
  cofferdam replay -debug -at preemption testdata/cofferdam/TestSteady.trace

Exit codes: 0 the same run, or one that was ended in a debugger, 1 the run differed,
2 error, such as another version of Go.

See also: cofferdam help traces`
	c.Flags.IntVar(&count, "count", 1, "how many times")
	c.Flags.BoolVar(&asJSON, "json", false, "write the result as JSON")
	c.Flags.BoolVar(&debugs, "debug", false, "stop at a step, and start dlv there")
	c.Flags.StringVar(&stop.At, "at", "failure", "`step` at which -debug stops: its number as trace and report have it, failure, or preemption:N, before the Nth preemption (preemption is the first)")
	c.Flags.StringVar(&stop.Listen, "listen", "", "with -debug, have dlv serve an editor at `address` instead, such as 127.0.0.1:2345")
	c.Work = func(ctx context.Context, inv *command.Invocation) error {
		switch {
		case len(inv.Operands) != 1:
			return c.Errorf("want the name of one trace file, not %d", len(inv.Operands))
		case count < 1:
			return c.Errorf("-count %d: give 1 or more", count)
		case !debugs && (c.Named("at") || c.Named("listen")):
			return c.Errorf("-at and -listen are for -debug")
		case debugs && (c.Named("count") || asJSON):
			return c.Errorf("-debug does not go together with -count and -json")
		case debugs:
			r, err := openWhole(inv.Operands[0])
			if err != nil {
				return err
			}
			defer r.Close()
			if r.Header.Binary != nil {
				return c.Errorf("-debug: %s is of a program without source, which runs in an emulator", inv.Operands[0])
			}
			again, err := stop.Run(ctx, c, inv, r)
			if err != nil || again == nil {
				return err
			}
			return tellReplayed(inv, r, again, false)
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
		if err := tellReplayed(inv, r, again, asJSON); err != nil {
			return err
		}
	}
	return nil
}

// tellReplayed says what came of a run that was made again.
func tellReplayed(inv *command.Invocation, r *trace.Reader, again *explore.Replayed, asJSON bool) error {
	told := replayed{Same: again.Parting == nil, Outcome: again.Outcome, Changed: again.Changed}
	if again.Parting != nil {
		told.Difference = again.Parting
	}
	return told.tell(inv, r, asJSON)
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
