package transactions

import (
	"os"
	"slices"
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

// With native sets all figures run the same, once: those by one leader are in the figure before,
// and so is what two leaders do in two of the modes.
func TestNativeFiguresTakeWhatOthersHaveMeasured(t *testing.T) {
	measured := func(figure string, variants ...measure.Variant) measure.Result {
		r := measure.Result{Figure: figure, Name: "genome"}
		for _, v := range variants {
			r.Timings = append(r.Timings, measure.Timing{Variant: v, Seconds: []float64{1}, Median: 1})
		}
		return r
	}
	s := &session{options: options{size: native}}
	s.Report.Results = []measure.Result{measured(figureStamp, Sequential, Eager, Timer, byTwo(Eager), byTwo(Timer)), measured(figureModes, Helper, Clone), measured(figureCompiled, by(Eager, 4))}
	rest, had := s.taken(leadersCases(native)[0])
	var variants []measure.Variant
	for _, timing := range had {
		variants = append(variants, timing.Variant)
	}
	slices.Sort(variants)
	if want := []measure.Variant{Clone, Eager, byTwo(Eager), Helper, Timer, byTwo(Timer)}; !slices.Equal(variants, want) {
		t.Errorf("taken over are %v, want %v", variants, want)
	}
	if len(rest.Contenders) != len(allModes)*len(leaders)-len(had) {
		t.Errorf("%d contenders are left of %d, and %d are known", len(rest.Contenders), len(allModes)*len(leaders), len(had))
	}
	had[slices.IndexFunc(had, func(t measure.Timing) bool { return t.Variant == Eager })].Median = 50
	if got := s.effortOf(figureLeaders, 0).extended(had).limit; got != 100*time.Second {
		t.Errorf("the limit is %v where one leader takes 50 s, want twice that", got)
	}
	if rest, _ := s.taken(scaleCases(native)[0]); len(rest.Contenders) != 0 {
		t.Errorf("%d contenders of the figure %s are measured again", len(rest.Contenders), figureScale)
	}
	s.size = medium
	if rest, had := s.taken(leadersCases(medium)[0]); len(had) != 0 || len(rest.Contenders) != len(allModes)*len(leaders) {
		t.Error("with sets that differ from figure to figure, something was taken over")
	}
}
