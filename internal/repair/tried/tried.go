// Package tried explores a patched program for a proof, and grades the result. The grade is exhaustive if all schedules
// with few preemptions were tried, and sampled if these are too many and others were drawn by chance instead. A proof of
// a fix is as strong as that.
package tried

import (
	"context"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Grade says what kind of proof the schedules are that were tried.
type Grade string

const (
	// Exhaustive: all schedules with at most so many preemptions.
	Exhaustive Grade = "exhaustive"
	// Sampled: so many schedules by chance, because all are too many.
	Sampled Grade = "sampled"
)

// A Strength is how much of what can happen a proof has tried. How many schedules are tried
// follows from the program and the seed, and not from the speed of the machine, unless the
// time is over before; the least that is accepted is tried though it is, on all but the slowest
// machines.
type Strength struct {
	Grade Grade `json:"grade"`
	// Preemptions is the bound of an exhaustive proof; -1 if there is none.
	Preemptions int `json:"preemptions"`
	// Schedules is how many a sampled proof has tried to their end, of so many Planned.
	Schedules int `json:"schedules,omitempty"`
	Planned   int `json:"planned,omitempty"`
}

func (s *Strength) String() string {
	switch {
	case s.Grade == Exhaustive && s.Preemptions < 0:
		return "exhaustive"
	case s.Grade == Exhaustive:
		if s.Preemptions == 1 {
			return "exhaustive to one preemption"
		}
		return fmt.Sprintf("exhaustive to %d preemptions", s.Preemptions)
	case s.Schedules < s.Planned:
		return fmt.Sprintf("sampled, %d schedules of %d: more with -budget", s.Schedules, s.Planned)
	}
	return fmt.Sprintf("sampled, %d schedules", s.Schedules)
}

// Options say how hard to try.
type Options struct {
	// Explore is how schedules are searched for.
	Explore explore.Options
	// Proof is how long that may take though the time is over.
	Proof time.Duration
	// Least is how many must be tried where all are too many; LeastAll accepts none but all, 0 stands
	// for DefaultLeast.
	Least int
}

// LeastAll is an Options.Least that accepts exhaustive proofs alone, DefaultLeast what 0 stands
// for.
const (
	LeastAll     = -1
	DefaultLeast = 1000
)

// How many schedules are tried: all up to a bound, if so many runs do; then so many by chance.
// Long runs have fewer, by the steps that they take.
const (
	provenBound = 2
	mostOfAll   = 30_000
	leastOfAll  = 500
	stepsOfAll  = 20_000_000
	mostSampled = 10_000
	stepsInAll  = 60_000_000
	// patience is how many times the time is given, if need be, for the least that is accepted: a
	// busy machine is to come to the same verdict as a quiet one.
	patience = 4
	// allTurns is how many times the time is given for all schedules to a bound. How many these may be
	// is limited by their steps, so that a quiet machine needs no second time.
	allTurns = 2
	// cutInHundred is how many runs in a hundred may be cut off: one in which a goroutine waits
	// in a loop for another may never end under a schedule that starves it.
	cutInHundred = 1
)

// A Trial is what came of trying the schedules of a program.
type Trial struct {
	// Result is that of the search that failed, or of the last one.
	Result   *explore.Result
	Strength Strength
	// Searches are what was tried, in words.
	Searches []string
	Runs     int
	Leaks    []wire.Found
	// Unfinished says why too little could be tried; "" if it was enough, or something failed.
	Unfinished string
}

// Schedules tries the schedules of a program whose runs take so many steps: all with few preemptions
// or, where these are too many or cannot all be tried, many by chance. They may take until a
// time, and o.Proof though that is over; a few times as long on a machine that is too busy for what a
// quiet one would try by then.
func Schedules(ctx context.Context, program *explore.Program, target string, o *Options, steps uint64, until time.Time) (*Trial, error) {
	steps = max(steps, 1)
	t := &Trial{}
	search := o.Explore
	search.Strategy, search.Preemptions, search.Harm = sched.MethodDFS, provenBound, 50*time.Millisecond
	search.Runs = int(min(max(stepsOfAll/steps, leastOfAll), mostOfAll))
	search.Budget = max(time.Until(until)/2, o.Proof)
	res, err := searched(ctx, program, target, &search, func(s *explore.Search, turn int) bool { return turn < allTurns && !s.Over() })
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		// Its runs cannot be repeated in one process, which is no fault of a candidate.
		t.Result = &explore.Result{Target: target}
		t.Searches = append(t.Searches, "all schedules could not be tried one after the other")
	default:
		t.add(res, res.Search.String())
		t.Strength = Strength{Grade: Exhaustive, Preemptions: res.Search.Bound}
		if res.Search.Unbounded {
			t.Strength.Preemptions = -1
		}
		if res.Failure != nil || complete(res) {
			return t, nil
		}
	}
	if o.Least == LeastAll {
		t.Unfinished = "no schedule failed, but they are too many to try all, as -least all asks for"
		return t, nil
	}
	return t, t.sample(ctx, program, target, o, steps, until)
}

// searched makes a search that has its time again as long as more says so.
func searched(ctx context.Context, program *explore.Program, target string, o *explore.Options, more func(s *explore.Search, turn int) bool) (*explore.Result, error) {
	s := program.NewSearch(target, o)
	for turn := 0; more(s, turn); turn++ {
		if err := s.Continue(ctx, o.Budget, o.Processes()); err != nil {
			return nil, err
		}
	}
	return s.Finish(ctx)
}

// sample tries schedules by chance.
func (t *Trial) sample(ctx context.Context, program *explore.Program, target string, o *Options, steps uint64, until time.Time) error {
	search := o.Explore
	search.Strategy, search.Harm = sched.MethodPCT, 50*time.Millisecond
	least := o.Least
	if least <= 0 {
		least = DefaultLeast
	}
	search.Runs = max(int(min(stepsInAll/steps, mostSampled)), least)
	search.Budget = max(time.Until(until), o.Proof)
	res, err := searched(ctx, program, target, &search, func(s *explore.Search, turn int) bool {
		return turn < patience && !s.Over() && (turn == 0 || s.Tried() < least)
	})
	if err != nil {
		return err
	}
	ended := res.Runs - res.Cut
	text := fmt.Sprintf("%d schedules by PCT tried", ended)
	if res.Cut > 0 {
		text += fmt.Sprintf(", %d more cut off before their end", res.Cut)
	}
	t.add(res, text)
	t.Strength = Strength{Grade: Sampled, Preemptions: -1, Schedules: ended, Planned: search.Runs}
	if res.Search.Saturated > 0 || res.Search.Exhausted {
		t.Strength.Planned = ended // there was nothing new to be seen
	}
	switch {
	case res.Failure != nil:
	case res.Cut*100 > res.Runs*cutInHundred:
		t.Unfinished = fmt.Sprintf("no schedule failed, but %d of %d were cut off before their end: give each more with -steps or -within", res.Cut, res.Runs)
	case ended < least && t.Strength.Planned > ended:
		t.Unfinished = fmt.Sprintf("no schedule failed, but only %d of the %d that are asked for could be tried in the time: give more with -budget, accept fewer with -least, or use a test that fails in a shorter run", ended, least)
	}
	return nil
}

// add notes what a search has tried.
func (t *Trial) add(res *explore.Result, text string) {
	t.Result = res
	t.Runs += res.Runs
	t.Leaks = append(t.Leaks, res.Leaks...)
	if caveats := res.Caveats(); caveats != "" {
		text += " (" + caveats + ")"
	}
	t.Searches = append(t.Searches, text)
}

// complete reports whether a search has tried all schedules that it speaks of, and left
// nothing to chance.
func complete(res *explore.Result) bool {
	return res.Ended == nil && res.Cut == 0 && res.Search.Exhaustive()
}
