package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Confirmed failure was seen in a fresh process, or was not.
type Confirmed struct {
	// Seen says that the run by the schedule failed as it was to.
	Seen bool
	// Schedule is the smallest that was found.
	Schedule string
	Finding  finding.Finding
	// Trace says that the run is in the file.
	Trace bool
}

// Confirm has a failure that a search has gathered shrunk, run again in a fresh process, and
// recorded to a file.
func (p *Program) Confirm(ctx context.Context, target string, o *Options, g *Gathered, file string) (*Confirmed, error) {
	if g.Death != nil {
		died := &Result{Target: target, Failure: &g.Failure}
		return &Confirmed{Seen: true, Finding: died.DeathFinding(p.Package)}, nil // it has happened twice
	}
	s := p.NewSearch(target, o)
	defer s.idle.close()
	out := &Confirmed{Schedule: g.Schedule}
	if !g.Fresh {
		small, _, err := s.shrink(ctx, &g.Found)
		if err != nil {
			return nil, err
		}
		out.Schedule = small.Schedule.String()
	}
	one := *o
	one.warmUp = g.Residue == wire.ChangesSteps
	done, err := p.Record(ctx, target, out.Schedule, &one, file)
	if err != nil {
		return nil, err
	}
	out.Trace = true
	at := slices.IndexFunc(done.Outcome.Failures, func(f trace.Failure) bool { return f.Same(&g.Failure) })
	if out.Seen = at >= 0; !out.Seen {
		return out, nil
	}
	all, err := findingsIn(file)
	if err == nil {
		out.Finding = all[at]
	}
	return out, err
}

// A Rerun is what came of a schedule that is run again, in a program that may have changed.
type Rerun struct {
	// Followed says that the run kept to the schedule.
	Followed bool
	// Findings are its failures.
	Findings []finding.Finding
}

// RunAgain runs a target by the schedule of an earlier run, in a fresh process, and records it to a
// file. WarmUp is that of the earlier run's trace.
func (p *Program) RunAgain(ctx context.Context, target, schedule string, o *Options, warmUp bool, file string) (*Rerun, error) {
	one := *o
	one.warmUp = warmUp
	done, err := p.Record(ctx, target, schedule, &one, file)
	if err != nil {
		return nil, err
	}
	out := &Rerun{Followed: done.Diverged.Why == ""}
	out.Findings, err = findingsIn(file)
	return out, err
}

// findingsIn are the failures of the run in a file.
func findingsIn(file string) ([]finding.Finding, error) {
	r, err := trace.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading the run that was recorded: %w", err)
	}
	defer r.Close()
	return Findings(r, ""), nil
}
