package transactions

import (
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// The programs of STAMP as transactions, with one mutex, and as sequential code:
// figures 4 to 9 of the paper, as far as there are processors.

const figureStamp = "stamp"

// goroutines of the figures. The paper has up to 32 on 64 cores.
var goroutines = []int{1, 2}

func stampCases(s size) []measure.Case {
	var cases []measure.Case
	for _, p := range programs {
		c := measure.Case{Figure: figureStamp, Name: p.name, Ops: 1, Baseline: Sequential}
		add := func(name measure.Variant, threads int, run func(input) outcome) {
			c.Contenders = append(c.Contenders, p.contender(name, s, threads, run))
		}
		add(Sequential, 1, func(in input) outcome { return in.sequential() })
		for _, n := range goroutines {
			add(by(Mutex, n), n, func(in input) outcome { return in.mutex(n) })
			for _, v := range []measure.Variant{Eager, Timer} {
				add(by(v, n), n, func(in input) outcome { return in.transactional(n, stm.Options{Mode: modes[v]}) })
			}
		}
		for _, v := range pairs { // made and run in other processes: see together
			c.Contenders = append(c.Contenders, measure.Contender{Variant: sideBySide(v)})
		}
		add(measure.Again, 1, func(in input) outcome { return in.sequential() })
		cases = append(cases, c)
	}
	return cases
}

// by is a variant by a number of goroutines.
func by(v measure.Variant, n int) measure.Variant {
	if n == 1 {
		return v
	}
	return v + measure.Variant(fmt.Sprintf(" by %d", n))
}

// contender makes its input once: runs only read it.
func (p program) contender(name measure.Variant, s size, threads int, run func(input) outcome) measure.Contender {
	var in *input
	return measure.Contender{Variant: name, Prepare: func() measure.Trial {
		if in == nil {
			made := p.sets[s]()
			in = &made
		}
		var got outcome
		return work{
			ops: 1, times: 1, threads: threads,
			run:   func() time.Duration { got = run(*in); return got.elapsed },
			check: func() error { return got.verify() },
		}.trial()
	}}
}

func (s *session) stamp() error {
	err := s.measure(20*time.Second, stampCases(s.size))
	s.printStamp()
	return err
}

func (s *session) printStamp() {
	results := s.Report.Of(figureStamp)
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nSTAMP, %s sets. Median ms; sequential is without any synchronisation, noise is that program against itself.\n\n", s.size)
	head := []string{"program", "rounds", "sequential", "noise"}
	variants := []measure.Variant{}
	for _, n := range goroutines {
		for _, v := range []measure.Variant{Mutex, Eager, Timer} {
			variants = append(variants, by(v, n))
			head = append(head, string(by(v, n)))
		}
	}
	t := measure.Table{Head: head}
	for _, r := range results {
		noise, _ := r.Ratio(measure.Again, Sequential)
		base, _ := r.Timing(Sequential)
		row := []any{r.Name, len(base.Seconds), millis(r, Sequential), noise.Brief() + " %"}
		for _, v := range variants {
			row = append(row, millis(r, v))
		}
		t.Row(row...)
	}
	t.Write(s.Out)
	s.printRatios(results)
	s.printCounters(results)
}

// printRatios is what the targets are about.
func (s *session) printRatios(results []measure.Result) {
	fmt.Fprintf(s.Out, "\nBy one goroutine: eager over sequential, beside NOrec in C++ over sequential C (quoted, native sets). The\n"+
		"processor time is less sensitive to what else runs, but that of the whole run: with the collector, and with\n"+
		"preparations, for example of vacation, that the time is without. Two goroutines over one: times as fast. So are\n"+
		"two processes over one, which have nothing in common: what the two processors give these programs at most. Cores\n"+
		"is the time of two spinning goroutines over that of one, before the samples of eager.\n\n")
	t := measure.Table{Head: []string{"program", "eager / sequential", "in processor time", "C++", "timer / eager", "mutex, two over one", "eager, two over one", "eager, two processes", "sequential, two processes", "timer, two over one", "cores"}}
	for _, p := range programs {
		for _, r := range results {
			if r.Name != p.name {
				continue
			}
			two, _ := r.Timing(byTwo(Eager))
			t.Row(r.Name, times(r, Eager, Sequential), processorTimes(r, Eager, Sequential), p.cpp, times(r, Timer, Eager),
				times(r, Mutex, byTwo(Mutex)), times(r, Eager, byTwo(Eager)),
				times(r, Eager, sideBySide(Eager)), times(r, Sequential, sideBySide(Sequential)), times(r, Timer, byTwo(Timer)), fmt.Sprintf("%.2f", two.Counters[coreRatio]))
		}
	}
	t.Write(s.Out)
}

// printCounters is table 2 of the paper, counted.
func (s *session) printCounters(results []measure.Result) {
	fmt.Fprintf(s.Out, "\nTransactions of eager: how many, words read and written by one, what one costs over the sequential program,\n"+
		"allocations over those of the sequential program; conflicts and validations by two goroutines.\n\n")
	t := measure.Table{Head: []string{"program", "commits", "reads", "writes", "ns more", "allocations more", "conflicts by 2, %", "validations by 2", "timer: conflicts by 2, %"}}
	for _, r := range results {
		one, _ := r.Timing(Eager)
		base, _ := r.Timing(Sequential)
		two, _ := r.Timing(byTwo(Eager))
		timer, _ := r.Timing(byTwo(Timer))
		n := max(one.Counters[commits], 1)
		per := func(t measure.Timing, name string) float64 { return t.Counters[name] / max(t.Counters[commits], 1) }
		t.Row(r.Name, fmt.Sprintf("%.0f", one.Counters[commits]), fmt.Sprintf("%.1f", per(one, readWords)), fmt.Sprintf("%.1f", per(one, writtenWords)),
			fmt.Sprintf("%.0f", 1e9*(one.Median-base.Median)/n), fmt.Sprintf("%.2f", (one.Counters[allocations]-base.Counters[allocations])/n),
			fmt.Sprintf("%.2f", 100*per(two, conflicts)), fmt.Sprintf("%.2f", per(two, validations)), fmt.Sprintf("%.2f", 100*per(timer, conflicts)))
	}
	t.Write(s.Out)
}

func times(r measure.Result, of, to measure.Variant) string {
	a, _ := r.Timing(of)
	b, _ := r.Timing(to)
	ratio, ok := r.Ratio(of, to)
	switch {
	case ok && (isEstimate(a) || isEstimate(b)):
		return fmt.Sprintf("~ %.2fx", ratio.Mid)
	case !ok || wasCut(b):
		return "-"
	case wasCut(a):
		return fmt.Sprintf("> %.2fx", ratio.Mid)
	}
	return ratio.Times()
}

// processorTimes is the ratio of the processor times, which are means.
func processorTimes(r measure.Result, of, to measure.Variant) string {
	a, _ := r.Timing(of)
	b, _ := r.Timing(to)
	if a.Counters[processor] == 0 || b.Counters[processor] == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2fx", a.Counters[processor]/b.Counters[processor])
}

func millis(r measure.Result, v measure.Variant) string {
	t, ok := r.Timing(v)
	switch {
	case !ok:
		return "-"
	case isEstimate(t):
		return fmt.Sprintf("~ %.0f", 1e3*t.Median)
	case wasCut(t):
		return fmt.Sprintf("> %.0f", 1e3*t.Median)
	}
	return fmt.Sprintf("%.2f", 1e3*t.Median)
}
