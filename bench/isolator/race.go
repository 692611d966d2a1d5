package isolator

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/structures"
)

// The race detector finds what isolate stops. The stock programs of figure 8 are
// built with it and run as a child, in turn with the others.

const figureRaceName = "race"

// casesRace are the cases as far as this process can run them. The first
// contender is the stock program, which the child runs as well.
func casesRace(quick bool) []measure.Case {
	counts := []int{1, 4}
	if quick {
		counts = []int{2}
	}
	var cases []measure.Case
	for _, k := range structures.Kinds {
		for _, n := range counts {
			l := load{goroutines: n, writes: 0.5, ops: trialOps(k, quick) / 5} // it is slow
			cases = append(cases, measure.Case{
				Figure:     figureRaceName,
				Name:       k.Name,
				Params:     measure.Params{measure.Goroutines: float64(n), measure.Writes: l.writes},
				Ops:        l.ops,
				Baseline:   measure.Heap,
				Contenders: []measure.Contender{l.contender(k, measure.Heap), l.contender(k, measure.Isolate)},
			})
		}
	}
	return cases
}

func (s *session) figureRace() error {
	dir, err := os.MkdirTemp("", "bench-race")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "bench")
	s.Progress.Show("figure race: building with -race")
	if err := s.build(program, ".", "-race"); err != nil {
		s.Note("the race detector is not compared with: %v", err)
		return s.Context.Err()
	}
	w, err := startWorker(program)
	if err != nil {
		return err
	}
	defer w.Stop()
	cases := casesRace(s.quick)
	for i := range cases {
		cases[i].Contenders = append(cases[i].Contenders, w.contender(measure.Race, i, s.quick))
	}
	err = s.measure(s.runner(), cases)
	s.printRace()
	return err
}

func (s *session) printRace() {
	results := s.Report.Of(figureRaceName)
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nThe race detector: the stock program of figure 8 built with -race, half of the operations writing.\n"+
		"Median ns per operation; times as long as the stock program without it.\n\n")
	t := measure.Table{Head: []string{"structure", "goroutines", "go heap", "isolate", "race", "isolate / go heap", "race / go heap"}}
	for _, r := range results {
		isolated, _ := r.Ratio(measure.Isolate, measure.Heap)
		race, _ := r.Ratio(measure.Race, measure.Heap)
		t.Row(r.Name, r.Params[measure.Goroutines], perOp(r, measure.Heap), perOp(r, measure.Isolate), perOp(r, measure.Race), isolated.Times(), race.Times())
	}
	t.Write(s.Out)
	s.means(results, measure.Isolate, measure.Heap)
	s.means(results, measure.Race, measure.Heap)
}
