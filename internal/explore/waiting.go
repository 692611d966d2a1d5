package explore

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// writeWaiting writes what each goroutine waits for, and why that never comes.
func writeWaiting(w io.Writer, r *trace.Reader, f *trace.Failure) error {
	if words := show.ShapeWords(f.Shape()); words != "" {
		fmt.Fprintf(w, "\n  %s\n", words)
	}
	if circle := show.Circle(r, f); circle != "" {
		fmt.Fprintf(w, "  %s\n", circle)
	}
	for i := range f.Waiting {
		one := &f.Waiting[i]
		if waitsForTest(r, f, one) {
			continue
		}
		fmt.Fprintf(w, "\n  %s\n", show.Waiting(r, one))
		writeStack(w, Stack(r, &one.Point))
		born, err := show.Born(r, one.G)
		if err != nil {
			return err
		}
		if born != "" {
			fmt.Fprintf(w, "    %s\n", born)
		}
	}
	return nil
}

// writeAlso writes what else is wrong with a run, but for data races: a goroutine that waits
// for ever may be why a test failed.
func writeAlso(w io.Writer, r *trace.Reader, worst *trace.Failure) error {
	for i := range r.Outcome.Failures {
		f := &r.Outcome.Failures[i]
		if f == worst || f.Kind == event.FailureRace {
			continue
		}
		fmt.Fprintf(w, "\nAlso in this run, %s: %s\n", f.Kind, f.Message)
		if err := writeWaiting(w, r, f); err != nil {
			return err
		}
	}
	return nil
}

// waitsForTest reports whether a goroutine of a deadlock is one that runs the tests, and
// waits for this one.
func waitsForTest(r *trace.Reader, f *trace.Failure, w *trace.Waiter) bool {
	return r.Header.Test != "" && (w.G == 1 || w.Library) && len(f.Waiting) > 1
}

// WaitIdentity identifies a goroutine that is left waiting across changes of its program: by
// what it waits to do, in which functions, and not by lines.
func (p *Program) WaitIdentity(w *trace.Waiter) string {
	parts := []string{w.Op.String()}
	if s, ok := p.Site(w.Site); ok {
		parts = append(parts, show.FunctionName(&s), s.Expr)
	}
	for _, c := range w.Stack {
		parts = append(parts, c.Function)
	}
	return strings.Join(parts, "\n")
}

// Site finds a site that the rewriter has numbered.
func (p *Program) Site(id uint32) (trace.Site, bool) {
	sites := p.build.Sites
	at, ok := slices.BinarySearchFunc(sites, id, func(s trace.Site, id uint32) int { return cmp.Compare(s.ID, id) })
	if !ok {
		return trace.Site{}, false
	}
	return sites[at], true
}

// explanation says why a failure came about, in sentences.
func explanation(r *trace.Reader, f *trace.Failure) string {
	text := f.Message
	for _, more := range []string{show.ShapeWords(f.Shape()), show.Circle(r, f)} {
		if more != "" {
			text += "; " + more
		}
	}
	for i := range f.Waiting {
		if w := &f.Waiting[i]; !waitsForTest(r, f, w) {
			text += "; " + show.Waiting(r, w)
		}
	}
	return strings.TrimPrefix(text, "; ")
}

// inFront is a failure whose first waiters are those for whose reason all wait, and whose last are those of
// the standard library. The first is where the finding is shown in the source, and a test that waits in
// package testing has no line there.
func inFront(f *trace.Failure) *trace.Failure {
	if len(f.Waiting) < 2 {
		return f
	}
	sorted := *f
	sorted.Waiting = slices.Clone(f.Waiting)
	rank := func(w *trace.Waiter) int {
		switch {
		case w.Library:
			return 2
		case w.Shape != f.Shape():
			return 1
		}
		return 0
	}
	slices.SortStableFunc(sorted.Waiting, func(v, w trace.Waiter) int { return cmp.Compare(rank(&v), rank(&w)) })
	return &sorted
}

// addWait adds to an access that a goroutine waits to make what is known of its wait.
func addWait(r *trace.Reader, a *finding.Access, w *trace.Waiter) {
	a.Shape = w.Shape.String()
	for _, g := range w.More {
		a.More = append(a.More, uint64(g))
	}
	a.Holds, a.HeldBy = locks(r, w.Holds), locks(r, w.HeldBy)
}

func locks(r *trace.Reader, all []trace.Hold) []finding.Held {
	var out []finding.Held
	for i := range all {
		h := &all[i]
		one := finding.Held{Goroutine: uint64(h.G), Address: h.Addr, Ended: h.Ended}
		if s, ok := r.Site(h.Site); ok {
			one.Target = s.Expr
			one.Since = finding.Frame{Function: show.FunctionName(&s), File: s.File, Line: s.Line}
		}
		out = append(out, one)
	}
	return out
}
