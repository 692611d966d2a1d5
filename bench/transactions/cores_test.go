package transactions

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

func TestSpinningGoroutinesAreCompared(t *testing.T) {
	if ratio := spinTwo(); ratio < 0.2 || ratio > 100 {
		t.Errorf("two spinning goroutines take %.2f times as long as one", ratio)
	}
}

func TestMissingProcessorsAreSaid(t *testing.T) {
	for _, c := range []struct {
		missed float64
		want   string
	}{{0, "ran as fast as one"}, {0.5, "before 2 of the 4 samples"}} {
		var out strings.Builder
		s := &session{Session: measure.Session{Out: &out}}
		s.Report.Results = []measure.Result{{Timings: []measure.Timing{
			{Seconds: make([]float64, 4), Counters: map[string]float64{coreRatio: 1.5, coreMissing: c.missed}},
			{Seconds: make([]float64, 4)},
		}}}
		s.cores()
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(got, c.want) {
			t.Errorf("missed %v: %q does not say %q", c.missed, got, c.want)
		}
	}
}
