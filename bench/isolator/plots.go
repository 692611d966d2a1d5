package isolator

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/plot"
	"github.com/cofferdam-go/cofferdam/bench/structures"
)

// plots has a picture per figure, of those that were measured, by its name.
func (s *session) plots() map[string]io.WriterTo {
	pictures := map[string]io.WriterTo{}
	if faults, ok := s.faultBars(); ok {
		pictures["fault"] = faults
	}
	if rs := s.Report.Of("8"); len(rs) > 0 {
		for _, k := range structures.Kinds {
			pictures["figure8-"+k.Name] = timesOf(k.Name, rs)
		}
		pictures["figure8-overhead"] = overheads(rs)
	}
	for _, n := range goroutines {
		if rs := with(s.Report.Of(figurePlain), measure.Goroutines, float64(n)); len(rs) > 0 {
			pictures[fmt.Sprintf("figure9-%d", n)] = carelessLines(n, rs)
		}
	}
	if rs := s.Report.Of("11"); len(rs) > 0 {
		pictures["figure11"] = applications(rs)
	}
	if rs := s.Report.Of(figureRaceName); len(rs) > 0 {
		pictures["race"] = raceBars(rs)
	}
	return pictures
}

// timesOf is the paper's figure 8 for one structure.
func timesOf(name string, results []measure.Result) plot.Bars {
	b := plot.Bars{Title: "Figure 8: " + name + ", all goroutines careful", XLabel: "goroutines, and operations that write", YLabel: "ns per operation"}
	series := map[measure.Variant]*plot.Series{}
	variants := []measure.Variant{measure.Heap, measure.SameMemory, measure.Isolate}
	for _, v := range variants {
		series[v] = &plot.Series{Name: string(v)}
	}
	for _, r := range results {
		if r.Name != name {
			continue
		}
		b.Groups = append(b.Groups, fmt.Sprintf("%v, %s", r.Params[measure.Goroutines], percent(r.Params[measure.Writes])))
		for _, v := range variants {
			series[v].Points = append(series[v].Points, timePoint(r, v))
		}
	}
	for _, v := range variants {
		b.Series = append(b.Series, *series[v])
	}
	return b
}

// overheads is figure 8 in one picture: the mean over the write fractions.
func overheads(results []measure.Result) plot.Bars {
	b := plot.Bars{Title: "Figure 8: isolate over a sync.Mutex on the same memory, all careful", XLabel: "structure", YLabel: "overhead in %, mean over the write fractions",
		Limits: []plot.Limit{{Name: "mean ≤ 2", Value: limitMean}, {Name: "worst ≤ 8", Value: limitWorst}}}
	for _, k := range structures.Kinds {
		b.Groups = append(b.Groups, k.Name)
	}
	for _, n := range values(results, measure.Goroutines) {
		series := plot.Series{Name: goroutinesName(n)}
		for _, name := range b.Groups {
			series.Points = append(series.Points, overPoint(named(with(results, measure.Goroutines, n), name)))
		}
		b.Series = append(b.Series, series)
	}
	return b
}

// carelessLines is figure 9 for a number of careful goroutines.
func carelessLines(n int, results []measure.Result) plot.Lines {
	l := plot.Lines{Title: fmt.Sprintf("Figure 9: isolate over the same memory, one careless and %d careful goroutines", n),
		XLabel: "operations by the careless goroutine in %", YLabel: "overhead in %",
		Limits: []plot.Limit{{Name: "≤ 15", Value: limitTenth}, {Name: "≤ 60", Value: limitHalf}}}
	fractions := values(results, measure.Careless)
	for _, f := range fractions {
		l.X = append(l.X, 100*f)
	}
	for _, k := range structures.Kinds {
		series := plot.Series{Name: k.Name}
		for _, f := range fractions {
			series.Points = append(series.Points, overPoint(named(with(results, measure.Careless, f), k.Name)))
		}
		l.Series = append(l.Series, series)
	}
	return l
}

// applications is figure 11, relative to the same memory, because the
// applications take times of different sizes.
func applications(results []measure.Result) plot.Bars {
	b := plot.Bars{Title: "Figure 11: applications, time over that on the same memory", XLabel: "application", YLabel: "times as long"}
	for _, v := range []measure.Variant{measure.Heap, measure.SameMemory, measure.Isolate} {
		series := plot.Series{Name: string(v)}
		for _, r := range results {
			ratio, ok := r.Ratio(v, measure.SameMemory)
			series.Points = append(series.Points, ratioPoint(ratio, ok))
		}
		b.Series = append(b.Series, series)
	}
	for _, r := range results {
		b.Groups = append(b.Groups, r.Name)
	}
	return b
}

func raceBars(results []measure.Result) plot.Bars {
	b := plot.Bars{Title: "Isolate and the race detector, over the stock program", XLabel: "structure, goroutines", YLabel: "times as long"}
	for _, r := range results {
		b.Groups = append(b.Groups, fmt.Sprintf("%s, %v", r.Name, r.Params[measure.Goroutines]))
	}
	for _, v := range []measure.Variant{measure.Isolate, measure.Race} {
		series := plot.Series{Name: string(v)}
		for _, r := range results {
			ratio, ok := r.Ratio(v, measure.Heap)
			series.Points = append(series.Points, ratioPoint(ratio, ok))
		}
		b.Series = append(b.Series, series)
	}
	return b
}

func (s *session) faultBars() (b plot.Bars, measured bool) {
	b = plot.Bars{Title: "A fault and a seal, by the number of guards that exist", XLabel: "guards", YLabel: "µs, median to 99th percentile",
		Limits: []plot.Limit{{Name: "≤ 10 µs", Value: limitFault}}}
	for _, n := range guardCounts {
		b.Groups = append(b.Groups, fmt.Sprint(n))
	}
	for _, series := range []struct {
		name string
		cost string
		busy bool
	}{{"fault", costFault, false}, {"fault, busy", costFault, true}, {"seal", costSeal, false}, {"seal, busy", costSeal, true}} {
		points := make([]plot.Point, len(guardCounts))
		for i, n := range guardCounts {
			c, ok := s.cost(series.cost, n, series.busy)
			points[i] = missing
			if ok {
				points[i] = plot.Point{Low: c.Median, Mid: c.Median, High: c.P99}
				measured = true
			}
		}
		b.Series = append(b.Series, plot.Series{Name: series.name, Points: points})
	}
	return b, measured
}

var missing = plot.Point{Mid: math.NaN()}

// timePoint is the time of an operation; its range is that of the rounds.
func timePoint(r measure.Result, v measure.Variant) plot.Point {
	t, ok := r.Timing(v)
	if !ok {
		return missing
	}
	per := 1e9 / float64(r.Ops)
	return plot.Point{Low: measure.Quantile(t.Seconds, 0.25) * per, Mid: t.PerOp, High: measure.Quantile(t.Seconds, 0.75) * per}
}

// overPoint is the mean overhead of some results in percent.
func overPoint(results []measure.Result) plot.Point {
	rs, _, _ := ratios(results, measure.Isolate, measure.SameMemory)
	if len(rs) == 0 {
		return missing
	}
	r := measure.Together(rs)
	return plot.Point{Low: measure.Over(r.Low), Mid: measure.Over(r.Mid), High: measure.Over(r.High)}
}

func ratioPoint(r measure.Ratio, ok bool) plot.Point {
	if !ok {
		return missing
	}
	return plot.Point{Low: r.Low, Mid: r.Mid, High: r.High}
}

// with are the results that have a value of a parameter.
func with(results []measure.Result, param string, value float64) []measure.Result {
	return slices.DeleteFunc(slices.Clone(results), func(r measure.Result) bool { return r.Params[param] != value })
}

func named(results []measure.Result, name string) []measure.Result {
	return slices.DeleteFunc(slices.Clone(results), func(r measure.Result) bool { return r.Name != name })
}

// values are the values of a parameter, in order.
func values(results []measure.Result, param string) []float64 {
	var vs []float64
	for _, r := range results {
		vs = append(vs, r.Params[param])
	}
	slices.Sort(vs)
	return slices.Compact(vs)
}

func goroutinesName(n float64) string {
	if n == 1 {
		return "1 goroutine"
	}
	return fmt.Sprintf("%v goroutines", n)
}
