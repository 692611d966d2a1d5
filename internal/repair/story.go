package repair

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// WhatHappens is the failure in one sentence: what it is, its shape if goroutines wait, and the
// innermost line of the program where it comes about.
func (r *Result) WhatHappens() string {
	text := strings.Join(strings.Fields(r.Failure.String()), " ") // some messages are tables
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

// Why is the mistake that a proven fix mends, in one sentence; "" if nothing is known of it.
func (r *Result) Why() string {
	switch {
	case r.Proven == nil:
		return ""
	case r.Proven.Change != nil:
		return r.Proven.Reason
	}
	sections := r.decidingFirst(r.Proven.Derivation.Sections)
	for i, reading := range sections {
		for j, writing := range sections {
			if i == j {
				continue
			}
			if why := r.whyApart(reading, writing); why != "" {
				return why
			}
		}
	}
	for _, s := range sections {
		if why := r.whyTogether(s); why != "" {
			return why
		}
	}
	return ""
}

// decidingFirst are sections with the accesses first, in each, to what the goroutine has read that
// failed.
func (r *Result) decidingFirst(sections []*sli.Section) []*sli.Section {
	deciding := map[string]bool{}
	if r.Analysis != nil && len(r.Analysis.Machines) > 0 {
		for _, l := range r.Analysis.Machines[0].Loads() {
			deciding[l.Label.Instr.Data] = true
		}
	}
	var all []*sli.Section
	for _, s := range sections {
		sorted := *s
		sorted.Accesses = slices.Clone(s.Accesses)
		slices.SortStableFunc(sorted.Accesses, func(a, b *sli.Access) int {
			switch {
			case deciding[a.Data] == deciding[b.Data]:
				return 0
			case deciding[a.Data]:
				return -1
			}
			return 1
		})
		all = append(all, &sorted)
	}
	return all
}

// whyApart says what a section reads that another writes; "" if there is nothing of the kind.
func (r *Result) whyApart(reading, writing *sli.Section) string {
	loads, _ := split(reading.Accesses)
	_, stores := split(writing.Accesses)
	for _, store := range stores {
		for _, load := range loads {
			if load.Data == store.Data && load.Data != "" && load.Point != store.Point {
				return fmt.Sprintf("%s is read at %s, and written at %s by another goroutine, with no lock that keeps the two apart", load.Data, r.place(load.Point), r.place(store.Point))
			}
		}
	}
	if writing.Role == sli.Updating && len(stores) > 1 && len(loads) > 0 {
		first, last := stores[0], stores[len(stores)-1]
		return fmt.Sprintf("%s is read at %s while another goroutine may be between writing %s at %s and %s at %s", loads[0].Data, r.place(loads[0].Point),
			first.Data, r.place(first.Point), last.Data, r.place(last.Point))
	}
	return ""
}

// whyTogether says what two goroutines do in one section at the same time.
func (r *Result) whyTogether(s *sli.Section) string {
	loads, stores := split(s.Accesses)
	var update *sli.Access // that is read and written in one place
	for _, store := range stores {
		for _, load := range loads {
			if load.Data != store.Data || load.Data == "" {
				continue
			}
			if from, to := r.place(load.Point), r.place(store.Point); from != to {
				return fmt.Sprintf("a goroutine that has read %s at %s may write it at %s when another has changed it in between", load.Data, from, to)
			}
			update = load
		}
	}
	if update == nil {
		return ""
	}
	return fmt.Sprintf("%s is read and written at %s, and another goroutine may change it in between", update.Data, r.place(update.Point))
}

// split are the loads and the stores of some accesses.
func split(accesses []*sli.Access) (loads, stores []*sli.Access) {
	for _, x := range accesses {
		if x.Store {
			stores = append(stores, x)
		} else {
			loads = append(loads, x)
		}
	}
	return loads, stores
}

// machineLines tell the read operation.
func (r *Result) machineLines() []string {
	m, run := r.machineShown()
	if m == nil {
		return nil
	}
	return strings.Split(draw.Words(m, run.names()), "\n")
}

// names are what the program calls its things.
func (r *failedRun) names() draw.Names {
	return draw.Names{Place: r.place, Part: r.lifted.Part, Text: func(symbol string) (string, bool) {
		text, ok := r.lifted.Constants[symbol]
		return string(text), ok
	}}
}

// MachineGraph is the machine that the result is about as a graph; nil if there is none. Its sites
// are those of the recorded run, so a machine of a run with a candidate has none.
func (r *Result) MachineGraph() *draw.Graph {
	m, run := r.machineShown()
	if m == nil {
		return nil
	}
	g := draw.NewGraph(m, run.names())
	if run != r.run {
		g.ForgetSites()
	}
	return g
}

// sectionLines tell what must not come together, a line for each section: where it is, and what it
// reads and writes.
func (r *Result) sectionLines() []string {
	fix := r.chosen()
	if fix == nil {
		return nil
	}
	var places, deeds []string
	width := 0
	for _, s := range fix.Sections {
		place, deed := r.linesOf(s.Accesses), deedsOf(s.Accesses)
		if len(s.Accesses) == 0 || slices.Index(places, place) >= 0 && deeds[slices.Index(places, place)] == deed {
			continue
		}
		places, deeds, width = append(places, place), append(deeds, deed), max(width, len(place))
	}
	var lines []string
	for i := range places {
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, places[i], deeds[i]))
	}
	return lines
}

// deedsOf says what accesses do: what they read and write, what they read, and what they write.
func deedsOf(accesses []*sli.Access) string {
	loads, stores := split(accesses)
	read, written := dataNames(loads), dataNames(stores)
	isWritten := func(name string) bool { return slices.Contains(written, name) }
	var both []string
	for _, name := range read {
		if isWritten(name) {
			both = append(both, name)
		}
	}
	isBoth := func(name string) bool { return slices.Contains(both, name) }
	read, written = slices.DeleteFunc(read, isBoth), slices.DeleteFunc(slices.Clone(written), isBoth)
	var does []string
	for _, part := range []struct {
		verb string
		data []string
	}{{"reads and writes", both}, {"reads", read}, {"writes", written}} {
		if len(part.data) > 0 {
			does = append(does, part.verb+" "+strings.Join(part.data, " and "))
		}
	}
	return strings.Join(does, ", ")
}

// dataNames are what accesses touch, each once.
func dataNames(accesses []*sli.Access) []string {
	var all []string
	for _, x := range accesses {
		name := x.Data
		if name == "" {
			name = "memory"
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// linesOf are the lines of accesses, by file: meter.go:17-18.
func (r *Result) linesOf(accesses []*sli.Access) string {
	type span struct {
		file     string
		from, to int
	}
	var spans []span
	for _, x := range accesses {
		name, line := r.runShown().line(x.Point)
		file := filepath.Base(name)
		i := slices.IndexFunc(spans, func(s span) bool { return s.file == file })
		if i < 0 {
			spans = append(spans, span{file, line, line})
			continue
		}
		spans[i].from, spans[i].to = min(spans[i].from, line), max(spans[i].to, line)
	}
	var all []string
	for _, s := range spans {
		text := fmt.Sprintf("%s:%d", s.file, s.from)
		if s.to > s.from {
			text += fmt.Sprintf("-%d", s.to)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// Machine is the one that the result is about: that of the fix, or the most of the read
// operation that was found; nil if there is none.
func (r *Result) Machine() *sli.Machine {
	machine, _ := r.machineShown()
	return machine
}

// machineShown is the machine that the result is about, and the run that it was derived from.
func (r *Result) machineShown() (*sli.Machine, *failedRun) {
	fix := r.chosen()
	switch {
	case fix != nil && len(fix.Machines) > 0:
		return fix.Machines[0], r.runShown()
	case r.Analysis != nil && len(r.Analysis.Machines) > 0:
		return r.Analysis.Machines[len(r.Analysis.Machines)-1], r.run
	}
	return nil, nil
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

// runShown is the run that the chosen derivation is from.
func (r *Result) runShown() *failedRun {
	if r.Proven != nil {
		return r.Proven.run
	}
	return r.run
}

// place is where a point of the chosen derivation is in the source.
func (r *Result) place(p ir.Point) string { return r.runShown().place(p) }

// place is where a point is in the source without changes.
func (r *failedRun) place(p ir.Point) string {
	file, line := r.line(p)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// line is the line of a point in the source without changes.
func (r *failedRun) line(p ir.Point) (file string, line int) {
	at := r.lifted.Position(p.Instr)
	return at.Filename, r.code.LineBefore(at.Filename, at.Line)
}
