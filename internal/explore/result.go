package explore

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
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
	// leftAt says where Leaks are.
	leftAt string
}

// LeakFrequency says in how many of the runs a leak was that is the worst of a target's
// failures; "" if there is another failure, or none.
func (r *Result) LeakFrequency() string {
	if r.Failure == nil || r.Failure.Kind != event.FailureLeak {
		return ""
	}
	ended := r.Runs - r.Cut - r.Undecided
	runs := 0
	for i := range r.Leaks {
		if r.Failure.Same(&r.Leaks[i].Failure) && (runs == 0 || r.Leaks[i].Runs < runs) {
			runs = r.Leaks[i].Runs
		}
	}
	switch {
	case runs == 0:
		return "" // the runs had processes of their own
	case runs >= ended:
		return "left waiting in every schedule, whatever the order"
	}
	return fmt.Sprintf("left waiting in %d of %d schedules", runs, ended)
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
	if n := len(r.Leaks); n > 0 && r.Failure == nil {
		all = append(all, "goroutines were left waiting when the test was over, which was not taken for a failure: "+r.leftAt)
	}
	if r.Undecided > 0 && r.Failure == nil {
		all = append(all, fmt.Sprintf("in %d of the runs something still went on when the test was over, such as a ticker or a goroutine outside control: of those that waited beside it, only waits for locks were judged", r.Undecided))
	}
	if r.FreshRuns > 0 {
		all = append(all, fmt.Sprintf("%d of the runs had fresh processes, because %v", r.FreshRuns, r.WhyFresh))
	}
	return strings.Join(all, "; ")
}

// maxPlaces is how many places of leaks a note names.
const maxPlaces = 3

// leftAt says where goroutines were left. Calls of the standard library have no sites that
// are known here, but calls around them.
func (p *Program) leftAt(leaks []wire.Found) string {
	var all []string
	for i := range leaks[:min(len(leaks), maxPlaces)] {
		f := &leaks[i]
		where := ""
		s, ok := p.site(f.Site)
		switch {
		case ok:
			where = fmt.Sprintf(" at %s:%d", filepath.Base(s.File), s.Line)
		case len(f.Stack) > 0:
			where = fmt.Sprintf(" in a call at %s:%d", filepath.Base(f.Stack[0].File), f.Stack[0].Line)
		}
		all = append(all, fmt.Sprintf("%s%s in %d of the runs", f.Op, where, f.Runs))
	}
	if n := len(leaks) - maxPlaces; n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, ", ")
}

// reason is why one process is not enough, without what the program printed.
func reason(why error) string {
	var died *DeathError
	if errors.As(why, &died) {
		return "the program ended in the middle of a run (" + died.Cause.Error() + ")"
	}
	return why.Error()
}
