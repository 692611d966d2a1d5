package transactions

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// An effort is how much is measured of the cases of a figure. With the native sets a trial
// takes seconds to a minute and has a process of its own, so that no round has to warm up, a
// case is over when two rounds say the same, and what cannot be waited for is cut off. Figures 3
// to 9 have an effort of their own then: see native.go.
type effort struct {
	rounds int           // at most
	least  int           // that a case has, also if it is late; 3 if it is 0
	budget time.Duration // of a case: no further round begins after it
	limit  time.Duration // of a trial: it is cut off, and told so
	enough float64       // spread of the times of each variant at which a case is over
	cold   bool          // no round warms up
}

// The efforts of native sets.
const (
	nativeBudget = 5 * time.Minute
	nativeLimit  = 2 * time.Minute
	alike        = 0.03 // what the noise of a program against itself is on a quiet machine
)

// effortOf is the effort for a figure, for which a budget is given if its sets are not native.
func (s *session) effortOf(figure string, budget time.Duration) effort {
	if s.size != native || figure == figureMicro || figure == figureContended {
		return effort{rounds: s.runs, budget: budget}
	}
	return effort{rounds: s.runs, least: 1, budget: nativeBudget, limit: nativeLimit, enough: alike, cold: true}
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
	if s.size == native && (figure == figureModes || figure == figureLeaders) {
		return 70 // some twelve seconds, where a trial of the smaller sets takes a sixth of one
	}
	if s.size == native && figure != figureMicro && figure != figureContended {
		return 20
	}
	return 1
}

// The sets of figures 3 to 9, for their headings.
func (s *session) sets() string {
	if s.size != native {
		return "smaller sets"
	}
	return "STAMP's native sets, ~ is an estimate"
}

// cutOff counts the trials that were.
const cutOff = "cut off"

// wasCut reports whether a variant was cut off: what it took is not known.
func wasCut(t measure.Timing) bool { return t.Counters[cutOff] > 0 }
