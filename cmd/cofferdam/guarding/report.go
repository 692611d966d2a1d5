package guarding

import (
	"encoding/json"
	"fmt"
	"go/token"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/publish"
	"github.com/cofferdam-go/cofferdam/internal/settings"
)

// A report prints guards, with places relative to a directory.
type report struct {
	dir      string
	w        io.Writer
	doubtful bool // what is in doubt is reported, too
	settings *settings.File
}

// told are the deviations that are reported.
func (r *report) told(g *guard.Guard, d *guard.Datum) []guard.Deviation {
	told, _ := r.split(g, d)
	return told
}

// split returns the deviations that are reported, and how many the settings suppress.
func (r *report) split(g *guard.Guard, d *guard.Datum) (told []guard.Deviation, suppressed int) {
	all := d.Deviations
	if !r.doubtful {
		all = d.Firm()
	}
	return settings.Told(r.settings, all, func(v *guard.Deviation) *finding.Finding { return found(g, d, v) })
}

func (r *report) place(p token.Position) string {
	if rel, err := filepath.Rel(r.dir, p.Filename); err == nil && !strings.HasPrefix(rel, "..") {
		p.Filename = rel
	}
	return p.String()
}

func (r *report) text(list []*guard.Guard, deviations int) {
	data := 0
	for _, g := range list {
		fmt.Fprintf(r.w, "%s  %s  %s\n", g.Lock.Name, g.Lock.Type, r.place(g.Lock.At))
		t := tabwriter.NewWriter(r.w, 0, 8, 2, ' ', 0)
		fmt.Fprintln(t, "  data\tby\tconfidence\twith it\twithout\tunknown\tsigns")
		for _, d := range g.Data {
			e := d.Evidence
			fmt.Fprintf(t, "  %s\t%s\t%.2f\t%s\t%s\t%d\t%s\n", d.Name, d.By, d.Confidence,
				lines(e.WritesWith, e.ReadsWith), lines(e.WritesWithout, e.ReadsWithout), e.Unknown, signs(e))
			data++
		}
		t.Flush()
		for _, d := range g.Data {
			for _, v := range r.told(g, d) {
				r.deviation(g, d, v)
			}
		}
		fmt.Fprintln(r.w)
	}
	fmt.Fprintf(r.w, "%s, %s guarded, %s\n", count(len(list), "lock"), count(data, "variable"), count(deviations, "deviating access"))
}

func (r *report) deviations(list []*guard.Guard) {
	for _, g := range list {
		for _, d := range g.Data {
			for _, v := range r.told(g, d) {
				r.deviation(g, d, v)
			}
		}
	}
}

func (r *report) deviation(g *guard.Guard, d *guard.Datum, v guard.Deviation) {
	why := "does not hold " + g.Lock.Name
	if v.Why != "" {
		why = g.Lock.Name + " is " + v.Why
	}
	if v.Doubt != guard.NoDoubt {
		why += " (in doubt: " + v.Doubt.String() + ")"
	}
	fmt.Fprintf(r.w, "%s: %s of %s in %s: %s\n", r.place(v.At), v.Kind, d.Name, v.Func, why)
	for _, c := range v.From {
		fmt.Fprintf(r.w, "\tcalled by %s at %s\n", c.Func, r.place(c.At))
	}
}

// results are the deviating accesses as findings.
func (r *report) results(list []*guard.Guard) []publish.Result {
	var all []finding.Finding
	for _, g := range list {
		for _, d := range g.Data {
			for _, v := range r.told(g, d) {
				all = append(all, *found(g, d, &v))
			}
		}
	}
	return publish.Results(all)
}

// found is a deviating access as a finding.
func found(g *guard.Guard, d *guard.Datum, v *guard.Deviation) *finding.Finding {
	with, without := d.Evidence.ReadsWith+d.Evidence.WritesWith, d.Evidence.ReadsWithout+d.Evidence.WritesWithout
	f := &finding.Finding{
		Kind: finding.Deviation, Guard: finding.Guard{Name: g.Lock.Name, Site: frame("", g.Lock.At)}, History: finding.Once("", 0, time.Time{}),
		Accesses:    []finding.Access{{Op: finding.Op(v.Kind.String()), Target: d.Name, Stack: []finding.Frame{frame(v.Func, v.At)}}},
		Explanation: fmt.Sprintf("%d of %d lines that access it hold the lock (confidence %.2f).", with, with+without, d.Confidence),
	}
	for _, c := range v.From {
		f.Accesses[0].Stack = append(f.Accesses[0].Stack, frame(c.Func, c.At))
	}
	return f
}

func frame(function string, at token.Position) finding.Frame {
	return finding.Frame{Function: function, File: at.Filename, Line: at.Line, Column: at.Column}
}

func lines(writes, reads int) string { return fmt.Sprintf("%dw %dr", writes, reads) }

func signs(e guard.Evidence) string {
	var list []string
	for _, s := range e.Signs {
		list = append(list, s.String())
	}
	return strings.Join(list, ", ")
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *report) json(list []*guard.Guard) error {
	out := guard.Report{Guards: []guard.ReportedGuard{}}
	for _, g := range list {
		jg := guard.ReportedGuard{Lock: g.Lock.Name, Type: g.Lock.Type, Position: r.place(g.Lock.At)}
		for _, d := range g.Data {
			e := d.Evidence
			jd := guard.ReportedDatum{
				Name: d.Name, Position: r.place(d.At), By: d.By, Confidence: d.Confidence,
				With: guard.ReportedSites{Writes: e.WritesWith, Reads: e.ReadsWith}, Without: guard.ReportedSites{Writes: e.WritesWithout, Reads: e.ReadsWithout},
				Unknown: e.Unknown, Early: e.Early, Signs: []string{}, Deviations: []guard.ReportedDeviation{},
			}
			for _, s := range e.Signs {
				jd.Signs = append(jd.Signs, s.String())
			}
			for _, v := range r.told(g, d) {
				jv := guard.ReportedDeviation{Kind: v.Kind.String(), Position: r.place(v.At), Function: v.Func, Why: v.Why}
				if v.Doubt != guard.NoDoubt {
					jv.Doubt = v.Doubt.String()
				}
				if w := v.Witness; w.At.IsValid() {
					jv.Beside = &guard.ReportedCall{Function: w.Func, Position: r.place(w.At)}
				}
				if v.Witness.Sharing != guard.NotShared {
					jv.Shared = v.Witness.Sharing.String()
				}
				for _, c := range v.From {
					jv.From = append(jv.From, guard.ReportedCall{Function: c.Func, Position: r.place(c.At)})
				}
				jd.Deviations = append(jd.Deviations, jv)
			}
			jg.Data = append(jg.Data, jd)
		}
		out.Guards = append(out.Guards, jg)
	}
	enc := json.NewEncoder(r.w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
