package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// Findings are what protected programs have found.
type Findings struct {
	Figures []Fact
	Chart   *Chart
	Groups  []FindingGroup
	Rows    []FindingRow
}

// A FindingRow is a finding.
type FindingRow struct {
	ID                                    string
	Kind, Tone                            string
	Access, Place, Guard                  string
	Met, Stack                            []string
	Explanation, Outcome                  string
	Count                                 uint64
	Waited, Longest                       string
	WaitedNanoseconds, LongestNanoseconds int64
}

// A FindingGroup are the findings of a guard.
type FindingGroup struct {
	Name              string
	Findings          int
	Count             uint64
	Waited            string
	WaitedNanoseconds int64
	Bar               int // of 120 pixels, by the time waited or, if nothing waited, by the count
}

// A Chart is how long accesses waited, over time. A finding says when it was seen first and last,
// and how long was waited in all; what lies between is spread evenly.
type Chart struct {
	Note          string
	Width, Height int
	Grid          []ChartLine
	Bars          []ChartBar
	Times         []ChartTime
}

// A ChartLine is a level of a chart.
type ChartLine struct {
	Y    int
	Text string
}

// A ChartBar is the time waited in one part of the time.
type ChartBar struct {
	X, Y, W, H int
	Title      string
	Bad        bool
}

// A ChartTime names a moment below a chart.
type ChartTime struct {
	X            int
	Anchor, Text string
}

// NewFindings makes a page's tables of findings. Lines are the same as they were written, of which
// several may tell of one finding: when it came again, and how long was waited since.
func NewFindings(all, lines []finding.Finding) *Findings {
	f := &Findings{}
	var total finding.History
	groups, histories := map[string]*FindingGroup{}, map[string]*finding.History{}
	for i := range all {
		one := &all[i]
		row := findingRow(one)
		f.Rows = append(f.Rows, row)
		total.Count += one.Count
		total.Waited += one.Waited
		total.LongestWait = max(total.LongestWait, one.LongestWait)
		total.Outcomes.Add(one.Outcomes)
		g := groups[row.Guard]
		if g == nil {
			g = &FindingGroup{Name: row.Guard}
			groups[row.Guard], histories[row.Guard] = g, &finding.History{}
		}
		histories[row.Guard].Outcomes.Add(one.Outcomes)
		g.Findings++
		g.Count += one.Count
		g.WaitedNanoseconds += int64(one.Waited)
	}
	slices.SortStableFunc(f.Rows, func(x, y FindingRow) int {
		return cmp.Or(cmp.Compare(y.WaitedNanoseconds, x.WaitedNanoseconds), cmp.Compare(y.Count, x.Count))
	})
	for _, g := range groups {
		g.Waited = wait(histories[g.Name], time.Duration(g.WaitedNanoseconds))
		switch {
		case total.Waited > 0:
			g.Bar = int(120 * float64(g.WaitedNanoseconds) / float64(total.Waited))
		case total.Count > 0:
			g.Bar = int(120 * float64(g.Count) / float64(total.Count))
		}
		f.Groups = append(f.Groups, *g)
	}
	slices.SortFunc(f.Groups, func(x, y FindingGroup) int {
		return cmp.Or(cmp.Compare(y.WaitedNanoseconds, x.WaitedNanoseconds), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Name, y.Name))
	})
	f.Figures = []Fact{counted(len(all), "finding", "findings"), counted(int(total.Count), "time in all", "times in all"), {"waited in all", wait(&total, total.Waited)}, {"longest wait", wait(&total, total.LongestWait)}}
	if n := total.Outcomes.Surrendered; n > 0 {
		f.Figures = append(f.Figures, Fact{"surrendered", Number(int(n))})
	}
	f.Chart = newChart(lines)
	return f
}

func findingRow(f *finding.Finding) FindingRow {
	row := FindingRow{
		ID: f.ID().String(), Kind: string(f.Kind), Tone: "warn", Guard: f.Guard.String(), Explanation: f.Explanation,
		Count: f.Count, Waited: wait(&f.History, f.Waited), Longest: wait(&f.History, f.LongestWait), WaitedNanoseconds: int64(f.Waited), LongestNanoseconds: int64(f.LongestWait),
	}
	if f.Outcomes.Surrendered > 0 || f.Kind != finding.Violation && f.Kind != finding.Bypass {
		row.Tone = "" // which is the worst
	}
	var outcomes []string
	for _, o := range []finding.Outcome{finding.Delayed, finding.Tolerated, finding.Resolved, finding.Surrendered, finding.Refused} {
		if n := f.Outcomes.Of(o); n > 0 {
			outcomes = append(outcomes, fmt.Sprintf("%d %s", n, o))
		}
	}
	row.Outcome = strings.Join(outcomes, ", ")
	for i, a := range f.Accesses {
		text := string(a.Op)
		if a.Target != "" {
			text += " of " + a.Target
		}
		if i > 0 {
			row.Met = append(row.Met, text+" at "+a.Site().String())
			continue
		}
		row.Access, row.Place = text, a.Site().String()
		for _, frame := range a.Stack {
			row.Stack = append(row.Stack, fmt.Sprintf("%s %s", frame.Function, frame))
		}
	}
	return row
}

// wait is how long the accesses of a history waited. Mode exact of -protect holds accesses up, and does not
// measure it.
func wait(h *finding.History, d time.Duration) string {
	if d == 0 && h.Outcomes.Delayed > 0 {
		return "not measured"
	}
	return duration(d)
}

// duration is a time that a person can compare at a glance.
func duration(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d < time.Millisecond:
		return d.Round(100 * time.Nanosecond).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// Measures of the chart; it is stretched to the width of the page.
const (
	chartWidth  = 960
	chartHeight = 220
	chartBars   = 60
	chartFoot   = 20
	chartTop    = 16
)

// newChart spreads the waits of findings over the time in which they were seen; nil if there is no
// time between the first and the last, nothing waited, or they are all the same, as those of a single finding: they say nothing then.
func newChart(all []finding.Finding) *Chart {
	var from, to time.Time
	for i := range all {
		h := &all[i].History
		if h.First.IsZero() {
			continue
		}
		if from.IsZero() || h.First.Before(from) {
			from = h.First
		}
		if h.Last.After(to) {
			to = h.Last
		}
	}
	span := to.Sub(from)
	if span <= 0 {
		return nil
	}
	var waited [chartBars]time.Duration
	var surrendered [chartBars]bool
	bar := func(at time.Time) int {
		return min(chartBars-1, max(0, int(float64(at.Sub(from))/float64(span)*chartBars)))
	}
	for i := range all {
		h := &all[i].History
		if h.First.IsZero() {
			continue
		}
		first, last := bar(h.First), bar(h.Last)
		for b := first; b <= last; b++ {
			waited[b] += h.Waited / time.Duration(last-first+1)
		}
		surrendered[last] = surrendered[last] || h.Outcomes.Surrendered > 0
	}
	most := slices.Max(waited[:])
	if most == slices.Min(waited[:]) {
		return nil
	}
	clock := time.TimeOnly
	if span < chartBars*time.Second {
		clock = "15:04:05.000"
	}
	c := &Chart{
		Width: chartWidth, Height: chartHeight,
		Note: fmt.Sprintf("How long careless accesses waited, from %s to %s: at most %s in each %s. A finding tells when it was seen first and last, and its waits are spread evenly over that time.", from.Format(time.DateTime), to.Format(time.DateTime), duration(most), duration(span/chartBars)),
	}
	room := chartHeight - chartFoot - chartTop
	for b, w := range waited {
		h := int(float64(room) * float64(w) / float64(most))
		if w > 0 {
			h = max(h, 2)
		}
		width := chartWidth / chartBars
		c.Bars = append(c.Bars, ChartBar{X: b*width + 1, Y: chartTop + room - h, W: width - 2, H: h, Bad: surrendered[b],
			Title: fmt.Sprintf("%s: %s", from.Add(span/chartBars*time.Duration(b)).Format(clock), duration(w))})
	}
	c.Grid = []ChartLine{{chartTop, duration(most)}, {chartTop + room/2, duration(most / 2)}, {chartTop + room, ""}}
	c.Times = []ChartTime{{4, "start", from.Format(clock)}, {chartWidth - 4, "end", to.Format(clock)}}
	return c
}
