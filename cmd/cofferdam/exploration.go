package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/publish"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// An exploration is one call of explore.
type exploration struct {
	*searchFlags
	inv          *command.Invocation
	searches     []*ongoing
	deadline     time.Time
	many         bool // there are several packages, in which tests can have the same name
	files        traceFiles
	failing      []string // a line for each test that fails, with -all for each failure
	failingTests int
	partly       []string // tests that did not fail, but were not seen as a whole
	vacuous      int      // tests with subtests of which none was selected
	// failed are the tests of a program that fail by themselves, or could not be explored.
	failed map[*explore.Program][]string
	phase  string // what the status says is going on
	// told is called with what the exploration of a target came to, and the file of its trace.
	told func(explore.Target, *explore.Result, string) error
	// elsewhere is the time that told has spent on something else than exploring.
	elsewhere time.Duration
	text      strings.Builder // the report of the test so far
}

// An ongoing search has turns until it is over, and is reported then.
type ongoing struct {
	target  explore.Target
	place   int // among all, from 0
	search  *explore.Search
	options explore.Options
	over    bool
}

// all explores all targets, in turns, and tells of each when it is through with it. Tests
// together come last, without those that fail by themselves.
func (e *exploration) all(ctx context.Context, targets []explore.Target) error {
	e.inv.Status.Phase(e.phase)
	slices.SortStableFunc(targets, func(s, t explore.Target) int { return min(len(s.Tests()), 2) - min(len(t.Tests()), 2) })
	for i, t := range targets {
		e.searches = append(e.searches, &ongoing{target: t, place: i})
	}
	e.deadline = time.Now().Add(e.Budget)
	table := explore.NewTimetable(e.Budget, len(e.searches), e.Runs > 0)
	for {
		next, turn, ok := table.Next()
		if !ok {
			break
		}
		s, begin := e.searches[next], time.Now()
		seen, elsewhere := s.distinct(), e.elsewhere
		if err := e.turn(ctx, s, turn); err != nil {
			return err
		}
		elsewhere = e.elsewhere - elsewhere
		e.deadline = e.deadline.Add(elsewhere)
		if e.failFast && len(e.failing) > 0 {
			return nil
		}
		table.Had(next, explore.Turn{Took: time.Since(begin) - elsewhere, New: max(0, s.distinct()-seen), Over: s.over})
	}
	return e.finishAll(ctx)
}

// distinct is how many schedules a search has seen.
func (s *ongoing) distinct() int {
	if s.search == nil {
		return 0
	}
	return s.search.Distinct()
}

// turn gives a search a turn.
func (e *exploration) turn(ctx context.Context, s *ongoing, turn time.Duration) error {
	if s.target.Together() {
		t := s.target.Without(e.failed[s.target.Program])
		if !t.Together() {
			s.over = true
			return nil
		}
		if t.Test != s.target.Test {
			s.target, s.search = t, nil
		}
	}
	if s.search == nil {
		e.begin(s)
	}
	s.options.Trace, s.options.Deadline = e.files.next(s.target), e.deadline
	e.tellReached(s, "")
	if err := s.search.Continue(ctx, turn, s.options.Processes()); err != nil {
		return e.giveUp(ctx, s, err)
	}
	if s.search.Over() {
		return e.finish(ctx, s)
	}
	return nil
}

// begin begins the search of a target. A run, and the search for harm, may take no longer than
// an even part of the budget.
func (e *exploration) begin(s *ongoing) {
	s.options = e.Options
	share := e.Budget / time.Duration(len(e.searches))
	s.options.Budget, s.options.Harm, s.options.Deadline = share, min(e.Harm, share), e.deadline
	s.options.Progress = func(_ string, p *wire.Progress) { e.tellReached(s, ": "+reachedText(p)) }
	s.search = s.target.NewSearch(&s.options)
}

// tellReached says how far the exploration is, in a status line, and for an interruption.
func (e *exploration) tellReached(s *ongoing, reached string) {
	through := 0
	for _, s := range e.searches {
		if s.over {
			through++
		}
	}
	e.inv.Status.Detail(s.target.Name() + counted(s.place, len(e.searches)) + reached)
	e.inv.Signals.Reach(fmt.Sprintf("%d of %d tests explored, then %s%s", through, len(e.searches), s.target.Name(), reached))
}

// giveUp tells that a target could not be explored. The others are.
func (e *exploration) giveUp(ctx context.Context, s *ongoing, err error) error {
	if ctx.Err() != nil {
		return err
	}
	s.over = true
	e.unexplored = append(e.unexplored, e.shown(s.target))
	e.failed[s.target.Program] = append(e.failed[s.target.Program], s.target.Test)
	fmt.Fprintf(e.inv.Stderr, "cofferdam: exploring %s: %v\n", e.shown(s.target), err)
	return e.AddTest(e.inv.Stdout, publish.Test{Package: s.target.Program.Package, Name: s.target.Name(), Verdict: publish.Unexplored, Headline: "it could not be explored: " + err.Error()})
}

// finish ends a search, and tells what it came to.
func (e *exploration) finish(ctx context.Context, s *ongoing) error {
	res, err := s.search.Finish(ctx)
	if err != nil {
		return e.giveUp(ctx, s, err)
	}
	s.over = true
	if e.All {
		recorded, err := e.recordAll(ctx, s)
		if err != nil {
			return e.giveUp(ctx, s, err)
		}
		if len(recorded) > 0 {
			e.failed[s.target.Program] = append(e.failed[s.target.Program], s.target.Test)
			return e.tellAll(s.target, res, recorded)
		}
	}
	if res.Failure != nil {
		e.failed[s.target.Program] = append(e.failed[s.target.Program], s.target.Test)
	}
	return e.told(s.target, res, s.options.Trace)
}

// finishAll ends the searches that are not over when the time is up. One that had no turn has
// nothing to tell.
func (e *exploration) finishAll(ctx context.Context) error {
	untried := 0
	for _, s := range e.searches {
		switch {
		case s.over:
			continue
		case s.search == nil:
			untried++
			e.unexplored = append(e.unexplored, e.shown(s.target))
			test := publish.Test{Package: s.target.Program.Package, Name: s.target.Name(), Verdict: publish.Unexplored, Headline: "the budget was used up before it was begun"}
			if err := e.AddTest(e.inv.Stdout, test); err != nil {
				return err
			}
			continue
		}
		s.options.Trace = e.files.next(s.target)
		if err := e.finish(ctx, s); err != nil {
			return err
		}
		if e.failFast && len(e.failing) > 0 {
			return nil
		}
	}
	if untried > 0 {
		fmt.Fprintf(e.inv.Stderr, "cofferdam: the budget of %v was used up before %s begun: give more with -budget\n", e.Budget, plural(untried, "test was", "tests were"))
	}
	return nil
}

// counted says which of several targets one is.
func counted(i, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d)", i+1, n)
}

// reachedText says how far a search is.
func reachedText(p *wire.Progress) string {
	rate := float64(p.Runs) / max(p.Elapsed.Seconds(), 0.001)
	text := fmt.Sprintf("%s, %.0f/s, %d distinct", plural(p.Runs, "schedule", "schedules"), rate, p.Classes)
	switch {
	case p.Best != nil:
		text += ", found so far: " + p.Best.String()
	case p.Fresh:
		text += ", a fresh process for each run"
	default:
		text += ", " + p.Search.String()
	}
	return text
}
