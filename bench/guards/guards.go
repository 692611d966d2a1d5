// Package guards measures how precise the inferred guards are on real modules: it
// downloads well-known ones at fixed versions, infers their guards, and compares each deviating
// access, and each section that is split, with a judgement that was made by reading the code.
//
//	guards.go    measures
//	loading.go   reads the modules
//	modules.go   the lots of modules, and those of the first ones; fresh.go those of the next
//	drawn.go, drawn_late.go, drawn_required.go, drawn_rest.go, drawn_named.go
//	             lots that were drawn before anything was run on them
//	further.go   further packages of modules of earlier lots
//	judged.txt   the judgements
//
// A judgement is a line of judged.txt. An access that is reported is "true" if it touches data
// that the lock is meant to guard without holding the lock, where another goroutine can reach
// the data. A split section is "true" if what others write in between is lost, or makes the
// program do what it should not. Otherwise it is "false", with the reason. Reports without a
// judgement are counted as such, so that a change of the inference shows.
package guards

import (
	"bufio"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/vet/splitsection"
)

// Benchmark is go run ./bench guards.
var Benchmark = &command.Benchmark{
	Name:  "guards",
	About: "how precise inferred guards are on real modules",
	Usage: "[-list] [-min CONFIDENCE] [-only MODULES] [-lot LOTS] ",
	Help: `Infers the guards of modules, which it downloads through the module proxy, and prints how
many there are, how many accesses deviate, and how many of these are true deviations
according to bench/guards/judged.txt; and the same of sections that are split.`,
	Quick: "only two modules",
	New:   newMeasurement,
}

// options are the flags.
type options struct {
	list  bool
	least float64
	only  string
	lot   string
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	flags.BoolVar(&o.list, "list", false, "print every deviating access with its judgement")
	flags.Float64Var(&o.least, "min", 0.5, "leave out what is less sure than this `confidence`")
	flags.StringVar(&o.only, "only", "", "measure only the `modules` with one of these words in their path")
	flags.StringVar(&o.lot, "lot", "", "measure only the `lots` with one of these words in their name, as \"sixteenth lot\"")
	return o
}

// Check has nothing to complete.
func (o *options) Check(bool) error { return nil }

// Measure runs the command.
func (o *options) Measure(s *command.Session) (any, error) {
	if s.Quick {
		return o.measureAll(s, groups[0].name, groups[0].modules[:2])
	}
	var all []Counts
	var failed []error
	sum := Counts{}
	for _, g := range groups {
		chosen := slices.DeleteFunc(slices.Clone(g.modules), func(m command.Module) bool { return !o.chosen(g, m) })
		if len(chosen) == 0 {
			continue
		}
		counts, err := o.measureAll(s, g.name, chosen)
		all = append(all, counts...)
		for _, c := range counts {
			sum.add(c)
		}
		if err != nil {
			failed = append(failed, err)
		}
		fmt.Fprintln(s.Out)
	}
	sum.writeEvidence(s.Out)
	return all, errors.Join(failed...)
}

// chosen reports whether a module of a group is to be measured.
func (o *options) chosen(g group, m command.Module) bool {
	return hasOneOf(g.name, o.lot) && hasOneOf(m.Path, o.only)
}

// hasOneOf reports whether a text has one of the words in it, if there are any.
func hasOneOf(text, words string) bool {
	return words == "" || slices.ContainsFunc(strings.Split(words, ","), func(word string) bool { return strings.Contains(text, word) })
}

// measureAll measures some modules, and prints a table of them. A module that cannot be measured is left out
// of it, and told when all others are done: one that the proxy has no more would else cost the figures of
// hundreds.
func (o *options) measureAll(s *command.Session, which string, todo []command.Module) ([]Counts, error) {
	t := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "module\tlocks\tdata\twith\tunknown\tin doubt\tdeviating\ttrue\tfalse\tnot judged\tsplit\ttrue\tfalse\tnot judged\tseconds\t")
	sum := Counts{Module: "all"}
	var report []Counts
	var failed []error
	for _, m := range todo {
		fmt.Fprintln(s.Err, m)
		c, err := o.measure(s, m)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m, err))
			continue
		}
		c.row(t)
		sum.add(c)
		report = append(report, c)
	}
	sum.row(t)
	t.Flush()
	fmt.Fprintln(s.Out)
	sum.Deviations.summarise(s.Out, "deviations", which)
	sum.Deviating.summarise(s.Out, "variables with deviations", which)
	sum.Splits.summarise(s.Out, "split sections", which)
	return report, errors.Join(failed...)
}

// Verdicts are what reports of one kind were judged to be.
type Verdicts struct {
	Right  int `json:"true"`
	Wrong  int `json:"false"`
	Unsure int `json:"notJudged"`
}

func (v *Verdicts) all() int { return v.Right + v.Wrong + v.Unsure }

func (v *Verdicts) add(w Verdicts) {
	v.Right += w.Right
	v.Wrong += w.Wrong
	v.Unsure += w.Unsure
}

// count adds a report that was judged, or not.
func (v *Verdicts) count(j judgement) {
	switch {
	case !j.made:
		v.Unsure++
	case j.right:
		v.Right++
	default:
		v.Wrong++
	}
}

func (v *Verdicts) summarise(w io.Writer, what, which string) {
	if judged := v.Right + v.Wrong; judged > 0 {
		fmt.Fprintf(w, "%d of %d judged %s are true on %s modules: precision %.0f %%\n", v.Right, judged, what, which, 100*float64(v.Right)/float64(judged))
	}
}

// Counts are the result for a module.
type Counts struct {
	Module  string `json:"module"`
	Locks   int    `json:"locks"`
	Data    int    `json:"data"`
	With    int    `json:"accessesWith"`
	Unknown int    `json:"accessesUnknown"`
	// Doubtful are accesses without the lock that may be meant to be so: they are not reported.
	Doubtful   int      `json:"doubtful"`
	Deviations Verdicts `json:"deviations"`
	// Deviating are the variables of these: one is true if a deviation of it is.
	Deviating Verdicts `json:"deviating"`
	// Evidence is by what shows that goroutines share an object. What nothing does is not reported.
	Evidence map[string]Evidence `json:"evidence,omitempty"`
	Splits   Verdicts            `json:"splitSections"`
	Seconds  float64             `json:"seconds"`
}

func (c *Counts) add(d Counts) {
	c.Locks += d.Locks
	c.Data += d.Data
	c.With += d.With
	c.Unknown += d.Unknown
	c.Doubtful += d.Doubtful
	c.Deviations.add(d.Deviations)
	c.Deviating.add(d.Deviating)
	c.Splits.add(d.Splits)
	c.Seconds += d.Seconds
	for what, e := range d.Evidence {
		if c.Evidence == nil {
			c.Evidence = make(map[string]Evidence)
		}
		sum := c.Evidence[what]
		sum.Accesses.add(e.Accesses)
		sum.Data.add(e.Data)
		sum.Modules += e.Modules
		c.Evidence[what] = sum
	}
}

// Evidence is what accesses of one kind of evidence were judged to be.
type Evidence struct {
	Accesses Verdicts `json:"accesses"`
	Data     Verdicts `json:"data"`
	Modules  int      `json:"modules"`
}

// writeEvidence prints how precise each kind of evidence is.
func (c *Counts) writeEvidence(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "what shows that goroutines share the object\ttrue accesses\tfalse\tnot judged\ttrue data\tfalse\tnot judged\tmodules\t")
	for _, what := range slices.Sorted(maps.Keys(c.Evidence)) {
		e := c.Evidence[what]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", what, e.Accesses.Right, e.Accesses.Wrong, e.Accesses.Unsure, e.Data.Right, e.Data.Wrong, e.Data.Unsure, e.Modules)
	}
	t.Flush()
}

func (c *Counts) row(w io.Writer) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t", c.Module, c.Locks, c.Data, c.With, c.Unknown, c.Doubtful)
	for _, v := range []Verdicts{c.Deviations, c.Splits} {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t", v.all(), v.Right, v.Wrong, v.Unsure)
	}
	fmt.Fprintf(w, "%.1f\t\n", c.Seconds)
}

func (o *options) measure(s *command.Session, m command.Module) (Counts, error) {
	c := Counts{Module: m.Path}
	dir, err := os.MkdirTemp(s.Temp(""), "module-")
	if err != nil {
		return c, err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module bench\n\ngo 1.26\n"), 0o666); err != nil {
		return c, err
	}
	patterns := m.Packages
	if len(patterns) == 0 {
		patterns = []string{m.Path + "/..."}
	}
	for _, pattern := range patterns {
		if _, err := s.Go(dir, "get", pattern+"@"+m.Version); err != nil {
			return c, err
		}
	}
	pkgs, err := loadWithoutCompiling(dir, "@"+m.Version+"/", patterns)
	if err != nil {
		return c, err
	}
	start := time.Now()
	known := guard.Infer(pkgs)
	guards := known.AtLeast(o.least)
	c.Seconds = time.Since(start).Seconds()
	c.Locks = len(guards)
	for _, g := range guards {
		c.Data += len(g.Data)
		for _, d := range g.Data {
			c.With += d.Evidence.ReadsWith + d.Evidence.WritesWith
			c.Unknown += d.Evidence.Unknown
			c.Doubtful += len(d.Deviations) - len(d.Firm())
			o.judgeDatum(s, m, d, &c)
		}
	}
	for _, split := range splitsection.Find(known, o.least) {
		if split.Doubtful {
			continue
		}
		c.Splits.count(o.judge(s, m, pkgs[0].Fset.Position(split.Write), split.Data, "split"))
	}
	return c, nil
}

// judgeDatum counts the deviations of a variable, and the variable.
func (o *options) judgeDatum(s *command.Session, m command.Module, d *guard.Datum, c *Counts) {
	of := make(map[string]Verdicts)
	var told Verdicts
	for _, v := range d.Deviations {
		if v.Doubt != guard.NoDoubt && v.Doubt != guard.NotShown {
			continue
		}
		what := v.Witness.Sharing.String()
		j := o.judge(s, m, v.At, d.Name, fmt.Sprintf("%s of it in %s, %.2f, %s", v.Kind, v.Func, d.Confidence, what))
		verdicts := of[what]
		verdicts.count(j)
		of[what] = verdicts
		if v.Doubt == guard.NoDoubt {
			told.count(j)
		}
	}
	c.Deviations.add(told)
	c.Deviating.add(told.one())
	for what, verdicts := range of {
		if c.Evidence == nil {
			c.Evidence = make(map[string]Evidence)
		}
		e := c.Evidence[what]
		e.Accesses.add(verdicts)
		e.Data.add(verdicts.one())
		e.Modules = 1
		c.Evidence[what] = e
	}
}

// one is the verdict on what all the reports are of.
func (v *Verdicts) one() Verdicts {
	switch {
	case v.Right > 0:
		return Verdicts{Right: 1}
	case v.Wrong > 0:
		return Verdicts{Wrong: 1}
	case v.Unsure > 0:
		return Verdicts{Unsure: 1}
	}
	return Verdicts{}
}

// judge finds the judgement of what is reported at a place.
func (o *options) judge(s *command.Session, m command.Module, at token.Position, data, what string) judgement {
	_, file, _ := strings.Cut(filepath.ToSlash(at.Filename), "@"+m.Version+"/")
	place := fmt.Sprintf("%s:%d", file, at.Line)
	j, ok := judgements()[judgementKey{m.Path, place, data}]
	if !ok {
		j.reason = "not judged"
	}
	if o.list {
		fmt.Fprintf(s.Out, "%s %s %s: %s: %t, %s\n", m.Path, place, data, what, j.right, j.reason)
	}
	return j
}

//go:embed judged.txt
var judged string

type judgementKey struct{ module, place, data string }

type judgement struct {
	made, right bool
	reason      string
}

// judgements reads judged.txt: module, place, data, true or false, reason.
var judgements = sync.OnceValue(func() map[judgementKey]judgement {
	all := make(map[judgementKey]judgement)
	for s := bufio.NewScanner(strings.NewReader(judged)); s.Scan(); {
		f := strings.SplitN(s.Text(), " ", 5)
		if len(f) < 5 || f[0] == "#" {
			continue
		}
		all[judgementKey{f[0], f[1], f[2]}] = judgement{true, f[3] == "true", f[4]}
	}
	return all
})
