package transactions

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/plot"
)

// plots has the pictures of what was measured, by their names.
func (s *session) plots() map[string]io.WriterTo {
	pictures := map[string]io.WriterTo{}
	if rs := s.Report.Of(figureMicro); len(rs) > 0 {
		pictures["micro"], pictures["micro-peer"] = microBars(rs), peerBars(rs)
	}
	if rs := s.Report.Of(figureContended); len(rs) > 0 {
		pictures["contended"] = contendedLines(rs)
	}
	if rs := s.Report.Of(figureStamp); len(rs) > 0 {
		pictures["sequential"] = sequentialBars(rs)
		for _, p := range programs {
			for _, r := range rs {
				if r.Name == p.name {
					name := fmt.Sprintf("figure%d-%s", p.figure, strings.ReplaceAll(p.name, " ", "-"))
					pictures[name] = programLines(p, r)
				}
			}
		}
	}
	if rs := s.Report.Of(figureModes); len(rs) > 0 {
		pictures["figure3"] = figure3(rs)
	}
	return pictures
}

// ratios are the bars of one variant over another, a series.
func ratios(results []measure.Result, name string, of, to measure.Variant) plot.Series {
	series := plot.Series{Name: name}
	for _, r := range results {
		ratio, ok := r.Ratio(of, to)
		p := missing
		if ok {
			p = plot.Point{Low: ratio.Low, Mid: ratio.Mid, High: ratio.High}
		}
		series.Points = append(series.Points, p)
	}
	return series
}

var missing = plot.Point{Mid: math.NaN()}

func microBars(results []measure.Result) plot.Bars {
	b := plot.Bars{Title: "Micro-benchmarks: time over that of a mutex", XLabel: "transaction, goroutines", YLabel: "times as long",
		Groups: microGroups(results),
		Series: []plot.Series{ratios(results, "eager", Eager, Mutex), ratios(results, "timer", Timer, Mutex)}}
	quotes := plot.Series{Name: "C++, quoted"}
	for _, r := range results {
		p := missing
		if q, ok := quoted[r.String()]; ok {
			if mutex, ok := r.Timing(Mutex); ok {
				v := q.cpp / mutex.PerOp
				p = plot.Point{Low: v, Mid: v, High: v}
			}
		}
		quotes.Points = append(quotes.Points, p)
	}
	b.Series = append(b.Series, quotes)
	return b
}

func peerBars(results []measure.Result) plot.Bars {
	return plot.Bars{Title: "Micro-benchmarks: times as fast as github.com/anacrolix/stm", XLabel: "transaction, goroutines", YLabel: "times as fast",
		Groups: microGroups(results),
		Series: []plot.Series{ratios(results, "eager", Peer, Eager), ratios(results, "timer", Peer, Timer)},
		Limits: []plot.Limit{{Name: "≥ 20", Value: limitPeer}}}
}

func microGroups(results []measure.Result) []string {
	var groups []string
	for _, r := range results {
		groups = append(groups, fmt.Sprintf("%s, %v", r.Name, r.Params[measure.Goroutines]))
	}
	return groups
}

func contendedLines(results []measure.Result) plot.Lines {
	l := plot.Lines{Title: "1,000 reads beside a committing neighbour", XLabel: "the neighbour's pause between two commits, in spins", YLabel: "µs per transaction"}
	series := map[measure.Variant]*plot.Series{}
	order := []measure.Variant{Mutex, Eager, Timer, Helper, Clone}
	for _, r := range results {
		if r.Name != readOnly {
			continue
		}
		l.X = append(l.X, r.Params[pause])
		for _, v := range order {
			if t, ok := r.Timing(v); ok {
				if series[v] == nil {
					series[v] = &plot.Series{Name: string(v)}
				}
				series[v].Points = append(series[v].Points, secondsPoint(t, 1e6/float64(r.Ops)))
			}
		}
	}
	for _, v := range order {
		if series[v] != nil {
			l.Series = append(l.Series, *series[v])
		}
	}
	return l
}

// figure3 is the overhead of the modes by one goroutine, relative to NOrec.
func figure3(results []measure.Result) plot.Bars {
	b := plot.Bars{Title: "Figure 3: one goroutine, time over that of eager validation", XLabel: "program", YLabel: "times as long"}
	for _, r := range results {
		b.Groups = append(b.Groups, r.Name)
	}
	for _, v := range []measure.Variant{Timer, Helper, Clone} {
		b.Series = append(b.Series, ratios(results, string(v), v, Eager))
	}
	return b
}

// sequentialBars is what a transaction costs over no synchronisation, beside what was
// to be reached.
func sequentialBars(results []measure.Result) plot.Bars {
	b := plot.Bars{Title: "STAMP by one goroutine, time over that of the sequential program", XLabel: "program", YLabel: "times as long",
		Series: []plot.Series{ratios(results, "mutex", Mutex, Sequential), ratios(results, "eager", Eager, Sequential), ratios(results, "timer", Timer, Sequential)}}
	limits, cpp := plot.Series{Name: "to reach"}, plot.Series{Name: "C++, quoted"}
	for _, r := range results {
		b.Groups = append(b.Groups, r.Name)
		for _, p := range programs {
			if p.name == r.Name {
				limits.Points = append(limits.Points, plot.Point{Low: p.limit, Mid: p.limit, High: p.limit})
				cpp.Points = append(cpp.Points, plot.Point{Low: p.cpp, Mid: p.cpp, High: p.cpp})
			}
		}
	}
	b.Series = append(b.Series, limits, cpp)
	return b
}

// programLines is the paper's figure of a program.
func programLines(p program, r measure.Result) plot.Lines {
	l := plot.Lines{Title: fmt.Sprintf("Figure %d: %s", p.figure, p.name), XLabel: "goroutines", YLabel: "ms"}
	for _, n := range goroutines {
		l.X = append(l.X, float64(n))
	}
	for _, v := range []measure.Variant{Mutex, Eager, Timer} {
		series := plot.Series{Name: string(v)}
		for _, n := range goroutines {
			point := missing
			if t, ok := r.Timing(by(v, n)); ok {
				point = secondsPoint(t, 1e3)
			}
			series.Points = append(series.Points, point)
		}
		l.Series = append(l.Series, series)
	}
	if t, ok := r.Timing(Sequential); ok {
		l.Limits = []plot.Limit{{Name: "sequential", Value: 1e3 * t.Median}}
	}
	return l
}

// secondsPoint is a time in some unit; its range is that of the middle half of the
// rounds.
func secondsPoint(t measure.Timing, unit float64) plot.Point {
	return plot.Point{Low: measure.Quantile(t.Seconds, 0.25) * unit, Mid: t.Median * unit, High: measure.Quantile(t.Seconds, 0.75) * unit}
}
