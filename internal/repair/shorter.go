package repair

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/repair/rounds"
	"github.com/cofferdam-go/cofferdam/internal/repair/tried"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Where a proof is sampled, the test is tried with fewer rounds of its loop (package rounds). If the
// program as it was passes that one by the default schedule and fails it, by another, in the way that
// is to be fixed, the fix has to stand it as well; and a person is told, because it is the better
// test.

// A ShorterTest is the failing test with fewer rounds.
type ShorterTest struct {
	rounds.Test
	// Steps are those of the failing run, and ShorterSteps those of the shorter one.
	Steps        uint64 `json:"steps"`
	ShorterSteps uint64 `json:"shorter_steps"`
	// Strength is what the fix has stood with it; nil if there is none.
	Strength *tried.Strength `json:"strength,omitempty"`
}

func (s *ShorterTest) String() string {
	var lines []string
	for _, l := range s.Lines {
		lines = append(lines, strconv.Itoa(l))
	}
	text := fmt.Sprintf("with %d in the place of %d (%s:%s), the test fails in the same way in a run of %d steps, and not of %d", s.To, s.From, s.File, strings.Join(lines, ","), s.ShorterSteps, s.Steps)
	if s.Strength != nil {
		text += fmt.Sprintf("; with the fix, that one is proven too (%s)", s.Strength)
	}
	return text
}

// shorterWithin is how long the failure is looked for in a shorter test.
const shorterWithin = 5 * time.Second

// shorter is the failing test with fewer rounds, if there is one that shows the same failure. It is
// looked for once.
func (f *fixer) shorter(ctx context.Context) (*ShorterTest, error) {
	if f.shortened != nil || f.triedShorter || !f.config.Tests {
		return f.shortened, nil
	}
	f.triedShorter = true
	f.detail("looking for a shorter test that fails in the same way")
	begin := time.Now()
	defer func() { f.until = f.until.Add(time.Since(begin)) }()
	run := f.result.run
	for _, test := range rounds.Fewer(run.code.Files(), f.target) {
		s := &ShorterTest{Test: *test, Steps: run.reader.Outcome.Steps}
		config, err := f.changedConfig(nil, run)
		if err != nil {
			return nil, err
		}
		fails, err := f.failsAlike(ctx, config, s)
		if err != nil || fails {
			f.shortened = s
			return s, err
		}
	}
	return nil, nil
}

// withText is a configuration with the shorter test in the place of the test.
func (s *ShorterTest) withText(config instrument.Config) instrument.Config {
	config.Overlay = maps.Clone(config.Overlay)
	config.Overlay[s.Name] = s.Text
	return config
}

// failsAlike reports whether the program as it was passes a shorter test by the default schedule,
// and fails it by another in the way that is to be fixed.
func (f *fixer) failsAlike(ctx context.Context, config instrument.Config, s *ShorterTest) (bool, error) {
	build, err := explore.New(ctx, s.withText(config), f.args...)
	if err != nil {
		return false, context.Cause(ctx) // a number that was no number of rounds
	}
	defer build.Close()
	program := f.programOf(build)
	o := f.opts.Explore
	o.Races = false
	const unswitched = "default"
	done, err := program.Record(ctx, f.target, unswitched, &o, "")
	if err != nil || done.Outcome.Worst() != nil {
		return false, context.Cause(ctx)
	}
	o.Races = f.result.Failure.Kind == event.FailureRace // else one would hide what is looked for
	o.Budget, o.Trace = shorterWithin, filepath.Join(f.opts.Temp, "shorter.trace")
	res, err := program.Explore(ctx, f.target, &o)
	if err != nil || res.Failure == nil || res.Death != nil {
		return false, context.Cause(ctx)
	}
	r, err := trace.Open(o.Trace)
	if err != nil {
		return false, err
	}
	defer r.Close()
	s.ShorterSteps = r.Outcome.Steps
	return s.ShorterSteps < s.Steps && explore.SameFailure(f.result.run.reader, r), nil
}

// proveShorter has a candidate stand the shorter test, too, if there is one.
func (f *fixer) proveShorter(ctx context.Context, c *Candidate) (err error) {
	s, err := f.shorter(ctx)
	if s == nil || err != nil || c.Patch.Files[s.Name] != nil {
		return err
	}
	f.detail("trying all schedules of the shorter test")
	build, err := explore.New(ctx, s.withText(c.config), f.args...)
	if err != nil {
		return context.Cause(ctx)
	}
	defer build.Close()
	o := *f.opts
	o.Explore.Trace, o.Explore.Progress = filepath.Join(f.opts.Temp, fmt.Sprintf("shorter%d.trace", f.tried)), f.searching
	t, err := tried.Schedules(ctx, f.programOf(build), f.target, o.trying(), s.ShorterSteps, f.until)
	switch {
	case err != nil:
		return err
	case t.Result.Failure != nil:
		c.Why = fmt.Sprintf("with %d in the place of %d (%s:%d), a schedule of the test still leads to %s", s.To, s.From, s.File, s.Lines[0], t.Result.Failure)
		c.stillFails = t.Result.Failure.Kind == f.result.Failure.Kind
		r, err := trace.Open(o.Explore.Trace)
		if err != nil {
			return err
		}
		defer r.Close()
		c.Broken = newFailingRun(r, c.lineBefore)
		return nil
	}
	stood := *s
	stood.Strength = &t.Strength
	c.Proof.Shorter = &stood
	return nil
}
