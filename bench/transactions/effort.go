package transactions

import (
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// An effort is how much is measured of the cases of a figure. With the native sets a trial
// takes seconds to a minute and has a process of its own, so that no round has to warm up, a
// case is over when two rounds say the same, and what cannot be waited for is cut off: by 32
// leaders that share two processors, modes with helpers take minutes for what takes seconds.
type effort struct {
	rounds int           // at most
	least  int           // that a case has, also if it is late; 3 if it is 0
	budget time.Duration // of a case: no further round begins after it
	limit  time.Duration // of a trial: it is cut off, and told so
	enough float64       // spread of the times of each variant at which a case is over
	cold   bool          // no round warms up
}

// nativeTime is how long a run with native sets takes on two processors that are not busy.
const nativeTime = "two to three hours"

// The efforts of native sets.
const (
	nativeBudget = 5 * time.Minute
	nativeLimit  = 2 * time.Minute
	crowdLimit   = time.Minute // by many leaders, at least
	alike        = 0.03        // what the noise of a program against itself is on a quiet machine
)

// effortOf is the effort for a figure, for which a budget is given if its sets are not native.
func (s *session) effortOf(figure string, budget time.Duration) effort {
	if s.size != native || figure == figureMicro || figure == figureContended {
		return effort{rounds: s.runs, budget: budget}
	}
	e := effort{rounds: s.runs, least: 1, budget: nativeBudget, limit: nativeLimit, enough: alike, cold: true}
	if figure == figureLeaders {
		e.rounds, e.limit = 1, crowdLimit
	}
	return e
}

// runner runs cases with this effort.
func (s *session) runner(e effort) *measure.Runner {
	r := &measure.Runner{Rounds: e.rounds, Least: e.least, Progress: s.Progress, Budget: e.budget, Enough: e.enough, Cold: e.cold}
	if !e.cold {
		r.Retries = (e.rounds + 1) / 2
	}
	return r
}

// weight is about how long a trial takes, for the progress: those of native sets some twenty
// seconds, with their input and the check of their result, and all others one or less.
func (s *session) weight(figure string) int {
	if s.size == native && figure != figureMicro && figure != figureContended {
		return 20
	}
	return 1
}

// extended has a limit that what is known already keeps twice over: by one leader STAMP's
// intruder takes most of a minute.
func (e effort) extended(had []measure.Timing) effort {
	for _, t := range had {
		if t.Variant == Eager && e.limit != 0 {
			e.limit = max(e.limit, time.Duration(2*t.Median*float64(time.Second)))
		}
	}
	return e
}

// The sets of a figure by its name, for its heading.
func (s *session) sets(figure string) string {
	e := s.effortOf(figure, 0)
	if e.limit == 0 {
		return "smaller sets"
	}
	return fmt.Sprintf("native sets, at most %d rounds; what took too long, %.0f s or more, was cut off (>)", e.rounds, e.limit.Seconds())
}

// cutOff counts the trials that were.
const cutOff = "cut off"

// wasCut reports whether a variant was cut off: what it took is not known.
func wasCut(t measure.Timing) bool { return t.Counters[cutOff] > 0 }
