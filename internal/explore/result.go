package explore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Result is what a search of one target came to.
type Result struct {
	Target string
	wire.Done
	// Failure is the most telling of Outcome's; nil if nothing failed.
	Failure *trace.Failure
	// WhyFresh is why runs had a process of their own, all of them (Fresh) or so many
	// (FreshRuns); nil if none had.
	WhyFresh  error
	FreshRuns int
}

// Caveats says what a reader should know about how far the result can be trusted; "" if
// there is nothing to say.
func (r *Result) Caveats() string {
	var all []string
	if r.Fresh {
		all = append(all, "each run had a fresh process, because "+reason(r.WhyFresh))
	} else if r.Before > 0 {
		all = append(all, fmt.Sprintf("%d goroutines were started before the first run, by an init function or TestMain: they are not under control, and what they do is not seen", r.Before))
	}
	switch {
	case r.Failure == nil && !r.Fresh && r.Outside > 0:
		all = append(all, fmt.Sprintf("in %d of the runs goroutines were outside control, such as those that net/http starts: what they do was left to chance", r.Outside))
	case r.Failure != nil && len(r.Outcome.Outside) > 0:
		all = append(all, "part of the run was outside control, so the same schedule may lead elsewhere another time")
	}
	if r.FreshRuns > 0 {
		all = append(all, fmt.Sprintf("%d of the runs had fresh processes, because %v", r.FreshRuns, r.WhyFresh))
	}
	return strings.Join(all, "; ")
}

// reason is why one process is not enough, without what the program printed.
func reason(why error) string {
	var died *DeathError
	if errors.As(why, &died) {
		return "the program ended in the middle of a run (" + died.Cause.Error() + ")"
	}
	return why.Error()
}
