package explore

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// timelineSteps is how much of a run a report shows.
const timelineSteps = 40

// WriteReport writes what a recorded run shows: its failures, and the way there.
func WriteReport(w io.Writer, r *trace.Reader) error {
	if r.Outcome == nil {
		return fmt.Errorf("the trace has no outcome: its recording was cut off")
	}
	worst := r.Outcome.Worst()
	if worst == nil {
		fmt.Fprintln(w, "The run did not fail.")
		return nil
	}
	fmt.Fprintf(w, "%s: %s\n", worst.Kind, headline(r, worst))
	if len(worst.Waiting) > 0 {
		if err := writeWaiting(w, r, worst); err != nil {
			return err
		}
	} else {
		for _, p := range points(worst) {
			writePoint(w, r, worst.Kind, &p)
		}
	}
	fmt.Fprintln(w, "\nHow it comes about:")
	fmt.Fprintln(w)
	if err := show.WriteTimeline(w, r, timelineSteps); err != nil {
		return err
	}
	if err := writeAlso(w, r, worst); err != nil {
		return err
	}
	others := 0
	for i := range r.Outcome.Failures {
		if f := &r.Outcome.Failures[i]; f != worst && f.Kind == event.FailureRace {
			if others == 0 {
				fmt.Fprintln(w, "\nData races in this run:")
			}
			others++
			fmt.Fprintf(w, "  %s\n", headline(r, f))
		}
	}
	for _, s := range r.Outcome.Outside {
		fmt.Fprintf(w, "outside control: %s\n", s)
	}
	return nil
}

// points are the sides of a failure. A deadlock is of all that wait, and of none of them
// more than of the others.
func points(f *trace.Failure) []trace.Point {
	if len(f.Waiting) == 0 {
		return append([]trace.Point{f.Point}, f.Others...)
	}
	var all []trace.Point
	for i := range f.Waiting {
		all = append(all, f.Waiting[i].Point)
	}
	return all
}

// headline says in a line what a failure is.
func headline(r *trace.Reader, f *trace.Failure) string {
	if f.Kind == event.FailureRace && len(f.Others) == 1 {
		return fmt.Sprintf("%s and %s", show.Access(r, &f.Others[0]), show.Access(r, &f.Point))
	}
	return f.Message
}

// writePoint writes the stack of one side of a failure.
func writePoint(w io.Writer, r *trace.Reader, kind event.FailureKind, p *trace.Point) {
	stack := Stack(r, p)
	if len(stack) == 0 && kind != event.FailureRace {
		return // what the runner of the tests says is in no call of the program
	}
	fmt.Fprintln(w)
	if kind == event.FailureRace {
		fmt.Fprintf(w, "  %s\n", show.Access(r, p))
	} else {
		fmt.Fprintf(w, "  %s %d:\n", show.Noun(r), p.G)
	}
	writeStack(w, stack)
}

func writeStack(w io.Writer, stack []finding.Frame) {
	for _, f := range stack {
		if f.Line == 0 {
			fmt.Fprintf(w, "    %s\n", f.Function)
			continue
		}
		fmt.Fprintf(w, "    %s\n        %s:%d\n", f.Function, f.File, f.Line)
	}
}

// Stack returns the calls at a point, innermost first, without those of the hooks and
// of the runtime.
func Stack(r *trace.Reader, p *trace.Point) []finding.Frame {
	var stack []finding.Frame
	calls := show.Calls(r, p)
	for _, own := range calls[:len(calls)-len(p.Stack)] {
		stack = append(stack, finding.Frame{Function: own.Function, File: own.File, Line: own.Line})
	}
	return append(stack, outerCalls(p.Stack)...)
}

// inside reports whether a function belongs to the hooks or to what carries them.
func inside(function string) bool {
	for _, prefix := range []string{"cofferdamrt.", "cofferdamrt/", "runtime.", "testing.tRunner", "testing.(*M)"} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// Findings returns the failures of a recorded run in the form that all parts of
// Cofferdam report in. They carry the name of the trace's file.
func Findings(r *trace.Reader, file string) []finding.Finding {
	if r.Outcome == nil {
		return nil
	}
	run := &finding.Run{Package: r.Header.Package, Test: r.Header.Test, Trace: file}
	var all []finding.Finding
	for i := range r.Outcome.Failures {
		f := &r.Outcome.Failures[i]
		one := finding.Finding{
			Kind: finding.Kind(f.Kind.String()), Shape: f.Shape().String(), Explanation: explanation(r, f),
			Run: run, History: finding.Once("", 0, time.Time{}),
		}
		f = inFront(f)
		for j, p := range points(f) {
			if p.G == 0 {
				continue
			}
			site, _ := r.Site(p.Site)
			a := finding.Access{
				Op: op(p.Op), Goroutine: uint64(p.G), Address: p.Addr, Target: target(r, &p, &site), Stack: Stack(r, &p),
			}
			if len(f.Waiting) > 0 {
				addWait(r, &a, &f.Waiting[j])
			}
			one.Accesses = append(one.Accesses, a)
		}
		all = append(all, one)
	}
	return all
}

// target is what an operation is on; of one that is no access, such as a send, the expression that says
// all of it; and of an access of the standard library, the call that it is for or where it is.
func target(r *trace.Reader, p *trace.Point, site *trace.Site) string {
	switch {
	case op(p.Op) == finding.Step && p.Op != event.None && site.Expr == "":
		return p.Op.String()
	case r.Header.Binary == nil && site.Expr != "" && (p.Op.IsAtomic() || p.Site >= event.CallSites && p.Op.IsMemory()):
		return "what " + site.Expr + " uses"
	case site.Expr == "" && p.Op != event.None && !slices.Contains(r.Header.Own, site.Package):
		return p.Op.String() + " in " + show.Library(site)
	}
	return site.Expr
}

// op is the kind of an operation in the words of package finding.
func op(kind event.Kind) finding.Op {
	switch kind {
	case event.Load, event.MapRead, event.AtomicLoad:
		return finding.Read
	case event.Store, event.MapWrite, event.AtomicStore, event.AtomicUpdate:
		return finding.Write
	}
	return finding.Step
}
