package transactions

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// inMemory is a session that keeps what it measures, and prints to a buffer.
func inMemory(t *testing.T, size size, out *bytes.Buffer) *session {
	return &session{
		options: options{size: size, runs: 1, figures: command.Chosen(figureModes, figureLeaders)},
		Session: measure.Session{Context: t.Context(), Out: out},
		ledger:  ledger{kept: map[string]measure.Result{}},
		begun:   time.Now(),
	}
}

// known is a configuration that was measured before.
func known(c measure.Case, v measure.Variant, seconds float64, counters map[string]float64) measure.Result {
	alone := aloneOf(c, v)
	return measure.Result{Figure: alone.Figure, Name: alone.Name, Ops: 1,
		Timings: []measure.Timing{{Variant: v, Seconds: []float64{seconds}, Median: seconds, Counters: counters}}}
}

func TestWatchedTrialIsEstimatedByTheShareOfItsTransactions(t *testing.T) {
	s := inMemory(t, medium, new(bytes.Buffer))
	c := leadersCases(medium)[0]
	c.Figure = figureStamp // whose sets are large enough not to end at once
	const all = 1e12
	s.ledger.add(known(c, Eager, 1, map[string]float64{commits: all}))
	got, err := s.runAlone(c, Timer, 1, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	seen, share := got.Counters[watched], got.Counters[commits]/all
	if !isEstimate(got) || share == 0 || got.Median < 0.99*seen/share || got.Median > 1.01*seen/share {
		t.Errorf("%v of the transactions in %v s are %v s for all", share, seen, got.Median)
	}
	r := measure.Result{Timings: []measure.Timing{got, {Variant: Eager, Seconds: []float64{1}, Median: 1}}}
	if text := millis(r, Timer) + times(r, Timer, Eager); strings.Count(text, "~") != 2 {
		t.Errorf("an estimate is printed as %s", text)
	}
	if again, _ := s.ledger.has(aloneOf(c, Timer)); len(again.Timings) != 1 || !isEstimate(again.Timings[0]) {
		t.Error("the estimate was not kept")
	}
}

func TestTrialThatEndsWhileItIsWatchedIsWhole(t *testing.T) {
	s := inMemory(t, quick, new(bytes.Buffer))
	got, err := s.runAlone(leadersCases(quick)[0], byTwo(Clone), 1, time.Minute)
	if err != nil || wasCut(got) || got.Median <= 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A run that is taken up measures no configuration again, and spends its hour on what was estimated, the
// shortest first, as far as it goes.
func TestSecondPassRunsToTheirEndsWhatTheHourHasRoomFor(t *testing.T) {
	out := new(bytes.Buffer)
	s := inMemory(t, quick, out)
	cases := leadersCases(quick)[:1]
	estimate := map[string]float64{cutOff: 1, watched: 1, commits: 1}
	for _, contender := range cases[0].Contenders {
		counters := map[string]float64{commits: 100}
		seconds := 1.0
		switch contender.Variant {
		case by(Clone, 32):
			counters, seconds = estimate, 2*nativeHour.Seconds()
		case by(Helper, 2):
			counters, seconds = estimate, 3
		}
		s.ledger.add(known(cases[0], contender.Variant, seconds, counters))
	}
	if err := s.configurations(cases); err != nil {
		t.Fatal(err)
	}
	if err := s.secondPass(cases); err != nil {
		t.Fatal(err)
	}
	r := s.Report.Of(figureLeaders)[0]
	whole, _ := r.Timing(by(Helper, 2))
	still, _ := r.Timing(by(Clone, 32))
	untouched, _ := r.Timing(Eager)
	if isEstimate(whole) || whole.Median == 3 || !isEstimate(still) || untouched.Median != 1 {
		t.Errorf("%+v\n%+v\n%+v", whole, still, untouched)
	}
	s.size = native
	s.printEstimates()
	if text := out.String(); !strings.Contains(text, "23 of 24 configurations") || !strings.Contains(text, "Of 1 that") {
		t.Error(text)
	}
}

func TestNativeAloneHasFigures3To9InBothSizes(t *testing.T) {
	s := inMemory(t, native, new(bytes.Buffer))
	s.alsoSmaller = true
	both := s.steps()
	s.alsoSmaller = false
	if only := s.steps(); only != (len(allModes)+len(allModes)*len(leaders))*len(programs)*s.weight(figureLeaders) || both <= only {
		t.Errorf("%d steps with native sets, %d with smaller ones, too", only, both)
	}
}
