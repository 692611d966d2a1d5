package isolator

import (
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// The figures that were to be reached.
const (
	limitMean      = 5.0  // percent, structures, all careful
	limitWorst     = 15.0 // percent, structures, all careful
	limitHeap      = 12.0 // percent, structures, all careful, over what a program has otherwise
	limitAppsMean  = 2.0  // percent, applications
	limitAppsWorst = 8.0  // percent, applications
	limitTenth     = 15.0 // percent, up to a tenth careless
	limitHalf      = 60.0 // percent, half careless
	limitFault     = 10.0 // µs
	limitWaiting   = 10.0 // percent, what goes on beside accesses that wait
	limitManyTimes = 1.25 // 10,000 guards against one: as much as the medians vary by
)

// targets compares what was measured with what was to be reached. What was not
// measured has no line.
func (s *session) targets() []measure.Target {
	ts := s.targets8()
	ts = append(ts, s.targets9()...)
	ts = append(ts, s.targets11()...)
	ts = append(ts, s.targetsFault()...)
	return append(ts, s.targetsWaiting()...)
}

func (s *session) targets8() []measure.Target {
	results := s.Report.Of("8")
	rs, _, most := ratios(results, measure.Isolate, measure.SameMemory)
	if len(rs) == 0 {
		return nil
	}
	worst := overhead("figure 8, all careful: worst case over the same memory", limitWorst, rs[most])
	worst.Where = results[most].String()
	worst.Cost = s.sectionCost(results[most])
	mean := overhead("figure 8, all careful: mean over the same memory", limitMean, measure.Together(rs))
	mean.Where = fmt.Sprintf("%d cases", len(rs))
	mean.Cost = s.sectionCost(results[most])
	over, _, _ := ratios(results, measure.Isolate, measure.Heap)
	heap := overhead("figure 8, all careful: mean over the Go heap", limitHeap, measure.Together(over))
	heap.Where = mean.Where
	memory, _, _ := ratios(results, measure.SameMemory, measure.Heap)
	heap.Cost = "the guarded memory without sections, with a sync.Mutex, over the Go heap: " + measure.Together(memory).Percent()
	return []measure.Target{mean, worst, heap}
}

func (s *session) targets9() []measure.Target {
	var ts []measure.Target
	for _, t := range []struct {
		name      string
		low, high float64
		limit     float64
	}{
		{"figure 9, up to 10 % careless: worst case over the same memory", 0.001, 0.1, limitTenth},
		{"figure 9, 50 % careless: worst case over the same memory", 0.5, 0.5, limitHalf},
	} {
		results := careless(s.Report.Of(figurePlain), t.low, t.high)
		rs, _, most := ratios(results, measure.Isolate, measure.SameMemory)
		if len(rs) == 0 {
			continue
		}
		target := overhead(t.name, t.limit, rs[most])
		target.Where = fmt.Sprintf("%s; mean %s", results[most], measure.Together(rs).Percent())
		target.Cost = s.transferCost(results[most])
		ts = append(ts, target)
	}
	return ts
}

// targets11 holds the applications to the limits of figure 8.
func (s *session) targets11() []measure.Target {
	results := s.Report.Of("11")
	rs, _, most := ratios(results, measure.Isolate, measure.SameMemory)
	if len(rs) == 0 {
		return nil
	}
	mean := overhead("figure 11, applications: mean over the same memory", limitAppsMean, measure.Together(rs))
	worst := overhead("figure 11, applications: worst case over the same memory", limitAppsWorst, rs[most])
	mean.Where, worst.Where = fmt.Sprintf("%d applications", len(rs)), results[most].String()
	if noise, _, _ := ratios(results, measure.Again, measure.SameMemory); len(noise) > 0 {
		mean.Cost = "the applications against themselves: " + measure.Together(noise).Percent()
		worst.Cost = "the application against itself: " + noise[most].Percent()
	}
	return []measure.Target{mean, worst}
}

func (s *session) targetsFault() []measure.Target {
	var ts []measure.Target
	for _, busy := range []bool{false, true} {
		c, ok := s.cost(costFault, 1, busy)
		if !ok {
			continue
		}
		name := "a fault handled, alone"
		if busy {
			name = "a fault handled, another thread busy"
		}
		ts = append(ts, measure.Target{Name: name, Unit: "µs", Limit: limitFault, Measured: c.Median, Low: c.Median, High: c.P99,
			Where: fmt.Sprintf("median of %d; the range ends with the 99th percentile", c.Samples)}.Judge())
	}
	for _, name := range []string{costFault, costSeal} {
		if t, ok := s.targetCrowd(name); ok {
			ts = append(ts, t)
		}
	}
	return ts
}

// targetCrowd says how much longer something takes among many guards. Its range
// is from the lesser to the greater of two measurements, alone and busy.
func (s *session) targetCrowd(name string) (measure.Target, bool) {
	few, many := guardCounts[0], guardCounts[len(guardCounts)-1]
	var times []float64
	for _, busy := range []bool{false, true} {
		a, okA := s.cost(name, many, busy)
		b, okB := s.cost(name, few, busy)
		if okA && okB {
			times = append(times, a.Median/b.Median)
		}
	}
	if len(times) == 0 {
		return measure.Target{}, false
	}
	return measure.Target{Name: fmt.Sprintf("a %s among %d guards, to one alone", name, many), Unit: "x", Limit: limitManyTimes,
		Measured: times[0], Low: slices.Min(times), High: slices.Max(times)}.Judge(), true
}

// overhead is a target for a ratio, in percent.
func overhead(name string, limit float64, r measure.Ratio) measure.Target {
	return measure.Target{Name: name, Unit: "%", Limit: limit,
		Measured: measure.Over(r.Mid), Low: measure.Over(r.Low), High: measure.Over(r.High)}.Judge()
}

// sectionCost explains an overhead of figure 8 by what an empty section costs.
func (s *session) sectionCost(r measure.Result) string {
	isolated, _ := r.Timing(measure.Isolate)
	same, _ := r.Timing(measure.SameMemory)
	text := fmt.Sprintf("in %s an operation takes %.1f ns more than its %.1f ns", r, isolated.PerOp-same.PerOp, same.PerOp)
	mutex, ok := s.cost(costMutex, 1, false)
	section, _ := s.cost(costSection, 1, false)
	own, _ := s.cost(costOwn, 1, false)
	if ok {
		text += fmt.Sprintf(". Measured by themselves, in an empty section, a sync.Mutex takes %.1f ns, the lock of isolate %.1f more, and Own %.1f",
			mutex.Median, section.Median-mutex.Median, own.Median)
	}
	return text
}

// transferCost divides the overhead of a case of figure 9 between the pages that
// changed hands and the sections themselves.
func (s *session) transferCost(r measure.Result) string {
	isolated, _ := r.Timing(measure.Isolate)
	same, _ := r.Timing(measure.SameMemory)
	rest := isolated.PerOp - same.PerOp
	text := fmt.Sprintf("isolate takes %.1f ns more per operation", rest)
	if mutex, ok := s.cost(costMutex, 1, false); ok {
		section, _ := s.cost(costSection, 1, false)
		own, _ := s.cost(costOwn, 1, false)
		sections := (1 - r.Params[measure.Careless]) * (section.Median + own.Median - mutex.Median)
		rest -= sections
		text += fmt.Sprintf("; %.1f of them are the sections themselves", sections)
	}
	seal, ok := s.cost(costSeal, 1, true)
	if !ok {
		return text
	}
	fault, _ := s.cost(costFault, 1, true)
	alone, _ := s.cost(costSeal, 1, false)
	seals, faults := isolated.Counters["seals"]/float64(r.Ops), isolated.Counters["opened"]/float64(r.Ops)
	hands := 1e3 * (seals*seal.Median + faults*fault.Median)
	rest -= hands
	return text + fmt.Sprintf("; %.1f are pages changing hands: %.2f seals of %.1f µs per 1000 operations, of which %.1f are the interrupt "+
		"of the other processor, and %.2f faults of %.1f µs, %.0f after each seal; the remaining %.1f are in neither, "+
		"for example the larger mappings of later faults, and goroutines that wait meanwhile",
		hands, 1e3*seals, seal.Median, seal.Median-alone.Median, 1e3*faults, fault.Median, faults/max(seals, 1e-12), rest)
}
