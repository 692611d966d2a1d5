package repair

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/uncovered"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// maxTried is how many of the candidates that were dropped a report tells of.
const maxTried = 6

// Explain writes what a reviewer would: what happens and why, what must not come together, the
// change with its cost and proof, and what else was tried.
func (r *Result) Explain(w io.Writer, t *trace.Reader) error {
	if err := explore.WriteReport(w, t); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nWhat happens: %s.\n", r.WhatHappens())
	if why := r.Why(); why != "" {
		fmt.Fprintf(w, "Why: %s.\n", why)
	}
	if r.Analysis != nil && r.run != nil {
		r.explainMachine(w)
	}
	if r.Proven != nil {
		r.explainFix(w)
	} else {
		r.explainRefusal(w)
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

// explainMachine tells the read operation, and what must not come together with it.
func (r *Result) explainMachine(w io.Writer) {
	if lines := r.machineLines(); len(lines) > 0 {
		fmt.Fprintf(w, "\nThe read operation, as a machine:\n  %s\n", strings.Join(lines, "\n  "))
	}
	switch lines := r.sectionLines(); len(lines) {
	case 0:
	case 1:
		fmt.Fprintf(w, "\nWhat two goroutines must not do at the same time:\n  %s\n", lines[0])
	default:
		fmt.Fprintf(w, "\nWhat must not come together:\n  %s\n", strings.Join(lines, "\n  "))
	}
}

// explainFix writes the change, why it helps, and what it has stood.
func (r *Result) explainFix(w io.Writer) {
	c := r.Proven
	fmt.Fprintf(w, "\nThe fix: %s", c.title())
	if c.Reason != "" && c.Change == nil {
		fmt.Fprintf(w, " (%s)", c.Reason)
	}
	fmt.Fprintln(w, ".")
	if c.Change != nil {
		fmt.Fprintf(w, "  changes in %s\n", strings.Join(c.Patch.Where(), ", "))
	} else {
		explainPlaces(w, c.Patch)
	}
	if !c.onlyCopies() && c.Derivation.Price != "" {
		fmt.Fprintf(w, "  %s\n", c.Derivation.Price)
	}
	if c.WholeUpdates {
		fmt.Fprintln(w, "  in the changed source, each store to the data stays in one section with the loads that it depends on")
	}
	if n := len(c.Rounds); n > 1 {
		fmt.Fprintf(w, "  found in %d rounds: with the first sections alone, other schedules still led to %s\n", n, c.Rounds[n-1].Kind)
	}
	for i, line := range uncovered.Lines(c.Uncovered) {
		if i == 0 {
			fmt.Fprintln(w, "Not covered:")
		}
		fmt.Fprintf(w, "  %s\n", line)
	}
	why := "the sections exclude each other, so what the machine reads cannot change between its loads, nor be seen half changed"
	switch {
	case c.Change != nil:
		why = c.Change.Reason
	case c.onlyCopies():
		why = "what leaves the sections is a copy, so nothing outside of them uses what they change"
	case len(c.Derivation.Machines) == 0:
		why = "the sections exclude each other, so that none comes between what another does, nor sees it half done"
	}
	fmt.Fprintf(w, "Why it works: %s.\n", why)
	proven := "Proven"
	if len(c.Uncovered) > 0 {
		proven = "Proven for what the test runs, and not for what is not covered"
	}
	fmt.Fprintf(w, "%s (%s): %s.\n", proven, &c.Proof.Strength, c.Proof)
	if c.Proof.Shorter != nil {
		fmt.Fprintf(w, "A shorter test: %s.\n", c.Proof.Shorter)
	}
}

// onlyCopies reports whether a fix has no new section: what its lock guards is copied for users.
func (c *Candidate) onlyCopies() bool {
	return c.Change == nil && c.Patch != nil && len(c.Patch.Places) == 0 && len(c.Patch.Copies) > 0
}

// title is the change in a few words.
func (c *Candidate) title() string {
	if c.onlyCopies() {
		return "copies of what " + c.Lock + " guards"
	}
	return c.Lock
}

// explainPlaces tells where a patch takes its lock, and what users of the package are handed since.
func explainPlaces(w io.Writer, p *cover.Patch) {
	if len(p.Places) > 0 {
		fmt.Fprintf(w, "  sections in %s\n", strings.Join(p.Where(), ", "))
	}
	if len(p.Copies) > 0 {
		fmt.Fprintf(w, "  a copy is handed on in %s\n", strings.Join(p.CopiesIn(), ", "))
	}
	if len(p.Outside) > 0 {
		fmt.Fprintf(w, "  the lock is held during %s: others wait for it as long as what is at the other end takes\n", strings.Join(p.OutsideIn(), ", "))
	}
	tests := 0
	for _, place := range p.Places {
		if uncovered.IsTestFile(place.File) {
			tests++
		}
	}
	switch tests {
	case 0:
	case 1:
		fmt.Fprintln(w, "  one of its sections is in test code")
	default:
		fmt.Fprintf(w, "  %d of its sections are in test code\n", tests)
	}
}

// explainRefusal writes a line for each part of the refusal.
func (r *Result) explainRefusal(w io.Writer) {
	for i, sentence := range r.Refusal.sentences() {
		if i == 0 {
			fmt.Fprintf(w, "\nNo fix: %s.\n", sentence)
		} else {
			fmt.Fprintf(w, "%s.\n", capital(sentence))
		}
	}
}

// explainTried tells of the candidates that were dropped, but for the one that a refusal has told of.
// What is told of several in the same words is told once.
func (r *Result) explainTried(w io.Writer) {
	var told []string
	for _, c := range r.Tried {
		if c.Why == "" || r.Refusal != nil && c == r.Refusal.Nearest {
			continue
		}
		text := fmt.Sprintf("%s, cost %d: %s", c.Lock, c.Derivation.Cost, c.Why)
		if c.Change != nil {
			text = c.Lock + ": " + c.Why
		}
		if slices.Contains(told, text) {
			continue
		}
		if told = append(told, text); len(told) == 1 {
			fmt.Fprintln(w, "\nWhat else was considered:")
		}
		if len(told) > maxTried {
			fmt.Fprintln(w, "  and others: -json has them all")
			break
		}
		fmt.Fprintln(w, "  "+text)
	}
}
