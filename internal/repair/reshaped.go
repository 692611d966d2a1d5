package repair

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// changes are what the shape of the failure calls for, on top of a patch that the run was made
// with.
func (r *failedRun) changes(base *cover.Patch) []*change.Change {
	at := func(number uint32) (change.Line, bool) {
		site, ok := r.reader.Site(number)
		return change.Line{File: r.copies.AtRun(site.File), Line: site.Line}, ok
	}
	run := &change.Run{
		Code: r.code, Base: base, Failure: r.reader.Outcome.Worst(), Failures: r.reader.Outcome.Failures,
		Site: at, FileAtRun: r.copies.AtRun, Minimal: r.minimal, Started: make(map[change.Line]bool),
	}
	c := r.reader.Cursor(trace.Filter{Kinds: []event.Kind{event.Go}})
	for c.Next() {
		if line, ok := at(c.Event().Site); ok {
			run.Started[line] = true
		}
	}
	if !run.Blocked() {
		run.Split = r.splitUpdates()
	}
	changes := reshape.Changes(run)
	r.declined = run.Declined
	return changes
}

// splitUpdates are the variables of sync/atomic and the sync.Maps, with the functions that take updates
// of them apart into several operations.
func (r *failedRun) splitUpdates() []change.SplitUpdate {
	var all []change.SplitUpdate
	for _, v := range r.locksHeld().Variables {
		if len(v.Operations) == 0 {
			continue
		}
		split := change.SplitUpdate{Variable: v.Object}
		for _, g := range whole.Updates(r.locksHeld(), v.Object) {
			if at := g.Func.Syntax(); at != nil && !r.inTest(g.Func) && !slices.Contains(split.Functions, at) {
				split.Functions = append(split.Functions, at)
			}
		}
		all = append(all, split)
	}
	return all
}

// reshaped are the candidates that changes are. One that is a lock is to guard what another lock would: all accesses
// to its data, and the data's companions.
func (r *failedRun) reshaped(changes []*change.Change, base *cover.Patch) []*Candidate {
	var all []*Candidate
	for _, c := range changes {
		candidate := &Candidate{Derivation: &sli.Fix{}, Change: c, Patch: c.Patch, Lock: c.Words, Reason: c.Mistake, covers: new(coverage)}
		if s := c.Section; s != nil {
			candidate.lock, candidate.regions, candidate.base = s.Lock, s.Regions, base
			all = append(all, (&ranking{run: r, base: base}).coveringMore(candidate, s.Data.Names(r.code), s.Regions)...)
		}
		all = append(all, candidate)
	}
	return all
}
