package transactions

import (
	"os"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A trial that takes longer than it may is ended, and told to have been: no figure takes the
// limit for a time.
func TestTrialThatTakesTooLongIsCutOff(t *testing.T) {
	s := &session{Session: measure.Session{Context: t.Context(), Out: t.Output()}}
	self, _ := os.Executable()
	c := stampCases(medium)[0]
	conf := &configuration{session: s, program: self, once: true, limit: time.Millisecond,
		request: request{Figure: c.Figure, Size: medium, Case: c.String(), Variant: Sequential}}
	res, err := (&measure.Runner{Rounds: 1, Cold: true}).Run(t.Context(), measure.Case{Figure: c.Figure, Name: c.Name, Ops: 1, Contenders: []measure.Contender{conf.contender()}})
	if err != nil || conf.worker != nil {
		t.Fatal("the worker that was ended is an error, or is still there", err)
	}
	timing, _ := res.Timing(Sequential)
	if !wasCut(timing) || timing.Median != 0.001 || millis(res, Sequential) != "> 1" {
		t.Errorf("it took %v s, cut off %v, and is printed as %s", timing.Median, wasCut(timing), millis(res, Sequential))
	}
	res.Timings = append(res.Timings, measure.Timing{Variant: Eager, Seconds: []float64{1}, Median: 1})
	if got := times(res, Eager, Sequential); got != "-" {
		t.Errorf("the ratio to what was cut off is %s", got)
	}
	if doubt := s.doubt(res, Sequential); doubt == "" {
		t.Error("what was cut off is not in doubt")
	}
}

// With native sets all figures run the same, once: what the figure before has measured is not
// measured again.
func TestNativeFiguresTakeWhatOthersHaveMeasured(t *testing.T) {
	timed := func(v measure.Variant) measure.Timing {
		return measure.Timing{Variant: v, Seconds: []float64{1}, Median: 1}
	}
	s := &session{options: options{size: native}}
	s.Report.Results = []measure.Result{
		{Figure: figureStamp, Name: "genome", Timings: []measure.Timing{timed(Sequential), timed(Eager)}},
		{Figure: figureCompiled, Name: "genome", Timings: []measure.Timing{timed(byTwo(Eager))}},
	}
	rest, had := s.taken(scaleCases(native)[0])
	if len(had) != 1 || had[0].Variant != Eager || len(rest.Contenders) != 1 || rest.Contenders[0].Variant != byTwo(Eager) {
		t.Errorf("%v is taken over, and %v measured", had, rest.Contenders)
	}
	s.size = medium
	if rest, had := s.taken(scaleCases(medium)[0]); len(had) != 0 || len(rest.Contenders) != 2 {
		t.Error("with sets that differ from figure to figure, something was taken over")
	}
}
