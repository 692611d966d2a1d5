package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/publish"
)

// recordAll records all failures that the search of a test has gathered.
func (e *exploration) recordAll(ctx context.Context, s *ongoing) ([]explore.Recorded, error) {
	e.tellReached(s, ": recording what was found")
	all, doubted, err := s.search.RecordAll(ctx, func(n int) string { return numbered(s.options.Trace, n) })
	if doubted > 0 {
		fmt.Fprintf(e.inv.Stderr, "cofferdam: %s: left out, as not under control: %s not come back in a fresh process\n", e.shown(s.target), plural(doubted, "failure did", "failures did"))
	}
	return all, err
}

// numbered is the file of the nth trace of a test, from 0: a.trace, a.2.trace, a.3.trace.
func numbered(file string, n int) string {
	if n == 0 {
		return file
	}
	ext := filepath.Ext(file)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(file, ext), n+1, ext)
}

// tellAll says what the exploration of a target came to that has gathered failures.
func (e *exploration) tellAll(t explore.Target, res *explore.Result, all []explore.Recorded) error {
	e.text.Reset()
	before := len(e.Results)
	err := e.tellFailures(t, res, all)
	return errors.Join(err, e.publishTest(t, res, e.Results[before:]))
}

func (e *exploration) tellFailures(t explore.Target, res *explore.Result, all []explore.Recorded) error {
	name := e.shown(t)
	e.failingTests++
	w := e.out()
	rate := float64(res.Runs) / max(res.Elapsed.Seconds(), 0.001)
	fmt.Fprintf(w, "%s  %s  %s in %s in %.1fs (%.0f/s), %d distinct; %s\n", e.inv.Color.Bad("FAIL"), name, plural(len(all), "failure", "failures unlike each other"), plural(res.Runs, "schedule", "schedules"), res.Elapsed.Seconds(), rate, res.Classes, res.Search)
	for i := range all {
		fmt.Fprintf(w, "  %s\n", recordedLine(&all[i]))
	}
	if caveats := res.Caveats(); caveats != "" {
		fmt.Fprintln(w, "note: "+caveats)
	}
	var shown []string
	for i := range all {
		r := &all[i]
		e.failing = append(e.failing, strings.TrimSpace(fmt.Sprintf("%s  %s: %s", r.Trace, name, recordedName(r))))
		var err error
		switch {
		case r.Death != nil:
			err = e.tellDeath(t, res, r)
		case !slices.Contains(shown, r.Trace):
			shown = append(shown, r.Trace)
			e.files.used(r.Trace)
			err = e.report(r.Trace)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recordedName says in a line what a failure is, and where.
func recordedName(r *explore.Recorded) string {
	if r.Where == "" {
		return firstLine(&r.Failure)
	}
	return firstLine(&r.Failure) + " (" + r.Where + ")"
}

// recordedLine says in a line what a failure is, how often it was, and where it is recorded.
func recordedLine(r *explore.Recorded) string {
	text := fmt.Sprintf("%s: first at schedule %d, in %s", recordedName(r), r.First, plural(r.Runs, "schedule", "schedules"))
	if r.Trace == "" {
		return text
	}
	return text + "; shrunk to " + schedule(r.Schedule) + ": " + r.Trace
}

// tellDeath says how a program died that was explored for all failures.
func (e *exploration) tellDeath(t explore.Target, res *explore.Result, r *explore.Recorded) error {
	dead := *res
	dead.Failure, dead.Death, dead.First = &r.Failure, r.Death, r.First
	fmt.Fprintln(e.out())
	dead.WriteDeath(e.out())
	return e.found(publish.Results([]finding.Finding{dead.DeathFinding(t.Program.Package)}))
}
