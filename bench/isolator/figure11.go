package isolator

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/bench/apps"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Figure 11: three applications, which are in package apps.

// cases11 are the applications' cases, each with its baseline a second time.
func (s *session) cases11() []measure.Case {
	cases := apps.Cases(s.quick)
	for i := range cases {
		c := &cases[i]
		for _, contender := range c.Contenders {
			if contender.Variant == c.Baseline {
				c.Contenders = append(c.Contenders, measure.Contender{Variant: measure.Again, Prepare: contender.Prepare})
				break
			}
		}
	}
	return cases
}

// runner11 takes twice as many rounds: there are few cases, and whole programs
// vary more than a loop does.
func (s *session) runner11() *measure.Runner {
	r := s.runner()
	r.Rounds *= 2
	r.Retries *= 2
	return r
}

func (s *session) figure11() error {
	defer func() {
		if err := apps.Cleanup(); err != nil {
			s.Note("figure 11: %v", err)
		}
	}()
	err := s.measure(s.runner11(), s.cases11())
	s.print11()
	return err
}

func (s *session) print11() {
	results := s.Report.Of("11")
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nFigure 11: applications. Milliseconds; isolate's overhead as in figure 8.\n\n")
	t := measure.Table{Head: []string{"application", "goroutines", "go heap", "same memory", "isolate", "over same memory", "over go heap", "noise"}}
	for _, r := range results {
		row := []any{r.Name, r.Params[measure.Goroutines]}
		for _, v := range []measure.Variant{measure.Heap, measure.SameMemory, measure.Isolate} {
			if timing, ok := r.Timing(v); ok {
				row = append(row, fmt.Sprintf("%.1f", 1e3*timing.Median))
			} else {
				row = append(row, "-")
			}
		}
		same, _ := r.Ratio(measure.Isolate, measure.SameMemory)
		heap, _ := r.Ratio(measure.Isolate, measure.Heap)
		noise, _ := r.Ratio(measure.Again, measure.SameMemory)
		t.Row(append(row, same.Percent(), heap.Percent(), noise.Percent())...)
	}
	t.Write(s.Out)
	s.means(results, measure.Isolate, measure.SameMemory)
}
