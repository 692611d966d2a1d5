package transactions

import (
	"fmt"
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// The programs of STAMP in all modes by as many leaders as the paper has: figures 4 to 9. On a
// machine with fewer processors they share them, which the table says.

const figureLeaders = "leaders"

// leaders of the figures. In modes helper and clone each has a goroutine beside it.
var leaders = []int{1, 2, 4, 8, 16, 32}

// leadersCases have the sets of modesCases.
func leadersCases(s size) []measure.Case {
	set := belowMedium(s)
	var cases []measure.Case
	for _, p := range programs {
		c := measure.Case{Figure: figureLeaders, Name: p.name, Ops: 1, Baseline: Eager}
		for _, v := range allModes {
			for _, n := range leaders {
				c.Contenders = append(c.Contenders, p.contender(by(v, n), set, 1, func(in input) outcome {
					return in.transactional(n, stm.Options{Mode: modes[v]})
				}))
			}
		}
		cases = append(cases, c)
	}
	return cases
}

func (s *session) leaders() error {
	cases := leadersCases(s.size)
	var err error
	if s.size == native {
		if err = s.configurations(cases); err == nil {
			err = s.secondPass(cases)
		}
		s.printModes()
	} else {
		err = s.measure(10*time.Second, cases)
	}
	s.printLeaders()
	s.printEstimates()
	s.printModel()
	return err
}

func (s *session) printLeaders() {
	results := s.Report.Of(figureLeaders)
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nFigures 4 to 9: STAMP by 1 to 32 leaders, %s.\nMedian ms. There are %d processors: more leaders than "+
		"that, and in modes helper and clone more than half of that, share them.\n\n", s.sets(), runtime.GOMAXPROCS(0))
	head := []string{"program", "mode"}
	for _, n := range leaders {
		head = append(head, fmt.Sprint(n))
	}
	t := measure.Table{Head: head}
	for _, r := range results {
		for _, v := range allModes {
			row := []any{r.Name, string(v)}
			for _, n := range leaders {
				row = append(row, millis(r, by(v, n)))
			}
			t.Row(row...)
		}
	}
	t.Write(s.Out)
}
