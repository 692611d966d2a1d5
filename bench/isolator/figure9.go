package isolator

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/structures"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// Figure 9: one goroutine is careless. In the paper's figure it takes the lock,
// but its sections are not instrumented. The other two are ours.
const (
	figurePlain     = "9"
	figureNoLock    = "9, no lock"
	figureWorstCase = "9, worst case"
)

var carelessFractions = []float64{0, 0.01, 0.05, 0.1, 0.25, 0.5}

func cases9(quick bool) []measure.Case {
	cases := plainCases(quick)
	cases = append(cases, noLockCases(quick)...)
	return append(cases, worstCases(quick)...)
}

// plainCases are the paper's. Half of the operations write.
func plainCases(quick bool) []measure.Case {
	counts, fractions := goroutines, carelessFractions
	if quick {
		counts, fractions = []int{2}, []float64{0, 0.1, 0.5}
	}
	var cases []measure.Case
	for _, k := range structures.Kinds {
		for _, n := range counts {
			for _, f := range fractions {
				l := load{goroutines: n, writes: 0.5, careless: f, ops: trialOps(k, quick) / 2}
				cases = append(cases, measure.Case{
					Figure:     figurePlain,
					Name:       k.Name,
					Params:     measure.Params{measure.Goroutines: float64(n), measure.Careless: f},
					Ops:        l.ops,
					Baseline:   measure.SameMemory,
					Contenders: []measure.Contender{l.contender(k, measure.SameMemory), l.contender(k, measure.Isolate)},
				})
			}
		}
	}
	return cases
}

func (s *session) figure9() error {
	err := s.measure(s.runner(), cases9(s.quick))
	s.printPlain()
	s.printTransfers(figureNoLock, "\nA careless goroutine that takes no lock at all: it reads and writes counters, one word at a time,\n"+
		"that the others increment in sections. Overhead in %; per 1000 careless operations: seals, faults\nthat found nobody in a section, and violations that were delayed.\n\n")
	s.printTransfers(figureWorstCase, "\nThe worst case: careful and careless operations in turn, so that each careless one has to open the\n"+
		"pages that it touches, and each careful one to seal them again.\n\n")
	return err
}

// printPlain prints the paper's figure.
func (s *session) printPlain() {
	results := s.Report.Of(figurePlain)
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nFigure 9: one more goroutine is careless, and does a part of all operations. Overhead of isolate\n"+
		"over the same memory in %%, and half the width of its range; changes is how often the pages changed\n"+
		"hands per 1000 operations where half of them were careless.\n\n")
	t := measure.Table{Head: []string{"structure", "goroutines"}}
	var columns []float64
	for _, f := range carelessFractions {
		for _, r := range results {
			if r.Params[measure.Careless] == f {
				columns = append(columns, f)
				t.Head = append(t.Head, percent(f))
				break
			}
		}
	}
	t.Head = append(t.Head, "changes")
	for i := 0; i < len(results); {
		first := results[i]
		if i > 0 && first.Name != results[i-1].Name && !s.quick {
			t.Gap()
		}
		row := []any{first.Name, first.Params[measure.Goroutines]}
		changes := "-"
		for _, f := range columns {
			if i < len(results) && results[i].Name == first.Name && results[i].Params[measure.Careless] == f {
				ratio, _ := results[i].Ratio(measure.Isolate, measure.SameMemory)
				row = append(row, ratio.Brief())
				if f == 0.5 {
					changes = fmt.Sprintf("%.3f", perThousand(results[i], "seals", 1))
				}
				i++
			} else {
				row = append(row, "-")
			}
		}
		t.Row(append(row, changes)...)
	}
	t.Write(s.Out)
	for _, f := range columns {
		rs, _, most := ratios(careless(results, f, f), measure.Isolate, measure.SameMemory)
		if len(rs) > 0 {
			fmt.Fprintf(s.Out, "\n  %s careless: mean %s, most %+.1f %%", percent(f), measure.Together(rs).Percent(), measure.Over(rs[most].Mid))
		}
	}
	fmt.Fprintln(s.Out)
}

// careless are the results with a fraction of careless operations in a range.
func careless(results []measure.Result, low, high float64) []measure.Result {
	var rs []measure.Result
	for _, r := range results {
		if f := r.Params[measure.Careless]; low <= f && f <= high {
			rs = append(rs, r)
		}
	}
	return rs
}

// perThousand is how often something was counted per 1000 operations, of which
// only a fraction of all are looked at.
func perThousand(r measure.Result, counter string, fraction float64) float64 {
	t, _ := r.Timing(measure.Isolate)
	return t.Counters[counter] * 1000 / (float64(r.Ops) * fraction)
}

// printTransfers prints what changes of hands there were.
func (s *session) printTransfers(figure, text string) {
	results := s.Report.Of(figure)
	if len(results) == 0 {
		return
	}
	fmt.Fprint(s.Out, text)
	t := measure.Table{Head: []string{"structure", "goroutines", "careless", "same memory", "isolate", "over same memory", "seals", "faults", "delayed"}}
	for _, r := range results {
		f := r.Params[measure.Careless]
		ratio, _ := r.Ratio(measure.Isolate, measure.SameMemory)
		over := ratio.Percent()
		if ratio.Mid > 10 {
			over = ratio.Times()
		}
		t.Row(r.Name, r.Params[measure.Goroutines], percent(f), perOp(r, measure.SameMemory), perOp(r, measure.Isolate), over,
			fmt.Sprintf("%.1f", perThousand(r, "seals", f)), fmt.Sprintf("%.1f", perThousand(r, "opened", f)), fmt.Sprintf("%.1f", perThousand(r, "delayed", f)))
	}
	t.Write(s.Out)
}

// worstCases have one goroutine that is careful and careless in turn.
func worstCases(quick bool) []measure.Case {
	ops := 4000
	if quick {
		ops /= 5
	}
	var cases []measure.Case
	for _, k := range structures.Kinds {
		l := load{writes: 0.5, ops: ops / 2}
		contender := func(v measure.Variant) measure.Contender {
			return measure.Contender{Variant: v, Prepare: func() measure.Trial {
				g := k.Guarded()
				careful, careless := g.Careful(), g.Careless()
				if v == measure.SameMemory {
					careful = g.SameMemory()
					careless = careful
				}
				fill(careful, k)
				both := &inTurn{careful: careful, careless: careless}
				return measure.Trial{Run: func() { l.client(both, 1, l.ops, k.Keys()) }, Close: g.Close}
			}}
		}
		cases = append(cases, measure.Case{
			Figure: figureWorstCase, Name: k.Name, Ops: ops,
			Params:     measure.Params{measure.Goroutines: 1, measure.Careless: 0.5},
			Baseline:   measure.SameMemory,
			Contenders: []measure.Contender{contender(measure.SameMemory), contender(measure.Isolate)},
		})
	}
	return cases
}

// inTurn does each operation twice: carefully and carelessly.
type inTurn struct{ careful, careless structures.Structure }

func (s *inTurn) Read(key uint64) (uint64, bool) {
	s.careful.Read(key)
	return s.careless.Read(key)
}

func (s *inTurn) Insert(key, value uint64) bool {
	s.careful.Insert(key, value)
	return s.careless.Insert(key, value)
}

func (s *inTurn) Delete(key uint64) (uint64, bool) {
	s.careful.Delete(key)
	return s.careless.Delete(key)
}

// noLockCases have a careless goroutine that only does what is safe to do without
// a lock on any machine that Go runs on: it reads and writes single words.
func noLockCases(quick bool) []measure.Case {
	counts, fractions, ops := []int{1, 4}, []float64{0.01, 0.1, 0.5}, 400_000
	if quick {
		counts, ops = []int{1}, ops/10
	}
	var cases []measure.Case
	for _, n := range counts {
		for _, f := range fractions {
			l := load{goroutines: n, careless: f, ops: ops}
			cases = append(cases, measure.Case{
				Figure: figureNoLock, Name: "counters", Ops: ops,
				Params:   measure.Params{measure.Goroutines: float64(n), measure.Careless: f},
				Baseline: measure.SameMemory,
				Contenders: []measure.Contender{
					{Variant: measure.SameMemory, Prepare: func() measure.Trial { return countersTrial(l, false) }},
					{Variant: measure.Isolate, Prepare: func() measure.Trial { return countersTrial(l, true) }},
				},
			})
		}
	}
	return cases
}

// A counterArray is incremented in sections, all but the last, which is the
// careless goroutine's own.
type counterArray struct{ n [64]uint64 }

func countersTrial(l load, isolated bool) measure.Trial {
	mu := new(isolate.Mutex)
	shared := isolate.New[counterArray](mu)
	carefulOps := 0
	run := func() {
		var plain sync.Mutex
		var wg sync.WaitGroup
		carelessOps := int(l.careless * float64(l.ops))
		wg.Go(func() { carelessCounting(shared, carelessOps) })
		for i := range l.goroutines {
			n := (l.ops - carelessOps) / l.goroutines
			carefulOps += n
			if isolated {
				wg.Go(func() { countIsolated(mu, shared, uint64(i), n) })
			} else {
				wg.Go(func() { countLocked(&plain, shared, uint64(i), n) })
			}
		}
		wg.Wait()
	}
	return measure.Trial{Run: run, Close: func() error {
		sum := uint64(0)
		for _, n := range shared.n[:len(shared.n)-1] {
			sum += n
		}
		if sum != uint64(carefulOps) {
			return fmt.Errorf("the counters add up to %d; %d were counted", sum, carefulOps)
		}
		return mu.Close()
	}}
}

func countLocked(mu *sync.Mutex, c *counterArray, seed uint64, n int) {
	random := rand.NewPCG(seed, 0)
	for range n {
		i := random.Uint64() % uint64(len(c.n)-1)
		mu.Lock()
		c.n[i]++
		mu.Unlock()
	}
}

func countIsolated(mu *isolate.Mutex, c *counterArray, seed uint64, n int) {
	random := rand.NewPCG(seed, 0)
	for range n {
		i := random.Uint64() % uint64(len(c.n)-1)
		mu.Lock()
		isolate.Own(mu, c).n[i]++
		mu.Unlock()
	}
}

// carelessCounting reads any counter and writes its own, without a lock.
func carelessCounting(c *counterArray, n int) (seen uint64) {
	random := rand.NewPCG(99, 0)
	last := &c.n[len(c.n)-1]
	for range n {
		bits := random.Uint64()
		if bits>>63 == 0 {
			seen += c.n[bits%uint64(len(c.n)-1)]
		} else {
			*last = bits
		}
	}
	return seen
}
