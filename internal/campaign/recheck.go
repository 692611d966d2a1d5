package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// An edit may have mended what was found before. The schedule of each open finding of a target is
// run in the new build before anything else: the finding is still there, the run follows the
// schedule and does not fail, or the run cannot follow it. The latter two are no proof. The finding
// is fixed when the search has tried all schedules without it, or many times as many as it took to
// see it first; and gone when the functions that it is about do not exist any more.

// recheck runs the schedules of open findings in a new build of their target.
func (c *Campaign) recheck(ctx context.Context, t *target) error {
	for _, rec := range c.toRecheck(t) {
		l := t.lease
		l.Task, l.Schedule, l.WarmUp = Recheck, rec.value.Schedule, rec.value.WarmUp
		l.Day = cmp.Or(rec.value.Day, l.Day)
		l.ID = textHash([]byte("recheck"), []byte(l.Target), []byte(l.Build), []byte(rec.value.ID))[:32]
		outcome, again := NotReproducible, (*finding.Finding)(nil)
		var r *Result
		if rec.value.Schedule != "" {
			var err error
			var trouble *TroubleError
			r, err = c.d.do(ctx, &l, c.o.Slots > 0)
			switch {
			case errors.As(err, &trouble): // the run has ended its process, say
			case err != nil:
				return err
			default:
				outcome, again = judgeRerun(&rec.value, r.Rerun)
			}
		}
		if err := c.rechecked(ctx, t, rec, outcome, again, r); err != nil {
			return err
		}
	}
	return nil
}

// toRecheck are the records of a target that were not looked into with its build.
func (c *Campaign) toRecheck(t *target) []*versioned[Record] {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*versioned[Record]
	for _, key := range c.records.keys() {
		rec := c.records.all[key]
		if r := &rec.value; r.Target == t.rec.Key && r.open() && r.Build != t.rec.Build && (r.Recheck == nil || r.Recheck.Build != t.rec.Build) {
			all = append(all, rec)
		}
	}
	return all
}

// judgeRerun says what a rerun of a finding's schedule shows of it. Lines may have moved.
func judgeRerun(r *Record, rerun *explore.Rerun) (RecheckOutcome, *finding.Finding) {
	if rerun == nil {
		return NotReproducible, nil
	}
	// A run may show several findings of one outline, such as two races of the same two functions: the one
	// with the ID is told from the others while the lines stand where they stood.
	for _, same := range []func(f *finding.Finding) bool{
		func(f *finding.Finding) bool { return slices.Contains(r.IDs, f.ID().String()) },
		func(f *finding.Finding) bool { return f.Outline().String() == r.Outline },
	} {
		for i := range rerun.Findings {
			if f := &rerun.Findings[i]; same(f) {
				return StillThere, f
			}
		}
	}
	if rerun.Followed {
		return NotFailing, nil
	}
	return NotReproducible, nil
}

// rechecked takes note of how the schedule of a finding went.
func (c *Campaign) rechecked(ctx context.Context, t *target, rec *versioned[Record], outcome RecheckOutcome, again *finding.Finding, r *Result) error {
	now := time.Now()
	c.mu.Lock()
	rec.value.Recheck = &Rechecked{Build: t.rec.Build, Outcome: outcome, At: now}
	gone := false
	if again != nil {
		rec.value.seen(again, t.rec.Build, now)
	} else if gone = !inProgram(t.Program, &rec.value.Finding); gone {
		rec.value.Status = Gone
	}
	c.mu.Unlock()
	if again != nil {
		if err := c.keepTrace(ctx, rec, r); err != nil {
			return err
		}
	} else if r != nil && r.Trace != "" {
		c.s.removeObject(ctx, r.Trace)
	}
	if err := c.putRecord(ctx, rec); err != nil {
		return err
	}
	told := rec.value
	c.tell(Event{Finding: &told})
	return nil
}

// inProgram reports whether a program has one of the functions that a finding is about.
func inProgram(p *explore.Program, f *finding.Finding) bool {
	functions := map[string]bool{}
	for i := range p.Sites() {
		s := &p.Sites()[i]
		functions[s.Package+"."+s.Function] = true
	}
	known := false
	for i := range f.Accesses {
		site := f.Accesses[i].Site()
		if site.Function == "" {
			continue
		}
		known = true
		// A closure is numbered within its function, and may be another one now.
		name, _, _ := strings.Cut(site.Function, ".func")
		for function := range functions {
			if function == site.Function || strings.HasPrefix(function, name) {
				return true
			}
		}
	}
	return !known // what is about nothing in particular is not gone
}

// judge decides which findings of a target its search has shown to be fixed.
func (c *Campaign) judge(ctx context.Context, t *target) error {
	c.mu.Lock()
	var fixed []*versioned[Record]
	for _, key := range c.records.keys() {
		rec := c.records.all[key]
		r := &rec.value
		if r.Target != t.rec.Key || !r.open() || r.Build == t.rec.Build || r.Recheck == nil || r.Recheck.Build != t.rec.Build {
			continue
		}
		complete := t.rec.Over && t.rec.Search.Method == sched.MethodDFS && t.rec.Search.Complete()
		if complete || t.rec.Runs >= r.enoughRuns() {
			r.Status, r.FixedAfter = Fixed, t.rec.Runs
			fixed = append(fixed, rec)
		}
	}
	c.mu.Unlock()
	for _, rec := range fixed {
		if err := c.putRecord(ctx, rec); err != nil {
			return err
		}
		told := rec.value
		c.tell(Event{Finding: &told})
	}
	return nil
}

// missing marks the findings as gone whose test is not in its package any more, of packages all of
// whose tests are in the campaign.
func (c *Campaign) missing(ctx context.Context, targets []explore.Target) error {
	if !c.o.WholePackages {
		return nil
	}
	tests, packages := map[string]bool{}, map[string]bool{}
	for _, t := range targets {
		tests[TargetKey(t)], packages[t.Program.Package] = true, true
	}
	for _, key := range c.records.keys() {
		rec := c.records.all[key]
		if r := &rec.value; !r.open() || tests[r.Target] || !packages[r.Package] {
			continue
		}
		rec.value.Status = Gone
		if err := c.putRecord(ctx, rec); err != nil {
			return fmt.Errorf("marking what is gone: %w", err)
		}
		told := rec.value
		c.tell(Event{Finding: &told})
	}
	return nil
}
