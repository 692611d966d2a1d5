package explore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Search is that for a schedule under which a target fails. It can be left and taken up
// again.
type Search struct {
	p      *Program
	target string
	o      *Options
	// warm is the search in processes that make one run after another, cold the one with a
	// process for each run, if there is one, and whyCold why there is. all says that it
	// stands for the whole search, ended that it goes on where the other one ended.
	warm, cold *pass
	whyCold    error
	all        bool
	ended      error
	jobs       int            // processes side by side
	notBeside  error          // why that is one, whatever is asked for
	failure    *trace.Failure // confirmed
	death      *DeathError    // which is the failure
	idle       idleProcesses
}

// errNotReproduced is why a failure is not believed.
var errNotReproduced = errors.New("the failure did not come back in a fresh process")

// NewSearch returns the search of a target that has not begun yet.
func (p *Program) NewSearch(target string, o *Options) *Search {
	return &Search{p: p, target: target, o: o, jobs: o.Processes(), warm: newPass(p, target, o, false)}
}

// Continue goes on with the search, for so long and with so many processes, until a failure
// is found and confirmed, or there is nothing left to try.
func (s *Search) Continue(ctx context.Context, budget time.Duration, jobs int) error {
	defer s.idle.close()
	deadline := time.Now().Add(budget)
	if s.jobs = jobs; s.notBeside != nil {
		s.jobs = 1
	}
	err := s.goOn(ctx, deadline)
	var notBeside notBesideError
	if errors.As(err, &notBeside) {
		s.goAlone(notBeside)
		err = s.goOn(ctx, deadline)
	}
	return err
}

// goAlone begins the search anew, with one process at a time: what several have found may come
// from what others of them did to the same files.
func (s *Search) goAlone(why error) {
	s.idle.close()
	s.jobs, s.notBeside = 1, why
	s.warm, s.cold, s.whyCold, s.all, s.ended = newPass(s.p, s.target, s.o, false), nil, nil, false, nil
}

// goOn goes on with the search until a time.
func (s *Search) goOn(ctx context.Context, deadline time.Time) error {
	if !s.warm.Over && (s.cold == nil || !s.all && s.ended == nil) {
		err := s.warm.run(ctx, &s.idle, max(0, time.Until(deadline)), s.jobs)
		if err == nil {
			err = s.conclude(ctx, s.warm)
		}
		if err := s.afterWarm(err); err != nil {
			return err
		}
	}
	if s.cold == nil && s.someCold() {
		s.goCold(errChangesSteps, max(s.o.Runs-s.warm.Sum.Runs, 1))
	}
	if s.cold == nil || s.failure != nil {
		return nil
	}
	return s.runCold(ctx, deadline)
}

// afterWarm decides what comes after the search in processes that make one run after
// another, by the error that it ended with.
func (s *Search) afterWarm(err error) error {
	var died *DeathError
	var stuck *StuckError
	switch {
	case errors.Is(err, errNotReproduced), errors.Is(err, errChangesEndings):
		s.all = true
		s.goCold(err, s.o.Runs)
	case errors.As(err, &died):
		s.ended = died
		s.goCold(died, max(s.o.Runs-s.warm.Sum.Runs, 1))
	case errors.As(err, &stuck):
		s.ended, s.warm.Over = stuck, true
	default:
		return err
	}
	return nil
}

// someCold reports whether fresh processes have to be tried, too: what a process does that has
// made a run is not all that the target can do.
func (s *Search) someCold() bool {
	return s.failure == nil && s.ended == nil && s.warm.Sum.Residue == wire.ChangesSteps
}

// goCold has the search go on in fresh processes, with so many runs if their number is
// limited.
func (s *Search) goCold(why error, runs int) {
	rest := *s.o
	if rest.Runs > 0 {
		if rest.Runs = runs; runs <= 0 {
			return
		}
	}
	s.whyCold = why
	s.cold = newPass(s.p, s.target, &rest, true)
}

// runCold searches in fresh processes. What does not come back there is not believed, and
// the search goes on.
func (s *Search) runCold(ctx context.Context, deadline time.Time) error {
	for !s.cold.Over {
		left := time.Until(deadline)
		if s.ended != nil && s.cold.Sum.Runs == 0 {
			left = max(left, leastWithin) // enough to see why the program died
		}
		err := s.cold.run(ctx, &s.idle, max(0, left), s.jobs)
		if err == nil {
			err = s.conclude(ctx, s.cold)
		}
		var stuck *StuckError
		switch {
		case errors.As(err, &stuck):
			s.ended, s.cold.Over = stuck, true
		case !errors.Is(err, errNotReproduced):
			return err
		default:
			s.cold.Disbelieve()
		}
		if !time.Now().Before(deadline) {
			break
		}
	}
	return nil
}

// conclude has the failure of a pass shrunk, run again in a fresh process, and recorded, if
// one was found.
func (s *Search) conclude(ctx context.Context, x *pass) error {
	best := x.Best()
	if best == nil {
		return nil
	}
	x.Sum.Outcome = &trace.Outcome{Result: event.Failed, Failures: []trace.Failure{best.Failure}, Schedule: best.Schedule}
	if s.death = x.deaths[best.Message]; s.death != nil && best.Schedule == "" {
		s.failure = &best.Failure // it has happened twice
		return nil
	}
	warmUp := x.Sum.Residue == wire.ChangesSteps
	if !x.fresh {
		begin := time.Now()
		small, failure, err := s.shrink(ctx, best)
		if err != nil {
			return err
		}
		x.Sum.Outcome.Failures[0], x.Sum.Outcome.Schedule = *failure, small.Schedule.String()
		x.Sum.Shrinking, x.Sum.ShrinkingTook, x.Sum.Minimal = small.Runs, time.Since(begin), small.Minimal
	}
	one := *s.o
	one.warmUp = warmUp
	limits := []uint64{one.steps()}
	if x.Sum.Cut > 0 && endlessRun < one.steps() {
		limits = []uint64{endlessRun, one.steps()}
	}
	for _, one.Steps = range limits {
		done, err := s.p.Record(ctx, s.target, x.Sum.Outcome.Schedule, &one, s.o.Trace)
		if err != nil {
			return err
		}
		if done.Outcome.FailsLike(x.Sum.Outcome.Worst(), false) {
			x.Sum.Outcome, s.failure = done.Outcome, done.Outcome.Worst()
			return nil
		}
	}
	return errNotReproduced
}

// endlessRun is how many steps of a run are recorded at first where runs do not end by themselves: what
// follows a failure there is the same again and again, a ticker's rounds say, and a million steps
// of it take an analysis seconds.
const endlessRun = 20_000

// Over reports whether there is nothing left to do.
func (s *Search) Over() bool {
	if s.cold != nil {
		return s.failure != nil || s.cold.Over
	}
	return s.failure != nil || s.warm.Over
}

// Tried is how many runs came to their end.
func (s *Search) Tried() int {
	n := s.warm.Sum.Runs - s.warm.Sum.Cut
	switch {
	case s.cold == nil:
		return n
	case s.all:
		n = 0
	}
	return n + s.cold.Sum.Runs - s.cold.Sum.Cut
}

// Distinct is how many schedules were seen that are unlike each other.
func (s *Search) Distinct() int {
	n := s.warm.Sum.Classes
	if s.cold != nil {
		n += s.cold.Sum.Classes
	}
	return n
}

// Finish ends the search, and returns what it came to. What goroutines left behind is told
// only now, if nothing else was found.
func (s *Search) Finish(ctx context.Context) (*Result, error) {
	defer s.idle.close()
	for _, x := range []*pass{s.warm, s.cold} {
		if x == nil || s.failure != nil || !s.o.Leaks || s.o.All || x == s.warm && s.all {
			continue
		}
		leak := worthTelling(x.Sum.Leaks)
		if leak == nil {
			continue
		}
		x.EndWith(leak)
		if err := s.conclude(ctx, x); errors.Is(err, errNotReproduced) {
			x.Disbelieve()
		} else if err != nil {
			return nil, err
		}
	}
	return s.result(), nil
}

// worthTelling returns the leak to tell first, nil if there is none: the one that the fewest
// runs had, since what every run leaves behind is there without any search, and may be meant.
func worthTelling(leaks []wire.Found) *wire.Found {
	var best *wire.Found
	for i := range leaks {
		if f := &leaks[i]; best == nil || f.Runs < best.Runs {
			best = f
		}
	}
	return best
}

// result is what the search has come to.
func (s *Search) result() *Result {
	res := &Result{Target: s.target, Failure: s.failure, Death: s.death, WhyFresh: s.whyCold, Ended: s.ended, NotBeside: s.notBeside, Within: s.o.within()}
	switch {
	case s.cold == nil:
		res.Summary = s.warm.Sum
	case s.all:
		res.Summary = s.cold.Sum
		res.Fresh = true
	default:
		res.Summary, res.Fresh = both(&s.warm.Sum, &s.cold.Sum)
		if res.Fresh = res.Fresh || s.ended != nil; !res.Fresh {
			res.FreshRuns, res.later = s.cold.Sum.Runs, s.warm.Sum.Search
		}
	}
	res.leftAt, res.unclearAt = s.p.leftAt(res.Leaks), s.p.leftAt(res.Unclear)
	res.spinningAt, res.goingAt = s.p.spinningAt(res.Spinning), s.p.spinningAt(res.Going)
	return res
}

// both is what two searches of a target came to, the first of which found nothing and the
// second of which had a process for each run. If first runs take other steps than those after
// them, what was tried is what the second has tried: it is how the target begins.
func both(warm, cold *wire.Summary) (sum wire.Summary, found bool) {
	sum = *warm
	if warm.Residue == wire.ChangesSteps {
		sum.Search = cold.Search
	}
	if found = cold.Outcome != nil; found {
		sum = *cold
		sum.First += warm.Runs
	}
	sum.Failures = wire.Gather(slices.Clone(warm.Failures), cold.Failures...)
	sum.Disbelieved = slices.Concat(warm.Disbelieved, cold.Disbelieved)
	sum.Runs, sum.Cut, sum.Steps, sum.Elapsed = warm.Runs+cold.Runs, warm.Cut+cold.Cut, warm.Steps+cold.Steps, warm.Elapsed+cold.Elapsed
	return sum, found
}
