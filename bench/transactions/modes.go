package transactions

import (
	"fmt"
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// The programs of STAMP by one goroutine under all modes: figure 3 of the paper.

const figureModes = "modes"

// allModes in the order of table 1.
var allModes = []measure.Variant{Eager, Timer, Helper, Clone}

// modesCases have sets one size below those of the other figure, unless those are native: a
// goroutine for each transaction takes longer than most transactions do.
func modesCases(s size) []measure.Case {
	set := belowMedium(s)
	var cases []measure.Case
	for _, p := range programs {
		c := measure.Case{Figure: figureModes, Name: p.name, Ops: 1, Baseline: Eager}
		for _, v := range allModes {
			c.Contenders = append(c.Contenders, p.contender(v, set, needs(v), func(in input) outcome {
				return in.transactional(1, stm.Options{Mode: modes[v]})
			}))
		}
		cases = append(cases, c)
	}
	return cases
}

func belowMedium(s size) size {
	if s == native {
		return native
	}
	return quick
}

func (s *session) modes() error {
	if cores := runtime.GOMAXPROCS(0); cores < 4 {
		s.Note("helper and clone by two goroutines: each leader needs a processor for its helper, and there are %d. One leader is measured", cores)
	}
	if s.size == native {
		err := s.configurations(modesCases(s.size))
		if err != nil || !s.figures.Has(figureLeaders) {
			s.printModes() // else it is printed with what more became known
		}
		return err
	}
	err := s.measure(5*time.Second, modesCases(s.size))
	s.printModes()
	return err
}

func (s *session) printModes() {
	results := s.Report.Of(figureModes)
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nFigure 3: STAMP by one goroutine, %s.\nMedian ms, and over eager; cores is the time of two spinning "+
		"goroutines over that of one, before the samples of helper.\nhelper and clone give each transaction to a second goroutine, too.\n\n", s.sets())
	t := measure.Table{Head: []string{"program", "eager", "timer", "helper", "clone", "timer / eager", "helper / eager", "clone / eager", "cores"}}
	for _, r := range results {
		helper, _ := r.Timing(Helper)
		t.Row(r.Name, millis(r, Eager), millis(r, Timer), millis(r, Helper), millis(r, Clone),
			times(r, Timer, Eager), times(r, Helper, Eager), times(r, Clone, Eager), fmt.Sprintf("%.2f", helper.Counters[coreRatio]))
	}
	t.Write(s.Out)
}
