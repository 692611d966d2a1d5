package repair

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// changes are what the shape of the failure calls for, on top of a patch that the run was made
// with.
func (r *failedRun) changes(base *cover.Patch) []*reshape.Change {
	at := func(number uint32) (reshape.Line, bool) {
		site, ok := r.reader.Site(number)
		return reshape.Line{File: r.copies.AtRun(site.File), Line: site.Line}, ok
	}
	run := &reshape.Run{
		Code: r.code, Base: base, Failure: r.reader.Outcome.Worst(), Failures: r.reader.Outcome.Failures,
		Site: at, FileAtRun: r.copies.AtRun, Started: make(map[reshape.Line]bool),
	}
	c := r.reader.Cursor(trace.Filter{Kinds: []event.Kind{event.Go}})
	for c.Next() {
		if line, ok := at(c.Event().Site); ok {
			run.Started[line] = true
		}
	}
	changes := run.Changes()
	r.declined = run.Declined
	return changes
}

// reshaped are the candidates that changes are.
func reshaped(changes []*reshape.Change) []*Candidate {
	var all []*Candidate
	for _, change := range changes {
		all = append(all, &Candidate{Derivation: &sli.Fix{}, Change: change, Patch: change.Patch, Lock: change.Words, Reason: change.Mistake, covers: new(coverage)})
	}
	return all
}
