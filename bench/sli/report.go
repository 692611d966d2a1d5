package sli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A figures is a row of tables 1 and 2 of the paper.
type figures struct {
	example, name                  string
	fixes                          int
	log                            string
	machines, states               int
	total, load, replay, analysing float64 // seconds
}

var paper = []figures{
	{"toctou", "toctou", 1, "28 MiB", 9, 19, 0.51, 0.18, 0.19, 0.15},
	{"twovar", "twovar", 1, "31 MiB", 13, 31, 0.75, 0.18, 0.42, 0.14},
	{"publish", "publish", 2, "31 MiB", 8, 24, 0.48, 0.18, 0.17, 0.13},
	{"privatize", "privatize", 2, "43 MiB", 9, 25, 2.34, 0.18, 1.04, 1.12},
	{"unwind", "glibc", 8, "48 MiB", 19, 139, 2.46, 0.19, 1.20, 1.07},
	{"imap", "thunderbird", 1, "758 MiB", 7, 15, 356, 1.76, 354, 0.58},
}

// What was to be reached, in seconds.
const (
	analysisLimit = 1
	commandLimit  = 15
)

// A Report is what the command prints.
type Report struct {
	Machine  measure.Machine  `json:"machine"`
	Examples []*Program       `json:"examples"`
	Corpus   []*Program       `json:"corpus,omitempty"`
	Modules  []*Program       `json:"modules,omitempty"`
	Large    []*LargeRun      `json:"large,omitempty"`
	Targets  []measure.Target `json:"targets"`
}

// judge compares the results with what was to be reached.
func (r *Report) judge() {
	r.judgeLarge()
	for _, group := range []struct {
		name     string
		programs []*Program
	}{{"examples", r.Examples}, {"programs of the corpus", r.Corpus}, {"modules", r.Modules}} {
		if len(group.programs) == 0 {
			continue
		}
		wrong := measure.Target{Name: group.name + " that did not end as they should", Unit: "programs"}
		for _, p := range group.programs {
			if !p.right() {
				wrong.Measured++
				wrong.Where += p.Name + " "
			}
		}
		wrong.Low, wrong.High = wrong.Measured, wrong.Measured
		r.Targets = append(r.Targets, wrong.Judge(),
			slowest("slowest analysis of the "+group.name, analysisLimit, group.programs, (*Program).analysis),
			slowest("slowest whole command of the "+group.name, commandLimit, group.programs, func(p *Program) float64 { return p.Seconds }))
	}
}

// analysis is how long a program's took, without exploring and building.
func (p *Program) analysis() float64 { return p.Analysis.Total.Seconds() }

func slowest(name string, limit float64, all []*Program, seconds func(*Program) float64) measure.Target {
	worst := slices.MaxFunc(all, func(a, b *Program) int { return cmp.Compare(seconds(a), seconds(b)) })
	s := seconds(worst)
	return measure.Target{Name: name, Unit: "s", Limit: limit, Measured: s, Low: s, High: s, Where: worst.Name}.Judge()
}

func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "Speculative lock insertion, %s, %d cores\n", r.Machine.Go, r.Machine.Cores)
	r.printTables(w)
	r.printCorpus(w)
	r.printModules(w)
	r.printLarge(w)
	(&measure.Report{Machine: r.Machine, Targets: r.Targets}).Conclude(w)
}

// printTables prints tables 1 and 2.
func (r *Report) printTables(w io.Writer) {
	if len(r.Examples) == 0 {
		return
	}
	fmt.Fprint(w, "\nTable 1: the examples, the median of their reproductions and the spread; the paper's figures in parentheses\n\n")
	one := measure.Table{Head: []string{"", "modelled on", "outcome", "fixes as published", "in all", "log", "machines", "states"}, Left: 3}
	two := measure.Table{Head: []string{"", "command", "load", "replay", "analyse", "load, replay, analyse"}}
	for _, row := range paper {
		of := slices.DeleteFunc(slices.Clone(r.Examples), func(p *Program) bool { return p.Name != row.example })
		if len(of) == 0 {
			continue
		}
		outcome := of[0].outcome()
		for _, p := range of {
			if !p.right() {
				outcome = p.outcome()
			}
		}
		figure := func(theirs any, ours func(*Program) float64, format string) string {
			return fmt.Sprintf("%s (%v)", spread(of, ours, format), theirs)
		}
		one.Row(row.example, row.name, outcome,
			figure(row.fixes, func(p *Program) float64 { return float64(p.Analysis.Published) }, "%.0f"),
			spread(of, func(p *Program) float64 { return float64(p.Analysis.Fixes) }, "%.0f"),
			figure(row.log, func(p *Program) float64 { return float64(p.LogSize) / 1024 }, "%.1f KiB"),
			figure(row.machines, func(p *Program) float64 { return float64(p.Analysis.Machines) }, "%.0f"),
			figure(row.states, func(p *Program) float64 { return float64(p.Analysis.States) }, "%.0f"))
		load := func(p *Program) float64 { return p.Analysis.Lifting.Seconds() }
		replay := func(p *Program) float64 { return p.Analysis.Replay.Seconds() }
		analyse := func(p *Program) float64 { return (p.Analysis.Total - p.Analysis.Replay).Seconds() }
		two.Row(row.example, spread(of, func(p *Program) float64 { return p.Seconds }, "%.1f"),
			figure(row.load, load, "%.4f"), figure(row.replay, replay, "%.4f"), figure(row.analysing, analyse, "%.4f"),
			figure(row.total, func(p *Program) float64 { return load(p) + replay(p) + analyse(p) }, "%.4f"))
	}
	one.Write(w)
	fmt.Fprint(w, "\nThe paper counts the distinct sets of sections that its machines give, without those of single accesses.\nIn all, there are those for data races, lost updates, whole updates and loops as well.\n")
	fmt.Fprint(w, "\nTable 2: seconds; the whole command also finds the failure, builds and proves\n\n")
	two.Write(w)
}

// spread is the median of a figure over reproductions, and its least and greatest value if they
// differ.
func spread(all []*Program, figure func(*Program) float64, format string) string {
	var values []float64
	for _, p := range all {
		values = append(values, figure(p))
	}
	slices.Sort(values)
	text := func(v float64) string { return fmt.Sprintf(format, v) }
	median, low, high := text(values[len(values)/2]), text(values[0]), text(values[len(values)-1])
	if low == high {
		return median
	}
	return median + " [" + low + ".." + high + "]"
}

// outcome says how a program ended.
func (p *Program) outcome() string {
	if p.right() {
		return p.Got
	}
	return strings.TrimSpace(fmt.Sprintf("WRONG: %s %s", p.Got, p.Why))
}

func (r *Report) printCorpus(w io.Writer) {
	if len(r.Corpus) == 0 {
		return
	}
	fmt.Fprint(w, "\nThe corpus\n\n")
	t := measure.Table{Head: []string{"", "outcome", "lock", "command", "analysis"}, Left: 3}
	fixed, refused, wrong := 0, 0, 0
	for _, p := range r.Corpus {
		switch {
		case !p.right():
			wrong++
		case p.Got == "fixed":
			fixed++
		default:
			refused++
		}
		t.Row(p.Name, p.outcome(), cmp.Or(p.Lock, p.Change), fmt.Sprintf("%.1f s", p.Seconds), fmt.Sprintf("%.3f s", p.analysis()))
	}
	t.Write(w)
	fmt.Fprintf(w, "\n%d programs: %d fixed, %d refused as they should be, %d wrong\n", len(r.Corpus), fixed, refused, wrong)
}

func (r *Report) printModules(w io.Writer) {
	if len(r.Modules) == 0 {
		return
	}
	fmt.Fprint(w, "\nReleased modules\n\n")
	t := measure.Table{Head: []string{"", "outcome", "as", "our fix", "upstream", "command", "analysis"}, Left: 5}
	for _, p := range r.Modules {
		t.Row(p.Name, p.outcome(), p.As, cmp.Or(p.Lock, p.Change), cmp.Or(p.Upstream, "not known"), fmt.Sprintf("%.1f s", p.Seconds), fmt.Sprintf("%.3f s", p.analysis()))
	}
	t.Write(w)
	for _, p := range r.Modules {
		fmt.Fprintf(w, "\n%s\n", p.Name)
		for _, text := range []string{p.Refusal, p.Diff} {
			if text != "" {
				fmt.Fprintln(w, "  "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  "))
			}
		}
	}
}
