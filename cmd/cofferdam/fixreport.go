package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/report"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// writeJSON prints what came of a test as a line of JSON.
func (x *fixing) writeJSON(t *failingTest, r *trace.Reader) error {
	result := x.fixResult(t, r)
	if x.out != "" {
		result.Trace = t.trace
	}
	if err := json.NewEncoder(x.inv.Stdout).Encode(result); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// fixResult is what came of a test, for programs to read.
func (x *fixing) fixResult(t *failingTest, r *trace.Reader) *report.FixResult {
	result := &report.FixResult{
		Version: report.FixVersion, Package: t.pkg, Test: t.test, Fixed: t.fixed(), FixedBy: t.earlier,
		Refusal: t.refusal, Applied: t.applied, Patches: t.patches,
	}
	if r != nil {
		result.Failure, result.Analysis.Events = repair.NewFailingRun(r), r.Len()
	} else {
		result.Failure = &repair.FailingRun{Kind: t.failure.Kind, Message: t.failure.Message}
	}
	if t.result != nil {
		x.fillIn(result, t.result)
	}
	return result
}

// keepForReport writes what report shows of a test.
func (x *fixing) keepForReport(t *failingTest, r *trace.Reader) error {
	if x.reports == "" {
		return nil
	}
	result, fixed := x.fixResult(t, r), ""
	if t.result != nil && t.result.Proven != nil {
		c := t.result.Proven
		fixed = c.Trace
		for _, name := range c.Names() {
			result.Sources = append(result.Sources, report.ChangedSource{Name: name, Before: string(c.Patch.Before[name]), After: string(c.Patch.Files[name])})
		}
	}
	result.Sources = append(result.Sources, x.sourcesOfOthers(t)...)
	name := strings.NewReplacer("/", "_", "\\", "_", ":", "_").Replace(cmp.Or(t.test, path.Base(t.pkg)))
	if x.many {
		name = path.Base(t.pkg) + "." + name
	}
	return report.WriteFixResult(x.reports, name, *result, cmp.Or(t.current, t.trace), fixed)
}

// sourcesOfOthers are the files that fixes for other tests have changed and that for this one has not, as the
// run of this one was built from them: with those fixes, if the failure was found again after them.
func (x *fixing) sourcesOfOthers(t *failingTest) []report.ChangedSource {
	var all []report.ChangedSource
	for _, name := range slices.Sorted(maps.Keys(x.original)) {
		if t.result != nil && t.result.Proven != nil && t.result.Proven.Patch.Files[name] != nil {
			continue
		}
		text := x.original[name]
		if now := x.changed[name]; now != nil && t.current != "" {
			text = now
		}
		all = append(all, report.ChangedSource{Name: name, Before: string(text), After: string(text)})
	}
	return all
}

// fillIn adds what the search for a fix has come to.
func (x *fixing) fillIn(report *report.FixResult, result *repair.Result) {
	report.Machine = result.MachineGraph()
	report.Happens, report.Why = result.WhatHappens(), result.Why()
	report.OutOfTime = result.Refusal != nil && result.Refusal.OutOfTime
	report.Missed, report.Candidates = result.MissedNote(), result.CandidateReports(x.dir)
	events := report.Analysis.Events
	report.Analysis = result.AnalysisReport()
	report.Analysis.Events = events
	if c := result.Proven; c != nil {
		report.Lock, report.Cost, report.Proof, report.Diff, report.Uncovered = c.Lock, c.Derivation.Cost, c.Proof, c.Diff(x.dir), c.Uncovered
		if c.Change != nil {
			report.Lock, report.Change = "", c.Lock
		}
	}
}

// explain tells a person what came of a test.
func (x *fixing) explain(t *failingTest, r *trace.Reader) error {
	w := x.inv.Stdout
	if x.several {
		if len(x.tests) > 1 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "=== %s\n", t.name)
	}
	switch {
	case t.earlier != nil:
		fmt.Fprintf(w, "%s\n\nFixed with %s: %s.\n", firstLine(&t.failure), strings.Join(t.earlier, ", "), t.gone)
		return nil
	case t.result == nil:
		fmt.Fprintf(w, "%s\n\nNo fix: %s.\n", firstLine(&t.failure), t.refusal)
		return nil
	}
	if err := t.result.Explain(w, r); err != nil {
		return err
	}
	if t.result.Proven == nil {
		return nil
	}
	if beyond := t.result.Proven.Beyond(x.dir); len(beyond) > 0 {
		fmt.Fprintf(w, "\nThe diff changes %s, which git apply does only with --unsafe-paths:\n", strings.Join(beyond, ", "))
	}
	fmt.Fprintf(w, "\n%s", x.inv.Color.Diff(t.result.Proven.Diff(x.dir)))
	if t.applied {
		fmt.Fprintln(w, "\napplied")
	}
	for _, file := range t.patches {
		fmt.Fprintf(w, "\nwritten: %s\n", file)
	}
	return nil
}

// summarise tells what came of all tests.
func (x *fixing) summarise(targets int) {
	if len(x.tests) == 0 {
		return
	}
	fixed := 0
	var lines []string
	for _, t := range x.tests {
		line := "no fix  " + t.name + ": " + firstSentence(t.refusal)
		if t.fixed() {
			fixed++
			line = "fixed   " + t.name + ": "
			if t.earlier != nil {
				line += "with " + strings.Join(t.earlier, ", ")
			} else {
				line += t.result.Proven.Lock
			}
		}
		lines = append(lines, line)
	}
	fail := "fail"
	if x.failing() < len(x.tests) {
		fail = fmt.Sprintf("fail in %d ways", len(x.tests))
	}
	fmt.Fprintf(x.inv.Stdout, "\n%d of %d tests %s, %d of them fixed:\n  %s\n", x.failing(), targets, fail, fixed, strings.Join(lines, "\n  "))
}

// firstSentence is a text up to its first full stop, and one line of it.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, ". ")
	return text
}

// writeMachine writes the machine in the form that the file's name asks for.
func writeMachine(file string, result *repair.Result) error {
	m := result.Machine()
	if m == nil {
		return errors.New("-machine: the failure has no machine")
	}
	text := draw.Text(m) + "\n"
	switch filepath.Ext(file) {
	case ".dot":
		text = draw.DOT(m)
	case ".svg":
		text = draw.SVG(m)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return fmt.Errorf("-machine: %w", err)
	}
	return nil
}
