package repair

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// maxTried is how many of the candidates that were dropped a report tells of.
const maxTried = 6

// Explain writes what a person wants to know: what happens, what was read, what races
// with it, and the fix with its cost and proof.
func (r *Result) Explain(w io.Writer, t *trace.Reader) error {
	if err := explore.WriteReport(w, t); err != nil {
		return err
	}
	if r.Analysis != nil && r.run != nil {
		r.explainMachine(w)
	}
	if r.Proven != nil {
		r.explainFix(w)
	} else {
		fmt.Fprintf(w, "\nNo fix: %s.\n", r.Refusal)
	}
	r.explainTried(w)
	if note := r.MissedNote(); note != "" {
		fmt.Fprintf(w, "\nMissed: %s.\n", note)
	}
	return nil
}

// maxMissed is how many of the accesses that the analysis missed are told.
const maxMissed = 4

// MissedNote tells the accesses of the run that the analysis saw no code for; empty if
// there are none.
func (r *Result) MissedNote() string {
	if len(r.Missed) == 0 {
		return ""
	}
	var places []string
	for _, s := range r.Missed[:min(len(r.Missed), maxMissed)] {
		places = append(places, fmt.Sprintf("%s of %s at %s:%d", s.Kind, s.Expr, filepath.Base(s.File), s.Line))
	}
	if n := len(r.Missed) - maxMissed; n > 0 {
		places = append(places, fmt.Sprintf("%d more", n))
	}
	return "the analysis has no code for " + strings.Join(places, ", ")
}

// explainMachine tells the read operation and the writes that race with it.
func (r *Result) explainMachine(w io.Writer) {
	fix := r.chosen()
	if m := r.Machine(); m != nil {
		fmt.Fprintln(w, "\nThe read operation, as a machine:")
		for _, line := range strings.Split(draw.Words(m, r.place), "\n") {
			fmt.Fprintln(w, "  "+line)
		}
	}
	if fix == nil || len(fix.Sections) == 0 {
		return
	}
	fmt.Fprintln(w, "\nWhat must not come together:")
	for _, s := range fix.Sections {
		for _, x := range s.Accesses {
			verb := "load"
			if x.Store {
				verb = "store"
			}
			fmt.Fprintf(w, "  %-18s  %s of %s at %s\n", s.Role, verb, x.Data, r.place(x.Point))
		}
	}
}

// Machine is the one that the result is about: that of the fix, or the most of the read
// operation that was found; nil if there is none.
func (r *Result) Machine() *sli.Machine {
	fix := r.chosen()
	switch {
	case fix != nil && len(fix.Machines) > 0:
		return fix.Machines[0]
	case r.Analysis != nil && len(r.Analysis.Machines) > 0:
		return r.Analysis.Machines[len(r.Analysis.Machines)-1]
	}
	return nil
}

// chosen is the engine's derivation that the result is about.
func (r *Result) chosen() *sli.Fix {
	switch {
	case r.Proven != nil:
		return r.Proven.Derivation
	case r.Analysis != nil && len(r.Analysis.Fixes) > 0:
		return r.Analysis.Fixes[0]
	}
	return nil
}

// place is where a point is in the source.
func (r *Result) place(p ir.Point) string {
	run := r.run
	if r.Proven != nil {
		run = r.Proven.run
	}
	at := run.lifted.Position(p.Instr)
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
}

// whatHappens is the failure in one sentence: what it is, its shape if goroutines wait, and the
// innermost line of the program where it comes about.
func (r *Result) whatHappens() string {
	text := strings.ReplaceAll(strings.TrimSpace(r.Failure.String()), "\n", " ")
	if shape := r.Failure.Shape(); shape != event.UnknownShape {
		text += " (" + shape.String() + ")"
	}
	at := &r.Failure.Point
	if len(r.Failure.Waiting) > 0 {
		at = &r.Failure.Waiting[0].Point
	}
	if r.run == nil {
		return text
	}
	inProgram := func(file string) bool { return r.run.code.File(r.run.copies.AtRun(file)) != nil }
	if site, ok := r.run.reader.Site(at.Site); ok && inProgram(site.File) {
		return fmt.Sprintf("%s, at %s:%d", text, filepath.Base(site.File), site.Line)
	}
	for _, call := range at.Stack {
		if inProgram(call.File) {
			return fmt.Sprintf("%s, at %s:%d", text, filepath.Base(call.File), call.Line)
		}
	}
	return text
}

// whyItHappens is the mistake in one sentence; "" if nothing is known of it.
func (r *Result) whyItHappens() string {
	if c := r.Proven; c.Change != nil {
		return c.Reason
	}
	var load, store *sli.Access
	for i, reading := range r.Proven.Derivation.Sections {
		for j, writing := range r.Proven.Derivation.Sections {
			at := slices.IndexFunc(writing.Accesses, func(x *sli.Access) bool { return x.Store })
			if i == j || at < 0 || load != nil {
				continue
			}
			store = writing.Accesses[at]
			if at := slices.IndexFunc(reading.Accesses, func(x *sli.Access) bool { return !x.Store && x.Data == store.Data && x.Point != store.Point }); at >= 0 {
				load = reading.Accesses[at]
			}
		}
	}
	if load == nil || store == nil {
		return ""
	}
	return fmt.Sprintf("%s is read at %s, and written at %s by another goroutine, with no lock that keeps the two apart", load.Data, r.place(load.Point), r.place(store.Point))
}

// explainFix writes what a reviewer would: what happens and why, the change, why it helps, and
// what it has stood.
func (r *Result) explainFix(w io.Writer) {
	c := r.Proven
	fmt.Fprintf(w, "\nWhat happens: %s.\n", r.whatHappens())
	if why := r.whyItHappens(); why != "" {
		fmt.Fprintf(w, "Why: %s.\n", why)
	}
	fmt.Fprintf(w, "The fix: %s", c.Lock)
	if c.Reason != "" && c.Change == nil {
		fmt.Fprintf(w, " (%s)", c.Reason)
	}
	fmt.Fprintln(w, ".")
	if c.Change != nil {
		fmt.Fprintf(w, "  changes in %s\n", strings.Join(c.Patch.Places, ", "))
	} else {
		fmt.Fprintf(w, "  sections in %s\n", strings.Join(c.Patch.Places, ", "))
	}
	for _, reason := range c.Derivation.Reasons {
		fmt.Fprintf(w, "  %s\n", reason)
	}
	if c.WholeUpdates {
		fmt.Fprintln(w, "  in the changed source, each store to the data stays in one section with the loads that it depends on")
	}
	if n := len(c.Rounds); n > 1 {
		fmt.Fprintf(w, "  found in %d rounds: with the first sections alone, other schedules still led to %s\n", n, c.Rounds[n-1].Kind)
	}
	for i := range c.Uncovered {
		if i == 0 {
			fmt.Fprintln(w, "Not covered:")
		}
		fmt.Fprintf(w, "  %s\n", &c.Uncovered[i])
	}
	if c.Change != nil {
		fmt.Fprintf(w, "Why it works: %s.\n", c.Change.Reason)
	} else {
		fmt.Fprintf(w, "Why it works: the sections exclude each other, so what the machine reads cannot change between its loads, nor be seen half changed.\n")
	}
	fmt.Fprintf(w, "Proven (%s): %s.\n", &c.Proof.Strength, c.Proof)
}

func (r *Result) explainTried(w io.Writer) {
	n := 0
	for _, c := range r.Tried {
		if c.Why == "" {
			continue
		}
		if n == 0 {
			fmt.Fprintln(w, "\nWhat else was considered:")
		}
		if n++; n > maxTried {
			fmt.Fprintf(w, "  and %d more\n", len(r.Tried)-maxTried)
			break
		}
		if c.Change != nil {
			fmt.Fprintf(w, "  %s: %s\n", c.Lock, c.Why)
		} else {
			fmt.Fprintf(w, "  %s, cost %d: %s\n", c.Lock, c.Derivation.Cost, c.Why)
		}
	}
}
