package isolator

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/structures"
)

// Figure 8: all goroutines are careful.

// trialOps is the number of operations of a trial: what takes some 50 ms, which
// is long enough for the clock, the scheduler's changes and the collector to
// even out. The paper takes a million for all, on a machine that was ten times
// slower.
func trialOps(k structures.Kind, quick bool) int {
	ops := 2_000_000
	if k.Name == "list" || k.Name == "tree" {
		ops = 500_000 // these walk
	}
	if quick {
		ops /= 5
	}
	return ops
}

// The goroutines are those of the paper. Half writes is the middle; a tenth and
// nine tenths are a table that is mostly looked up and a queue.
var (
	goroutines    = []int{1, 2, 4, 8}
	writeFraction = []float64{0.1, 0.5, 0.9}
)

func cases8(quick bool) []measure.Case {
	counts, fractions := goroutines, writeFraction
	if quick {
		counts, fractions = []int{1, 4}, []float64{0.1, 0.9}
	}
	var cases []measure.Case
	for _, k := range structures.Kinds {
		for _, n := range counts {
			for _, w := range fractions {
				l := load{goroutines: n, writes: w, ops: trialOps(k, quick)}
				cases = append(cases, measure.Case{
					Figure:   "8",
					Name:     k.Name,
					Params:   measure.Params{measure.Goroutines: float64(n), measure.Writes: w},
					Ops:      l.ops,
					Baseline: measure.SameMemory,
					Contenders: []measure.Contender{
						l.contender(k, measure.Heap),
						l.contender(k, measure.SameMemory),
						l.contender(k, measure.Isolate),
						l.contender(k, measure.Again),
					},
				})
			}
		}
	}
	return cases
}

func (s *session) figure8() error {
	s.sections()
	err := s.measure(s.runner(), cases8(s.quick))
	s.print8()
	return err
}

func (s *session) print8() {
	results := s.Report.Of("8")
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nFigure 8: all goroutines careful. Median ns per operation; isolate's overhead in %% with\n"+
		"the range of 90 %% of its bootstrap; noise is the same-memory program against itself.\n\n")
	t := measure.Table{Head: []string{"structure", "goroutines", "writes", "go heap", "same memory", "isolate", "over same memory", "over go heap", "noise"}}
	name := ""
	for _, r := range results {
		if name != "" && name != r.Name {
			t.Gap()
		}
		name = r.Name
		same, _ := r.Ratio(measure.Isolate, measure.SameMemory)
		heap, _ := r.Ratio(measure.Isolate, measure.Heap)
		noise, _ := r.Ratio(measure.Again, measure.SameMemory)
		t.Row(r.Name, r.Params[measure.Goroutines], percent(r.Params[measure.Writes]),
			perOp(r, measure.Heap), perOp(r, measure.SameMemory), perOp(r, measure.Isolate),
			same.Percent(), heap.Percent(), noise.Percent())
	}
	t.Write(s.Out)
	s.means(results, measure.Isolate, measure.SameMemory)
	s.means(results, measure.Isolate, measure.Heap)
	s.means(results, measure.Again, measure.SameMemory)
}

// means prints the mean and the extremes of a ratio over some results.
func (s *session) means(results []measure.Result, of, to measure.Variant) {
	rs, least, most := ratios(results, of, to)
	if len(rs) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\n  %s over %s: mean %s; least %+.1f %% (%s); most %+.1f %% (%s)\n", of, to,
		measure.Together(rs).Percent(), measure.Over(rs[least].Mid), results[least], measure.Over(rs[most].Mid), results[most])
}

// ratios are how two variants compare in each result, and the indices of the
// least and the greatest.
func ratios(results []measure.Result, of, to measure.Variant) (rs []measure.Ratio, least, most int) {
	for i := range results {
		r, ok := results[i].Ratio(of, to)
		if !ok {
			return nil, 0, 0
		}
		rs = append(rs, r)
		if r.Mid < rs[least].Mid {
			least = i
		}
		if r.Mid > rs[most].Mid {
			most = i
		}
	}
	return rs, least, most
}

func percent(fraction float64) string { return fmt.Sprintf("%.0f %%", 100*fraction) }

// perOp is the time of an operation in a table.
func perOp(r measure.Result, v measure.Variant) string {
	t, ok := r.Timing(v)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.1f", t.PerOp)
}
