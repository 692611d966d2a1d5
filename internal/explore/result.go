package explore

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Result is what a search of one target came to.
type Result struct {
	Target string
	wire.Summary
	// Failure is the most telling of Outcome's; nil if nothing failed.
	Failure *trace.Failure
	// WhyFresh is why runs had a process of their own, all of them (Fresh) or so many
	// (FreshRuns); nil if none had.
	WhyFresh  error
	FreshRuns int
	// later is what was tried in processes that had made a run, if some runs had fresh ones.
	later sched.Progress
	// Ended is why the search in one process ended before its time, a *DeathError or a
	// *StuckError; nil if it did not. What it had come to by then counts.
	Ended error
	// NotBeside is why there was one process at a time, though more were asked for; nil if
	// there were as many.
	NotBeside error
	// Death is how the program died, in a fresh process and in a second one, if that is the
	// Failure. There is no trace of it.
	Death *DeathError
	// Within is how long a run was given.
	Within time.Duration
	// leftAt says where Leaks are, unclearAt where Unclear are, spinningAt where Spinning are,
	// goingAt where Going are.
	leftAt, unclearAt, spinningAt, goingAt string
}

// leaks reports whether what was found is that goroutines are left waiting, which is no
// reason not to look for worse.
func (r *Result) leaks() bool { return r.Failure != nil && r.Failure.Kind == event.FailureLeak }

// LeakFrequency says in how many of the runs a leak was that is the worst of a target's
// failures; "" if there is another failure, or none.
func (r *Result) LeakFrequency() string {
	if !r.leaks() {
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
	if r.NothingRan > 0 {
		all = append(all, "no subtest ran: none is selected by -run, or all are left out by -skip")
	}
	if r.Fresh {
		all = append(all, "each run had a fresh process, because "+reason(r.WhyFresh))
	} else if r.Before > 0 {
		all = append(all, fmt.Sprintf("%s started before the first run, by an init function or TestMain, where something waits in real time (cofferdam help control): what they do is not seen", counted(r.Before, "goroutine was", "goroutines were")))
	}
	switch {
	case r.Failure == nil && !r.Fresh && r.Outside > 0:
		all = append(all, fmt.Sprintf("%s not all under control, which was left to chance: %s", counted(r.Outside, "run was", "runs were"), strings.Join(r.OutsideWhat, ", ")))
	case r.Failure != nil && len(r.Outcome.Outside) > 0:
		all = append(all, "part of the run was outside control, so the same schedule may lead elsewhere another time")
	}
	if n := len(r.Leaks); n > 0 && r.Failure == nil {
		all = append(all, "goroutines were left waiting when the test was over, which was not taken for a failure: "+r.leftAt)
	}
	if r.Stopped > 0 && r.Failure == nil {
		all = append(all, fmt.Sprintf("in %s the test was over and its goroutines still went on, until they were stopped: %s", counted(r.Stopped, "run", "runs"), r.goingAt))
	}
	if r.Undecided > 0 && r.Failure == nil {
		all = append(all, fmt.Sprintf("in %d of the runs something still went on when the test was over, such as a ticker or a goroutine outside control, so that it is not known whether these wait for ever: %s", r.Undecided, r.unclearAt))
	}
	if r.Ended != nil && !r.Fresh {
		all = append(all, "the search in one process ended before its time: "+reason(r.Ended))
	}
	if r.TookTooLong > 0 {
		all = append(all, fmt.Sprintf("%s cut off after %v of real time (-within)", counted(r.TookTooLong, "run was", "runs were"), r.Within.Round(100*time.Millisecond)))
	}
	if r.NotBeside != nil {
		all = append(all, "one process at a time, because "+r.NotBeside.Error())
	}
	if n := len(r.Disbelieved); n > 0 {
		all = append(all, fmt.Sprintf("%s not come back by the same schedule in a fresh process: part of the run was not under control, and it counts as cut off (%s)", counted(n, "failure did", "failures did"), &r.Disbelieved[0]))
	}
	if r.Livelocks > 0 {
		all = append(all, fmt.Sprintf("%s cut off in a livelock: nothing could change any more, and %s", counted(r.Livelocks, "run was", "runs were"), r.spinningAt))
	}
	if r.FreshRuns > 0 {
		all = append(all, fmt.Sprintf("%d of the runs had fresh processes, because %v; with those after it: %v", r.FreshRuns, r.WhyFresh, r.later))
	}
	return strings.Join(all, "; ")
}

// maxPlaces is how many places of leaks a note names.
const maxPlaces = 3

// leftAt says where goroutines were left.
func (p *Program) leftAt(leaks []wire.Found) string {
	var all []string
	for i := range leaks[:min(len(leaks), maxPlaces)] {
		f := &leaks[i]
		all = append(all, fmt.Sprintf("%s%s in %d of the runs", f.Op, p.placeOf(&f.Point), f.Runs))
	}
	if n := len(leaks) - maxPlaces; n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, ", ")
}

// spinningAt says where goroutines went round for ever.
func (p *Program) spinningAt(spinning []wire.Late) string {
	var all []string
	for i := range spinning[:min(len(spinning), maxPlaces)] {
		l := &spinning[i]
		all = append(all, fmt.Sprintf("goroutine %d went round for ever%s", l.Point.G, p.placeOf(&l.Point)))
	}
	if n := len(spinning) - maxPlaces; n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, ", ")
}

// placeOf says where an operation is. Calls of the standard library have no sites that are
// known here, but calls around them.
func (p *Program) placeOf(at *trace.Point) string {
	s, ok := p.Site(at.Site)
	switch {
	case ok:
		return fmt.Sprintf(" at %s:%d", filepath.Base(s.File), s.Line)
	case len(at.Stack) > 0:
		return fmt.Sprintf(" in a call at %s:%d", filepath.Base(at.Stack[0].File), at.Stack[0].Line)
	}
	return ""
}

// reason is why one process is not enough, without what the program printed.
func reason(why error) string {
	var died *DeathError
	if errors.As(why, &died) {
		return "the program ended in the middle of a run: " + died.Summary()
	}
	return why.Error()
}

// counted is a number of things.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// Came reports whether the search came to an end of its own, and some of its runs did.
func (r *Result) Came() bool { return r.Ended == nil && (r.Cut < r.Runs || r.Runs == 0) }

// Vacuous reports whether no run of a test had anything to run: it has subtests, and none was
// selected.
func (r *Result) Vacuous() bool { return r.Failure == nil && r.Runs > 0 && r.NothingRan == r.Runs }

// Partly reports whether part of the target was not seen: runs were cut off, or something
// was outside control. What was seen did not fail.
func (r *Result) Partly() bool {
	return r.Failure == nil && (r.Cut > 0 || r.Outside > 0 || r.Before > 0)
}

// WriteLate writes what the goroutines did that kept the first run which took too long from
// coming to its end, with their stacks.
func (r *Result) WriteLate(w io.Writer) {
	for _, l := range r.Late {
		doing := "computed"
		if l.Waits {
			doing = "waited for something outside control"
		}
		fmt.Fprintf(w, "  when the first of them was cut off, goroutine %d %s:\n", l.Point.G, doing)
		writeStack(w, outerCalls(l.Point.Stack))
	}
}

// outerCalls are the calls of a stack without those of the hooks and of the runtime.
func outerCalls(stack []trace.Call) []finding.Frame {
	var all []finding.Frame
	for _, c := range stack {
		if !inside(c.Function) {
			all = append(all, finding.Frame{Function: c.Function, File: c.File, Line: c.Line})
		}
	}
	return all
}

// WriteDeath writes how the program died, which no trace shows.
func (r *Result) WriteDeath(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", r.Failure.Kind, r.Failure.Message)
	writeStack(w, outerCalls(r.Failure.Stack))
	fmt.Fprintln(w, "\nThe program was ended by this, in two processes, so that there is no trace of it.")
}

// DeathFinding is the death as a finding.
func (r *Result) DeathFinding(pkg string) finding.Finding {
	return finding.Finding{
		Kind: finding.Kind(r.Failure.Kind.String()), Explanation: r.Failure.Message, Run: &finding.Run{Package: pkg, Test: r.Target},
		History: finding.Once("", 0, time.Time{}), Accesses: []finding.Access{{Op: finding.Step, Stack: outerCalls(r.Failure.Stack)}},
	}
}
